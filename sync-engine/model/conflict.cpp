#include "sync-engine/model/conflict.hpp"

#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "api-client/base/sha256.hpp"

namespace ws::sync {
namespace {

constexpr std::string_view rewound_word = "rewound";

/// Both names are new to the service, and neither lies in the other's place: it is sure to refuse ours.
bool is_sure_to_be_refused(const Conflict& sides) {
  const std::string base = sides.base->path.twin_key();
  const std::string local = sides.local->path.twin_key();
  const std::string remote = sides.remote->path.twin_key();
  const bool nested = local.starts_with(remote + "/") || remote.starts_with(local + "/");
  return sides.local->path == sides.path && sides.remote->revision > sides.base->revision && local != base &&
         remote != base && local != remote && !nested;
}

using Resolutions = std::array<std::optional<ConflictResolution>, 4>;

constexpr Resolutions of_two_texts = {ConflictResolution{Keep::local, "keep mine", ActionKind::push_update},
                                      ConflictResolution{Keep::remote, "keep theirs", ActionKind::pull_update},
                                      ConflictResolution{Keep::merged, "take the merge", ActionKind::pull_update},
                                      ConflictResolution{Keep::both, "keep both", ActionKind::pull_update}};
constexpr Resolutions of_two_names = {ConflictResolution{Keep::local, "keep my name"},
                                      ConflictResolution{Keep::remote, "take their name", ActionKind::pull_move}};
constexpr Resolutions of_two_documents = {ConflictResolution{Keep::local, "mine has the name"},
                                          ConflictResolution{Keep::remote, "theirs has the name"}};
constexpr Resolutions of_two_states = {ConflictResolution{Keep::local, "keep what is here"},
                                       ConflictResolution{Keep::remote, "keep what the service has"}};
constexpr Resolutions of_two_files = {ConflictResolution{Keep::local, "keep mine", ActionKind::push_update},
                                      ConflictResolution{Keep::remote, "keep theirs", ActionKind::pull_update},
                                      ConflictResolution{Keep::both, "keep both", ActionKind::push_update}};

constexpr std::string_view file_and_folder = "a file and a folder have the same name";

/// The table. Past its last case: a row without a word.
constexpr ConflictCaseRow make_row(ConflictCase which) {
  using enum ConflictCase;
  using Kind = ConflictKind;
  using Subject = ConflictSubject;
  using Sides = ConflictSides;
  switch (which) {
    case edited_on_both:
      return {.word = "edited_on_both",
              .kind = Kind::revision,
              .reason = "edited on both sides",
              .pushed_as = ActionKind::push_update,
              .resolutions = of_two_texts};
    case edited_at_one_revision:
      // The service would take our text for an edit of its own.
      return {.word = "edited_at_one_revision",
              .kind = Kind::revision,
              .reason = "edited on both sides",
              .resolutions = of_two_texts};
    case created_on_both:
      return {.word = "created_on_both",
              .kind = Kind::hash,
              .reason = "created on both sides, with different texts",
              .pushed_as = ActionKind::push_create,
              .resolutions = of_two_texts};
    case edited_and_archived:
      return {.word = "edited_and_archived",
              .kind = Kind::edit_delete,
              .sides = Sides::local,
              .reason = "edited here, archived on the service",
              .pushed_as = ActionKind::push_update,
              .resolutions = {ConflictResolution{Keep::local, "keep mine", ActionKind::push_create},
                              ConflictResolution{Keep::remote, "remove my file", ActionKind::pull_delete},
                              ConflictResolution{Keep::both, "", ActionKind::pull_delete},
                              ConflictResolution{Keep::merged, "", ActionKind::pull_delete}}};
    case deleted_and_edited:
      return {.word = "deleted_and_edited",
              .kind = Kind::delete_edit,
              .sides = Sides::remote,
              .reason = "deleted here, edited on the service",
              .resolutions = {ConflictResolution{Keep::local, "keep it deleted"},
                              ConflictResolution{Keep::remote, "bring it back"},
                              ConflictResolution{Keep::both}}};
    case renamed_on_both:
      return {.word = "renamed_on_both",
              .kind = Kind::path,
              .subject = Subject::place,
              .reason = "renamed on both sides",
              .pushed_as = ActionKind::push_move,
              .resolutions = of_two_names};
    case renamed_on_both_kept_here:
      return {.word = "renamed_on_both_kept_here",
              .kind = Kind::path,
              .subject = Subject::place,
              .reason = "renamed on both sides",
              .resolutions = of_two_names};
    case two_documents:
      return {.word = "two_documents",
              .kind = Kind::path,
              .subject = Subject::place,
              .reason = "two documents have the same name",
              .pushed_as = ActionKind::push_create,
              .resolutions = of_two_documents};
    case two_documents_kept_here:
      return {.word = "two_documents_kept_here",
              .kind = Kind::path,
              .subject = Subject::place,
              .reason = "two documents have the same name",
              .resolutions = of_two_documents};
    case folder_there:
      return {.word = "folder_there",
              .kind = Kind::path,
              .subject = Subject::place,
              .reason = file_and_folder,
              .title = "a file here, a folder on the service",
              .resolutions = {ConflictResolution{Keep::local, "my file has the name"},
                              ConflictResolution{Keep::remote, "the folder has the name"}}};
    case document_there:
      return {.word = "document_there",
              .kind = Kind::path,
              .subject = Subject::place,
              .reason = file_and_folder,
              .title = "a folder here, a document on the service",
              .resolutions = {ConflictResolution{Keep::local, "my folder has the name"},
                              ConflictResolution{Keep::remote, "the document has the name"}}};
    case became_folder:
      return {.word = "became_folder",
              .kind = Kind::revision,
              .subject = Subject::place,
              .sides = Sides::remote,
              .reason = "edited on both sides",
              .title = "a folder here, a document on the service",
              .resolutions = {ConflictResolution{Keep::local, "keep my folder, archive theirs"},
                              ConflictResolution{Keep::remote, "keep both: folder and document"},
                              ConflictResolution{Keep::both}}};
    case not_synced:
      return {.word = "not_synced",
              .kind = Kind::path,
              .subject = Subject::place,
              .sides = Sides::remote,
              .reason = "its name is taken by something not synced",
              .resolutions = {ConflictResolution{Keep::local, "leave it where it is"}}};
    case folder_at_old_name:
      return {.word = "folder_at_old_name",
              .kind = Kind::path,
              .subject = Subject::place,
              .sides = Sides::local,
              .reason = file_and_folder,
              .title = "renamed here, a folder on the service",
              .resolutions = {ConflictResolution{Keep::local, "keep the file"},
                              ConflictResolution{Keep::remote, "remove my file"}}};
    case place_refused:
      return {.word = "place_refused",
              .kind = Kind::path,
              .subject = Subject::place,
              .sides = Sides::local,
              .reason = file_and_folder,
              .title = "its folder is a document on the service",
              .resolutions = {ConflictResolution{Keep::local, "keep the file"},
                              ConflictResolution{Keep::remote, "remove my file"}}};
    case service_went_back:
      return {.word = "service_went_back",
              .kind = Kind::rewound,
              .subject = Subject::revision,
              .sides = Sides::either,
              .reason = "the service went back to an older state",
              .resolutions = of_two_states};
    case document_went_back:
      return {.word = "document_went_back",
              .kind = Kind::rewound,
              .subject = Subject::revision,
              .sides = Sides::either,
              .reason = "the service went back to an older state",
              .resolutions = of_two_states};
    case attachment_edited_on_both:
      return {.word = "attachment_edited_on_both",
              .kind = Kind::attachment,
              .subject = Subject::attachment,
              .reason = "file edited on both sides",
              .resolutions = of_two_files};
    case attachment_added_on_both:
      return {.word = "attachment_added_on_both",
              .kind = Kind::attachment,
              .subject = Subject::attachment,
              .reason = "file added on both sides, with different bytes",
              .resolutions = of_two_files};
    case attachment_edited_and_removed:
      return {.word = "attachment_edited_and_removed",
              .kind = Kind::attachment,
              .subject = Subject::attachment,
              .sides = Sides::local,
              .reason = "file edited here, removed on the service",
              .resolutions = {ConflictResolution{Keep::local, "keep mine", ActionKind::push_create},
                              ConflictResolution{Keep::remote, "remove my file", ActionKind::pull_delete},
                              ConflictResolution{Keep::both, "", ActionKind::push_create}}};
    case attachment_removed_and_edited:
      return {.word = "attachment_removed_and_edited",
              .kind = Kind::attachment,
              .subject = Subject::attachment,
              .sides = Sides::remote,
              .reason = "file removed here, edited on the service",
              .resolutions = {ConflictResolution{Keep::local, "keep it removed", ActionKind::push_delete},
                              ConflictResolution{Keep::both, "keep theirs"}}};
    case attachment_renamed_on_both:
      return {.word = "attachment_renamed_on_both",
              .kind = Kind::path,
              .subject = Subject::attachment,
              .reason = "file renamed on both sides",
              .resolutions = {ConflictResolution{Keep::local, "keep my name", ActionKind::push_move},
                              ConflictResolution{Keep::remote, "take their name", ActionKind::pull_move}}};
    case attachment_folder_there:
      return {.word = "attachment_folder_there",
              .kind = Kind::path,
              .subject = Subject::attachment,
              .sides = Sides::local,
              .reason = file_and_folder,
              .title = "a file here, a folder on the service",
              .resolutions = {ConflictResolution{Keep::remote, "the folder has the name"}}};
    case attachment_folder_here:
      return {.word = "attachment_folder_here",
              .kind = Kind::path,
              .subject = Subject::attachment,
              .sides = Sides::remote,
              .reason = file_and_folder,
              .title = "a folder here, a file on the service",
              .resolutions = {ConflictResolution{Keep::local, "my folder has the name"}}};
  }
  return {};
}

/// By the number of the case.
const std::vector<ConflictCaseRow>& all_rows() {
  static const std::vector<ConflictCaseRow> rows = [] {
    std::vector<ConflictCaseRow> made;
    for (int number = 0;; ++number) {
      ConflictCaseRow row = make_row(static_cast<ConflictCase>(number));
      if (row.word.empty()) return made;
      if (row.title.empty()) row.title = row.reason;
      made.push_back(row);
    }
  }();
  return rows;
}

}  // namespace

ConflictCase find_text_case(const Conflict& sides) {
  if (!sides.local) return ConflictCase::became_folder;
  // A service that went back may have another text under the number of ours.
  const bool same_revision = sides.base && sides.remote && sides.base->revision == sides.remote->revision;
  return same_revision ? ConflictCase::edited_at_one_revision : ConflictCase::edited_on_both;
}

ConflictCase find_place_case(const Conflict& sides) {
  if (!sides.local) return ConflictCase::not_synced;
  if (!sides.remote) return ConflictCase::place_refused;
  const std::string here = sides.path.twin_key();
  const std::string there = sides.remote->path.twin_key();
  if (here != there) {
    return there.starts_with(here + "/") ? ConflictCase::folder_there : ConflictCase::document_there;
  }
  // A new file at the very path of a document with another text is sure to be refused. Anything else might be applied.
  const bool refused = sides.remote->hash != sides.local->hash &&
                       service_form(sides.remote->path.text()) == service_form(sides.path.text());
  return refused ? ConflictCase::two_documents : ConflictCase::two_documents_kept_here;
}

ConflictCase find_rename_case(const Conflict& sides) {
  if (!sides.local || !sides.base) return find_place_case(sides);
  if (!sides.remote) return ConflictCase::folder_at_old_name;
  if (sides.path.twin_key() == sides.remote->path.twin_key()) return find_place_case(sides);
  return is_sure_to_be_refused(sides) ? ConflictCase::renamed_on_both : ConflictCase::renamed_on_both_kept_here;
}

ConflictCase find_attachment_case(const Conflict& sides) {
  if (!sides.remote)
    return sides.base ? ConflictCase::attachment_edited_and_removed : ConflictCase::attachment_folder_there;
  if (!sides.local)
    return sides.base ? ConflictCase::attachment_removed_and_edited : ConflictCase::attachment_folder_here;
  if (sides.base && sides.local->path != sides.remote->path) return ConflictCase::attachment_renamed_on_both;
  return sides.base ? ConflictCase::attachment_edited_on_both : ConflictCase::attachment_added_on_both;
}

ConflictCase find_recorded_case(ConflictKind kind, const Conflict& sides) {
  // A document that was archived when the commit was answered may have been restored since.
  if (kind == ConflictKind::revision || (kind == ConflictKind::edit_delete && sides.remote))
    return find_text_case(sides);
  if (kind == ConflictKind::path) return find_rename_case(sides);
  if (kind == ConflictKind::attachment) return find_attachment_case(sides);
  if (kind == ConflictKind::rewound && !sides.document.empty()) return ConflictCase::document_went_back;
  return first_case_of(kind);
}

std::string local_conflict_id(const Conflict& conflict) {
  const std::string about =
      fmt::format("{}\n{}\n{}", name(conflict.kind()), conflict.document.text(), conflict.path.text());
  std::string hex = Sha256::of(about).hex();
  hex[12] = '8';  // RFC 9562, 5.8: a version for ids that are made in one's own way
  hex[16] = '8';
  const std::string_view digits = hex;
  return fmt::format("{}-{}-{}-{}-{}",
                     digits.substr(0, 8),
                     digits.substr(8, 4),
                     digits.substr(12, 4),
                     digits.substr(16, 4),
                     digits.substr(20, 12));
}

Conflict rewound_service() {
  Conflict conflict{.which = ConflictCase::service_went_back,
                    .path = *RelativePath::parse(rewound_word),
                    .record = ConflictRecord::here};
  conflict.id = local_conflict_id(conflict);
  return conflict;
}

std::string_view name(ConflictKind kind) {
  switch (kind) {
    case ConflictKind::revision: return "revision";
    case ConflictKind::hash: return "hash";
    case ConflictKind::edit_delete: return "edit_delete";
    case ConflictKind::delete_edit: return "delete_edit";
    case ConflictKind::path: return "path";
    case ConflictKind::rewound: return "rewound";
    case ConflictKind::attachment: return "attachment";
  }
  return "";
}

std::optional<ConflictKind> find_conflict_kind(std::string_view name) {
  for (const ConflictCaseRow& row : all_rows()) {
    if (ws::sync::name(row.kind) == name) return row.kind;
  }
  return std::nullopt;
}

ConflictCase first_case_of(ConflictKind kind) {
  const std::vector<ConflictCaseRow>& rows = all_rows();
  std::size_t number = 0;
  while (rows[number].kind != kind) ++number;
  return static_cast<ConflictCase>(number);
}

std::optional<Keep> find_keep(std::string_view name) {
  if (name == "local" || name == "mine") return Keep::local;
  if (name == "remote" || name == "theirs") return Keep::remote;
  if (name == "both") return Keep::both;
  if (name == "merged") return Keep::merged;
  return std::nullopt;
}

const ConflictResolution* ConflictCaseRow::find(Keep keep) const {
  for (const std::optional<ConflictResolution>& decision : resolutions) {
    if (decision && decision->keep == keep) return &*decision;
  }
  return nullptr;
}

const ConflictCaseRow& row_of(ConflictCase which) { return all_rows()[static_cast<std::size_t>(which)]; }

std::optional<ConflictCase> find_conflict_case(std::string_view word) {
  const std::vector<ConflictCaseRow>& rows = all_rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].word == word) return static_cast<ConflictCase>(i);
  }
  return std::nullopt;
}

}  // namespace ws::sync

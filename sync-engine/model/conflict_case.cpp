#include "sync-engine/model/conflict_case.hpp"

#include <cstddef>
#include <vector>

namespace ws::sync {
namespace {

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
constexpr Resolutions of_two_files = {ConflictResolution{Keep::local, "keep mine"},
                                      ConflictResolution{Keep::remote, "keep theirs"},
                                      ConflictResolution{Keep::both, "keep both"}};

constexpr std::string_view file_and_folder = "a file and a folder want this name";

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
                              ConflictResolution{Keep::remote, "take it back"},
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
              .resolutions = {ConflictResolution{Keep::local, "keep my name"},
                              ConflictResolution{Keep::remote, "take their name"}}};
    case two_documents:
      return {.word = "two_documents",
              .kind = Kind::path,
              .subject = Subject::place,
              .reason = "two documents want this name",
              .pushed_as = ActionKind::push_create,
              .resolutions = of_two_documents};
    case two_documents_kept_here:
      return {.word = "two_documents_kept_here",
              .kind = Kind::path,
              .subject = Subject::place,
              .reason = "two documents want this name",
              .resolutions = of_two_documents};
    case folder_there:
      return {.word = "folder_there",
              .kind = Kind::path,
              .subject = Subject::place,
              .reason = file_and_folder,
              .title = "a file here, a folder there",
              .resolutions = {ConflictResolution{Keep::local, "my file has the name"},
                              ConflictResolution{Keep::remote, "the folder has the name"}}};
    case document_there:
      return {.word = "document_there",
              .kind = Kind::path,
              .subject = Subject::place,
              .reason = file_and_folder,
              .title = "a folder here, a document there",
              .resolutions = {ConflictResolution{Keep::local, "my folder has the name"},
                              ConflictResolution{Keep::remote, "the document has the name"}}};
    case became_folder:
      return {.word = "became_folder",
              .kind = Kind::revision,
              .subject = Subject::place,
              .sides = Sides::remote,
              .reason = "edited on both sides",
              .title = "a folder here, a document there",
              .resolutions = {ConflictResolution{Keep::local, "keep the folder alone", ActionKind::push_update},
                              ConflictResolution{Keep::remote, "keep both", ActionKind::pull_update},
                              ConflictResolution{Keep::both, "", ActionKind::pull_update}}};
    case not_synced:
      return {.word = "not_synced",
              .kind = Kind::path,
              .subject = Subject::place,
              .sides = Sides::remote,
              .reason = "a document wants the name of what is not synced",
              .resolutions = {ConflictResolution{Keep::local, "leave it where it is"}}};
    case folder_at_old_name:
      return {.word = "folder_at_old_name",
              .kind = Kind::path,
              .subject = Subject::place,
              .sides = Sides::local,
              .reason = file_and_folder,
              .title = "renamed here, a folder there",
              .resolutions = {ConflictResolution{Keep::local, "keep the file"},
                              ConflictResolution{Keep::remote, "remove my file"}}};
    case place_refused:
      return {.word = "place_refused",
              .kind = Kind::path,
              .subject = Subject::place,
              .sides = Sides::local,
              .reason = file_and_folder,
              .title = "its folder is a document there",
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
              .resolutions = {ConflictResolution{Keep::local, "keep mine"},
                              ConflictResolution{Keep::remote, "remove my file"},
                              ConflictResolution{Keep::both}}};
    case attachment_removed_and_edited:
      return {.word = "attachment_removed_and_edited",
              .kind = Kind::attachment,
              .subject = Subject::attachment,
              .sides = Sides::remote,
              .reason = "file removed here, edited on the service",
              .resolutions = {ConflictResolution{Keep::local, "keep it removed"},
                              ConflictResolution{Keep::both, "keep theirs"}}};
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

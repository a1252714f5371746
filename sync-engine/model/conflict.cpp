#include "sync-engine/model/conflict.hpp"

#include <string_view>

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
  if (!sides.remote) return ConflictCase::attachment_edited_and_removed;
  if (!sides.local) return ConflictCase::attachment_removed_and_edited;
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
      fmt::format("{}\n{}\n{}", name(conflict.kind()), conflict.document.text, conflict.path.text());
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

}  // namespace ws::sync

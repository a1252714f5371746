#include "sync-engine/model/conflict.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "api-client/base/sha256.hpp"
#include "api-client/base/utf8.hpp"

namespace ws::sync {
namespace {

constexpr std::array<std::pair<ConflictKind, std::string_view>, 7> conflict_kinds = {{
    {ConflictKind::revision, "revision"},
    {ConflictKind::hash, "hash"},
    {ConflictKind::edit_delete, "edit_delete"},
    {ConflictKind::delete_edit, "delete_edit"},
    {ConflictKind::path, "path"},
    {ConflictKind::rewound, "rewound"},
    {ConflictKind::attachment, "attachment"},
}};

constexpr std::string_view rewound_word = "rewound";

}  // namespace

bool is_about_place(const Conflict& conflict) {
  return conflict.kind == ConflictKind::path || (conflict.kind == ConflictKind::revision && !conflict.local);
}

PlaceMatter place_matter(const Conflict& conflict) {
  if (!conflict.local)
    return conflict.kind == ConflictKind::path ? PlaceMatter::not_synced : PlaceMatter::became_folder;
  if (!conflict.remote) return PlaceMatter::no_document;
  const std::string here = conflict.path.twin_key();
  const std::string there = conflict.remote->path.twin_key();
  if (here == there) return PlaceMatter::two_documents;
  if (conflict.base && !conflict.in_the_way) return PlaceMatter::renamed_on_both;
  return there.starts_with(here + "/") ? PlaceMatter::folder_there : PlaceMatter::document_there;
}

std::string_view name(ConflictKind kind) {
  for (const auto& [known, word] : conflict_kinds) {
    if (known == kind) return word;
  }
  return "";
}

std::optional<ConflictKind> find_conflict_kind(std::string_view name) {
  for (const auto& [known, word] : conflict_kinds) {
    if (word == name) return known;
  }
  return std::nullopt;
}

std::optional<Keep> find_keep(std::string_view name) {
  if (name == "local" || name == "mine") return Keep::local;
  if (name == "remote" || name == "theirs") return Keep::remote;
  if (name == "both") return Keep::both;
  if (name == "merged") return Keep::merged;
  return std::nullopt;
}

bool renamed_on_both(const Conflict& conflict) {
  if (conflict.kind != ConflictKind::path || conflict.in_the_way) return false;
  if (!conflict.base || !conflict.local || !conflict.remote) return false;
  const std::string base = conflict.base->path.twin_key();
  const std::string local = conflict.local->path.twin_key();
  const std::string remote = conflict.remote->path.twin_key();
  // Where one lies in the other's place, the two are not one document.
  const bool nested = local.starts_with(remote + "/") || remote.starts_with(local + "/");
  return conflict.local->path == conflict.path && conflict.remote->revision > conflict.base->revision &&
         local != base && remote != base && local != remote && !nested;
}

bool is_for_service(const Conflict& conflict) {
  if (!conflict.local) return false;
  switch (conflict.kind) {
    case ConflictKind::revision:
      // A service that went back may have another text under the number of ours: it would take ours for an edit of it.
      return !conflict.base || !conflict.remote || conflict.base->revision != conflict.remote->revision;
    case ConflictKind::edit_delete:
    case ConflictKind::hash: return true;
    case ConflictKind::path:
      // A new file at the very place of a document with another text, or a second new name: sure to be refused.
      // Anything else might be applied.
      return renamed_on_both(conflict) || (conflict.remote && conflict.remote->hash != conflict.local->hash &&
                                           utf8::nfc(conflict.remote->path.text()) == utf8::nfc(conflict.path.text()));
    case ConflictKind::delete_edit:
    case ConflictKind::attachment:
    case ConflictKind::rewound: return false;
  }
  return false;
}

std::string local_conflict_id(const Conflict& conflict) {
  const std::string about =
      fmt::format("{}\n{}\n{}", name(conflict.kind), conflict.document.text, conflict.path.text());
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
  Conflict conflict{.kind = ConflictKind::rewound, .path = *RelativePath::parse(rewound_word), .here_only = true};
  conflict.id = local_conflict_id(conflict);
  return conflict;
}

bool is_rewound_service(const Conflict& conflict) {
  return conflict.kind == ConflictKind::rewound && conflict.document.empty();
}

namespace {

std::string_view reason_of_place(const Conflict& conflict) {
  switch (place_matter(conflict)) {
    case PlaceMatter::renamed_on_both: return "renamed on both sides";
    case PlaceMatter::two_documents: return "two documents want this name";
    case PlaceMatter::not_synced: return "a document wants the name of what is not synced";
    case PlaceMatter::folder_there:
    case PlaceMatter::document_there:
    case PlaceMatter::became_folder:
    case PlaceMatter::no_document: return "a file and a folder want this name";
  }
  return "";
}

std::string_view reason_of_attachment(const Conflict& conflict) {
  if (!conflict.remote) return "file edited here, removed there";
  if (!conflict.local) return "file removed here, edited there";
  return conflict.base ? "file edited on both sides" : "file added on both sides, with different bytes";
}

}  // namespace

std::string_view reason_of(const Conflict& conflict) {
  switch (conflict.kind) {
    case ConflictKind::revision: return "edited on both sides";
    case ConflictKind::hash: return "created on both sides, with different texts";
    case ConflictKind::edit_delete: return "edited here, archived there";
    case ConflictKind::delete_edit: return "deleted here, edited there";
    case ConflictKind::path: return reason_of_place(conflict);
    case ConflictKind::attachment: return reason_of_attachment(conflict);
    case ConflictKind::rewound: return "the service went back to an older state";
  }
  return "";
}

}  // namespace ws::sync

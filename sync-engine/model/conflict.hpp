/// Two changes that a person must choose between. Pure.
#pragma once

#include <compare>
#include <optional>
#include <string>

#include "sync-engine/model/conflict_case.hpp"
#include "sync-engine/model/entry.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {

/// Who keeps the record of a conflict, and so has to hear of its end.
enum class ConflictRecord {
  none,     ///< a plan foresees it
  here,     ///< this tree alone: the service has no such conflict
  service,  ///< a commit recorded it there
  closing,  ///< the same; an edit settled it, and telling the service so decides for no text
};

/// Two changes that a person must choose between. Nothing of either is applied; both texts are kept.
struct Conflict {
  ConflictCase which = ConflictCase::edited_on_both;
  RelativePath path;  ///< of the file on disk, or where it would be
  DocumentId document = {};
  std::optional<Entry> base = {};    ///< empty: created on both sides
  std::optional<Entry> local = {};   ///< empty: nothing here is synced; see `ConflictSides`
  std::optional<Entry> remote = {};  ///< empty: archived there, or not seen yet
  std::string id = {};               ///< the service's, once a commit has recorded it; ours where the record is `here`
  ConflictRecord record = ConflictRecord::none;

  const ConflictCaseRow& row() const { return row_of(which); }
  ConflictKind kind() const { return row().kind; }
  bool is_about(ConflictSubject subject) const { return row().subject == subject; }
  bool is_here_only() const { return record == ConflictRecord::here; }
  bool is_on_service() const { return record == ConflictRecord::service || record == ConflictRecord::closing; }
  auto operator<=>(const Conflict&) const = default;
};

/// A conflict and the decision about it.
struct Choice {
  Conflict conflict;
  Keep keep = Keep::local;
  std::optional<std::string> merged = {};  ///< the text of `Keep::merged`
};

// Each of these finds the case of a new conflict by its sides; `which` of the argument is not read.

/// Both sides edited the text, or the file went here and the folder that took its place holds other documents.
ConflictCase find_text_case(const Conflict& sides);
/// What is here at `sides.path` belongs to no document or to another one than `sides.document`, which wants its place.
ConflictCase find_place_case(const Conflict& sides);
/// One document with another name on each side, or with a name here and a folder at its old one there.
ConflictCase find_rename_case(const Conflict& sides);
ConflictCase find_attachment_case(const Conflict& sides);
/// Of a conflict that the service recorded as `kind`.
ConflictCase find_recorded_case(ConflictKind kind, const Conflict& sides);

/// The same for the same two sides in every run: a UUID (version 8) made of what the conflict is about.
std::string local_conflict_id(const Conflict& conflict);

/// The conflict that stands for a service as a whole that went back to an older state. It has no document; its path is
/// the word that resolves it.
Conflict rewound_service();

}  // namespace ws::sync

/// Two changes that a person must choose between, and the ways in which two changes conflict: one row a case. Pure.
///
/// A new case is a value of `ConflictCase`, its row in `conflict.cpp`, the code that finds it, its text in the walk
/// and, where it is about a path, its decision. No switch over the cases has a default, so the compiler names each of
/// these but the one that finds it.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "sync-engine/model/action.hpp"
#include "sync-engine/model/entry.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {

/// Which two changes met. Set where the conflict is found and stored with it; nothing derives it from the sides later.
enum class ConflictCase {
  edited_on_both,
  edited_at_one_revision,  ///< the service has another text under the revision of the base: nothing can be merged
  created_on_both,
  edited_and_archived,        ///< edited here, archived on the service
  deleted_and_edited,         ///< deleted here, edited on the service
  renamed_on_both,            ///< one document with two new names
  renamed_on_both_kept_here,  ///< the same where the service might accept our name: one differs in case, or is nested
  two_documents,              ///< a file here at the very path of another document with another text
  two_documents_kept_here,  ///< the same where the service might accept ours: the names differ in case, or texts agree
  folder_there,             ///< a file here where the service has a folder
  document_there,           ///< a file in a folder here where the service has a document
  became_folder,            ///< the document's own file became a folder here, and was edited on the service
  not_synced,               ///< at the document's path is something that is not synced
  folder_at_old_name,       ///< renamed here; archived on the service, where a folder has its old name
  place_refused,            ///< the service gives the file no place, and has no document there to choose
  service_went_back,        ///< the service as a whole is in an older state
  document_went_back,       ///< the service has an older revision of it than the base
  attachment_edited_on_both,
  attachment_added_on_both,
  attachment_edited_and_removed,
  attachment_removed_and_edited,
  attachment_renamed_on_both,  ///< one file with two new names
  attachment_folder_there,     ///< a file here where the service has a folder
  attachment_folder_here,      ///< a folder here where the service has a file
};

/// The word of scripts. The first five are the service's too.
enum class ConflictKind { revision, hash, edit_delete, delete_edit, path, rewound, attachment };
std::string_view name(ConflictKind kind);  ///< "edit_delete"
std::optional<ConflictKind> find_conflict_kind(std::string_view name);

/// What has to be chosen.
enum class ConflictSubject {
  text,        ///< which text of a document holds
  place,       ///< where a document stands, not a text
  revision,    ///< which side holds after the service went back to an older state
  attachment,  ///< which bytes of an attachment hold; kept in the state of attachments
};

/// Which sides have something, as far as is known: of a conflict that only the service saw, its text comes later.
enum class ConflictSides { both, local, remote, either };

/// A person's decision: which text or name holds. `merged`: a third text, made of both.
enum class Keep { local, remote, both, merged };
std::optional<Keep> find_keep(std::string_view name);  ///< "local"

/// One way to decide a case.
struct ConflictResolution {
  Keep keep = Keep::local;
  std::string_view offer = {};             ///< "keep mine": its name in the walk; empty: not offered there
  std::optional<ActionKind> done_as = {};  ///< how a report tells it; empty: the run that follows carries it out
};

struct ConflictCaseRow {
  std::string_view word = {};  ///< of the state: "edited_on_both"
  ConflictKind kind = ConflictKind::revision;
  ConflictSubject subject = ConflictSubject::text;
  ConflictSides sides = ConflictSides::both;
  std::string_view reason = {};  ///< of a report: "edited on both sides"
  std::string_view title = {};   ///< of the walk
  /// Pushed so, a commit is sure to refuse it, and the service records both texts. Empty: the conflict is kept here
  /// alone, for what is pushed might be applied.
  std::optional<ActionKind> pushed_as = {};
  std::array<std::optional<ConflictResolution>, 4> resolutions = {};  ///< in the order of the walk

  const ConflictResolution* find(Keep keep) const;  ///< null: cannot be decided so
};

const ConflictCaseRow& row_of(ConflictCase which);
std::optional<ConflictCase> find_conflict_case(std::string_view word);
ConflictCase first_case_of(ConflictKind kind);

/// Who keeps the record of a conflict, and so has to hear of its end.
enum class ConflictRecord {
  none,     ///< a plan foresees it
  here,     ///< this tree alone: the key may only read, or the service might accept our text or name
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
  std::string device = {};                  ///< the machine that the local side comes from; empty: not known
  std::optional<RelativePath> beside = {};  ///< of an attachment: where the other side's bytes lie here

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

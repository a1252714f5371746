/// The ways in which two changes conflict, and what is known of each: one row a case.
///
/// A new case is a value of `ConflictCase`, its row in `conflict_case.cpp`, the code that finds it, its text in the
/// walk and, where it is about a path, its decision. No switch over the cases has a default, so the compiler names each
/// of these but the one that finds it.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "sync-engine/model/action.hpp"

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

}  // namespace ws::sync

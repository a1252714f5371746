/// What the reconciler thinks in: three trees, and the plan that brings them together. Plain values, compared whole.
///
/// A document is known by its id; path, text and revision are its attributes, so that a rename on one side and an edit
/// on the other do not collide. The base is what both sides last agreed on.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/sha256.hpp"
#include "sync-engine/model/entry.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {

/// What both sides last agreed on.
struct BaseTree {
  std::map<DocumentId, Entry> documents = {};
  /// Files that lie elsewhere than the service has their documents, because another file held the place.
  std::map<DocumentId, RelativePath> placed = {};

  /// Where the file of a known document lies on disk.
  const RelativePath& disk_path(const DocumentId& document) const;
  bool operator==(const BaseTree&) const = default;
};

/// The disk. `tracked` holds the known documents that were found, `created` the files that belong to none. A known
/// document in neither `tracked` nor `hindered` was deleted here.
struct LocalTree {
  std::map<DocumentId, Entry> tracked = {};
  std::map<RelativePath, Sha256> created = {};
  std::map<DocumentId, Hindrance> hindered = {};  ///< known, there, and not to be synced now
  std::vector<Skipped> skipped = {};              ///< sorted by path
  /// What the walk passes over and has a name that something wants which arrives: a file of another kind, a folder with
  /// such files. Nobody but the user moves it.
  std::set<RelativePath> foreign = {};
  bool operator==(const LocalTree&) const = default;
};

/// The service. A known document in none of the three was not mentioned and is as the base has it.
struct RemoteTree {
  std::map<DocumentId, Entry> changed = {};       ///< every document that differs from the base, or is new
  std::map<DocumentId, std::uint64_t> gone = {};  ///< archived, or moved out of the source, with its last revision
  /// Known, yet missing from a listing that was said to be complete: not a delete. Sorted.
  std::vector<DocumentId> absent = {};
  std::vector<Skipped> refused = {};  ///< documents whose path breaks a rule; listed, never written
  bool operator==(const RemoteTree&) const = default;
};

/// `decisions.md`, "plan": its ten, and ours.
enum class ActionKind {
  push_create,
  push_update,
  push_delete,
  push_move,
  pull_create,
  pull_update,
  pull_delete,
  pull_move,
  conflict,
  unchanged,
  merge,  ///< edited on both sides, the lines do not collide: the merged text goes to both
  adopt,  ///< created on both sides with the same bytes: one document from now on
};
std::string_view name(ActionKind kind);  ///< "push_create"
bool is_push(ActionKind kind);
bool is_pull(ActionKind kind);

/// One change to one side. It says what it expects to find there; if that is no longer so it is not done.
struct Action {
  ActionKind kind = ActionKind::unchanged;
  RelativePath path;
  std::string_view reason = {};                    ///< "edited here": half a sentence for people; a literal
  DocumentId document = {};                        ///< empty: `push_create`
  std::optional<RelativePath> previous_path = {};  ///< of a move; of a `push_create`: a file that is moved aside first
  std::optional<RelativePath> service_path = {};   ///< where the service has the document, if that is not `path`
  std::optional<Sha256> seen = {};    ///< the text on disk that the plan saw at the file's present path; empty: no file
  std::optional<Sha256> result = {};  ///< the text afterwards; empty: a delete
  std::uint64_t revision = 0;         ///< push: the revision it was made from; pull, merge, adopt: the one it leads to
  auto operator<=>(const Action&) const = default;
};

enum class ConflictKind { revision, hash, edit_delete, delete_edit, path, rewound };
std::string_view name(ConflictKind kind);  ///< "edit_delete"
std::optional<ConflictKind> find_conflict_kind(std::string_view name);

/// Two changes that a person must choose between. Nothing of either is applied; both texts are kept.
struct Conflict {
  ConflictKind kind = ConflictKind::revision;
  RelativePath path;  ///< of the file on disk, or where it would be
  DocumentId document = {};
  std::optional<Entry> base = {};    ///< empty: created on both sides
  std::optional<Entry> local = {};   ///< empty: deleted here
  std::optional<Entry> remote = {};  ///< empty: archived there
  std::string id = {};               ///< the service's, once a commit has recorded it; ours where `here_only`
  bool here_only = false;            ///< the service has no such conflict: it is known, and decided, here alone
  bool in_the_way = false;           ///< `local`, if anything, is not the document's own file
  bool closing = false;              ///< an edit settled it, and the service is told so: it decides for no text
  auto operator<=>(const Conflict&) const = default;
};

/// A person's word on a conflict: which text or name holds. `merged`: a third text, made of both.
enum class Keep { local, remote, both, merged };
std::optional<Keep> find_keep(std::string_view name);  ///< "local"

/// Whether it is about where a document stands, not about a text: a `path` conflict, and an edit on the service of a
/// file that became a folder here.
bool is_about_place(const Conflict& conflict);

/// What such a conflict is about.
enum class PlaceMatter {
  renamed_on_both,  ///< one document with two new names
  two_documents,    ///< the file here, and another document that wants its name
  folder_there,     ///< a file here where the service has a folder
  document_there,   ///< a file in a folder here where the service has a document
  became_folder,    ///< the document's own file became a folder here, and was edited there
  not_synced,       ///< what is here is nothing that is synced
  no_document,      ///< the service has no document to choose: it archived it, or refused the name
};
PlaceMatter place_matter(const Conflict& conflict);

/// A known document that is kept on both sides and not synced for now.
struct Detached {
  RelativePath path;
  DocumentId document = {};
  std::string reason = {};  ///< "symlink", "absent"
  auto operator<=>(const Detached&) const = default;
};

/// The base moves though neither side changes: equal edits, equal deletes, a new revision of the same text.
struct Settled {
  DocumentId document = {};
  std::optional<Entry> base = {};  ///< empty: forgotten
  auto operator<=>(const Settled&) const = default;
};

/// What `--only` names.
using WantedPath = std::function<bool(const RelativePath&)>;

/// Promise 6 of `safety.md`: why the plan as a whole needs a person's word.
struct Guard {
  std::size_t deletes_here = 0;
  std::size_t deletes_there = 0;
  std::size_t emptied_here = 0;  ///< texts that would become 0 bytes: they count as deleted
  std::size_t emptied_there = 0;
  std::size_t absent = 0;
  std::size_t tracked = 0;
  bool empty_listing = false;   ///< the service listed everything it has, and that is nothing
  bool foreign_source = false;  ///< it answered for another source than the one that the tree is tied to
  auto operator<=>(const Guard&) const = default;
};

/// All that is to be done, in order of path. Pure data: `status` shows it, `run` does it.
struct Plan {
  std::vector<Action> actions = {};
  std::vector<Conflict> conflicts = {};
  std::vector<Settled> settled = {};
  std::vector<Skipped> skipped = {};
  std::vector<Detached> detached = {};
  std::optional<Guard> guard = {};  ///< set: nothing of it may be done without `allow_deletes`
  std::optional<Guard> held = {};   ///< set: what the guard would stop is left out, by `RunOptions::hold_deletes`
  bool partial = false;             ///< there is more to do that nobody asked for

  bool empty() const { return actions.empty() && conflicts.empty() && settled.empty(); }
  bool operator==(const Plan&) const = default;
};

}  // namespace ws::sync

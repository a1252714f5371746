/// Input and output of the reconciler: the three trees (base, local, remote) and the plan. Plain values.
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
#include <vector>

#include "api-client/base/sha256.hpp"
#include "sync-engine/model/action.hpp"
#include "sync-engine/model/conflict.hpp"
#include "sync-engine/model/entry.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {

/// What both sides last agreed on.
struct BaseTree {
  std::map<DocumentId, Entry> documents = {};
  /// Files that lie elsewhere than the service has their documents, because another file held the place.
  std::map<DocumentId, RelativePath> displaced_to = {};
  /// Documents that were out of sight here when they were last looked for: missing on either side is no proof that
  /// somebody deleted them.
  std::set<DocumentId> left_out = {};

  /// Where the file of a known document lies on disk.
  const RelativePath& disk_path(const DocumentId& document) const;
  bool operator==(const BaseTree&) const = default;
};

/// The disk. `tracked` holds the known documents that were found, `created` the files that belong to none. A known
/// document in neither `tracked` nor `unsyncable` was deleted here.
struct LocalTree {
  std::map<DocumentId, Entry> tracked = {};
  std::map<RelativePath, Sha256> created = {};
  std::map<DocumentId, SkipReason> unsyncable = {};   ///< known, there, and not to be synced now
  std::vector<Skipped> skipped = {};                  ///< sorted by path
  std::map<RelativePath, DocumentId> set_aside = {};  ///< of the skipped twins: those that are files of a document
  /// Files of other kinds, and folders with such files, at a path that an incoming document needs. The engine never
  /// moves or replaces them.
  std::set<RelativePath> obstacles = {};
  bool operator==(const LocalTree&) const = default;
};

/// The service. A known document in none of the three was not mentioned and is as the base has it.
struct RemoteTree {
  std::map<DocumentId, Entry> changed = {};          ///< every document that differs from the base, or is new
  std::map<DocumentId, DocumentRevision> gone = {};  ///< archived, or moved out of the source, with its last revision
  /// Known documents that are missing from a listing that claims to be complete. Not a delete. Sorted.
  std::vector<DocumentId> absent = {};
  std::vector<Skipped> refused = {};  ///< documents whose path breaks a rule; listed, never written
  /// Known documents that are among the refused now: they hold the place of the base no more.
  std::set<DocumentId> moved_out = {};
  bool operator==(const RemoteTree&) const = default;
};

/// A known document that is kept on both sides and not synced for now.
struct Detached {
  RelativePath path;
  DocumentId document = {};
  std::string reason = {};  ///< "symlink", "absent"
  auto operator<=>(const Detached&) const = default;
};

/// The base changes though neither side is written: equal edits, equal deletes, a new revision of the same text.
struct Settled {
  DocumentId document = {};
  std::optional<Entry> base = {};  ///< empty: forgotten
  auto operator<=>(const Settled&) const = default;
};

/// What `--only` names.
using WantedPath = std::function<bool(const RelativePath&)>;

/// What is done of a plan: all of it, what comes here, or what goes out (of files: staged, not published). What only
/// goes to the service is weighed with all: a pull for it stores what comes, which the guard may have to stop.
enum class Half { both, here, there };

/// The delete guard (promise 6 of `safety.md`): why the plan needs confirmation, with the counts that are shown.
struct Guard {
  Half half = Half::both;  ///< only what it takes away is counted
  std::size_t deletes_here = 0;
  std::size_t deletes_there = 0;
  std::size_t emptied_here = 0;  ///< texts that would become 0 bytes: they count as deleted
  std::size_t emptied_there = 0;
  std::size_t absent = 0;
  std::size_t tracked = 0;             ///< notes
  bool empty_listing = false;          ///< the service listed everything it has, and that is nothing
  bool foreign_source = false;         ///< it answered for another source than the one this tree is bound to
  std::size_t files_deleted_here = 0;  ///< files beside the notes: they have counts of their own
  std::size_t files_deleted_there = 0;
  std::size_t files_unlinked_here = 0;  ///< of those, shown by no note any more since this very run
  std::size_t files_unlinked_there = 0;
  std::size_t files_tracked = 0;
  auto operator<=>(const Guard&) const = default;
};

/// The guard against growth: files that would be received and wait until somebody confirms them.
struct Growth {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
  auto operator<=>(const Growth&) const = default;
};

/// Everything to be done, in order of path. `status` shows it, `run` executes it.
struct Plan {
  std::vector<Action> actions = {};
  std::vector<Conflict> conflicts = {};
  std::vector<Settled> settled = {};
  std::vector<Skipped> skipped = {};
  std::vector<Detached> detached = {};
  std::optional<Guard> guard = {};  ///< set: nothing of it may be done without `allow_deletes`
  std::optional<Guard> held = {};   ///< set: what the guard would stop is left out, by `RunOptions::hold_deletes`
  bool partial = false;             ///< `--only` or a hold left some of it out

  /// The service's state is older than the one that was agreed on: nothing is compared until a person decides.
  bool went_back() const;
  bool empty() const { return actions.empty() && conflicts.empty() && settled.empty(); }
  bool operator==(const Plan&) const = default;
};

/// One local change, as it is sent to the service's plan and push operations.
struct PushItem {
  ActionKind kind = ActionKind::push_update;
  RelativePath path;
  std::optional<RelativePath> previous_path = {};
  DocumentId document = {};
  std::optional<Sha256> hash = {};  ///< empty: deleted here
  std::uint64_t size_bytes = 0;
  DocumentRevision revision = {};  ///< the one that it was made from; 0: new
  bool operator==(const PushItem&) const = default;
};

/// Of a push action; its size is not known.
PushItem push_item_of(const Action& action);

/// What a commit publishes; journalled before it is sent, and sent again as it is after a crash.
struct CommitRequest {
  std::string source_id = {};
  std::string plan_id = {};
  std::vector<std::string> push_ids = {};
  SourceRevision expected_revision = {};
  std::string client_id = {};
  std::string message = {};
  std::string device = {};  ///< the machine that it comes from; stands in the message
};

}  // namespace ws::sync

/// What a call of the sync engine is asked for, and what it tells while it works.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api-client/base/owner.hpp"
#include "sync-engine/model/plan.hpp"

namespace ws::sync {

struct RunOptions {
  Half half = Half::both;
  std::optional<Keep> on_conflict = {};  ///< empty: conflicts stay open; never `merged`
  bool merge = true;                     ///< false: every edit on both sides is a conflict
  bool accept_deletes = false;           ///< a local delete wins over a remote edit or move
  bool allow_deletes = false;            ///< confirms the guard
  bool keep_archived = false;            ///< what the service archived stays here, as what was out of sight then
  bool allow_large = false;              ///< confirms the guard against growth
  bool hold_deletes = false;             ///< where the guard would stop: all but the deletes is done
  bool backs_off = false;                ///< a transfer that failed waits longer and longer before the next try
  bool offline = false;                  ///< `status` and `plan` against what was last heard of the service
  bool dry_run = false;                  ///< leaves not even a new stat cache
  bool looks_only = false;               ///< set by `status`: nothing will be done
  bool name_others = false;              ///< `status`: names the files of no kind that is synced
  bool whole = false;                    ///< all of the three trees is looked at, whatever the cache says
  std::string message = {};              ///< of the commit
  WantedPath only = {};                  ///< empty: all
  std::set<DocumentId> only_too = {};    ///< wanted by `only` wherever they lie
  bool leaves_links = false;             ///< of an undo: the texts have them as they are to be, also with `links: keep`
  bool makes_room = false;               ///< what lies in the places of `only_too` is received as well
  std::set<RelativePath> absent = {};    ///< taken for gone here, though they may lie here; with `only` and `whole`
  std::set<RelativePath> made = {};      ///< written anew by this program: none of them is a file that was renamed
  WantedPath busy = {};                  ///< still being written: a missing file may become it, and waits
  /// Asked after each walk: whether a file was removed here that `only` says nothing of, for it was there when the run
  /// began. Then the run fails with the code `removed_meanwhile`.
  std::function<bool()> was_any_removed = {};
};

enum class Stage { scan, pull, write, push, commit, upload, download };
struct Progress {
  Stage stage = Stage::scan;
  std::uint64_t done = 0;
  std::uint64_t total = 0;  ///< 0: not known
};

struct EngineOptions {
  std::chrono::milliseconds wait_lock{0};  ///< how long to wait for another process
  std::function<void(const Progress&)> progress = {};
  const std::atomic<bool>* cancelled = nullptr;
  std::string command = {};  ///< the command line, for the record of what it did; empty: the name of the call
  std::string user = {};     ///< who works here, in the history, where the tree has no account; empty: "you"
  std::string device = {};   ///< what this machine is called in runs, conflicts and commits; empty: nothing is said
  unsigned threads = 2;
  TrustedFolders trusted = {};  ///< whose `.ws/` may belong to somebody else
  /// Of one commit. Of its answer 1,000,000 JSON values and 32 MiB are read: that leaves 50 and 1,600 bytes an item.
  std::size_t commit_items = 20'000;
};

/// An open conflict with its texts, as far as they are known.
struct ConflictTexts {
  Conflict conflict;
  std::optional<std::string> base = {};
  std::optional<std::string> local = {};
  std::optional<std::string> remote = {};
  std::optional<RelativePath> remote_place = {};  ///< where the other document lies here; empty: it does not
  /// Front matter keys of which the later date wins in a merge (`.ws/config.yaml`).
  std::vector<std::string> merge_later = {};
};

}  // namespace ws::sync

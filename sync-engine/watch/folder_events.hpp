/// What happens in a folder, and the time: the watch's port to the world.
///
/// `inotify_events.*` is the real one; tests have a folder and a clock of their own, in which waiting costs nothing.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/watch/debounce.hpp"

namespace ws::sync {

struct FileEvent {
  std::string path = {};  ///< of a file or folder, relative to the root
  FileEventKind kind = FileEventKind::changed;
};

struct EventBatch {
  std::vector<FileEvent> changed = {};  ///< in the order in which it happened; one may stand there many times
  bool any = false;                     ///< something happened, if only to files that are not synced
  bool overflowed = false;              ///< some were lost: anything may have changed
  bool incomplete = false;              ///< from now on some folders are not watched: the system allows no more
};

class FolderEvents {
 public:
  FolderEvents() = default;
  FolderEvents(const FolderEvents&) = delete;
  FolderEvents& operator=(const FolderEvents&) = delete;
  virtual ~FolderEvents() = default;

  /// Waits at most so long, less where something happens or a signal comes. 0: only what has happened already. Fails
  /// with `disk`.
  virtual Result<EventBatch> wait(std::chrono::milliseconds at_most) = 0;
  virtual Instant now() const = 0;
  /// Whether every change in the tree causes an event. False on a network share, where other machines make changes, and
  /// when the system allows too few watches.
  virtual bool sees_all() const = 0;
};

}  // namespace ws::sync

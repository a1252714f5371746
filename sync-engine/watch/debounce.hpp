/// Debounces file changes: decides when changed files are taken up, from events and the time alone; and the watch's
/// port to the world.
///
/// A file is ready once no event has come for it for a while, and its writer has closed it or left it alone for `open`.
/// The while is `least` for a file that another one was renamed over: it is whole. For a file that was written in place
/// it is `quiet` until the pauses within such saves are known, then a multiple of the longest, so that a program that
/// saves in several steps has finished. All files are taken up together when every one is ready, or `patience` after
/// the first was: a file that is written continuously delays the others no longer. It is ready as it is, `longest`
/// after its first change. A deleted file is ready after `deleted`, so that a program that deletes and writes anew
/// keeps the document; it delays nothing else. Deletes that follow each other sooner than that, for `longest` at most,
/// are ready with the last of them: the guard weighs them together.
///
/// `inotify_events.*` is the real port; tests have a folder and a clock of their own, in which waiting costs nothing.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"

namespace ws::sync {

/// Milliseconds since some moment; goes on while the machine sleeps.
using Instant = std::chrono::milliseconds;

struct DebounceTimes {
  std::chrono::milliseconds quiet{500};
  std::chrono::milliseconds least{50};
  std::chrono::milliseconds open{10'000};
  std::chrono::milliseconds deleted{5'000};
  std::chrono::milliseconds patience{2'000};
  std::chrono::milliseconds longest{60'000};
};

enum class FileEventKind {
  changed,
  written,   ///< by a program that has not closed it yet
  closed,    ///< by its writer
  replaced,  ///< a file from where nothing is watched took its place
  moved,     ///< another file of the tree took its place
  removed,   ///< deleted, or moved to where nothing is watched
};

class ChangeDebouncer {
 public:
  explicit ChangeDebouncer(const DebounceTimes& times = {}) : times_(times) {}

  /// Something happened to the file or folder `path`; empty: nobody knows to which.
  void note(const std::string& path, Instant now, FileEventKind kind = FileEventKind::changed);
  /// When to take up what is ready by then; empty: nothing has changed.
  std::optional<Instant> due() const;
  /// Forgets what is ready. Answers what is not: it is still being written, and waits for a later time.
  std::set<std::string> take(Instant now);

 private:
  struct Change {
    Instant first{0};
    Instant last{0};
    FileEventKind kind = FileEventKind::changed;  ///< the last that was another one
    std::chrono::milliseconds longest_pause{0};   ///< between a close and what came after it
  };
  /// When the deletes of a burst are taken up; empty: there are none.
  std::optional<Instant> deletes_at_rest() const;
  Instant ready_at(const Change& change, std::optional<Instant> deletes) const;
  std::chrono::milliseconds wait_for(const Change& change) const;
  void learn(std::chrono::milliseconds pause);
  /// Whether a save was taken for whole before it was.
  void note_split_save(const std::string& path, Instant now);
  /// When those that were not removed are taken up together; empty: there are none.
  std::optional<Instant> others_due() const;

  DebounceTimes times_;
  std::map<std::string, Change> changes_;
  std::map<std::string, Instant> taken_;      ///< the last change of each file written in place that was just taken
  std::chrono::milliseconds usual_pause_{0};  ///< the longest within a save, of late
  int saves_ = 0;                             ///< that it was learned from
};

/// Whether `path` is one of `changing`, or lies below one of them.
bool is_changing(const std::set<std::string>& changing, const std::string& path);

struct FileEvent {
  std::string path = {};  ///< of a file or folder, relative to the root
  FileEventKind kind = FileEventKind::changed;
  bool is_other = false;  ///< of no kind that is synced by itself: notes may show it
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

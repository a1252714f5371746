/// When changed files are taken up: a function of what happened and of the time, and of nothing else.
///
/// A file is ready once nothing has happened to it for a while, and its writer has closed it or left it alone for
/// `open`. The while is `least` for one that another file was renamed over: it is whole. For one that was written in
/// place it is `quiet` until the pauses within such saves are known, and then a multiple of the longest, so that a
/// program that saves in several steps is through by then. All are taken up together when every one is
/// ready, or `patience` after the first was: one that is written on and on holds the others up no longer. Such a one is
/// ready as it is, `longest` after its first change. A deleted file is ready after `deleted`: a program that deletes
/// and writes anew keeps the document. It holds nothing else up.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace ws::sync {

/// Milliseconds since some moment; goes on while the machine sleeps.
using Instant = std::chrono::milliseconds;

struct QuietTimes {
  std::chrono::milliseconds quiet{500};
  std::chrono::milliseconds least{50};
  std::chrono::milliseconds open{10'000};
  std::chrono::milliseconds deleted{5'000};
  std::chrono::milliseconds patience{2'000};
  std::chrono::milliseconds longest{60'000};
};

enum class Deed {
  changed,
  written,   ///< by a program that has not closed it yet
  closed,    ///< by its writer
  replaced,  ///< a file from where nothing is watched took its place
  moved,     ///< another file of the tree took its place
  removed,   ///< deleted, or moved to where nothing is watched
};

class QuietChanges {
 public:
  explicit QuietChanges(const QuietTimes& times = {}) : times_(times) {}

  /// Something happened to the file or folder `path`; empty: nobody knows to which.
  void note(const std::string& path, Instant now, Deed deed = Deed::changed);
  /// When to take up what is ready by then; empty: nothing has changed.
  std::optional<Instant> due() const;
  /// Forgets what is ready. Answers what is not: it is still being written, and waits for a later time.
  std::set<std::string> take(Instant now);

 private:
  struct Change {
    Instant first{0};
    Instant last{0};
    Deed deed = Deed::changed;                   ///< the last that was another one
    std::chrono::milliseconds longest_pause{0};  ///< between a close and what came after it
  };
  Instant ready_at(const Change& change) const;
  std::chrono::milliseconds quiet_for(const Change& change) const;
  void learn(std::chrono::milliseconds pause);
  /// Whether a save was taken for whole before it was.
  void look_for_split(const std::string& path, Instant now);
  /// When the removed ones, or the others, are taken up together; empty: there are none.
  std::optional<Instant> due(bool removed) const;

  QuietTimes times_;
  std::map<std::string, Change> changes_;
  std::map<std::string, Instant> taken_;      ///< the last change of each file written in place that was just taken
  std::chrono::milliseconds usual_pause_{0};  ///< the longest within a save, of late
  int saves_ = 0;                             ///< that it was learned from
};

/// Whether `path` is one of `changing`, or lies below one of them.
bool is_changing(const std::set<std::string>& changing, const std::string& path);

}  // namespace ws::sync

/// When changed files are taken up: a function of what happened and of the time, and of nothing else.
///
/// A file is ready once nothing has happened to it for `quiet`, and its writer has closed it or left it alone for
/// `open`; an editor that saves beside it and renames is through by then. All are taken up together when every one is
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
  std::chrono::milliseconds open{10'000};
  std::chrono::milliseconds deleted{5'000};
  std::chrono::milliseconds patience{2'000};
  std::chrono::milliseconds longest{60'000};
};

enum class Deed {
  changed,
  written,  ///< by a program that has not closed it yet
  closed,   ///< by its writer, or another file took its place
  removed,  ///< deleted, or moved to where nothing is watched
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
    bool is_open = false;
    bool is_removed = false;
  };
  Instant ready_at(const Change& change) const;
  /// When the removed ones, or the others, are taken up together; empty: there are none.
  std::optional<Instant> due(bool removed) const;

  QuietTimes times_;
  std::map<std::string, Change> changes_;
};

/// Whether `path` is one of `changing`, or lies below one of them.
bool is_changing(const std::set<std::string>& changing, const std::string& path);

}  // namespace ws::sync

/// A progress line on stderr.
///
/// Only on a terminal, after 300 ms, at most ten times a second, and erased at the end; with a bar, the rate
/// and the remaining time if the total is known. `--progress plain|json` writes lines instead, `none`
/// nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

enum class ProgressStyle { line, plain, json, none };

/// `--progress auto|plain|json|none`; auto shows a line if stderr is a terminal (nothing with `--quiet`, separate lines
/// with `--plain`). Fails with `usage`.
Result<ProgressStyle> parse_progress(const std::optional<std::string>& text, const Terminal& terminal);

/// The unit: for users, bytes are shown in MiB and seconds as a duration; machines get plain numbers.
enum class Counted { items, bytes, seconds };

class ProgressLine {
 public:
  ProgressLine(Terminal& terminal, ProgressStyle style);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// `stage` is a word or two, cleaned before display. `total` 0: unknown. `more` is shown only on a terminal.
  void update(std::string_view stage,
              std::uint64_t done,
              std::uint64_t total,
              Counted counted = Counted::items,
              std::string_view more = {});
  /// Erases the line; so does whatever is written next.
  void clear();

 private:
  using Instant = std::chrono::steady_clock::time_point;

  Terminal& terminal_;
  ProgressStyle style_;
  Instant began_;
  Instant shown_at_ = {};
  std::string stage_ = {};      ///< the current stage
  Instant stage_began_ = {};    ///< time of its first update
  std::uint64_t at_first_ = 0;  ///< progress at its first update
  bool shown_ = false;
};

}  // namespace ws::cli

/// A progress line on stderr.
///
/// On a terminal only, from 300 ms on, at most ten times a second, and gone when it is over; where the total is known,
/// with a bar, the rate and the time that is left; `--progress plain|json`
/// writes lines instead, `none` nothing.
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

/// `--progress auto|plain|json|none`; auto is a line where stderr is a terminal (nothing with
/// `--quiet`, lines with `--plain`). Fails with `usage`.
Result<ProgressStyle> parse_progress(const std::optional<std::string>& text, const Terminal& terminal);

/// What is counted: bytes are told in MiB and seconds as a time to people, as they are to machines.
enum class Counted { items, bytes, seconds };

class ProgressLine {
 public:
  ProgressLine(Terminal& terminal, ProgressStyle style);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// `stage`: a word or two, cleaned where a person reads them. `total` 0: not known. `more`: for people alone.
  void update(std::string_view stage,
              std::uint64_t done,
              std::uint64_t total,
              Counted counted = Counted::items,
              std::string_view more = {});
  /// Erases the line, before anything else is written.
  void clear();

 private:
  using Instant = std::chrono::steady_clock::time_point;

  Terminal& terminal_;
  ProgressStyle style_;
  Instant began_;
  Instant shown_at_ = {};
  std::string stage_ = {};      ///< that is under way
  Instant stage_began_ = {};    ///< when it was told first
  std::uint64_t at_first_ = 0;  ///< what was done then
  bool shown_ = false;
};

}  // namespace ws::cli

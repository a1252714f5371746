/// A program on a terminal of its own, driven key by key; what it shows is read as whole frames.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include <sys/types.h>

#include "tests/support/run_command.hpp"

namespace ws::test {

/// Knows the sequences that our screens are drawn with, and no other: each unknown one is a failure of its own.
class TerminalSession {
 public:
  /// stdin, stdout and stderr are one terminal of this size.
  TerminalSession(const Command& command, int columns, int rows = 40);
  TerminalSession(const TerminalSession&) = delete;
  TerminalSession& operator=(const TerminalSession&) = delete;
  /// Kills what still runs.
  ~TerminalSession();

  void type(const std::string& keys);
  /// Until a frame that came after the last `type` shows `text` (looks aside), or, outside the whole screen, the lines
  /// since the last wait do. Throws, with what is to be seen, after the command's timeout or when the program ended.
  void wait_for(const std::string& text);
  /// Until the screen is given back.
  void wait_for_lines();
  void resize(int columns, int rows);
  void signal(int number) const;
  pid_t pid() const { return child_; }
  /// Whether a key is echoed and a line is waited for, as a shell needs it.
  bool is_as_usual() const;
  /// Whether the whole screen is taken.
  bool has_screen() const { return has_screen_; }

  /// The last frame, one line a row without the blanks at its end; the looks stay in it as `␛[1m`.
  std::string screen() const;
  /// All that was written outside of frames, line ends as `\n`.
  const std::string& lines() const { return lines_; }
  /// Waits for the end: exit code, 128 + N where signal N ended it.
  int end();

 private:
  bool read_more();
  void take(char c);
  void obey(const std::string& sequence);
  std::string without_looks(const std::string& text) const;
  [[noreturn]] void give_up(const std::string& why) const;

  pid_t child_ = -1;
  int terminal_ = -1;
  std::chrono::steady_clock::time_point deadline_;
  std::string sequence_ = {};  ///< begun, not ended
  std::string frame_ = {};     ///< under way
  std::string shown_ = {};     ///< the last one
  std::string lines_ = {};
  std::size_t frames_ = 0;
  std::size_t frames_before_ = 0;
  std::size_t lines_before_ = 0;
  bool in_frame_ = false;
  bool has_screen_ = false;
  bool is_over_ = false;
};

}  // namespace ws::test

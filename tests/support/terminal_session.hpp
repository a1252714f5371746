/// Controls a program on a pseudo-terminal key by key and reads complete frames.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include <sys/types.h>

#include "tests/support/run_command.hpp"

namespace ws::test {

/// Understands only the escape sequences that our screens use: any other one is reported as a failure.
class TerminalSession {
 public:
  /// stdin, stdout and stderr are one terminal of this size.
  TerminalSession(const Command& command, int columns, int rows = 40);
  TerminalSession(const TerminalSession&) = delete;
  TerminalSession& operator=(const TerminalSession&) = delete;
  /// Kills the program if it is still running.
  ~TerminalSession();

  void type(const std::string& keys);
  /// Waits until a frame after the last `type` contains `text` (ignoring styles), or, outside full screen, the lines
  /// since the last wait do. Throws, with what is visible, after the command's timeout or at the program's end.
  void wait_for(const std::string& text);
  /// Waits until the program leaves full screen.
  void wait_for_lines();
  void resize(int columns, int rows);
  void signal(int number) const;
  pid_t pid() const { return child_; }
  /// Whether the terminal echoes and is in line mode, as a shell needs it.
  bool is_as_usual() const;
  /// Whether the program is in full screen.
  bool has_screen() const { return has_screen_; }

  /// The last frame, one line per row without trailing spaces; styles are kept as `␛[1m`.
  std::string screen() const;
  /// Everything written outside of frames, with `\n` as line end.
  const std::string& lines() const { return lines_; }
  /// Waits for the program to exit: exit code, or 128 + N if it was killed by signal N.
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
  std::string sequence_ = {};  ///< incomplete escape sequence
  std::string frame_ = {};     ///< incomplete frame
  std::string shown_ = {};     ///< the last complete frame
  std::string lines_ = {};
  std::size_t frames_ = 0;
  std::size_t frames_before_ = 0;
  std::size_t lines_before_ = 0;
  bool in_frame_ = false;
  bool has_screen_ = false;
  bool is_over_ = false;
};

}  // namespace ws::test

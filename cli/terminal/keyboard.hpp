/// Reads single key presses from the terminal, without echo and without Enter.
///
/// Between `begin` and `end` the terminal is in raw mode; the destructor restores it. Ctrl-C still sends SIGINT;
/// Ctrl-Z and SIGTSTP suspend the process: `before_stop` and `after_stop` leave and re-enter the full screen around
/// it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "cli/terminal/key_press.hpp"

namespace ws::cli {

class Keyboard {
 public:
  /// `cancelled` is set by a signal that requests the end of this process.
  explicit Keyboard(const std::atomic<bool>& cancelled);
  ~Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  /// Returns false if stdin is not a terminal. Idempotent, as is `end`.
  bool begin();
  void end();

  std::function<void()> before_stop = {};
  std::function<void()> after_stop = {};

  /// Waits for a key. Returns `stopped` after a signal or if the terminal is closed, `redraw` if its size changed.
  KeyPress next();

 private:
  struct Saved;
  KeyPress take();
  KeyPress after_escape();
  bool read_byte(char& byte, int wait_milliseconds);
  void suspend();

  const std::atomic<bool>& cancelled_;
  std::unique_ptr<Saved> saved_;
};

}  // namespace ws::cli

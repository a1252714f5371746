/// Single keys from the terminal, without echo and without waiting for Enter.
///
/// Between `begin` and `end` the terminal is raw; whatever ends this process in an orderly way puts it back (the
/// destructor). Ctrl-C is the signal SIGINT as ever, Ctrl-Z and SIGTSTP suspend: `before_stop` and `after_stop` give
/// the screen back in between.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "cli/terminal/key_press.hpp"

namespace ws::cli {

class Keyboard {
 public:
  /// `cancelled` is set by a signal that asks this process to end.
  explicit Keyboard(const std::atomic<bool>& cancelled);
  ~Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  /// False where stdin is no terminal. Idempotent, as `end` is.
  bool begin();
  void end();

  std::function<void()> before_stop = {};
  std::function<void()> after_stop = {};

  /// Waits. `stopped` once a signal asks to end or the terminal is gone; `redraw` when the screen changed its size.
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

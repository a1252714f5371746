/// Where a walk is seen and answered: a whole screen with single keys, or lines for whoever has none.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "cli/base/environment.hpp"
#include "cli/terminal/key_press.hpp"
#include "cli/terminal/terminal.hpp"
#include "cli/walk/frame.hpp"

namespace ws::cli::walk {

class Surface {
 public:
  Surface() = default;
  Surface(const Surface&) = delete;
  Surface& operator=(const Surface&) = delete;
  virtual ~Surface() = default;

  /// Shows the page and waits for a key that `walk` can be pressed with.
  virtual KeyPress ask(Walk& walk, const Position& position) = 0;
  /// The terminal is as it was until the next `ask`: for another program, or while something takes its time.
  virtual void lend() = 0;
  /// Keys do nothing for a while and Ctrl-C is a signal: something is carried out.
  virtual void busy() = 0;
  /// A line that stays when the walk is over.
  virtual void tell(const std::string& line) = 0;
};

/// Lines where the terminal is plain or TERM=dumb, else a whole screen. Both write on stderr. `cancelled` rises when a
/// signal asks this process to end.
std::unique_ptr<Surface> make_surface(Terminal& terminal,
                                      const Environment& environment,
                                      const std::atomic<bool>& cancelled);

}  // namespace ws::cli::walk

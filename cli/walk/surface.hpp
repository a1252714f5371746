/// Shows the walk and reads its keys: full screen with single keys, or line by line.
#pragma once

#include <atomic>
#include <memory>
#include <string>

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

  /// Shows the page and waits for one of its keys.
  virtual KeyPress ask(Walk& walk, const Position& position) = 0;
  /// Restores the terminal until the next `ask`: to run another program, or during a long step.
  virtual void lend() = 0;
  /// Ignores keys and lets Ctrl-C raise its signal while a decision is carried out.
  virtual void busy() = 0;
  /// Prints a line that remains after the walk ends.
  virtual void tell(const std::string& line) = 0;
};

/// Line by line with `--plain` or TERM=dumb, else full screen. Both write to stderr. `cancelled` is set when a signal
/// asks this process to end.
std::unique_ptr<Surface> make_surface(Terminal& terminal,
                                      const Environment& environment,
                                      const std::atomic<bool>& cancelled);

}  // namespace ws::cli::walk

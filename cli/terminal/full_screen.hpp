/// Full-screen mode on stderr: the terminal's alternate screen, drawn frame by frame.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/terminal.hpp"

namespace ws::cli {

class FullScreen {
 public:
  explicit FullScreen(Terminal& terminal) : terminal_(terminal) {}
  /// Leaves full-screen mode.
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  /// Both are idempotent.
  void enter();
  void leave();

  struct Size {
    int columns = 80;
    int rows = 24;
  };
  /// The current size; if the system does not report it, the size at the start.
  Size size() const;
  /// Draws rendered lines from the top and clears the rest. The caller must have cleaned them. One write.
  void draw(const std::vector<std::string>& lines);

 private:
  Terminal& terminal_;
  bool is_ours_ = false;
};

}  // namespace ws::cli

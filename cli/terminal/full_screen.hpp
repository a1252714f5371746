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
  /// As it is now; where the system does not say, as it was at the start.
  Size size() const;
  /// Painted lines, cleaned by whoever made them, from the top; the rest of the screen is empty. One write.
  void draw(const std::vector<std::string>& lines);

 private:
  Terminal& terminal_;
  bool is_ours_ = false;
};

}  // namespace ws::cli

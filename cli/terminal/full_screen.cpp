#include "cli/terminal/full_screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace ws::cli {
namespace {

// xterm's private modes: 1049 alternate screen, 25 cursor, 2026 synchronized update (terminals ignore modes that they
// do not know).
constexpr std::string_view take_screen = "\033[?1049h\033[?25l";
constexpr std::string_view give_screen_back = "\033[?25h\033[?1049l";
constexpr std::string_view begin_frame = "\033[?2026h\033[H";
constexpr std::string_view end_frame = "\033[J\033[?2026l";
constexpr std::string_view end_of_row = "\033[K";

}  // namespace

FullScreen::~FullScreen() { leave(); }

void FullScreen::enter() {
  if (is_ours_) return;
  is_ours_ = true;
  terminal_.write(Stream::err, take_screen);
}

void FullScreen::leave() {
  if (!is_ours_) return;
  is_ours_ = false;
  terminal_.write(Stream::err, give_screen_back);
}

FullScreen::Size FullScreen::size() const {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {.columns = terminal_.columns(), .rows = terminal_.rows()};
  }
  return {.columns = size.ws_col, .rows = size.ws_row};
}

void FullScreen::draw(const std::vector<std::string>& lines) {
  std::string frame(begin_frame);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i != 0) frame += "\r\n";
    frame += lines[i];
    frame += end_of_row;
  }
  frame += end_frame;
  terminal_.write(Stream::err, frame);
}

}  // namespace ws::cli

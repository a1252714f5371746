#include "cli/walk/surface.hpp"

#include <utility>

#include "cli/terminal/keyboard.hpp"
#include "cli/walk/plain_page.hpp"

namespace ws::cli::walk {
namespace {

// xterm's private modes: 1049 alternate screen, 25 cursor, 2026 synchronized update (terminals ignore modes that they
// do not know).
constexpr std::string_view take_screen = "\033[?1049h\033[?25l";
constexpr std::string_view give_screen_back = "\033[?25h\033[?1049l";
constexpr std::string_view begin_frame = "\033[?2026h\033[H";
constexpr std::string_view end_frame = "\033[J\033[?2026l";
constexpr std::string_view end_of_row = "\033[K";

/// The terminal's alternate screen on stderr, drawn frame by frame.
class ScreenSurface final : public Surface {
 public:
  ScreenSurface(Terminal& terminal, const std::atomic<bool>& cancelled) : terminal_(terminal), keyboard_(cancelled) {
    keyboard_.before_stop = [this] { leave(); };
    keyboard_.after_stop = [this] { enter(); };
  }
  ~ScreenSurface() override {
    lend();
    for (const std::string& line : told_) terminal_.write(Stream::err, line + "\n");
  }

  KeyPress ask(Walk& walk, const Position& position) override {
    // Raw mode before the first frame, so that no typed key is echoed into it.
    if (!keyboard_.begin()) return KeyPress::of(KeyPress::Sort::stopped);
    enter();
    draw(walk, position);
    return keyboard_.next();
  }

  void lend() override {
    leave();
    keyboard_.end();
  }

  void busy() override { keyboard_.end(); }

  /// Printed after the alternate screen is left, which would discard it.
  void tell(const std::string& line) override { told_.push_back(line); }

 private:
  void enter() {
    if (!std::exchange(is_ours_, true)) terminal_.write(Stream::err, take_screen);
  }

  void leave() {
    if (std::exchange(is_ours_, false)) terminal_.write(Stream::err, give_screen_back);
  }

  /// From the top, in one write.
  void draw(Walk& walk, const Position& position) {
    const Terminal::Size size = terminal_.size_now();
    const ScreenSize room{.columns = static_cast<std::size_t>(size.columns),
                          .rows = static_cast<std::size_t>(size.rows)};
    std::string text;
    for (const ScreenRow& row : frame(walk, position, room, terminal_.has_color(Stream::err))) {
      text += text.empty() ? begin_frame : "\r\n";
      for (const Fragment& fragment : row) text += terminal_.paint(Stream::err, fragment.look, fragment.text);
      text += end_of_row;
    }
    terminal_.write(Stream::err, text += end_frame);
  }

  Terminal& terminal_;
  bool is_ours_ = false;
  Keyboard keyboard_;
  std::vector<std::string> told_ = {};
};

/// Prints each new page as lines and reads a line; never redraws.
class LineSurface final : public Surface {
 public:
  LineSurface(Terminal& terminal, const std::atomic<bool>& cancelled) : terminal_(terminal), cancelled_(cancelled) {}

  KeyPress ask(Walk& walk, const Position& position) override {
    std::vector<std::string> page = plain_page(walk, position);
    if (page != page_) {
      say("");
      for (const std::string& line : page) say(line);
      page_ = std::move(page);
    }
    if (!walk.notice().empty()) say(safe_line(walk.notice()));
    while (true) {
      say(plain_question(walk));
      const auto line = terminal_.ask_line("Choice: ");
      if (!line || cancelled_.load()) return KeyPress::of(KeyPress::Sort::stopped);
      if (const auto key = find_key(walk, *line)) return *key;
      say(line->empty() ? "Nothing was typed." : "That word is not a choice here.");
    }
  }

  void lend() override { page_.clear(); }
  void busy() override {}
  void tell(const std::string& line) override { say(line); }

 private:
  void say(const std::string& line) { terminal_.write(Stream::err, line + "\n"); }

  Terminal& terminal_;
  const std::atomic<bool>& cancelled_;
  std::vector<std::string> page_ = {};
};

}  // namespace

std::unique_ptr<Surface> make_surface(Terminal& terminal,
                                      const Environment& environment,
                                      const std::atomic<bool>& cancelled) {
  if (terminal.is_plain() || environment.get("TERM").value_or("dumb") == "dumb") {
    return std::make_unique<LineSurface>(terminal, cancelled);
  }
  return std::make_unique<ScreenSurface>(terminal, cancelled);
}

}  // namespace ws::cli::walk

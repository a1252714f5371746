#include "cli/terminal/terminal.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "api-client/base/clean.hpp"
#include "api-client/base/descriptor.hpp"
#include "api-client/base/random.hpp"
#include "cli/base/exit_code.hpp"

namespace ws::cli {
namespace {

int columns_of(const Environment& environment) {
  if (const auto text = environment.get("COLUMNS")) {
    const int columns = std::atoi(text->c_str());
    if (columns >= 20 && columns <= 10'000) return columns;
  }
  winsize size{};
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) return size.ws_col;
  }
  return 80;
}

int rows_of_screen() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

Sequence sequence(Look look) {
  switch (look) {
    case Look::plain: return "";
    case Look::strong: return "\033[1m";
    case Look::faint: return "\033[2m";
    case Look::good: return "\033[32m";
    case Look::warning: return "\033[33m";
    case Look::bad: return "\033[31m";
    case Look::emphasis: return "\033[3m";
    case Look::struck: return "\033[9m";
    case Look::code: return "\033[36m";
    case Look::link: return "\033[4m";
    case Look::match: return "\033[1;33m";
    case Look::mine: return "\033[1;36m";
    case Look::theirs: return "\033[1;33m";
  }
  return "";
}

struct InputLine {
  std::string text = {};
  bool is_whole = false;  ///< false: stdin ended, or a signal came
};

bool is_set(const Environment& environment, std::string_view name) {
  const auto value = environment.get(name);
  return value && !value->empty();
}

InputLine read_answer() {
  InputLine line;
  char c = 0;
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, &c, 1);
    if (count <= 0) return line;  // the end, or a signal: the caller sees no answer
    line.is_whole = c == '\n';
    if (line.is_whole) return line;
    line.text += c;
  }
}

}  // namespace

Terminal Terminal::detect(const Environment& environment) {
  return Terminal({.in_is_terminal = ::isatty(STDIN_FILENO) == 1,
                   .out_is_terminal = ::isatty(STDOUT_FILENO) == 1,
                   .err_is_terminal = ::isatty(STDERR_FILENO) == 1,
                   .columns = columns_of(environment),
                   .rows = rows_of_screen()},
                  environment);
}

Terminal::Terminal(TerminalState state, const Environment& environment) : state_(state) {
  SystemRandom random;
  mark_ = fmt::format("\033{:016x}{:016x}", random.next(), random.next());
  no_color_ = is_set(environment, "NO_COLOR") || environment.get("TERM") == "dumb";
  // https://bixense.com/clicolors: NO_COLOR wins over CLICOLOR_FORCE.
  forced_color_ = !is_set(environment, "NO_COLOR") && is_set(environment, "CLICOLOR_FORCE") &&
                  environment.get("CLICOLOR_FORCE") != "0";
  questions_ = !is_set(environment, "CI") && !is_set(environment, "WS_NO_INPUT");
}

void Terminal::set_plain() {
  plain_ = true;
  color_ = ColorChoice::never;
}

bool Terminal::is_terminal(Stream stream) const {
  return stream == Stream::out ? state_.out_is_terminal : state_.err_is_terminal;
}

bool Terminal::has_color(Stream stream) const {
  switch (color_) {
    case ColorChoice::always: return true;
    case ColorChoice::never: return false;
    case ColorChoice::automatic: break;
  }
  if (forced_color_) return true;
  return !no_color_ && is_terminal(stream);
}

Terminal::Size Terminal::size_now() const {
  winsize size{};
  const bool is_told = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 && size.ws_row != 0;
  return is_told ? Size{.columns = size.ws_col, .rows = size.ws_row} : Size{.columns = columns(), .rows = rows()};
}

std::string Terminal::paint(Stream stream, Look look, std::string_view text) const {
  if (look == Look::plain || text.empty() || !has_color(stream)) return std::string(text);
  return marked(sequence(look)) + std::string(text) + marked("\033[0m");
}

std::string Terminal::marked(Sequence sequence) const { return mark_ + std::string(sequence.text()) + mark_; }

std::string Terminal::rendered(std::string_view text, Controls controls) const {
  std::string bytes;
  for (bool is_sequence = false;; is_sequence = !is_sequence) {
    const std::size_t end = text.find(mark_);
    const std::string_view part = text.substr(0, end);
    bytes += is_sequence || controls == Controls::keep ? std::string(part) : clean(part, Breaks::keep);
    if (end == std::string_view::npos) return bytes;
    text.remove_prefix(end + mark_.size());
  }
}

void Terminal::write(Stream stream, std::string_view text) {
  if (erase_transient_) std::exchange(erase_transient_, {})();
  const bool is_data = stream == Stream::out && !is_terminal(stream);
  put(stream, rendered(text, is_data ? Controls::keep : Controls::clean));
}

void Terminal::put(Stream stream, std::string_view bytes) {
  const int descriptor = stream == Stream::out ? STDOUT_FILENO : STDERR_FILENO;
  while (!bytes.empty()) {
    const ssize_t written = retry_eintr([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      // The parent process made the pipe non-blocking, and it is full: wait until it can be written.
      pollfd room{.fd = descriptor, .events = POLLOUT, .revents = 0};
      ::poll(&room, 1, -1);
    } else {
      if (stream == Stream::out) {
        const WriteError error = errno == EPIPE ? WriteError::reader_gone : WriteError::failed;
        const std::string what = std::string("cannot write the output: ") + std::strerror(errno);
        std::string told = tell_write_error_ ? tell_write_error_(what, error) : std::string();
        if (told.empty() && error == WriteError::reader_gone) ::_exit(number(ExitCode::broken_pipe));
        write(Stream::err, told.empty() ? "error: " + what + "\n" : told);
        ::_exit(number(ExitCode::local));
      }
      return;  // nowhere left to complain
    }
  }
}

std::string Terminal::ask(std::string_view question) {
  write(Stream::err, question);
  return read_answer().text;
}

std::optional<std::string> Terminal::ask_line(std::string_view question) {
  write(Stream::err, question);
  InputLine line = read_answer();
  return line.is_whole ? std::optional(std::move(line.text)) : std::nullopt;
}

}  // namespace ws::cli

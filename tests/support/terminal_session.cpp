#include "tests/support/terminal_session.hpp"

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace ws::test {
namespace {

[[noreturn]] void become_program(const Command& command) {
  if (!command.folder.empty() && ::chdir(command.folder.c_str()) != 0) ::_exit(127);
  std::vector<std::string> lines;
  for (const auto& [name, value] : command.environment) lines.push_back(name + "=" + value);
  for (const char* const name : {"PATH", "HOME"}) {
    const char* value = std::getenv(name);
    if (!command.environment.contains(name) && value != nullptr) lines.push_back(name + std::string("=") + value);
  }
  std::vector<char*> variables;
  for (std::string& line : lines) variables.push_back(line.data());
  variables.push_back(nullptr);
  std::vector<std::string> words = command.arguments;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvpe(arguments.front(), arguments.data(), variables.data());
  ::_exit(127);
}

winsize size_of(int columns, int rows) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = static_cast<unsigned short>(rows);
  return size;
}

}  // namespace

TerminalSession::TerminalSession(const Command& command, int columns, int rows)
    : deadline_(std::chrono::steady_clock::now() + command.timeout) {
  winsize size = size_of(columns, rows);
  child_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
  if (child_ < 0) throw std::runtime_error("no terminal can be made");
  if (child_ == 0) become_program(command);
}

TerminalSession::~TerminalSession() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  ::close(terminal_);
}

void TerminalSession::type(const std::string& keys) {
  frames_before_ = frames_;
  if (::write(terminal_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size()))
    give_up("nothing can be typed");
}

void TerminalSession::wait_for(const std::string& text) {
  while (true) {
    const bool in_new_frame = frames_ > frames_before_ && without_looks(shown_).find(text) != std::string::npos;
    if (has_screen_ && in_new_frame) return;
    if (const std::size_t at = lines_.find(text, lines_before_); at != std::string::npos) {
      lines_before_ = at + text.size();
      return;
    }
    if (!read_more()) give_up("this never came: " + text);
  }
}

void TerminalSession::wait_for_lines() {
  while (has_screen_) {
    if (!read_more()) give_up("the screen was not given back");
  }
}

void TerminalSession::resize(int columns, int rows) {
  frames_before_ = frames_;
  const winsize size = size_of(columns, rows);
  ::ioctl(terminal_, TIOCSWINSZ, &size);
}

void TerminalSession::signal(int number) const { ::kill(child_, number); }

bool TerminalSession::is_as_usual() const {
  termios now{};
  if (::tcgetattr(terminal_, &now) != 0) return false;
  constexpr tcflag_t wanted = ICANON | ECHO | ISIG;
  return (now.c_lflag & wanted) == wanted;
}

std::string TerminalSession::screen() const {
  std::string text;
  std::string row;
  const auto end_row = [&] {
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
    row.clear();
  };
  for (const char c : shown_) {
    if (c == '\n') {
      end_row();
    } else if (c == '\033') {
      row += "␛";
    } else {
      row += c;
    }
  }
  end_row();
  return text;
}

int TerminalSession::end() {
  while (read_more()) {
  }
  if (!is_over_) give_up("it does not end");
  int status = 0;
  ::waitpid(child_, &status, 0);
  child_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Returns false at the end and after the timeout.
bool TerminalSession::read_more() {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - std::chrono::steady_clock::now());
  pollfd waiting{terminal_, POLLIN, 0};
  if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) == 0) return false;
  char buffer[4096];
  const ssize_t count = ::read(terminal_, buffer, sizeof buffer);
  is_over_ = count <= 0;  // EIO: the program has closed its side
  for (ssize_t i = 0; i < count; ++i) take(buffer[i]);
  return !is_over_;
}

void TerminalSession::take(char c) {
  if (!sequence_.empty()) {
    sequence_ += c;
    const bool is_ended = sequence_.size() > 2 && c >= '@' && c <= '~';
    if (!is_ended) return;
    const std::string sequence = sequence_;
    sequence_.clear();
    return obey(sequence);
  }
  if (c == '\033') {
    sequence_ = c;
  } else if (c != '\r') {
    (in_frame_ ? frame_ : lines_) += c;
  }
}

void TerminalSession::obey(const std::string& sequence) {
  if (sequence == "\033[?1049h") {
    has_screen_ = true;
  } else if (sequence == "\033[?1049l") {
    has_screen_ = false;
    lines_before_ = lines_.size();
  } else if (sequence == "\033[?2026h") {
    in_frame_ = true;
    frame_.clear();
  } else if (sequence == "\033[?2026l") {
    in_frame_ = false;
    shown_ = frame_;
    ++frames_;
  } else if (sequence.back() == 'm') {
    (in_frame_ ? frame_ : lines_) += sequence;
  } else if (sequence != "\033[H" && sequence != "\033[K" && sequence != "\033[J" && sequence != "\033[?25l" &&
             sequence != "\033[?25h") {
    throw std::runtime_error("a sequence that no screen of ours has: " + sequence.substr(1));
  }
}

std::string TerminalSession::without_looks(const std::string& text) const {
  std::string bare;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {
      i = text.find('m', i);
    } else {
      bare += text[i];
    }
  }
  return bare;
}

void TerminalSession::give_up(const std::string& why) const {
  throw std::runtime_error(why + "\n--- screen\n" + screen() + "--- lines\n" + lines_);
}

}  // namespace ws::test

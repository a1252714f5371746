#include "cli/terminal/keyboard.hpp"

#include <cerrno>
#include <csignal>

#include <poll.h>
#include <termios.h>
#include <unistd.h>

namespace ws::cli {
namespace {

constexpr int forever = -1;
/// Timeout in milliseconds between the bytes of one key's escape sequence.
constexpr int within_a_key = 50;
constexpr char control_c = 3;
constexpr char control_z = 26;
constexpr int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP};

std::atomic<bool> size_changed{false};
std::atomic<bool> stop_wanted{false};

void on_window_change(int) { size_changed.store(true); }
void on_stop(int) { stop_wanted.store(true); }

void install(int signal, void (*handler)(int), struct sigaction& before) {
  struct sigaction action {};
  action.sa_handler = handler;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, &before);
}

KeyPress key_of_letter(char letter) {
  using Sort = KeyPress::Sort;
  switch (letter) {
    case 'A': return KeyPress::of(Sort::up);
    case 'B': return KeyPress::of(Sort::down);
    case 'H': return KeyPress::of(Sort::home);
    case 'F': return KeyPress::of(Sort::end);
    default: return KeyPress::of(Sort::other);
  }
}

KeyPress key_of_number(char digit) {
  using Sort = KeyPress::Sort;
  switch (digit) {
    case '1':
    case '7': return KeyPress::of(Sort::home);
    case '4':
    case '8': return KeyPress::of(Sort::end);
    case '5': return KeyPress::of(Sort::page_up);
    case '6': return KeyPress::of(Sort::page_down);
    default: return KeyPress::of(Sort::other);
  }
}

}  // namespace

struct Keyboard::Saved {
  termios terminal = {};
  struct sigaction window_change {};
  struct sigaction stop {};
  sigset_t mask = {};  ///< the original mask: signals are delivered only while waiting, so that none is missed
};

Keyboard::Keyboard(const std::atomic<bool>& cancelled) : cancelled_(cancelled) {}

Keyboard::~Keyboard() { end(); }

bool Keyboard::begin() {
  if (saved_ != nullptr) return true;
  Saved saved;
  if (::tcgetattr(STDIN_FILENO, &saved.terminal) != 0) return false;
  termios raw = saved.terminal;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
  raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  // TCSAFLUSH discards keys that were pressed while the last action was executed.
  if (::tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) != 0) return false;
  sigset_t held;
  ::sigemptyset(&held);
  for (const int signal : handled) ::sigaddset(&held, signal);
  ::sigprocmask(SIG_BLOCK, &held, &saved.mask);
  install(SIGWINCH, on_window_change, saved.window_change);
  install(SIGTSTP, on_stop, saved.stop);
  saved_ = std::make_unique<Saved>(saved);
  return true;
}

void Keyboard::end() {
  if (saved_ == nullptr) return;
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &saved_->terminal);
  ::sigaction(SIGWINCH, &saved_->window_change, nullptr);
  ::sigaction(SIGTSTP, &saved_->stop, nullptr);
  ::sigprocmask(SIG_SETMASK, &saved_->mask, nullptr);
  saved_.reset();
}

KeyPress Keyboard::next() {
  if (!begin()) return KeyPress::of(KeyPress::Sort::stopped);
  while (true) {
    if (cancelled_.load()) return KeyPress::of(KeyPress::Sort::stopped);
    if (size_changed.exchange(false)) return KeyPress::of(KeyPress::Sort::redraw);
    if (stop_wanted.exchange(false)) {
      suspend();
      return KeyPress::of(KeyPress::Sort::redraw);
    }
    pollfd waiting{STDIN_FILENO, POLLIN, 0};
    if (::ppoll(&waiting, 1, nullptr, &saved_->mask) < 0) {
      if (errno == EINTR) continue;  // not `retry_eintr`: the handler has set one of the flags above
      return KeyPress::of(KeyPress::Sort::stopped);
    }
    return take();
  }
}

KeyPress Keyboard::take() {
  char byte = 0;
  if (!read_byte(byte, forever)) return KeyPress::of(KeyPress::Sort::stopped);
  switch (byte) {
    case control_c:
      // ISIG is off in raw mode: raise the signal that the terminal would have sent.
      ::raise(SIGINT);
      end();
      return KeyPress::of(KeyPress::Sort::stopped);
    case control_z: suspend(); return KeyPress::of(KeyPress::Sort::redraw);
    case '\r':
    case '\n': return KeyPress::of(KeyPress::Sort::enter);
    case '\033': return after_escape();
    default: break;
  }
  if (byte >= ' ' && byte < 127) return KeyPress::of(byte);
  return KeyPress::of(KeyPress::Sort::other);
}

/// Reads Escape alone, or the sequence of a key such as an arrow (ECMA-48: `ESC [`, digits, a letter; `ESC O`, a
/// letter).
KeyPress Keyboard::after_escape() {
  char byte = 0;
  if (!read_byte(byte, within_a_key)) return KeyPress::of(KeyPress::Sort::escape);
  if (byte != '[' && byte != 'O') return KeyPress::of(KeyPress::Sort::other);
  char first = 0;
  while (read_byte(byte, within_a_key)) {
    if (byte >= '@' && byte <= '~') return byte == '~' ? key_of_number(first) : key_of_letter(byte);
    if (first == 0) first = byte;
  }
  return KeyPress::of(KeyPress::Sort::other);
}

bool Keyboard::read_byte(char& byte, int wait_milliseconds) {
  pollfd waiting{STDIN_FILENO, POLLIN, 0};
  if (wait_milliseconds != forever && ::poll(&waiting, 1, wait_milliseconds) <= 0) return false;
  return ::read(STDIN_FILENO, &byte, 1) == 1;
}

void Keyboard::suspend() {
  if (before_stop) before_stop();
  end();
  ::raise(SIGTSTP);  // default action: the process stops here until SIGCONT
  begin();
  if (after_stop) after_stop();
}

}  // namespace ws::cli

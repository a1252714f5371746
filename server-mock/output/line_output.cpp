#include "server-mock/output/line_output.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/descriptor.hpp"

namespace ws::mock {
namespace {

/// What waits for a slow reader.
constexpr std::size_t max_waiting_bytes = std::size_t{1} << 20U;
constexpr std::chrono::milliseconds last_patience{200};
constexpr int look_every_ms = 100;
/// A terminal that can be written to takes at least so many bytes.
constexpr std::size_t terminal_bytes = 256;

std::mutex lost_mutex;

std::map<std::string, std::uint64_t>& lost_by_name() {
  static std::map<std::string, std::uint64_t> lost;
  return lost;
}

std::uint64_t lines_in(std::string_view text) {
  return static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(1, std::ranges::count(text, '\n')));
}

void count_lost(const std::string& name, std::string_view lines) {
  const std::lock_guard lock(lost_mutex);
  lost_by_name()[name] += lines_in(lines);
}

std::string reason_of(int error) { return std::generic_category().message(error); }

}  // namespace

std::thread start_without_signals(std::function<void()> work) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread started(std::move(work));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

struct LineOutput::State {
  std::string name = {};
  Gaps gaps = Gaps::allowed;
  OnLoss on_loss = {};
  int file = -1;
  Descriptor own = {};  // closed with this object
  bool is_socket = false;
  std::size_t at_once = 0;  // bytes that a write after a positive poll does not wait for; 0: any number
  std::mutex mutex = {};
  std::condition_variable changed = {};
  std::string waiting = {};
  bool hands_over = false;  // a thread writes what waits
  bool is_over = false;     // nothing is written any more
  bool has_told = false;

  /// Writes what the file takes at once. Returns errno; 0 also if only a part of the text was taken.
  int push(std::string_view& text) const {
    while (!text.empty()) {
      pollfd ready = {.fd = file, .events = POLLOUT, .revents = 0};
      if (at_once != 0 && retry_eintr([&] { return ::poll(&ready, 1, 0); }) == 0) return 0;
      const std::size_t size = at_once == 0 ? text.size() : std::min(text.size(), at_once);
      const ssize_t taken = retry_eintr([&] {
        return is_socket ? ::send(file, text.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL)
                         : ::write(file, text.data(), size);
      });
      if (taken < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : errno;
      text.remove_prefix(static_cast<std::size_t>(taken));
    }
    return 0;
  }

  /// Returns whether the loss has to be told.
  bool lose(std::string_view lines) {
    count_lost(name, lines);
    return !std::exchange(has_told, true);
  }

  /// With the mutex held. The reason of a loss that has to be told.
  std::optional<std::string> end(int error, std::string_view lost) {
    is_over = true;
    waiting.clear();
    changed.notify_all();
    return lose(lost) ? std::optional(reason_of(error)) : std::nullopt;
  }

  std::optional<std::string> take(std::string_view lines, const std::shared_ptr<State>& self) {
    const std::lock_guard lock(mutex);
    if (is_over) return lose(lines) ? std::optional(reason_of(EBADF)) : std::nullopt;
    if (waiting.empty()) {
      std::string_view rest = lines;
      if (const int error = push(rest); error != 0) return end(error, lines);
      if (rest.empty()) return std::nullopt;
      lines = rest;  // a line that was begun is kept, whatever its size
    } else if (waiting.size() + lines.size() > max_waiting_bytes) {
      if (gaps == Gaps::none) is_over = true;
      return lose(lines) ? std::optional<std::string>("the program that reads the output has ended") : std::nullopt;
    }
    waiting += lines;
    if (!std::exchange(hands_over, true)) start_without_signals([self] { self->hand_over(); }).detach();
    return std::nullopt;
  }

  void hand_over() {
    while (true) {
      pollfd ready = {.fd = file, .events = POLLOUT, .revents = 0};
      ::poll(&ready, 1, look_every_ms);
      std::optional<std::string> told;
      {
        const std::lock_guard lock(mutex);
        std::string_view rest = waiting;
        if (const int error = push(rest); error != 0) {
          told = end(error, rest);
        } else {
          waiting.erase(0, waiting.size() - rest.size());
        }
        if (waiting.empty()) {
          hands_over = false;
          changed.notify_all();
        }
      }
      if (told && on_loss) on_loss(*told);
      const std::lock_guard lock(mutex);
      if (!hands_over || is_over) return;
    }
  }
};

LineOutput& LineOutput::operator=(LineOutput&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

LineOutput::~LineOutput() { finish(); }

LineOutput LineOutput::of_stream(int file, std::string name) {
  auto state = std::make_shared<State>();
  state->name = std::move(name);
  state->file = file;
  struct stat status {};
  const int how = ::fcntl(file, F_GETFL);
  const bool is_writable = how >= 0 && (how & O_ACCMODE) != O_RDONLY;
  if (!is_writable || ::fstat(file, &status) != 0 || S_ISREG(status.st_mode)) return LineOutput(std::move(state));
  state->is_socket = S_ISSOCK(status.st_mode);
  if (state->is_socket) return LineOutput(std::move(state));
  // Whether writing waits belongs to the open file, which other processes share: a second one is opened.
  state->own =
      Descriptor(::open(fmt::format("/proc/self/fd/{}", file).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (state->own) {
    state->file = state->own.get();
  } else {
    state->at_once = S_ISFIFO(status.st_mode) ? PIPE_BUF : terminal_bytes;
  }
  return LineOutput(std::move(state));
}

Result<LineOutput> LineOutput::open(const std::string& path, Begin begin, Gaps gaps, std::string name, OnLoss on_loss) {
  struct stat status {};
  // Open for reading too, a named pipe has a reader at once: opening does not wait, and one that goes may come back.
  const bool is_pipe = ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
  const int how = (is_pipe ? O_RDWR : O_WRONLY) | (begin == Begin::append ? O_APPEND : O_TRUNC);
  auto state = std::make_shared<State>();
  state->own = Descriptor(::open(path.c_str(), how | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, S_IRUSR | S_IWUSR));
  if (!state->own) return fail(Failure::Kind::disk, fmt::format("cannot write {}: {}", path, reason_of(errno)));
  state->file = state->own.get();
  state->name = std::move(name);
  state->gaps = gaps;
  state->on_loss = std::move(on_loss);
  return LineOutput(std::move(state));
}

void LineOutput::write(std::string_view lines) const {
  if (!state_ || lines.empty()) return;
  const auto told = state_->take(lines, state_);
  if (told && state_->on_loss) state_->on_loss(*told);
}

void LineOutput::stop(const std::string& reason) const {
  if (!state_) return;
  bool is_first = false;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->is_over) return;
    state_->is_over = true;
    is_first = !std::exchange(state_->has_told, true);
  }
  if (is_first && state_->on_loss) state_->on_loss(reason);
}

void LineOutput::finish() const {
  if (!state_) return;
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_for(lock, last_patience, [&] { return state_->waiting.empty() || state_->is_over; });
  if (!state_->waiting.empty()) count_lost(state_->name, state_->waiting);
  state_->is_over = true;
  state_->waiting.clear();
}

std::map<std::string, std::uint64_t> lost_lines() {
  const std::lock_guard lock(lost_mutex);
  return lost_by_name();
}

}  // namespace ws::mock

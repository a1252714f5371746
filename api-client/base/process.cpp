#include "api-client/base/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api-client/base/descriptor.hpp"

namespace ws {
namespace {

constexpr const char* shell = "/bin/sh";
constexpr int killed_by = 128;
/// The exit code reported for a child that another part of the process has already waited for, so that it never counts
/// as success.
constexpr int unknown_end = 255;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> raw;
  raw.reserve(texts.size() + 1);
  for (std::string& text : texts) raw.push_back(text.data());
  raw.push_back(nullptr);
  return raw;
}

std::vector<std::string> environment_of(const ProcessOptions& options) {
  const auto& more = options.environment;
  std::vector<std::string> lines;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    const std::string_view name = line.substr(0, line.find('='));
    const auto is_replaced = [name](const auto& variable) { return variable.first == name; };
    const bool is_left_out = std::ranges::find(options.without, name) != options.without.end();
    if (!is_left_out && std::ranges::none_of(more, is_replaced)) lines.emplace_back(line);
  }
  for (const auto& [name, value] : more) lines.push_back(fmt::format("{}={}", name, value));
  return lines;
}

int exit_code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : killed_by + WTERMSIG(status); }

/// The file actions and attributes that posix_spawn(3) applies in the child before the program starts.
class Preparation {
 public:
  explicit Preparation(const ProcessOptions& options) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    const std::pair<int, int> streams[] = {
        {options.in, STDIN_FILENO}, {options.out, STDOUT_FILENO}, {options.err, STDERR_FILENO}};
    for (const auto& [from, to] : streams) {
      if (from >= 0) note(::posix_spawn_file_actions_adddup2(&actions_, from, to));
    }
    if (options.streams_only) note(::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1));
    sigset_t defaults;
    ::sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGPIPE}) ::sigaddset(&defaults, signal);
    note(::posix_spawnattr_setsigdefault(&attributes_, &defaults));
    sigset_t none;
    ::sigemptyset(&none);
    note(::posix_spawnattr_setsigmask(&attributes_, &none));
    note(::posix_spawnattr_setflags(&attributes_,
                                    static_cast<short>(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                                       (options.own_group ? POSIX_SPAWN_SETPGROUP : 0))));
  }
  ~Preparation() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;

  int spawn(pid_t& pid, const std::string& file, std::vector<std::string>& command, char* const* environment) const {
    if (error_ != 0) return error_;
    return ::posix_spawn(&pid, file.c_str(), &actions_, &attributes_, pointers(command).data(), environment);
  }

 private:
  void note(int error) {
    if (error_ == 0) error_ = error;
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  int error_ = 0;
};

/// Calls `visit` with each path in PATH order for the program name until it returns true. Returns whether one did.
template <class Visit>
bool any_candidate_path(const std::string& name, const Visit& visit) {
  if (name.find('/') != std::string::npos) return visit(name);
  const char* const path = std::getenv("PATH");
  const std::string folders = path != nullptr ? path : "/usr/bin:/bin";
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string folder = folders.substr(begin, end - begin);
    if (visit((folder.empty() ? "." : folder) + "/" + name)) return true;
    begin = end + 1;
  }
  return false;
}

/// Whether the file exists, executable or not.
bool exists_in_path(const std::string& name) {
  return any_candidate_path(name, [](const std::string& file) {
    struct stat status {};
    return ::stat(file.c_str(), &status) == 0;
  });
}

/// `error` is the errno of the failed attempt.
Failure not_started(const std::string& program, int error) {
  if (error == ENOENT) {
    return {
        .kind = Failure::Kind::usage, .what = "program not found: " + program, .hint = {}, .code = "program_not_found"};
  }
  const bool is_ours = error != EACCES && error != EISDIR && error != ENOEXEC;
  return {.kind = is_ours ? Failure::Kind::internal : Failure::Kind::usage,
          .what = "cannot start " + program + ": " + std::strerror(error),
          .code = "program_not_executable"};
}

}  // namespace

Result<Process> Process::start(std::vector<std::string> command, const ProcessOptions& options) {
  const auto file = find_program(command.front());
  if (!file) return fail(not_started(command.front(), exists_in_path(command.front()) ? EACCES : ENOENT));
  std::vector<std::string> variables = environment_of(options);
  const std::vector<char*> environment = pointers(variables);
  const Preparation preparation(options);
  pid_t pid = 0;
  int error = preparation.spawn(pid, *file, command, environment.data());
  if (error == ENOEXEC) {
    // A script without `#!` is run by the shell, as execvp(3) does.
    std::vector<std::string> script = command;
    script.front() = *file;
    script.insert(script.begin(), "sh");
    error = preparation.spawn(pid, shell, script, environment.data());
  }
  if (error == 0) return Process(pid, options.own_group);
  return fail(not_started(command.front(), error));
}

Result<Process> Process::start_shell(const std::string& line,
                                     const std::vector<std::string>& arguments,
                                     const ProcessOptions& options) {
  std::vector<std::string> command = {shell, "-c", line, "sh"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return start(std::move(command), options);
}

int Process::replace_this(std::vector<std::string> command) {
  const std::vector<char*> arguments = pointers(command);
  ::execvp(arguments.front(), arguments.data());
  return errno;
}

int Process::wait() const {
  int status = 0;
  const pid_t ended = retry_eintr([&] { return ::waitpid(pid_, &status, 0); });
  return ended < 0 ? unknown_end : exit_code_of(status);
}

std::optional<int> Process::poll() const {
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  return ended < 0 ? unknown_end : exit_code_of(status);
}

void Process::signal(int number) const { ::kill(own_group_ ? -pid_ : pid_, number); }

std::optional<std::string> find_program(const std::string& name) {
  std::optional<std::string> found;
  any_candidate_path(name, [&](const std::string& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || ::access(file.c_str(), X_OK) != 0) {
      return false;
    }
    found = file;
    return true;
  });
  return found;
}

namespace {

/// Reads a pipe and keeps its last bytes.
class OutputTail {
 public:
  explicit OutputTail(std::size_t most) : most_(most) {}

  /// Fails with errno set.
  bool open() {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    from_ = Descriptor(ends[0]);
    to_ = Descriptor(ends[1]);
    return ::fcntl(from_.get(), F_SETFL, O_NONBLOCK) == 0;
  }
  int write_end() const { return to_.get(); }
  void close_write_end() { to_ = Descriptor(); }
  /// -1 once the pipe has been read to its end.
  int read_end() const { return from_.get(); }

  void take() {
    std::array<char, 16384> piece{};
    while (from_) {
      const ssize_t count = read_some(from_.get(), piece.data(), piece.size());
      if (count < 0) return;
      if (count == 0) {
        from_ = Descriptor();
        return;
      }
      text_.append(piece.data(), static_cast<std::size_t>(count));
      if (text_.size() > 2 * most_) text_.erase(0, text_.size() - most_);
    }
  }
  std::string text() {
    if (text_.size() > most_) text_.erase(0, text_.size() - most_);
    return std::move(text_);
  }

 private:
  std::size_t most_;
  Descriptor from_ = {};
  Descriptor to_ = {};
  std::string text_ = {};
};

using Steady = std::chrono::steady_clock;
constexpr std::chrono::milliseconds look_every{100};

/// Waits for output, for the end of the program, or until the limits have to be checked again.
void wait_for_any(const Descriptor& program, const OutputTail& out, const OutputTail& err) {
  std::array<pollfd, 3> files = {
      {{out.read_end(), POLLIN, 0}, {err.read_end(), POLLIN, 0}, {program.get(), POLLIN, 0}}};
  ::poll(files.data(), files.size(), static_cast<int>(look_every.count()));
}

}  // namespace

Result<RunEnd> run_process(std::vector<std::string> command, ProcessOptions options, const RunLimits& limits) {
  OutputTail out(limits.output_bytes);
  OutputTail err(limits.output_bytes);
  const Descriptor in(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!in || !out.open() || !err.open()) {
    return fail(Failure::Kind::internal, std::string("cannot open a pipe: ") + std::strerror(errno));
  }
  options.in = in.get();
  options.out = out.write_end();
  options.err = err.write_end();
  options.own_group = true;
  options.streams_only = true;
  const Steady::time_point begin = Steady::now();
  WS_LET(const Process process, Process::start(std::move(command), options));
  out.close_write_end();
  err.close_write_end();
  const Descriptor watched(static_cast<int>(::syscall(
      SYS_pidfd_open, process.pid(), 0)));  // -1 in an old kernel: the child is then polled ten times a second
  RunEnd end;
  std::optional<Steady::time_point> kill_at;
  while (true) {
    const std::optional<int> exit = process.poll();
    out.take();
    err.take();
    if (exit) {
      end.exit = *exit;
      break;
    }
    const Steady::time_point now = Steady::now();
    const bool is_stopped = limits.stop != nullptr && *limits.stop;
    if (!kill_at && (is_stopped || now - begin >= limits.time)) {
      end.by = is_stopped ? RunEnd::By::stop : RunEnd::By::limit;
      kill_at = now + limits.grace;
      process.signal(SIGTERM);
    } else if (kill_at && now >= *kill_at) {
      process.signal(SIGKILL);
    }
    wait_for_any(watched, out, err);
  }
  process.signal(SIGKILL);
  end.is_signal = end.exit > killed_by;
  end.took = std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - begin);
  end.out = out.text();
  end.err = err.text();
  return end;
}

}  // namespace ws

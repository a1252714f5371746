#include "api-client/base/process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ws {
namespace {

constexpr const char* shell = "/bin/sh";
constexpr int killed_by = 128;
/// The end of a child that another part of the process waited for: never taken for success.
constexpr int unknown_end = 255;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> raw;
  raw.reserve(texts.size() + 1);
  for (std::string& text : texts) raw.push_back(text.data());
  raw.push_back(nullptr);
  return raw;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> lines;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    const std::string_view name = line.substr(0, line.find('='));
    const auto is_replaced = [name](const auto& variable) { return variable.first == name; };
    if (std::ranges::none_of(more, is_replaced)) lines.emplace_back(line);
  }
  for (const auto& [name, value] : more) lines.push_back(name + "=" + value);
  return lines;
}

int exit_code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : killed_by + WTERMSIG(status); }

/// What posix_spawn(3) does in the child before the program begins.
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
    note(::posix_spawnattr_setflags(
        &attributes_, static_cast<short>(POSIX_SPAWN_SETSIGDEF | (options.own_group ? POSIX_SPAWN_SETPGROUP : 0))));
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

}  // namespace

Result<Process> Process::start(std::vector<std::string> command, const ProcessOptions& options) {
  const auto file = find_program(command.front());
  if (!file) return fail(Failure::Kind::usage, "there is no program " + command.front());
  std::vector<std::string> variables = environment_with(options.environment);
  const std::vector<char*> environment = pointers(variables);
  const Preparation preparation(options);
  pid_t pid = 0;
  int error = preparation.spawn(pid, *file, command, environment.data());
  if (error == ENOEXEC) {
    // A script without `#!`: the shell runs it, as execvp(3) has it.
    std::vector<std::string> script = command;
    script.front() = *file;
    script.insert(script.begin(), "sh");
    error = preparation.spawn(pid, shell, script, environment.data());
  }
  if (error == 0) return Process(pid, options.own_group);
  return fail(Failure::Kind::internal, "cannot start " + command.front() + ": " + std::strerror(error));
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
  while (::waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) return unknown_end;
  }
  return exit_code_of(status);
}

std::optional<int> Process::poll() const {
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  return ended < 0 ? unknown_end : exit_code_of(status);
}

void Process::signal(int number) const { ::kill(own_group_ ? -pid_ : pid_, number); }

std::optional<std::string> find_program(const std::string& name) {
  const auto may_run = [](const std::string& file) {
    struct stat status {};
    return ::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(file.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) return may_run(name) ? std::optional(name) : std::nullopt;
  const char* const path = std::getenv("PATH");
  const std::string folders = path != nullptr ? path : "/usr/bin:/bin";
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string folder = folders.substr(begin, end - begin);
    std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (may_run(file)) return file;
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace ws

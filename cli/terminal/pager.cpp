#include "cli/terminal/pager.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/terminal/ignored_signals.hpp"

namespace ws::cli {
namespace {

constexpr int not_found_by_the_shell = 127;

std::size_t lines_of(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// The pager, started, with the writing end of its stdin; 0 where it cannot be.
pid_t start(const std::string& pager, int& writing_end) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return 0;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  sigset_t usual;
  ::sigemptyset(&usual);
  for (const int signal : {SIGINT, SIGPIPE}) ::sigaddset(&usual, signal);
  std::string shell = "sh";
  std::string option = "-c";
  std::string command = pager;
  char* const arguments[] = {shell.data(), option.data(), command.data(), nullptr};
  pid_t child = 0;
  const bool started = ::posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO) == 0 &&
                       ::posix_spawnattr_setsigdefault(&attributes, &usual) == 0 &&
                       ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF) == 0 &&
                       ::posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments, environ) == 0;
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  ::close(ends[0]);
  writing_end = ends[1];
  if (started) return child;
  ::close(ends[1]);
  return 0;
}

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return;  // it was quit
    }
  }
}

}  // namespace

std::string pager_of(const Environment& environment, const std::string& configured, const Terminal& terminal) {
  if (!terminal.is_terminal(Stream::out) || environment.get("TERM") == "dumb") return {};
  std::string pager = "less";
  if (const auto own = environment.get("WS_PAGER")) {
    pager = *own;
  } else if (!configured.empty()) {
    pager = configured;
  } else if (const auto usual = environment.get("PAGER")) {
    pager = *usual;
  }
  return pager == "cat" ? std::string() : pager;
}

void show(Terminal& terminal, const std::string& pager, std::string_view text) {
  if (pager.empty() || lines_of(text) < static_cast<std::size_t>(terminal.rows())) {
    return terminal.write(Stream::out, text);
  }
  // As git has it: quit where it fits, keep colours, leave the text on the screen. A user's own LESS stands.
  ::setenv("LESS", "FRX", 0);
  // While a pager has the keyboard Ctrl-C is its own, and one that is quit early is noticed as EPIPE.
  const IgnoredSignals ignored({SIGINT, SIGPIPE});
  int writing_end = -1;
  const pid_t child = start(pager, writing_end);
  if (child == 0) return terminal.write(Stream::out, text);
  write_all(writing_end, text);
  ::close(writing_end);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == not_found_by_the_shell) terminal.write(Stream::out, text);
}

}  // namespace ws::cli

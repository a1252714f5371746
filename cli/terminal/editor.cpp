#include "cli/terminal/editor.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/terminal/ignored_signals.hpp"

namespace ws::cli {
namespace {

/// `EDITOR` may hold arguments, so a shell reads it; the file is an argument of its own, whatever its name.
int start_editor(const std::string& editor, const std::string& file, pid_t& child) {
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t usual;
  ::sigemptyset(&usual);
  for (const int signal : {SIGINT, SIGQUIT, SIGPIPE}) ::sigaddset(&usual, signal);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::string shell = "sh";
  std::string option = "-c";
  std::string command = editor + " \"$1\"";
  std::string path = file;
  char* const arguments[] = {shell.data(), option.data(), command.data(), shell.data(), path.data(), nullptr};
  const int problem = ::posix_spawn(&child, "/bin/sh", nullptr, &attributes, arguments, environ);
  ::posix_spawnattr_destroy(&attributes);
  return problem;
}

}  // namespace

std::string editor_of(const Environment& environment, const Terminal& terminal) {
  for (const char* const name : {"VISUAL", "EDITOR"}) {
    if (const auto editor = environment.text(name)) return *editor;
  }
  return terminal.is_terminal(Stream::out) && terminal.may_ask() ? "vi" : "";
}

Result<void> edit_file(const std::string& editor, const std::filesystem::path& file) {
  const IgnoredSignals keys_of_its_own({SIGINT, SIGQUIT});
  pid_t child = 0;
  if (const int problem = start_editor(editor, file.string(), child); problem != 0) {
    return fail(Failure::Kind::disk, fmt::format("cannot start the editor {}: {}", editor, std::strerror(problem)));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string end = WIFEXITED(status) ? fmt::format("code {}", WEXITSTATUS(status)) : "a signal";
  return fail(Failure::Kind::disk, fmt::format("the editor {} ended with {}", editor, end));
}

}  // namespace ws::cli

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

int start_shell(const std::string& line, const std::vector<std::string>& given, pid_t& child) {
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t usual;
  ::sigemptyset(&usual);
  for (const int signal : {SIGINT, SIGQUIT, SIGPIPE}) ::sigaddset(&usual, signal);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> words = {"sh", "-c", line, "sh"};
  words.insert(words.end(), given.begin(), given.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int problem = ::posix_spawn(&child, "/bin/sh", nullptr, &attributes, arguments.data(), environ);
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

Result<int> run_in_shell(const std::string& line, const std::vector<std::string>& arguments) {
  const IgnoredSignals keys_of_its_own({SIGINT, SIGQUIT});
  pid_t child = 0;
  if (const int problem = start_shell(line, arguments, child); problem != 0) {
    return fail(Failure::Kind::disk, fmt::format("cannot start a shell: {}", std::strerror(problem)));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<void> edit_file(const std::string& editor, const std::filesystem::path& file) {
  // `EDITOR` may hold arguments, so a shell reads it; the file is an argument of its own, whatever its name.
  WS_LET(const int code, run_in_shell(editor + " \"$1\"", {file.string()}));
  if (code == 0) return {};
  const std::string end = code < 128 ? fmt::format("code {}", code) : "a signal";
  return fail(Failure::Kind::disk, fmt::format("the editor {} ended with {}", editor, end));
}

}  // namespace ws::cli

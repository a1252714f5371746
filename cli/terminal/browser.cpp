#include "cli/terminal/browser.hpp"

#include <csignal>
#include <string_view>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

namespace ws::cli {
namespace {

bool is_plain_url(std::string_view url) {
  if (url.substr(0, 8) != "https://" && url.substr(0, 7) != "http://") return false;
  for (const char c : url) {
    if (c <= 0x20 || c > 0x7E || c == '"' || c == '\'' || c == '`' || c == '\\' || c == '<' || c == '>') return false;
  }
  return true;
}

}  // namespace

bool can_open_browser(const Environment& environment, const Terminal& terminal) {
  if (!terminal.may_ask()) return false;
  if (environment.text("SSH_CONNECTION") || environment.text("SSH_TTY")) return false;
  return environment.text("BROWSER") || environment.text("DISPLAY") || environment.text("WAYLAND_DISPLAY");
}

bool open_browser(const Environment& environment, const std::string& url) {
  if (!is_plain_url(url)) return false;
  std::string program = environment.text("BROWSER").value_or("xdg-open");
  program = program.substr(0, program.find(':'));  // a list; the first is tried
  std::string address = url;
  char* const arguments[] = {program.data(), address.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (::posix_spawn_file_actions_init(&actions) != 0) return false;
  if (::posix_spawnattr_init(&attributes) != 0) {
    ::posix_spawn_file_actions_destroy(&actions);
    return false;
  }
  // It may neither read our answers nor write into our output, and has the usual signals again.
  bool ready = true;
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ready = ready && ::posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0) == 0;
  }
  sigset_t usual;
  ::sigemptyset(&usual);
  ::sigaddset(&usual, SIGPIPE);
  ready = ready && ::posix_spawnattr_setsigdefault(&attributes, &usual) == 0 &&
          ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF) == 0;
  pid_t child = 0;
  const bool started = ready && ::posix_spawnp(&child, program.c_str(), &actions, &attributes, arguments, environ) == 0;
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return started;
}

}  // namespace ws::cli

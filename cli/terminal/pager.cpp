#include "cli/terminal/pager.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/process.hpp"
#include "cli/terminal/ignored_signals.hpp"

namespace ws::cli {
namespace {

constexpr int not_found_by_the_shell = 127;

std::size_t lines_of(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
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
  // As in git: exit if the text fits, keep colours, leave the text on the screen. LESS of the user takes precedence.
  ::setenv("LESS", "FRX", 0);
  // While the pager runs, Ctrl-C is for the pager; quitting it early is noticed as EPIPE.
  const IgnoredSignals ignored({SIGINT, SIGPIPE});
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return terminal.write(Stream::out, text);
  Descriptor reading_end(ends[0]);
  Descriptor writing_end(ends[1]);
  const auto child = Process::start_shell(pager, {}, {.in = reading_end.get()});
  if (!child) return terminal.write(Stream::out, text);
  reading_end = Descriptor();
  static_cast<void>(write_all(writing_end.get(), text));  // false: the pager was quit
  writing_end = Descriptor();
  if (child->wait() == not_found_by_the_shell) terminal.write(Stream::out, text);
}

}  // namespace ws::cli

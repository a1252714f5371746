#include "cli/terminal/programs.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <initializer_list>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/process.hpp"

namespace ws::cli {
namespace {

/// For while another program uses the terminal: ignores the signals until it is destroyed, then restores their
/// handlers.
class IgnoredSignals {
 public:
  explicit IgnoredSignals(std::initializer_list<int> signals) {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    for (const int signal : signals) {
      struct sigaction before {};
      if (::sigaction(signal, &ignore, &before) == 0) before_.emplace_back(signal, before);
    }
  }
  ~IgnoredSignals() {
    for (const auto& [signal, before] : before_) ::sigaction(signal, &before, nullptr);
  }
  IgnoredSignals(const IgnoredSignals&) = delete;
  IgnoredSignals& operator=(const IgnoredSignals&) = delete;

 private:
  std::vector<std::pair<int, struct sigaction>> before_ = {};
};

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
  static_cast<void>(
      write_all(writing_end.get(), terminal.rendered(text, Controls::clean)));  // false: the pager was quit
  writing_end = Descriptor();
  if (child->wait() == not_found_by_the_shell) terminal.write(Stream::out, text);
}

std::string editor_of(const Environment& environment, const Terminal& terminal) {
  for (const char* const name : {"VISUAL", "EDITOR"}) {
    if (const auto editor = environment.text(name)) return *editor;
  }
  return terminal.is_terminal(Stream::out) && terminal.may_ask() ? "vi" : "";
}

bool has_desktop(const Environment& environment) {
  if (environment.text("SSH_CONNECTION") || environment.text("SSH_TTY")) return false;
  return environment.text("DISPLAY") || environment.text("WAYLAND_DISPLAY");
}

bool open_on_desktop(const std::string& target, const std::string& program) {
  // It must neither read our input nor write to our output, and stays when we end or the terminal closes.
  const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  return nothing &&
         Process::start({program, target},
                        {.in = nothing.get(), .out = nothing.get(), .err = nothing.get(), .own_group = true});
}

Result<int> run_in_shell(const std::string& line, const std::vector<std::string>& arguments) {
  const IgnoredSignals keys_of_its_own({SIGINT, SIGQUIT});
  WS_LET(const Process shell, Process::start_shell(line, arguments));
  return shell.wait();
}

Result<void> edit_file(const std::string& editor, const std::filesystem::path& file) {
  // `EDITOR` may contain arguments, so a shell parses it; the file is passed as a separate argument, safe for any name.
  WS_LET(const int code, run_in_shell(editor + " \"$1\"", {file.string()}));
  if (code == 0) return {};
  const std::string end = code < 128 ? fmt::format("code {}", code) : "a signal";
  return fail(Failure::Kind::disk, fmt::format("the editor {} ended with {}", editor, end));
}

}  // namespace ws::cli

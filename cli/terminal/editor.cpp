#include "cli/terminal/editor.hpp"

#include <csignal>

#include <fmt/format.h>

#include "api-client/base/process.hpp"
#include "cli/terminal/ignored_signals.hpp"

namespace ws::cli {
std::string editor_of(const Environment& environment, const Terminal& terminal) {
  for (const char* const name : {"VISUAL", "EDITOR"}) {
    if (const auto editor = environment.text(name)) return *editor;
  }
  return terminal.is_terminal(Stream::out) && terminal.may_ask() ? "vi" : "";
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

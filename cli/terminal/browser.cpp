#include "cli/terminal/browser.hpp"

#include <string_view>

#include <fcntl.h>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/process.hpp"

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
  program = program.substr(0, program.find(':'));  // BROWSER can be a list; only the first is tried
  // It must neither read our input nor write to our output.
  const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  return nothing && Process::start({program, url}, {.in = nothing.get(), .out = nothing.get(), .err = nothing.get()});
}

}  // namespace ws::cli

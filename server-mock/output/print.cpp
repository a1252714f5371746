#include "server-mock/output/print.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "api-client/base/text.hpp"
#include "server-mock/output/line_output.hpp"

namespace ws::mock {
namespace {

/// Never destroyed: threads may log until the process ends.
const LineOutput& log_output() {
  static const auto* const output = new LineOutput(LineOutput::of_stream(STDERR_FILENO, "log"));
  return *output;
}

int print_error = 0;  // errno of the first failure

}  // namespace

TerminalText TerminalText::styled(std::string_view text, std::string_view code) {
  return control(fmt::format("\x1b[{}m{}\x1b[0m", code, clean(text, Breaks::keep)));
}

TerminalText TerminalText::json(std::string_view json) { return control(escape_json(json)); }

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string lines;
  std::size_t used = 0;
  for (const std::string_view word : split(text, ' ')) {
    if (used > 0 && used + 1 + word.size() > columns) {
      lines += "\n" + std::string(indent, ' ');
      used = 0;
    }
    lines.append(used > 0 ? " " : "").append(word);
    used += word.size() + (used > 0 ? 1 : 0);
  }
  return lines;
}

void prepare_output() {
  std::signal(SIGPIPE, SIG_IGN);
  // In the place of a closed stream the next file or socket would be opened. This one cannot be written to.
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDONLY));
  }
}

void print(const TerminalText& text) {
  const std::string& bytes = text.bytes();
  if (print_error != 0 || std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return;
  print_error = errno;
}

void announce(const TerminalText& line) {
  static const auto* const output = new LineOutput(LineOutput::of_stream(STDOUT_FILENO, "stdout"));
  std::fflush(stdout);
  output->write(line.bytes() + "\n");
}

void tell(const TerminalText& line) { log_output().write(line.bytes() + "\n"); }

void tell_part(const TerminalText& text) { log_output().write(text.bytes()); }

bool end_output() {
  if (std::fflush(stdout) != 0 && print_error == 0) print_error = errno;
  log_output().finish();
  errno = print_error;
  return print_error == 0;
}

}  // namespace ws::mock

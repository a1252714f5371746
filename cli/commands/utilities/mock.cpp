// `ws mock`: the mock server that stands beside this program, or in PATH.
#include <cstring>
#include <filesystem>

#include "api-client/base/process.hpp"
#include "cli/commands/shared/commands.hpp"

namespace ws::cli {

std::string mock_program() {
  std::error_code unknown;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::string program = "ws-mock";
  const bool is_beside = !unknown && std::filesystem::exists(self.parent_path() / program, unknown);
  return is_beside ? (self.parent_path() / program).string() : program;
}

Failure start_mock(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), mock_program());
  const int error = Process::replace_this(std::move(words));
  return {.kind = Failure::Kind::disk,
          .what = "cannot start ws-mock: " + std::string(std::strerror(error)),
          .hint = "install it beside ws, or in PATH"};
}

Command mock_command() {
  return {.words = "mock",
          .summary = "Start ws-mock, the mock server",
          .details = "All arguments are passed to ws-mock; `ws mock --help` prints its help.",
          .arguments = {{.placeholder = "ARG", .help = "as ws-mock takes them", .count = Count::any}},
          .examples = {"ws mock exec -- ws whoami"},
          .run = [](Session&) -> Result<ExitCode> { return fail(start_mock({})); }};
}

}  // namespace ws::cli

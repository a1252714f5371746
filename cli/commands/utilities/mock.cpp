// `ws mock`: the mock server that stands beside this program, or in PATH.
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <unistd.h>

#include "cli/commands/utilities/commands.hpp"

namespace ws::cli {

Failure start_mock(const std::vector<std::string>& arguments) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::string program = "ws-mock";
  if (!error && std::filesystem::exists(self.parent_path() / program, error)) program = self.parent_path() / program;
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), program);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(program.c_str(), pointers.data());
  return {.kind = Failure::Kind::disk,
          .what = "cannot start ws-mock: " + std::string(std::strerror(errno)),
          .hint = "install it beside ws, or in PATH"};
}

Command mock_command() {
  return {.words = "mock",
          .summary = "Start ws-mock, the mock server",
          .details = "Everything behind `mock` goes to ws-mock as it is; `ws mock --help` is its help.",
          .arguments = {{.placeholder = "ARG", .help = "as ws-mock takes them", .count = Count::any}},
          .examples = {"ws mock exec -- ws whoami"},
          .run = [](Session&) -> Result<ExitCode> { return fail(start_mock({})); }};
}

}  // namespace ws::cli

#include "tests/support/on_terminal.hpp"

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ws::test {
namespace {

[[noreturn]] void become(const Command& command) {
  if (!command.folder.empty() && ::chdir(command.folder.c_str()) != 0) ::_exit(127);
  std::vector<std::string> lines;
  for (const auto& [name, value] : command.environment) lines.push_back(name + "=" + value);
  for (const char* const name : {"PATH", "HOME"}) {
    const char* value = std::getenv(name);
    if (!command.environment.contains(name) && value != nullptr) lines.push_back(name + std::string("=") + value);
  }
  std::vector<char*> variables;
  for (std::string& line : lines) variables.push_back(line.data());
  variables.push_back(nullptr);
  std::vector<std::string> words = command.arguments;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvpe(arguments.front(), arguments.data(), variables.data());
  ::_exit(127);
}

}  // namespace

Screen run_on_terminal(const Command& command, int columns, int rows) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = static_cast<unsigned short>(rows);
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child < 0) throw std::runtime_error("no terminal can be made");
  if (child == 0) become(command);
  if (!command.input.empty() && ::write(terminal, command.input.data(), command.input.size()) < 0) {
    throw std::runtime_error("nothing can be typed");
  }
  Screen screen;
  const auto deadline = std::chrono::steady_clock::now() + command.timeout;
  char buffer[4096];
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd waiting{terminal, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) == 0) {
      ::kill(child, SIGKILL);
      break;
    }
    const ssize_t count = ::read(terminal, buffer, sizeof buffer);
    if (count <= 0) break;  // EIO: the program has closed its side
    screen.text.append(buffer, static_cast<std::size_t>(count));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(terminal);
  screen.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::erase(screen.text, '\r');
  return screen;
}

}  // namespace ws::test

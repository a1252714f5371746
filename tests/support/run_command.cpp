#include "tests/support/run_command.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ws::test {
namespace {

using Instant = std::chrono::steady_clock::time_point;

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    read_end = ends[0];
    write_end = ends[1];
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
  static void close_end(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

[[noreturn]] void become(const Command& command, const Pipe& in, const Pipe& out, const Pipe& err) {
  ::dup2(in.read_end, STDIN_FILENO);
  ::dup2(out.write_end, STDOUT_FILENO);
  ::dup2(err.write_end, STDERR_FILENO);
  std::vector<std::string> environment;
  for (const auto& [name, value] : command.environment) environment.push_back(name + "=" + value);
  if (const char* path = std::getenv("PATH")) environment.push_back(std::string("PATH=") + path);
  std::vector<char*> variables;
  for (std::string& line : environment) variables.push_back(line.data());
  variables.push_back(nullptr);
  std::vector<std::string> words = command.arguments;
  words.insert(words.begin(), command.program.string());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  if (!command.folder.empty() && ::chdir(command.folder.c_str()) != 0) ::_exit(127);
  std::signal(SIGPIPE, SIG_DFL);
  ::execve(arguments.front(), arguments.data(), variables.data());
  ::_exit(127);
}

/// Takes what is there; closes the end when nothing more comes.
void drain(int& end, std::string& text) {
  char buffer[16 * 1024];
  const ssize_t count = ::read(end, buffer, sizeof buffer);
  if (count > 0) {
    text.append(buffer, static_cast<std::size_t>(count));
  } else if (count == 0 || errno != EINTR) {
    Pipe::close_end(end);
  }
}

void feed(Pipe& in, std::string& input) {
  const ssize_t count = ::write(in.write_end, input.data(), input.size());
  if (count > 0) input.erase(0, static_cast<std::size_t>(count));
  if (input.empty() || (count < 0 && errno != EINTR && errno != EAGAIN)) Pipe::close_end(in.write_end);
}

int exit_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

}  // namespace

Outcome run_command(const Command& command) {
  Pipe in;
  Pipe out;
  Pipe err;
  const pid_t child = ::fork();
  if (child == 0) become(command, in, out, err);
  Pipe::close_end(in.read_end);
  Pipe::close_end(out.write_end);
  Pipe::close_end(err.write_end);
  std::signal(SIGPIPE, SIG_IGN);
  Outcome outcome;
  std::string input = command.input;
  if (input.empty()) Pipe::close_end(in.write_end);
  int signal = command.signal_after_output;
  const Instant end = std::chrono::steady_clock::now() + command.timeout;
  bool late = false;
  while (out.read_end >= 0 || err.read_end >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    late = left.count() <= 0;
    if (late) break;
    pollfd watched[3] = {{out.read_end, POLLIN, 0}, {err.read_end, POLLIN, 0}, {in.write_end, POLLOUT, 0}};
    if (::poll(watched, 3, static_cast<int>(left.count())) < 0 && errno != EINTR) break;
    if (watched[0].revents != 0) drain(out.read_end, outcome.out);
    if (watched[1].revents != 0) drain(err.read_end, outcome.err);
    if (watched[2].revents != 0) feed(in, input);
    if (signal != 0 && !outcome.err.empty()) ::kill(child, std::exchange(signal, 0));
  }
  if (late) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  outcome.exit = late ? -1 : exit_of(status);
  return outcome;
}

}  // namespace ws::test

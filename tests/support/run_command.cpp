#include "tests/support/run_command.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api-client/base/descriptor.hpp"
#include "tests/support/build_paths.hpp"

namespace ws::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct Pipe {
  int read = -1;
  int write = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  return {ends[0], ends[1]};
}

/// Standard input as an unlinked file, so that no process has to write it while the program runs.
int input_file(const std::string& text) {
  std::FILE* file = std::tmpfile();
  if (file == nullptr) throw std::runtime_error("tmpfile");
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
  const int fd = ::fcntl(::fileno(file), F_DUPFD_CLOEXEC, 3);
  std::fclose(file);
  ::lseek(fd, 0, SEEK_SET);
  return fd;
}

std::vector<std::string> environment_of(const Command& command) {
  std::map<std::string, std::string> all = command.environment;
  for (const char* name : {"PATH", "HOME", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) all.emplace(name, value);
  }
  std::vector<std::string> lines;
  for (const auto& [name, value] : all) lines.push_back(name + "=" + value);
  return lines;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

Running::Running(const Command& command) : deadline_(steady_clock::now() + command.timeout) {
  const Pipe out = make_pipe();
  const Pipe err = make_pipe();
  const int input = input_file(command.input);
  std::vector<std::string> arguments = command.arguments;
  if (!command.program.empty()) arguments.insert(arguments.begin(), command.program.string());
  std::vector<std::string> environment = environment_of(command);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork");
  if (pid_ == 0) {
    ::dup2(input, 0);
    ::dup2(out.write, 1);
    ::dup2(err.write, 2);
    if (!command.folder.empty() && ::chdir(command.folder.c_str()) != 0) ::_exit(126);
    ::execvpe(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  ::close(input);
  ::close(out.write);
  ::close(err.write);
  out_ = out.read;
  err_ = err.read;
}

Running::~Running() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (out_ >= 0) ::close(out_);
  if (err_ >= 0) ::close(err_);
}

void Running::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

bool Running::pump(milliseconds at_most) {
  std::array<pollfd, 2> waiting = {pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
  if (out_ < 0 && err_ < 0) return false;
  if (::poll(waiting.data(), waiting.size(), static_cast<int>(at_most.count())) <= 0) return true;
  std::array<char, 65536> buffer{};
  for (pollfd& one : waiting) {
    if (one.fd < 0 || one.revents == 0) continue;
    const ssize_t count = read_some(one.fd, buffer.data(), buffer.size());
    const bool standard_out = one.fd == out_;
    if (count > 0) {
      (standard_out ? ended_.out : ended_.err).append(buffer.data(), static_cast<std::size_t>(count));
    } else {
      ::close(one.fd);
      (standard_out ? out_ : err_) = -1;
    }
  }
  return out_ >= 0 || err_ >= 0;
}

bool Running::wait_for(const std::string& text) {
  while (true) {
    if ((ended_.out + ended_.err).find(text) != std::string::npos) return true;
    if (steady_clock::now() >= deadline_ || !pump(milliseconds{20})) return false;
  }
}

bool Running::wait_for_errors() {
  while (ended_.err.empty()) {
    if (steady_clock::now() >= deadline_ || !pump(milliseconds{20})) return false;
  }
  return true;
}

Ended Running::wait() {
  while (steady_clock::now() < deadline_ && pump(milliseconds{20})) {
  }
  const bool late = steady_clock::now() >= deadline_;
  if (late) ::kill(pid_, SIGKILL);
  int status = 0;
  rusage used{};
  retry_eintr([&] { return ::wait4(pid_, &status, 0, &used); });
  pid_ = -1;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  ended_.peak_kib = used.ru_maxrss;
  ended_.processor_s = seconds(used.ru_utime) + seconds(used.ru_stime);
  ended_.exit = late ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended_;
}

Ended run_command(const Command& command) {
  Running running(command);
  if (command.signal_after_output != 0 && running.wait_for_errors()) running.signal(command.signal_after_output);
  return running.wait();
}

std::string program(const std::string& name) { return program_folder() + "/" + name; }

}  // namespace ws::test

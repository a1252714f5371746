#include "cli/commands/events/child_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ws::cli {
namespace {

// More does not fit into one request of the API (16 MiB with its escapes).
constexpr std::size_t most_output_bytes = std::size_t{8} << 20U;
constexpr std::size_t error_tail_bytes = std::size_t{64} << 10U;

int nameless_file() {
  const char* const folder = std::getenv("TMPDIR");
  std::string path = (folder != nullptr && *folder == '/' ? std::string(folder) : "/tmp") + "/ws-XXXXXX";
  const int file = ::mkostemp(path.data(), O_CLOEXEC);
  if (file >= 0) ::unlink(path.c_str());
  return file;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::lseek(file, 0, SEEK_SET) == 0;
}

/// At most `most` bytes, from the front or from the end.
enum class Part { front, end };
std::string text_of(int file, std::size_t most, Part part) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  std::string text(std::min(size, most), '\0');
  std::size_t got = 0;
  const std::size_t begin = part == Part::end ? size - text.size() : 0;
  while (got < text.size()) {
    const ssize_t count = ::pread(file, text.data() + got, text.size() - got, static_cast<off_t>(begin + got));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    got += static_cast<std::size_t>(count);
  }
  text.resize(got);
  return text;
}

/// Whatever is open beside the three streams is ours, locks and connections among it.
void close_others() {
  if (::close_range(STDERR_FILENO + 1, ~0U, 0) == 0) return;
  constexpr int most_files = 65'536;  // a kernel before 5.9: as far as files are usually numbered
  for (int file = STDERR_FILENO + 1; file < most_files; ++file) ::close(file);
}

/// After fork: only what is safe between fork and exec.
[[noreturn]] void become(char* const* arguments, char* const* environment, int in, int out, int err) {
  ::setpgid(0, 0);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) ::signal(number, SIG_DFL);
  close_others();
  ::execvpe(arguments[0], arguments, environment);
  ::_exit(errno == ENOENT ? 127 : 126);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> raw;
  raw.reserve(texts.size() + 1);
  for (std::string& text : texts) raw.push_back(text.data());
  raw.push_back(nullptr);
  return raw;
}

std::vector<std::string> merged(const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> lines;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    const std::string_view name = line.substr(0, line.find('='));
    const auto replaced = [name](const auto& one) { return one.first == name; };
    if (std::ranges::none_of(more, replaced)) lines.emplace_back(line);
  }
  for (const auto& [name, value] : more) lines.push_back(name + "=" + value);
  return lines;
}

}  // namespace

bool is_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0;
  const char* const path = std::getenv("PATH");
  const std::string folders = path != nullptr ? path : "/usr/bin:/bin";
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string folder = folders.substr(begin, end - begin);
    if (::access(((folder.empty() ? "." : folder) + "/" + name).c_str(), X_OK) == 0) return true;
    begin = end + 1;
  }
  return false;
}

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& command,
                                         const std::string& input,
                                         const std::vector<std::pair<std::string, std::string>>& environment) {
  if (!is_program(command.front())) return fail(Failure::Kind::usage, "there is no program " + command.front());
  const int in = nameless_file();
  ChildProcess child(-1, nameless_file(), nameless_file());
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = merged(environment);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(variables);
  if (in < 0 || child.out_ < 0 || child.err_ < 0 || !write_all(in, input)) {
    if (in >= 0) ::close(in);
    return fail(Failure::Kind::disk, "no temporary file can be written");
  }
  child.pid_ = ::fork();
  if (child.pid_ == 0) become(argv.data(), envp.data(), in, child.out_, child.err_);
  ::close(in);
  if (child.pid_ < 0) return fail(Failure::Kind::internal, std::string("no new process: ") + std::strerror(errno));
  // Here as well: a signal to the group must not come before it is one.
  ::setpgid(child.pid_, child.pid_);
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), out_(std::exchange(other.out_, -1)), err_(std::exchange(other.err_, -1)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(out_, other.out_);
  std::swap(err_, other.err_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    kill();
    ::waitpid(pid_, nullptr, 0);
  }
  close_all();
}

void ChildProcess::close_all() {
  for (int* file : {&out_, &err_}) {
    if (*file >= 0) ::close(std::exchange(*file, -1));
  }
}

std::optional<ChildEnd> ChildProcess::poll() {
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  pid_ = -1;
  return ChildEnd{.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                  .out = text_of(out_, most_output_bytes, Part::front),
                  .err = text_of(err_, error_tail_bytes, Part::end)};
}

void ChildProcess::ask_to_end() const {
  if (pid_ > 0) ::kill(-pid_, SIGTERM);
}

void ChildProcess::kill() const {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

}  // namespace ws::cli

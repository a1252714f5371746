#include "cli/commands/events/child_process.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ws::cli {
namespace {

// More does not fit into one request of the API (16 MiB with its escapes).
constexpr std::size_t max_output_bytes = std::size_t{8} << 20U;
constexpr std::size_t error_tail_bytes = std::size_t{64} << 10U;

Descriptor nameless_file() {
  const char* const folder = std::getenv("TMPDIR");
  std::string path = (folder != nullptr && *folder == '/' ? std::string(folder) : "/tmp") + "/ws-XXXXXX";
  Descriptor file(::mkostemp(path.data(), O_CLOEXEC));
  if (file) ::unlink(path.c_str());
  return file;
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
    const ssize_t count = read_some_at(file, text.data() + got, text.size() - got, static_cast<off_t>(begin + got));
    if (count <= 0) break;
    got += static_cast<std::size_t>(count);
  }
  text.resize(got);
  return text;
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& command,
                                         const std::string& input,
                                         const std::vector<std::pair<std::string, std::string>>& environment) {
  const Descriptor in = nameless_file();
  Descriptor out = nameless_file();
  Descriptor err = nameless_file();
  if (!in || !out || !err || !write_all(in.get(), input) || ::lseek(in.get(), 0, SEEK_SET) != 0) {
    return fail(Failure::Kind::disk, "cannot write a temporary file");
  }
  // No other file: locks and connections of ours are among them.
  WS_LET(const Process process,
         Process::start(command,
                        {.in = in.get(),
                         .out = out.get(),
                         .err = err.get(),
                         .environment = environment,
                         .own_group = true,
                         .streams_only = true}));
  return ChildProcess(process, std::move(out), std::move(err));
}

ChildProcess::~ChildProcess() {
  // A moved-from object owns no files.
  if (has_ended_ || !out_) return;
  kill();
  process_.wait();
}

std::optional<ChildEnd> ChildProcess::poll() {
  const auto exit = process_.poll();
  if (!exit) return std::nullopt;
  has_ended_ = true;
  return ChildEnd{.exit = *exit,
                  .out = text_of(out_.get(), max_output_bytes, Part::front),
                  .err = text_of(err_.get(), error_tail_bytes, Part::end)};
}

void ChildProcess::ask_to_end() const {
  if (!has_ended_) process_.signal(SIGTERM);
}

void ChildProcess::kill() const {
  if (!has_ended_) process_.signal(SIGKILL);
}

}  // namespace ws::cli

#include "server-mock/journal/journal_file.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ws::mock {

Result<JournalFile> JournalFile::open(const std::string& path) {
  JournalFile journal;
  if (path.empty()) return journal;
  journal.file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (journal.file_ < 0) {
    return fail(Failure::Kind::disk,
                fmt::format("cannot write the journal {}: {}", path, std::generic_category().message(errno)));
  }
  return journal;
}

JournalFile::JournalFile(JournalFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

JournalFile::~JournalFile() {
  if (file_ >= 0) ::close(file_);
}

void JournalFile::write(const Json& entry) {
  const std::string line = dump(entry) + "\n";
  std::string_view rest = line;
  while (!rest.empty() && file_ >= 0) {
    const ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      fmt::print(
          stderr, "ws-mock: the journal's file is written no more: {}\n", std::generic_category().message(errno));
      ::close(std::exchange(file_, -1));
    }
  }
}

}  // namespace ws::mock

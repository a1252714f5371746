#include "api-client/base/own_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/files.hpp"
#include "api-client/base/shell_command.hpp"

namespace ws {
namespace {

namespace fs = std::filesystem;

constexpr int max_removed = 10;

tl::unexpected<Failure> not_ours(const fs::path& path, std::string_view why) {
  return fail(Failure{.kind = Failure::Kind::disk,
                      .what = fmt::format("{} {}; nothing was written to it", shown_path(path), why),
                      .hint = "remove it with " + ShellCommand{"rm"}.path(shown_path(path)).in_backticks() +
                              ", or choose another folder",
                      .code = "not_ours"});
}

/// Whether the path still names this file: a lock on a removed one excludes nobody.
bool is_still_at(int file, const fs::path& path) {
  struct stat mine {};
  struct stat there {};
  return ::fstat(file, &mine) == 0 && ::lstat(path.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
         mine.st_dev == there.st_dev;
}

std::string holder_in(int file) {
  std::array<char, 32> buffer{};
  const ssize_t count = read_some_at(file, buffer.data(), buffer.size(), 0);
  const std::string text(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  return text.substr(0, text.find_first_not_of("0123456789"));
}

tl::unexpected<Failure> cannot_lock(const fs::path& path) {
  return fail(Failure::Kind::disk, fmt::format("cannot lock {}: {}", path.string(), std::strerror(errno)));
}

}  // namespace

Result<void> check_is_ours(int file, const fs::path& path) {
  struct stat found {};
  if (::fstat(file, &found) != 0) {
    return fail(Failure::Kind::disk, fmt::format("cannot open {}: {}", shown_path(path), std::strerror(errno)));
  }
  if (!S_ISREG(found.st_mode)) return not_ours(path, "is not a regular file");
  if (found.st_uid != ::geteuid()) return not_ours(path, "belongs to another user");
  if (found.st_nlink > 1) return not_ours(path, "has a second name (a hard link)");
  return {};
}

Result<Descriptor> open_own_file(const fs::path& path, int flags, unsigned mode) {
  constexpr int careful = O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Descriptor file(::open(path.c_str(), flags | careful, static_cast<mode_t>(mode)));
  if (!file && errno == ELOOP) return not_ours(path, "is a symbolic link");
  if (!file && errno == ENXIO) return not_ours(path, "is not a regular file");
  if (!file) {
    const int error = errno;
    struct stat there {};
    // Systems refuse to open files of others in a folder like /tmp (proc_sys_fs(5), protected_regular).
    const bool is_theirs = error == EACCES && ::lstat(path.c_str(), &there) == 0 && there.st_uid != ::geteuid();
    if (is_theirs) return not_ours(path, "belongs to another user");
    return fail(Failure::Kind::disk, fmt::format("cannot write {}: {}", shown_path(path), std::strerror(error)));
  }
  WS_TRY(check_is_ours(file.get(), path));
  return file;
}

Result<Descriptor> wait_for_lock(const fs::path& path) {
  WS_LET(Descriptor lock, open_own_file(path, O_RDWR, 0600));
  if (!lock_file(lock.get(), WaitForLock::yes)) return cannot_lock(path);
  return lock;
}

Result<LockFile> LockFile::take(const fs::path& path, const std::string& doing) {
  // Bounded: some file systems report another inode number with each call.
  for (int removed = 0;;) {
    WS_LET(Descriptor file, open_own_file(path, O_RDWR, 0666));
    if (!lock_file(file.get(), WaitForLock::no)) {
      if (errno != EWOULDBLOCK) return cannot_lock(path);
      const std::string holder = holder_in(file.get());
      return fail(
          Failure{.kind = Failure::Kind::disk,
                  .what = fmt::format("another ws{} is {}", holder.empty() ? "" : " (process " + holder + ")", doing),
                  .hint = "wait for it, then run the same command again",
                  .code = "locked",
                  .call = {.retryable = true}});
    }
    if (!is_still_at(file.get(), path) && ++removed < max_removed) continue;
    const std::string text = fmt::format("{}\n", ::getpid());
    if (::ftruncate(file.get(), 0) != 0 || !write_all_at(file.get(), text, 0)) {
      return fail(Failure::Kind::disk, fmt::format("cannot write {}: {}", shown_path(path), std::strerror(errno)));
    }
    return LockFile(path, std::move(file));
  }
}

// NOLINTNEXTLINE(bugprone-exception-escape): nothing is thrown but for want of memory
LockFile::~LockFile() {
  if (file_) ::unlink(path_.c_str());
}

}  // namespace ws

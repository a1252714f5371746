#include "sync-engine/tree/hash.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "api-client/base/utf8.hpp"
#include "sync-engine/tree/root_folder.hpp"

namespace ws::sync {
namespace {

constexpr unsigned stamp_mask = STATX_BASIC_STATS;

bool stat_file(int fd, struct statx& status) {
  return ::statx(fd, "", AT_EMPTY_PATH | AT_STATX_SYNC_AS_STAT, stamp_mask, &status) == 0;
}

std::int64_t nanoseconds(const statx_timestamp& time) {
  return time.tv_sec * 1'000'000'000 + static_cast<std::int64_t>(time.tv_nsec);
}

/// Fills `buffer` with the whole file; false with errno on failure. A file that grows past `size` reads one byte more.
bool read_all(int fd, std::size_t size, std::string& buffer) {
  buffer.resize(size + 1);
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t count = ::read(fd, buffer.data() + filled, buffer.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  buffer.resize(filled);
  return true;
}

}  // namespace

FileStamp stamp_of(const struct statx& status) {
  return {.size_bytes = status.stx_size,
          .modified_ns = nanoseconds(status.stx_mtime),
          .changed_ns = nanoseconds(status.stx_ctime),
          .inode = status.stx_ino,
          .device = makedev(status.stx_dev_major, status.stx_dev_minor),
          .mode = status.stx_mode};
}

std::variant<HashedFile, Hindrance> hash_file(int folder_fd,
                                              const char* name,
                                              std::uint64_t max_bytes,
                                              std::string& buffer) {
  // O_NONBLOCK: a FIFO put in the file's place must not hold us up.
  const Descriptor file(::openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    if (errno == ELOOP) return Hindrance::symlink;
    return errno == ENOENT ? Hindrance::busy : Hindrance::unreadable;
  }
  struct statx before {};
  struct statx after {};
  if (!stat_file(file.get(), before)) return Hindrance::unreadable;
  if (!S_ISREG(before.stx_mode)) return Hindrance::special;
  if (before.stx_size > max_bytes) return Hindrance::too_large;
  if (!read_all(file.get(), before.stx_size, buffer)) return Hindrance::unreadable;
  if (!stat_file(file.get(), after)) return Hindrance::unreadable;
  const FileStamp stamp = stamp_of(before);
  if (buffer.size() != before.stx_size || stamp != stamp_of(after)) return Hindrance::busy;
  if (std::memchr(buffer.data(), 0, buffer.size()) != nullptr) return Hindrance::holds_nul;
  if (!utf8::is_valid(buffer)) return Hindrance::not_utf8;
  return HashedFile{.stamp = stamp, .hash = Sha256::of(buffer)};
}

}  // namespace ws::sync

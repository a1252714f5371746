#include "sync-engine/tree/hash.hpp"

#include <cerrno>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "api-client/base/utf8.hpp"
#include "sync-engine/disk/root_folder.hpp"

namespace ws::sync {
namespace {

bool stat_file(int fd, struct statx& status) {
  return ::statx(fd, "", AT_EMPTY_PATH | AT_STATX_SYNC_AS_STAT, stamp_mask, &status) == 0;
}

std::int64_t nanoseconds(const statx_timestamp& time) {
  return time.tv_sec * 1'000'000'000 + static_cast<std::int64_t>(time.tv_nsec);
}

/// The whole file, in `buffer`; empty with errno on failure. Of a file that grows past `size` one byte more.
std::optional<std::string_view> read_all(int fd, std::size_t size, std::string& buffer) {
  if (buffer.size() <= size) buffer.resize(size + 1);
  std::size_t filled = 0;
  while (filled <= size) {
    const ssize_t count = read_some(fd, buffer.data() + filled, size + 1 - filled);
    if (count < 0) return std::nullopt;
    filled += static_cast<std::size_t>(count);
    // A regular file is read short at its end alone: the read that would say so is spared where all of it came.
    if (count == 0 || filled == size) break;
  }
  return std::string_view(buffer).substr(0, filled);
}

/// Without a trace in the file's time of access, where the file is ours; otherwise as anybody reads it. O_NONBLOCK: a
/// FIFO put in the file's place must not hold us up.
Descriptor open_to_read(int folder_fd, const char* name) {
  constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  Descriptor file(::openat(folder_fd, name, flags | O_NOATIME));
  if (file || errno != EPERM) return file;
  return Descriptor(::openat(folder_fd, name, flags));
}

}  // namespace

const unsigned stamp_mask = STATX_BASIC_STATS | STATX_BTIME;

FileStamp stamp_of(const struct statx& status) {
  return {.size_bytes = status.stx_size,
          .modified_ns = nanoseconds(status.stx_mtime),
          .changed_ns = nanoseconds(status.stx_ctime),
          .inode = status.stx_ino,
          .device = makedev(status.stx_dev_major, status.stx_dev_minor),
          .born_ns = (status.stx_mask & STATX_BTIME) != 0 ? nanoseconds(status.stx_btime) : 0,
          .mode = status.stx_mode};
}

std::optional<FileId> find_file_id(const RootFolder& root, const RelativePath& path) {
  const Descriptor file = root.open_beneath(path.text(), O_PATH | O_NOFOLLOW);
  struct statx status {};
  if (!file || ::statx(file.get(), "", AT_EMPTY_PATH, stamp_mask, &status) != 0) return std::nullopt;
  return S_ISREG(status.stx_mode) ? std::optional(stamp_of(status).id()) : std::nullopt;
}

std::variant<HashedFile, UnhashedFile> hash_file(int folder_fd,
                                                 const char* name,
                                                 std::uint64_t max_bytes,
                                                 std::string& buffer) {
  const Descriptor file = open_to_read(folder_fd, name);
  if (!file) {
    if (errno == ELOOP) return UnhashedFile{SkipReason::symlink};
    return UnhashedFile{errno == ENOENT ? SkipReason::busy : SkipReason::unreadable};
  }
  struct statx before {};
  struct statx after {};
  if (!stat_file(file.get(), before)) return UnhashedFile{SkipReason::unreadable};
  const FileStamp stamp = stamp_of(before);
  if (!S_ISREG(before.stx_mode)) return UnhashedFile{SkipReason::special, stamp};
  if (before.stx_size > max_bytes) return UnhashedFile{SkipReason::too_large, stamp};
  const auto text = read_all(file.get(), before.stx_size, buffer);
  if (!text || !stat_file(file.get(), after)) return UnhashedFile{SkipReason::unreadable, stamp};
  if (text->size() != before.stx_size || stamp != stamp_of(after)) return UnhashedFile{SkipReason::busy, stamp};
  if (std::memchr(text->data(), 0, text->size()) != nullptr) return UnhashedFile{SkipReason::holds_nul, stamp};
  if (!utf8::is_valid(*text)) return UnhashedFile{SkipReason::not_utf8, stamp};
  return HashedFile{.stamp = stamp, .hash = Sha256::of(*text)};
}

}  // namespace ws::sync

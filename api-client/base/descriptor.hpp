/// An owned file descriptor, and wrappers of system calls that retry after EINTR.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <sys/types.h>

namespace ws {

/// Owns a file descriptor and closes it once; -1 means none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Repeats a system call until it does not fail with EINTR: a signal handler ran. The call must not depend on what the
/// handler did.
template <class SystemCall>
auto retry_eintr(SystemCall call) {
  while (true) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

/// read(2) and pread(2), retried after EINTR.
ssize_t read_some(int file, char* buffer, std::size_t size);
ssize_t read_some_at(int file, char* buffer, std::size_t size, off_t offset);

/// Writes the whole text. Returns false, with errno set, if some of it could not be written.
bool write_all(int file, std::string_view text);
bool write_all_at(int file, std::string_view text, off_t offset);

/// An advisory, exclusive lock on the whole file (flock(2)), released when the descriptor is closed. With `no`, fails
/// with EWOULDBLOCK in errno if another process holds the lock.
enum class WaitForLock { no, yes };
bool lock_file(int file, WaitForLock wait);
/// Whether another open file holds such a lock.
bool is_file_locked(int file);

/// Such a lock on one byte of a file that is open for writing (fcntl(2), F_OFD_SETLK), which need not exist; `no` in
/// the sense above. `at` is below 2^63.
bool lock_byte(int file, std::uint64_t at);

}  // namespace ws

/// A file descriptor that is closed once, and the system calls on one that begin again after a signal (EINTR).
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include <sys/types.h>

namespace ws {

/// Owns a file descriptor; -1: none.
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

/// read(2) and pread(2).
ssize_t read_some(int file, char* buffer, std::size_t size);
ssize_t read_some_at(int file, char* buffer, std::size_t size, off_t offset);

/// Writes all of the text. False with errno set where not all of it could be written.
bool write_all(int file, std::string_view text);
bool write_all_at(int file, std::string_view text, off_t offset);

/// An advisory lock on the whole file (flock(2), exclusive), which ends with the descriptor. `no` fails with
/// EWOULDBLOCK in errno where another process holds it.
enum class WaitForLock { no, yes };
bool lock_file(int file, WaitForLock wait);

}  // namespace ws

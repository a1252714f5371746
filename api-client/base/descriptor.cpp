#include "api-client/base/descriptor.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace ws {

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

ssize_t read_some(int file, char* buffer, std::size_t size) {
  return retry_eintr([&] { return ::read(file, buffer, size); });
}

ssize_t read_some_at(int file, char* buffer, std::size_t size, off_t offset) {
  return retry_eintr([&] { return ::pread(file, buffer, size, offset); });
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = retry_eintr([&] { return ::write(file, text.data(), text.size()); });
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool write_all_at(int file, std::string_view text, off_t offset) {
  while (!text.empty()) {
    const ssize_t written = retry_eintr([&] { return ::pwrite(file, text.data(), text.size(), offset); });
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
    offset += written;
  }
  return true;
}

bool lock_file(int file, WaitForLock wait) {
  const int operation = wait == WaitForLock::yes ? LOCK_EX : LOCK_EX | LOCK_NB;
  return retry_eintr([&] { return ::flock(file, operation); }) == 0;
}

bool is_file_locked(int file) {
  if (retry_eintr([&] { return ::flock(file, LOCK_SH | LOCK_NB); }) != 0) return errno == EWOULDBLOCK;
  ::flock(file, LOCK_UN);
  return false;
}

bool lock_byte(int file, std::uint64_t at) {
  struct flock one {};
  one.l_type = F_WRLCK;
  one.l_whence = SEEK_SET;
  one.l_start = static_cast<off_t>(at);
  one.l_len = 1;
  return retry_eintr([&] { return ::fcntl(file, F_OFD_SETLK, &one); }) == 0;
}

}  // namespace ws

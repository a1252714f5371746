#include "sync-engine/disk/file_at.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "api-client/base/descriptor.hpp"
#include "sync-engine/disk/root_folder.hpp"

namespace ws::sync {

Result<std::string> read_file_at(int folder, const std::string& name) {
  const Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT) return fail(Failure::Kind::not_found, fmt::format("{} does not exist", name));
    return disk_failure("open", name);
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return disk_failure("read", name);
  if (!S_ISREG(status.st_mode)) return fail(Failure::Kind::disk, fmt::format("{} is not a regular file", name));
  std::string text(static_cast<std::size_t>(status.st_size) + 1, '\0');
  std::size_t filled = 0;
  while (true) {
    if (filled == text.size()) text.resize(text.size() * 2);
    const ssize_t count = read_some(file.get(), text.data() + filled, text.size() - filled);
    if (count < 0) return disk_failure("read", name);
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  text.resize(filled);
  return text;
}

Result<std::optional<Sha256>> hash_file_at(int folder, const std::string& name) {
  const Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::optional<Sha256>{};
  if (!file) return disk_failure("open", name);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return disk_failure("read", name);
  if (!S_ISREG(status.st_mode)) return fail(Failure::Kind::disk, fmt::format("{} is not a regular file", name));
  // Piece by piece: the file may be an attachment.
  Sha256Stream stream;
  std::array<char, std::size_t{64} << 10U> buffer;
  while (true) {
    const ssize_t count = read_some(file.get(), buffer.data(), buffer.size());
    if (count < 0) return disk_failure("read", name);
    if (count == 0) return std::optional(stream.finish());
    stream.update({buffer.data(), static_cast<std::size_t>(count)});
  }
}

}  // namespace ws::sync

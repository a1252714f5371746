#include "api-client/base/files.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ws {
namespace {

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

tl::unexpected<Failure> disk(std::string_view what, const std::filesystem::path& path, int error) {
  return fail(Failure::Kind::disk, fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(error)));
}

Result<void> write_all(int fd, std::string_view text, const std::filesystem::path& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return disk("write", path, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return fail(Failure::Kind::not_found, fmt::format("{} does not exist", path.string()));
    }
    return disk("open", path, errno);
  }
  std::string text;
  std::string buffer(std::size_t{64} << 10U, '\0');
  while (true) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return disk("read", path, errno);
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > max_bytes) {
      return fail(Failure::Kind::invalid, fmt::format("{} is larger than {} bytes", path.string(), max_bytes));
    }
  }
}

Result<void> write_file(const std::filesystem::path& path, std::string_view text, unsigned mode) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::string temporary = (folder / fmt::format(".{}.XXXXXX", path.filename().string())).string();
  const Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) return disk("write beside", path, errno);
  const auto write = [&]() -> Result<void> {
    if (::fchmod(file.get(), static_cast<mode_t>(mode)) != 0) return disk("set the mode of", temporary, errno);
    WS_TRY(write_all(file.get(), text, temporary));
    if (::fsync(file.get()) != 0) return disk("flush", temporary, errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0) return disk("replace", path, errno);
    return {};
  };
  if (auto written = write(); !written) {
    ::unlink(temporary.c_str());
    return written;
  }
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || ::fsync(directory.get()) != 0) return disk("flush the folder of", path, errno);
  return {};
}

Result<void> make_folders(const std::filesystem::path& path, unsigned mode) {
  std::filesystem::path made;
  for (const auto& part : path) {
    made /= part;
    if (::mkdir(made.c_str(), static_cast<mode_t>(mode)) != 0 && errno != EEXIST) {
      struct stat status {};
      if (::stat(made.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) continue;
      return disk("make the folder", made, errno);
    }
  }
  struct stat status {};
  if (!path.empty() && (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))) {
    return disk("make the folder", path, ENOTDIR);
  }
  return {};
}

}  // namespace ws

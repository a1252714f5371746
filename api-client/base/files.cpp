#include "api-client/base/files.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/clean.hpp"
#include "api-client/base/own_file.hpp"
#include "api-client/base/text.hpp"

namespace ws {
namespace {

constexpr std::string_view descriptor_folder = "/proc/self/fd/";

tl::unexpected<Failure> cannot(std::string_view what, const std::filesystem::path& path, int error) {
  return fail(Failure::Kind::disk, fmt::format("cannot {} {}: {}", what, shown_path(path), std::strerror(error)));
}

/// Reads one block. Waits for input only if it is a pipe whose other end is open (EAGAIN).
ssize_t read_piece(int file, std::string& buffer) {
  while (true) {
    const ssize_t count = read_some(file, buffer.data(), buffer.size());
    if (count >= 0 || errno != EAGAIN) return count;
    pollfd waiting{.fd = file, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, -1) < 0 && errno != EINTR) return -1;
  }
}

Result<void> check_kind(int file, Source source, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return cannot("read", path, errno);
  if (S_ISDIR(status.st_mode)) return cannot("read", path, EISDIR);
  if (S_ISREG(status.st_mode) || source == Source::anything) return {};
  if (S_ISFIFO(status.st_mode) && source == Source::connected) return {};
  return fail(Failure::Kind::disk, fmt::format("{} is not a regular file", shown_path(path)));
}

/// Creates a new temporary file in `folder`, named after `name`, and returns its name in `temporary`.
int create_beside(int folder, const std::string& name, mode_t mode, std::string& temporary) {
  static std::atomic<unsigned> next{0};
  while (true) {
    // Skip names left behind by a killed process with the same pid.
    temporary = fmt::format(".{}.{}-{}", name.substr(0, 200), ::getpid(), next++);
    const int file = ::openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file >= 0 || errno != EEXIST) return file;
  }
}

std::vector<std::string> temporary_folders() {
  std::vector<std::string> folders;
  if (const char* chosen = std::getenv("TMPDIR"); chosen != nullptr && *chosen != '\0') folders.emplace_back(chosen);
  folders.insert(folders.end(), {"/var/tmp", "/tmp", "."});
  return folders;
}

/// Opened with O_TMPFILE, or unlinked right after creation if the file system does not support that.
int open_nameless(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file >= 0) return file;
  std::string path = folder + "/ws-XXXXXX";
  const int named = ::mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(path.c_str());
  return named;
}

}  // namespace

std::filesystem::path path_through(int folder, const std::filesystem::path& real) {
  std::string path = fmt::format("{}{}", descriptor_folder, folder);
  struct stat through {};
  struct stat itself {};
  const bool works = ::stat(path.c_str(), &through) == 0 && ::fstat(folder, &itself) == 0 &&
                     through.st_ino == itself.st_ino && through.st_dev == itself.st_dev;
  return works ? std::filesystem::path(std::move(path)) : real;
}

std::string shown_path(const std::filesystem::path& path) {
  const std::string& text = path.native();
  if (!text.starts_with(descriptor_folder)) return text;
  const std::size_t end = std::min(text.find('/', descriptor_folder.size()), text.size());
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink(text.substr(0, end), error);
  return error ? text : folder.native() + text.substr(end);
}

namespace {

/// "32 MiB"; in bytes if the size is not a whole number of MiB.
std::string in_mebibytes(std::size_t bytes) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20U;
  return bytes % mebibyte == 0 ? fmt::format("{} MiB", bytes / mebibyte) : fmt::format("{} bytes", bytes);
}

}  // namespace

Result<std::string> read_open_file(int file, const std::filesystem::path& name, std::size_t max_bytes) {
  std::string text;
  std::string buffer(std::size_t{64} << 10U, '\0');
  while (true) {
    const ssize_t count = read_piece(file, buffer);
    if (count < 0) return cannot("read", name, errno);
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > max_bytes) {
      return fail(Failure::Kind::invalid,
                  fmt::format("{} is larger than {}", shown_path(name), in_mebibytes(max_bytes)));
    }
  }
}

namespace {

/// Of /dev/stdout and the like, whatever file the shell has opened for it; -1: another name.
int descriptor_named(const std::filesystem::path& path) {
  const std::string text = path.lexically_normal().string();
  if (text == "/dev/stdout") return STDOUT_FILENO;
  if (text == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {std::string_view("/dev/fd/"), descriptor_folder}) {
    if (!text.starts_with(folder)) continue;
    if (const auto number = parse_whole<int>(std::string_view(text).substr(folder.size()))) return *number;
  }
  return -1;
}

}  // namespace

bool is_stream(const std::filesystem::path& path) {
  if (descriptor_named(path) >= 0) return true;
  std::error_code ignored;
  const auto there = std::filesystem::status(path, ignored);
  return std::filesystem::exists(there) && !std::filesystem::is_regular_file(there) &&
         !std::filesystem::is_directory(there);
}

bool may_open_stream(const std::filesystem::path& path) {
  const int named = descriptor_named(path);
  if (named < 0) return ::access(path.c_str(), W_OK) == 0;
  const int flags = ::fcntl(named, F_GETFL);
  if (flags < 0) return false;
  if ((flags & O_ACCMODE) != O_RDONLY) return true;
  errno = EBADF;
  return false;
}

Descriptor open_stream(const std::filesystem::path& path) {
  const int named = descriptor_named(path);
  // Opened by its name it would begin anew, over what the shell has there already.
  if (named >= 0) return Descriptor(::fcntl(named, F_DUPFD_CLOEXEC, 0));
  return Descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes, Source source) {
  const int flags = source == Source::anything ? 0 : O_NONBLOCK | O_NOCTTY;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return fail(Failure::Kind::not_found, fmt::format("{} does not exist", shown_path(path)));
    }
    if (errno == ENXIO) return fail(Failure::Kind::disk, fmt::format("{} is not a regular file", shown_path(path)));
    return cannot("open", path, errno);
  }
  WS_TRY(check_kind(file.get(), source, path));
  return read_open_file(file.get(), path, max_bytes);
}

Result<void> write_file_at(int folder,
                           const std::string& name,
                           std::string_view text,
                           std::optional<unsigned> mode,
                           const std::filesystem::path& shown) {
  struct stat replaced {};
  const bool keeps_mode =
      !mode && ::fstatat(folder, name.c_str(), &replaced, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(replaced.st_mode);
  if (keeps_mode) mode = replaced.st_mode & 0777U;
  std::string temporary;
  const Descriptor file(create_beside(folder, name, static_cast<mode_t>(mode.value_or(0666)), temporary));
  if (file.get() < 0) return cannot("write a temporary file beside", shown, errno);
  const auto write = [&]() -> Result<void> {
    if (mode && ::fchmod(file.get(), static_cast<mode_t>(*mode)) != 0) return cannot("set the mode of", shown, errno);
    if (!write_all(file.get(), text)) return cannot("write", shown, errno);
    if (::fsync(file.get()) != 0) return cannot("flush", shown, errno);
    if (::renameat(folder, temporary.c_str(), folder, name.c_str()) != 0) return cannot("replace", shown, errno);
    return {};
  };
  if (auto written = write(); !written) {
    ::unlinkat(folder, temporary.c_str(), 0);
    return written;
  }
  const Descriptor directory(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || ::fsync(directory.get()) != 0) return cannot("flush the folder of", shown, errno);
  return {};
}

Result<void> write_file(const std::filesystem::path& path, std::string_view text, std::optional<unsigned> mode) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) return cannot("write", path, errno);
  return write_file_at(directory.get(), path.filename().string(), text, mode, path);
}

Result<void> write_named_file(const std::filesystem::path& path, std::string_view text) {
  if (!is_stream(path)) {
    WS_LET(const std::filesystem::path target, follow_link(path));
    return write_file(target, text);
  }
  const Descriptor stream = open_stream(path);
  if (!stream) return cannot("write", path, errno);
  const bool is_written =
      ::isatty(stream.get()) == 1 ? write_all(stream.get(), clean(text, Breaks::keep)) : write_all(stream.get(), text);
  return is_written ? Result<void>() : cannot("write", path, errno);
}

Result<void> append_file(const std::filesystem::path& path, std::string_view text) {
  WS_LET(const Descriptor file, open_own_file(path, O_WRONLY | O_APPEND, 0666));
  if (!write_all(file.get(), text)) return cannot("write", path, errno);
  return {};
}

Result<void> make_folders(const std::filesystem::path& path, unsigned mode) {
  std::filesystem::path made;
  for (const auto& part : path) {
    made /= part;
    if (::mkdir(made.c_str(), static_cast<mode_t>(mode)) != 0 && errno != EEXIST) {
      const int why = errno;
      struct stat status {};
      if (::stat(made.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) continue;
      return cannot("make the folder", made, why);
    }
  }
  struct stat status {};
  if (!path.empty() && (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))) {
    return cannot("make the folder", path, ENOTDIR);
  }
  return {};
}

Result<Descriptor> open_nameless_file() {
  for (const std::string& folder : temporary_folders()) {
    Descriptor file(open_nameless(folder));
    if (file) return file;
  }
  return fail(Failure::Kind::disk, std::string("cannot make a temporary file: ") + std::strerror(errno));
}

Result<std::filesystem::path> follow_link(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(std::filesystem::symlink_status(path, error))) return path;
  std::filesystem::path target = std::filesystem::canonical(path, error);
  if (!error) return target;
  return fail(Failure::Kind::disk,
              fmt::format("{} is a symbolic link that leads to no file: {}", path.string(), error.message()),
              "remove the symbolic link, or name the file itself");
}

Result<void> copy_mode_and_group(int fd, const std::filesystem::path& path) {
  struct stat there {};
  struct stat ours {};
  if (::lstat(path.c_str(), &there) != 0 || !S_ISREG(there.st_mode)) return {};
  mode_t mode = there.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  const bool same_group = ::fstat(fd, &ours) == 0 &&
                          (ours.st_gid == there.st_gid || ::fchown(fd, static_cast<uid_t>(-1), there.st_gid) == 0);
  if (!same_group) mode &= ~static_cast<mode_t>(S_IRWXG);
  if (::fchmod(fd, mode) == 0) return {};
  return fail(Failure::Kind::disk, fmt::format("cannot set the mode of {}: {}", path.string(), std::strerror(errno)));
}

}  // namespace ws

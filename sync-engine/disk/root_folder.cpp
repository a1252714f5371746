#include "sync-engine/disk/root_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api-client/base/files.hpp"
#include "api-client/base/handle.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {
namespace {

int open_in_kernel(int root, const char* name, int flags, unsigned mode) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(static_cast<unsigned>(flags));
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  while (true) {
    const auto fd = static_cast<int>(retry_eintr([&] { return ::syscall(SYS_openat2, root, name, &how, sizeof how); }));
    // EAGAIN: a rename went on elsewhere while the kernel looked for `..`; there is none in our names.
    if (fd >= 0 || errno != EAGAIN) return fd;
  }
}

int close_folder(DIR* folder) noexcept { return ::closedir(folder); }

bool is_empty(int above, const char* name, std::size_t levels) {
  const Descriptor folder(::openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  std::vector<std::string> inside;
  if (!folder || levels == 0 || !list_folder(folder.get(), inside)) return false;
  for (const std::string& each : inside) {
    if (!is_empty(folder.get(), each.c_str(), levels - 1)) return false;
  }
  return true;
}

bool remove(int above, const char* name, std::size_t levels) {
  if (::unlinkat(above, name, AT_REMOVEDIR) == 0) return true;
  if ((errno != ENOTEMPTY && errno != EEXIST) || levels == 0) return false;
  const Descriptor folder(::openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  std::vector<std::string> inside;
  if (!folder || !list_folder(folder.get(), inside)) return false;
  for (const std::string& each : inside) {
    if (!remove(folder.get(), each.c_str(), levels - 1)) return false;
  }
  return ::unlinkat(above, name, AT_REMOVEDIR) == 0;
}

}  // namespace

bool list_folder(int folder, std::vector<std::string>& names) {
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const Handle<DIR, close_folder> open(copy < 0 ? nullptr : ::fdopendir(copy));
  if (!open) {
    if (copy >= 0) ::close(copy);
    return false;
  }
  while (const dirent* const entry = ::readdir(open.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return true;
}

bool holds_only(const RootFolder& root,
                const std::string& folder,
                const std::function<bool(const std::string& path)>& is_meant) {
  const Descriptor there = root.open_beneath(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  std::vector<std::string> names;
  return there && list_folder(there.get(), names) && std::ranges::all_of(names, [&](const std::string& name) {
           const std::string path = folder + "/" + name;
           struct stat status = {};
           const bool is_folder =
               ::fstatat(there.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
           return is_folder ? holds_only(root, path, is_meant) : is_meant(path);
         });
}

tl::unexpected<Failure> disk_failure(std::string_view doing, std::string_view what) {
  const int error = errno;
  // Links are not followed; texts are written in .ws and then renamed.
  const char* const why = error == ELOOP   ? "it is a symbolic link, or lies below one"
                          : error == EXDEV ? "it lies on another file system than .ws"
                                           : std::strerror(error);
  return fail(Failure::Kind::disk, fmt::format("cannot {} {}: {}", doing, what, why));
}

Result<RootFolder> RootFolder::open(const std::filesystem::path& path, Resolution resolution) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return disk_failure("open", path.string());
  return RootFolder(path, std::move(fd), resolution);
}

Result<RootFolder> RootFolder::open(const std::filesystem::path& path) {
  WS_LET(RootFolder root, open(path, Resolution::kernel));
  const Descriptor probe(open_in_kernel(root.fd(), ".", O_PATH | O_CLOEXEC, 0));
  if (!probe) root.resolution_ = Resolution::walk;  // ENOSYS: an old kernel; EPERM: a sandbox
  return root;
}

Result<RootFolder> RootFolder::open_no_link(const std::filesystem::path& path) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return disk_failure("open", shown_path(path));
  const Descriptor probe(open_in_kernel(fd.get(), ".", O_PATH | O_CLOEXEC, 0));
  return RootFolder(path, std::move(fd), probe ? Resolution::kernel : Resolution::walk);
}

Descriptor RootFolder::open_beneath(std::string_view name, int flags, unsigned mode) const {
  if (name.empty()) return Descriptor(::openat(fd_.get(), ".", flags | O_CLOEXEC, mode));
  if (resolution_ == Resolution::walk) return walk(name, flags, mode);
  const std::string text(name);
  return Descriptor(open_in_kernel(fd_.get(), text.c_str(), flags | O_CLOEXEC, mode));
}

Descriptor RootFolder::walk(std::string_view name, int flags, unsigned mode) const {
  if (name.front() == '/') {
    errno = EXDEV;
    return Descriptor();
  }
  Descriptor folder;
  int at = fd_.get();
  while (true) {
    const std::size_t slash = name.find('/');
    const std::string part(name.substr(0, slash));
    if (part.empty() || part == "." || part == "..") {
      errno = EXDEV;
      return Descriptor();
    }
    if (slash == std::string_view::npos)
      return Descriptor(::openat(at, part.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode));
    Descriptor next(::openat(at, part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return next;
    folder = std::move(next);
    at = folder.get();
    name.remove_prefix(slash + 1);
  }
}

Descriptor RootFolder::make_folders(std::string_view name,
                                    const std::function<void(std::string_view above)>& made_in) const {
  Descriptor there = open_beneath(name, O_RDONLY | O_DIRECTORY);
  if (there || errno != ENOENT || name.empty()) return there;
  const std::string_view parent = parent_folder(name);
  const Descriptor above = make_folders(parent, made_in);
  if (!above) return Descriptor();
  const std::string last(last_part(name));
  if (::mkdirat(above.get(), last.c_str(), 0777) == 0) {
    made_in(parent);
  } else if (errno != EEXIST) {
    return Descriptor();
  }
  return open_beneath(name, O_RDONLY | O_DIRECTORY);
}

Result<void> replace_disposable(const std::filesystem::path& file,
                                std::initializer_list<std::string_view> parts,
                                unsigned mode) {
  const std::string temporary = file.string() + ".new";
  // What stands there is from a run that was killed, or a second name of a file elsewhere: not to be written to.
  ::unlink(temporary.c_str());
  const Descriptor descriptor(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!descriptor) return disk_failure("write", shown_path(temporary));
  const auto write = [&] {
    for (const std::string_view part : parts) {
      if (!write_all(descriptor.get(), part)) return false;
    }
    return ::fchmod(descriptor.get(), static_cast<mode_t>(mode)) == 0 && ::rename(temporary.c_str(), file.c_str()) == 0;
  };
  if (write()) return {};
  auto failed = disk_failure("write", shown_path(file));
  ::unlink(temporary.c_str());
  return failed;
}

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
    filled += static_cast<std::size_t>(count);
    if (count == 0 || filled == static_cast<std::size_t>(status.st_size)) break;
  }
  text.resize(filled);
  return text;
}

int FilesInOrder::folder_of(const std::string& path) {
  const std::string_view folder = parent_folder(path);
  if (!folder_fd_ || folder != folder_) {
    folder_ = folder;
    folder_fd_ = root_.open_beneath(folder_, O_RDONLY | O_DIRECTORY);
  }
  return folder_fd_.get();
}

Descriptor FilesInOrder::open(const std::string& path) {
  const int folder = folder_of(path);
  if (folder < 0) return {};
  return Descriptor(::openat(folder, last_part(path).data(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

Result<std::string> FilesInOrder::read(const std::string& path) {
  const int folder = folder_of(path);
  if (folder < 0) return disk_failure("open the folder of", path);
  return read_file_at(folder, std::string(last_part(path)));
}

Result<std::optional<Sha256>> hash_file_at(int folder, const std::string& name) {
  const Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  // A link, a folder or a device in its place is no file of ours either.
  if (!file && (errno == ENOENT || errno == ELOOP || errno == ENXIO)) return std::optional<Sha256>{};
  if (!file) return disk_failure("open", name);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return disk_failure("read", name);
  if (!S_ISREG(status.st_mode)) return std::optional<Sha256>{};
  const auto hash = Sha256::of_file(file.get());
  if (!hash) return disk_failure("read", name);
  return hash;
}

bool is_empty_folder(int above, const char* name) { return is_empty(above, name, max_path_levels); }

bool remove_empty_folder(int above, const char* name) {
  if (::unlinkat(above, name, AT_REMOVEDIR) == 0) return true;
  // All of it or nothing: what is somebody's keeps its empty folders too.
  return is_empty_folder(above, name) && remove(above, name, max_path_levels);
}

}  // namespace ws::sync

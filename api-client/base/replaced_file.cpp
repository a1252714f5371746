#include "api-client/base/replaced_file.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ws {

Result<std::filesystem::path> follow_link(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(std::filesystem::symlink_status(path, error))) return path;
  std::filesystem::path target = std::filesystem::canonical(path, error);
  if (!error) return target;
  return fail(Failure::Kind::disk,
              fmt::format("{} is a link that leads to no file: {}", path.string(), error.message()),
              "remove the link, or name the file itself");
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

#include "sync-engine/disk/empty_folder.hpp"

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "api-client/base/handle.hpp"
#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {
namespace {

int close_folder(DIR* folder) noexcept { return ::closedir(folder); }

/// What is in the folder; false: it is none, or cannot be read.
bool list(int folder, std::vector<std::string>& names) {
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

bool is_empty(int above, const char* name, std::size_t levels) {
  const Descriptor folder(::openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  std::vector<std::string> inside;
  if (!folder || levels == 0 || !list(folder.get(), inside)) return false;
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
  if (!folder || !list(folder.get(), inside)) return false;
  for (const std::string& each : inside) {
    if (!remove(folder.get(), each.c_str(), levels - 1)) return false;
  }
  return ::unlinkat(above, name, AT_REMOVEDIR) == 0;
}

}  // namespace

bool is_empty_folder(int above, const char* name) { return is_empty(above, name, max_path_levels); }

bool remove_empty_folder(int above, const char* name) {
  if (::unlinkat(above, name, AT_REMOVEDIR) == 0) return true;
  // All of it or nothing: what is somebody's keeps its empty folders too.
  return is_empty_folder(above, name) && remove(above, name, max_path_levels);
}

}  // namespace ws::sync

#include "sync-engine/tree/file_kinds.hpp"

#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ws::sync {
namespace {

/// What placeholders end in. iCloud's begin with a dot as well.
constexpr const char* placeholder_ends[] = {
    "icloud", "nextcloud", "owncloud", "opencloud", "cloud", "cloudf", "dropbox", "onedrive", "gdrive"};

bool is_name_there(const Descriptor& folder, const std::string& name) {
  struct stat status {};
  return ::fstatat(folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0;
}

bool has_hidden_part(std::string_view path) { return path.front() == '.' || path.find("/.") != std::string_view::npos; }

}  // namespace

FileKinds FileKinds::with(const std::vector<std::string>& include) {
  FileKinds kinds;
  if (include.empty()) return kinds;
  std::string patterns;
  for (const std::string& glob : include) patterns += glob + "\n";
  kinds.included_.emplace(patterns);
  return kinds;
}

bool FileKinds::takes(std::string_view path) const {
  if (is_markdown(last_part(path)) && !has_hidden_part(path)) return true;
  if (!included_) return false;
  for (bool is_folder = false;; is_folder = true) {
    if (const auto verdict = included_->verdict(path, is_folder)) return *verdict;
    path = parent_folder(path);
    if (path.empty()) return false;
  }
}

bool is_kept_elsewhere(const RootFolder& root, std::string_view path) {
  while (!path.empty()) {
    const std::string_view above = parent_folder(path);
    const Descriptor folder = root.open_beneath(above, O_PATH | O_DIRECTORY);
    for (const char* const end : placeholder_ends) {
      if (!folder) break;
      const std::string placeholder = fmt::format(".{}.{}", last_part(path), end);
      if (is_name_there(folder, placeholder) || is_name_there(folder, placeholder.substr(1))) return true;
    }
    if (folder) return false;  // what is above is no placeholder
    path = above;
  }
  return false;
}

Result<std::string> read_ignore_file(int folder_fd, std::string_view folder, std::string_view name) {
  const std::string shown = folder.empty() ? std::string(name) : fmt::format("{}/{}", folder, name);
  const Descriptor file(::openat(folder_fd, std::string(name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return disk_failure("read", shown);
  std::string text(max_ignore_file_bytes + 1, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t count = read_some(file.get(), text.data() + filled, text.size() - filled);
    if (count < 0) return disk_failure("read", shown);
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  if (filled > max_ignore_file_bytes) return fail(Failure::Kind::disk, fmt::format("{} is over 1 MiB", shown));
  text.resize(filled);
  return text;
}

}  // namespace ws::sync

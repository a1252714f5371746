#include "sync-engine/tree/file_kinds.hpp"

#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "sync-engine/disk/root_folder.hpp"

namespace ws::sync {
namespace {

bool has_hidden_part(std::string_view path) { return path.front() == '.' || path.find("/.") != std::string_view::npos; }

}  // namespace

FileKinds FileKinds::with(const std::vector<std::string>& include) {
  FileKinds kinds;
  if (include.empty()) return kinds;
  std::string patterns;
  for (const std::string& glob : include) patterns += glob + "\n";
  kinds.included_.emplace(std::move(patterns));
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

Result<void> read_ignore_file(int folder_fd, std::string_view folder, IgnoreRules& rules) {
  const std::string shown = folder.empty() ? ".wsignore" : fmt::format("{}/.wsignore", folder);
  const Descriptor file(::openat(folder_fd, ".wsignore", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
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
  rules.add(folder, text);
  return {};
}

}  // namespace ws::sync

#include "sync-engine/tree/file_kinds.hpp"

#include <utility>

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

}  // namespace ws::sync

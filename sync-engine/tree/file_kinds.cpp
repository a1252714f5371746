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
  const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  if (is_markdown(name) && !has_hidden_part(path)) return true;
  if (!included_) return false;
  for (bool is_folder = false;; is_folder = true) {
    if (const auto verdict = included_->verdict(path, is_folder)) return *verdict;
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) return false;
    path = path.substr(0, slash);
  }
}

}  // namespace ws::sync

#include "sync-engine/tree/file_kinds.hpp"

namespace ws::sync {
namespace {

bool has_hidden_part(std::string_view path) { return path.front() == '.' || path.find("/.") != std::string_view::npos; }

}  // namespace

Result<FileKinds> FileKinds::with(const std::vector<std::string>& include) {
  FileKinds kinds;
  if (include.empty()) return kinds;
  kinds.included_ = std::make_unique<git::IgnoreRules>();
  std::string patterns;
  for (const std::string& glob : include) patterns += glob + "\n";
  WS_TRY(kinds.included_->add("", patterns));
  return kinds;
}

bool FileKinds::takes(std::string_view path) const {
  const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  if (is_markdown(name) && !has_hidden_part(path)) return true;
  return included_ != nullptr && included_->is_ignored(path);
}

}  // namespace ws::sync

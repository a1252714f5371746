#include "sync-engine/git/shallow.hpp"

#include <algorithm>
#include <string_view>

#include "api-client/base/files.hpp"

namespace ws::sync::git {

Result<std::set<ObjectId>> read_shallow(const std::filesystem::path& path) {
  std::set<ObjectId> commits;
  auto text = read_file(path / "shallow");
  if (!text && text.error().kind == Failure::Kind::not_found) return commits;
  if (!text) return fail(std::move(text).error());
  for (std::string_view rest = *text; !rest.empty(); rest.remove_prefix(std::min<std::size_t>(41, rest.size()))) {
    const auto id = ObjectId::from_hex(rest.substr(0, 40));
    if (!id) return fail(Failure::Kind::integrity, shown_path(path / "shallow") + " is broken");
    commits.insert(*id);
  }
  return commits;
}

}  // namespace ws::sync::git

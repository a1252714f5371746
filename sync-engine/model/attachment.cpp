#include "sync-engine/model/attachment.hpp"

#include <algorithm>

namespace ws::sync {

bool is_manifest_path(std::string_view path) {
  if (path == "_attachments.md") return true;
  constexpr std::string_view begin = "_attachments-";
  constexpr std::string_view end = ".md";
  if (!path.starts_with(begin) || !path.ends_with(end)) return false;
  const std::string_view number =
      path.substr(begin.size(), path.size() - std::min(path.size(), begin.size() + end.size()));
  return !number.empty() && number.size() <= 4 && number.front() != '0' && number != "1" &&
         std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace ws::sync

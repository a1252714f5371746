#include "sync-engine/model/attachment.hpp"

#include <algorithm>

namespace ws::sync {

std::optional<Attachment> row_at(const AttachmentTree& rows, const RelativePath& path) {
  const auto row = rows.find(path);
  return row == rows.end() ? std::nullopt : std::optional(row->second);
}

std::optional<Sha256> hash_of(const std::optional<Attachment>& file) {
  return file ? std::optional(file->hash) : std::nullopt;
}

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

#include "sync-engine/model/file_name.hpp"

#include <algorithm>

#include "api-client/base/sha256.hpp"
#include "api-client/base/uuid.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {
namespace {

constexpr std::size_t max_title_bytes = 120;
constexpr std::size_t max_tool_bytes = 80;

std::string of_title(std::string_view title) {
  std::string name;
  for (const char c : title) {
    const bool is_refused = static_cast<unsigned char>(c) < ' ' || c == '\x7f' ||
                            std::string_view("/\\<>:\"|?*").find(c) != std::string_view::npos;
    name += is_refused ? '-' : c;
  }
  std::size_t end = std::min(name.size(), max_title_bytes);
  while (end > 0 && end < name.size() && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  name.resize(end);
  const auto is_outer = [](char c) { return c == ' ' || c == '.'; };
  while (!name.empty() && is_outer(name.back())) name.pop_back();
  // Commands would take a name that begins with `-` for a flag.
  while (!name.empty() && (is_outer(name.front()) || name.front() == '-')) name.erase(name.begin());
  return name;
}

std::string of_tool(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, max_tool_bytes)) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    name += is_plain ? c : '_';
  }
  return name.empty() ? "text" : name;
}

std::string stem_of(NamedBy how, std::string_view text) {
  switch (how) {
    case NamedBy::id: return is_uuid(text) ? std::string(text) : Sha256::of(text).hex();
    case NamedBy::title: return of_title(text);
    case NamedBy::given: return std::string(text.substr(text.find_last_of("/\\") + 1));  // npos + 1 is 0
    case NamedBy::tool: return of_tool(text);
  }
  return {};
}

}  // namespace

bool is_file_name(std::string_view name) {
  const auto path = RelativePath::parse(name);
  return path && path->folder().empty() && name.front() != '.';
}

std::string file_name(NamedBy how, std::string_view text, std::string_view ending) {
  std::string name = stem_of(how, text);
  if (name.empty()) return {};
  name += ending;
  if (!is_file_name(name)) return {};
  // A title is ours to change; a name that somebody gave to a file stays, or is not taken.
  if (how == NamedBy::title && is_unportable(*RelativePath::parse(name))) return {};
  return name;
}

}  // namespace ws::sync

#include "server-mock/services/sync_sources/paths.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/invisible.hpp"
#include "api-client/base/text.hpp"
#include "api-client/base/utf8.hpp"

namespace ws::mock {
namespace {

constexpr std::size_t max_path_bytes = 1024;
constexpr std::size_t max_segment_bytes = 255;
constexpr std::size_t max_title_bytes = 200;  // leaves room for ".md" and " (2)"
constexpr std::ptrdiff_t max_levels = 200;
constexpr std::string_view reserved[] = {".ws", ".ws.yaml", ".wsignore", ".git", ".gitmodules", ".gitattributes"};

std::string without_joiners(std::string_view segment) {
  std::string text;
  utf8::for_each(segment, [&text](char32_t c) {
    if (!utf8::is_joiner(c)) utf8::append(text, c);
  });
  return text;
}

/// Whether some file system equates the segment with a name that is reserved for us or for git.
bool is_reserved(std::string_view segment) {
  std::string key = utf8::lookalike_key(segment);
  const std::size_t stream = key.find(':');  // ".git::$INDEX_ALLOCATION" is .git on NTFS
  if (stream != std::string::npos) key.resize(stream);
  trim_end(key, ". ");
  return key == "git~1" || std::ranges::find(reserved, key) != std::end(reserved);
}

bool is_drive(std::string_view segment) {
  return segment.size() == 2 && segment[1] == ':' &&
         ((segment[0] >= 'a' && segment[0] <= 'z') || (segment[0] >= 'A' && segment[0] <= 'Z'));
}

std::optional<std::string> segment_problem(std::string_view segment) {
  if (segment.empty()) return "a part of it is empty";
  if (segment == "." || segment == "..") return fmt::format("it holds a part \"{}\"", segment);
  if (segment.size() > max_segment_bytes) return fmt::format("a part of it is over {} bytes", max_segment_bytes);
  if (utf8::has_stray_joiner(segment)) return "it holds an invisible control";
  if (is_reserved(segment)) return "a part of it is a reserved name";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> path_problem(std::string_view path) {
  if (path.empty()) return "it is empty";
  if (path.size() > max_path_bytes) return fmt::format("it is over {} bytes", max_path_bytes);
  if (!utf8::is_valid(path)) return "it is not UTF-8";
  bool control = false;
  bool invisible = false;
  utf8::for_each(path, [&](char32_t c) {
    control = control || utf8::is_control(c);
    invisible = invisible || utf8::is_hidden_in_name(c);
  });
  if (control) return "it holds a control character";
  if (invisible) return "it holds an invisible control";
  if (path.find('\\') != std::string_view::npos) return "it holds a backslash";
  if (path.front() == '/') return "it is absolute";
  if (is_drive(path.substr(0, path.find('/')))) return "it names a drive";
  if (std::ranges::count(path, '/') >= max_levels) return fmt::format("it has more than {} levels", max_levels);
  for (const std::string_view segment : split(path, '/')) {
    if (auto problem = segment_problem(segment)) return problem;
  }
  return std::nullopt;
}

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view file_name_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view stem_of(std::string_view file_name) {
  const std::size_t dot = file_name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? file_name : file_name.substr(0, dot);
}

std::string joined(std::string_view folder, std::string_view file_name) {
  return folder.empty() ? std::string(file_name) : fmt::format("{}/{}", folder, file_name);
}

std::string with_suffix(std::string_view path, std::string_view suffix) {
  const std::string_view name = file_name_of(path);
  const std::string_view stem = stem_of(name);
  const std::string_view extension = name.substr(stem.size());
  std::size_t keep = stem.size();
  // Shorten a name at the length limit to make room for the suffix, at a code point boundary.
  while (keep > 0 && keep + suffix.size() + extension.size() > max_segment_bytes) --keep;
  while (keep > 0 && keep < stem.size() && (static_cast<unsigned char>(stem[keep]) & 0xC0U) == 0x80U) --keep;
  return joined(folder_of(path), fmt::format("{}{}{}", stem.substr(0, keep), suffix, extension));
}

std::vector<std::string_view> folders_above(std::string_view path) {
  std::vector<std::string_view> folders;
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    folders.push_back(path.substr(0, slash));
  }
  return folders;
}

std::string segment_of(std::string_view title) {
  const std::string composed = utf8::nfc(title);
  std::string segment;
  utf8::for_each(composed, [&](char32_t c) {
    std::string piece;
    if (utf8::is_control(c) || utf8::is_hidden_in_name(c) || c == '/' || c == '\\') {
      piece = "-";
    } else {
      utf8::append(piece, c);
    }
    if (segment.size() + piece.size() <= max_title_bytes) segment += piece;
  });
  if (utf8::has_stray_joiner(segment)) segment = without_joiners(segment);
  if (segment_problem(segment) || is_drive(segment)) segment.insert(0, 1, '-');
  return segment;
}

}  // namespace ws::mock

#include "sync-engine/publish/stored_text.hpp"

#include <string>

#include "api-client/base/ascii.hpp"
#include "api-client/base/utf8.hpp"

namespace ws::sync {
namespace {

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return trimmed_end(line);
}

std::string without_blanks(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string plain;
  while (!text.empty()) {
    plain += take_line(text);
    plain += '\n';
  }
  plain.resize(trimmed_end(plain, "\n").size());
  return utf8::nfc(plain);
}

}  // namespace

bool is_same_but_for_blanks(std::string_view a, std::string_view b) { return without_blanks(a) == without_blanks(b); }

}  // namespace ws::sync

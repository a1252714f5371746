#include "api-client/contract/page_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "api-client/base/ascii.hpp"
#include "api-client/base/invisible.hpp"
#include "api-client/base/utf8.hpp"

namespace ws::contract {

namespace {

constexpr std::size_t searched_bytes = std::size_t{64} << 10U;

bool is_blank(char32_t c) { return c <= 0x20 || c == 0xA0 || c == 0x2028 || c == 0x2029; }

/// The text between `<name ...>` and `</name`. `lower` is `html` in lower case, with the same offsets.
std::string_view element_text(std::string_view html, std::string_view lower, std::string_view name) {
  const std::string opening = "<" + std::string(name);
  for (std::size_t at = lower.find(opening); at != lower.npos; at = lower.find(opening, at + 1)) {
    const std::size_t after = at + opening.size();
    if (after >= lower.size() || (lower[after] != '>' && !is_blank(static_cast<unsigned char>(lower[after])))) continue;
    const std::size_t begin = lower.find('>', after);
    if (begin == lower.npos) return {};
    const std::size_t end = lower.find("</" + std::string(name), begin);
    return html.substr(begin + 1, end == lower.npos ? 0 : end - begin - 1);
  }
  return {};
}

/// The text without tags, with the five entities of XML decoded.
std::string plain(std::string_view html) {
  constexpr std::array<std::pair<std::string_view, char>, 6> entities = {
      {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}, {"&nbsp;", ' '}, {"&amp;", '&'}}};
  std::string text;
  while (!html.empty()) {
    if (html.front() == '<') {
      html.remove_prefix(std::min(html.find('>'), html.size() - 1) + 1);
      text += ' ';
      continue;
    }
    const auto entity =
        std::ranges::find_if(entities, [&](const auto& entry) { return html.starts_with(entry.first); });
    text += entity == entities.end() ? html.front() : entity->second;
    html.remove_prefix(entity == entities.end() ? 1 : entity->first.size());
  }
  return text;
}

}  // namespace

std::string one_line(std::string_view text, std::size_t max_code_points) {
  std::string line;
  std::size_t count = 0;
  bool gap = false;
  while (!text.empty()) {
    const char32_t c = utf8::next(text);
    if (is_blank(c)) {
      gap = !line.empty();
      continue;
    }
    if (utf8::is_control(c) || utf8::is_hidden(c)) continue;
    if (count + (gap ? 2 : 1) > max_code_points) return line + "…";
    if (std::exchange(gap, false)) {
      line += ' ';
      ++count;
    }
    utf8::append(line, c);
    ++count;
  }
  return line;
}

std::string page_title(std::string_view html) {
  html = html.substr(0, searched_bytes);
  const std::string lower = to_lower(html);
  for (const std::string_view name : {"title", "h1"}) {
    std::string text = one_line(plain(element_text(html, lower, name)), searched_bytes);
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace ws::contract

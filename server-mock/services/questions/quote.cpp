#include "server-mock/services/questions/quote.hpp"

#include <algorithm>

#include "api-client/base/markdown.hpp"

namespace ws::mock {
namespace {

struct Line {
  std::string_view text = {};  ///< without marks and spaces around it; points into the text
  bool is_prose = false;       ///< a line of a paragraph: its neighbours belong to it
};

std::string_view trim(std::string_view text) {
  constexpr std::string_view spaces = " \t\r";
  const std::size_t begin = text.find_first_not_of(spaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
}

/// A number and a dot or bracket, as in `12. `; 0 where there is none.
std::size_t ordinal_size(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > 9 || digits + 1 >= text.size()) return 0;
  return (text[digits] == '.' || text[digits] == ')') && text[digits + 1] == ' ' ? digits + 2 : 0;
}

/// The text behind the marks of quotes, lists and tasks.
std::string_view without_marks(std::string_view text) {
  while (true) {
    text = trim(text);
    std::size_t mark = ordinal_size(text);
    if (text.starts_with('>')) mark = 1;
    for (const std::string_view bullet : {"- ", "* ", "+ ", "[ ] ", "[x] ", "[X] "}) {
      if (text.starts_with(bullet)) mark = bullet.size();
    }
    if (mark == 0) return text;
    text.remove_prefix(mark);
  }
}

bool has_words(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
  });
}

/// Every line of the text; what cannot be quoted is empty.
std::vector<Line> read_lines(std::string_view text) {
  std::vector<Line> lines;
  bool fenced = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view trimmed = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
    fenced = fence ? !fenced : fenced;
    if (fence || trimmed.starts_with('#') || !has_words(trimmed)) {
      lines.emplace_back();
      continue;
    }
    const std::string_view bare = without_marks(trimmed);
    lines.push_back({.text = bare, .is_prose = !fenced && bare.size() == trimmed.size() && !trimmed.starts_with('|')});
  }
  return lines;
}

/// The paragraph around a line as far as it is short enough.
std::string_view widen(const std::vector<Line>& lines, std::size_t at) {
  const auto joined = [](std::string_view first, std::string_view last) {
    return std::string_view(first.data(), static_cast<std::size_t>(last.data() + last.size() - first.data()));
  };
  std::string_view quote = lines[at].text;
  if (!lines[at].is_prose) return quote;
  for (std::size_t i = at; i > 0 && lines[i - 1].is_prose; --i) {
    if (joined(lines[i - 1].text, quote).size() > max_quote_bytes) break;
    quote = joined(lines[i - 1].text, quote);
  }
  for (std::size_t i = at + 1; i < lines.size() && lines[i].is_prose; ++i) {
    if (joined(quote, lines[i].text).size() > max_quote_bytes) break;
    quote = joined(quote, lines[i].text);
  }
  return quote;
}

/// A long line from its first term on (a few words before it).
std::string_view shorten(std::string_view line, const std::vector<Term>& terms) {
  if (line.size() <= max_quote_bytes) return line;
  const std::vector<utf8::Word> words = utf8::words(line);
  std::size_t begin = 0;
  for (std::size_t place = 0; place < words.size() && begin == 0; ++place) {
    const auto stands = [&](const Term& term) { return stands_at(term, words, place); };
    if (std::ranges::any_of(terms, stands)) begin = words[place > 8 ? place - 8 : 0].begin;
  }
  begin = std::min(begin, line.size() - max_quote_bytes);
  const auto inside = [&](std::size_t place) {
    return place < line.size() && (static_cast<unsigned char>(line[place]) & 0xC0U) == 0x80U;
  };
  while (inside(begin)) ++begin;
  std::size_t end = std::min(begin + max_quote_bytes, line.size());
  while (inside(end)) --end;
  return trim(line.substr(begin, end - begin));
}

}  // namespace

std::string_view find_quote(std::string_view text, const std::vector<Term>& terms) {
  const std::vector<Line> lines = read_lines(text.substr(markdown::body_offset(text)));
  std::size_t best = lines.size();
  std::size_t most = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].text.empty()) continue;
    const std::size_t found = count_found(terms, utf8::words(lines[i].text));
    if (best != lines.size() && found <= most) continue;
    best = i;
    most = found;
  }
  if (best == lines.size()) return {};
  return shorten(widen(lines, best), terms);
}

}  // namespace ws::mock

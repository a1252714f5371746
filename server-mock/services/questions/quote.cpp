#include "server-mock/services/questions/quote.hpp"

#include <algorithm>

#include "api-client/base/ascii.hpp"
#include "api-client/base/markdown.hpp"

namespace ws::mock {
namespace {

constexpr std::string_view blanks = " \t\r";

struct Line {
  std::string_view text = {};  ///< without marks and surrounding spaces; points into the text
  bool is_prose = false;       ///< a line of a paragraph: may be joined with its neighbours
};

/// Length of an ordered list marker, as in `12. `; 0 if there is none.
std::size_t ordinal_size(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > 9 || digits + 1 >= text.size()) return 0;
  return (text[digits] == '.' || text[digits] == ')') && text[digits + 1] == ' ' ? digits + 2 : 0;
}

/// The text after the marks of quotes, lists and tasks.
std::string_view without_marks(std::string_view text) {
  while (true) {
    text = trimmed(text, blanks);
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

/// All lines of the text; those that cannot be quoted are empty.
std::vector<Line> read_lines(std::string_view text) {
  std::vector<Line> lines;
  bool fenced = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end), blanks);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool fence = line.starts_with("```") || line.starts_with("~~~");
    fenced = fence ? !fenced : fenced;
    if (fence || line.starts_with('#') || !has_words(line)) {
      lines.emplace_back();
      continue;
    }
    const std::string_view bare = without_marks(line);
    lines.push_back({.text = bare, .is_prose = !fenced && bare.size() == line.size() && !line.starts_with('|')});
  }
  return lines;
}

/// The paragraph around a line, as far as it is short enough.
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

/// A part of a long line that begins a few words before the first term.
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
  return trimmed(line.substr(begin, end - begin), blanks);
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

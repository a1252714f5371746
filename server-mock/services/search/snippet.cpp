#include "server-mock/services/search/snippet.hpp"

#include "api-client/base/markdown.hpp"

namespace ws::mock {
namespace {

/// How many bytes are shown before the first match.
constexpr std::size_t lead_bytes = 60;

/// Replaces every run of spaces and control characters by one space.
std::string on_one_line(std::string_view text) {
  std::string line;
  bool gap = false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7F) {
      gap = !line.empty();
      continue;
    }
    if (gap) line += ' ';
    gap = false;
    line += c;
  }
  return line;
}

bool is_inside_code_point(std::string_view text, std::size_t place) {
  return place < text.size() && (static_cast<unsigned char>(text[place]) & 0xC0U) == 0x80U;
}

/// The first word of the window with most terms; the number of words if none occurs.
std::size_t best_start(const std::vector<utf8::Word>& words, const std::vector<Term>& terms) {
  struct Found {
    std::size_t word = 0;
    std::size_t term = 0;
  };
  std::vector<Found> found;
  for (std::size_t word = 0; word < words.size(); ++word) {
    for (std::size_t term = 0; term < terms.size(); ++term) {
      if (stands_at(terms[term], words, word)) found.push_back({word, term});
    }
  }
  std::size_t best = words.size();
  std::size_t most = 0;
  for (std::size_t first = 0; first < found.size(); ++first) {
    const std::size_t limit = words[found[first].word].begin + max_snippet_bytes - lead_bytes;
    std::vector<bool> seen(terms.size(), false);
    std::size_t count = 0;
    for (std::size_t i = first; i < found.size() && words[found[i].word].end <= limit; ++i) {
      if (!seen[found[i].term]) ++count;
      seen[found[i].term] = true;
    }
    if (count > most) {
      most = count;
      best = found[first].word;
    }
    if (most == 0) best = found[first].word;  // a word longer than a snippet
    if (most == terms.size()) break;
  }
  return best;
}

std::string cut(std::string_view line, std::size_t around) {
  if (line.size() <= max_snippet_bytes) return std::string(line);
  std::size_t begin = around > lead_bytes ? around - lead_bytes : 0;
  if (begin + max_snippet_bytes > line.size()) begin = line.size() - max_snippet_bytes;
  if (begin > 0) {
    const std::size_t space = line.find(' ', begin);
    if (space != std::string_view::npos && space < around) begin = space + 1;
    while (is_inside_code_point(line, begin)) ++begin;
  }
  std::size_t end = std::min(begin + max_snippet_bytes, line.size());
  if (end < line.size()) {
    const std::size_t space = line.rfind(' ', end);
    if (space != std::string_view::npos && space > around + max_snippet_bytes / 3 && space > begin) end = space;
    while (is_inside_code_point(line, end)) --end;
  }
  std::string snippet = begin > 0 ? "…" : "";
  snippet += line.substr(begin, end - begin);
  if (end < line.size()) snippet += "…";
  return snippet;
}

}  // namespace

std::string make_snippet(std::string_view source, const std::vector<Term>& terms) {
  std::string line = on_one_line(markdown::plain_text(source));
  std::vector<utf8::Word> words = utf8::words(line);
  std::size_t start = best_start(words, terms);
  if (start == words.size()) {
    // A match only in a link's target or in HTML: show the Markdown source.
    std::string raw = on_one_line(source);
    std::vector<utf8::Word> raw_words = utf8::words(raw);
    const std::size_t raw_start = best_start(raw_words, terms);
    if (raw_start != raw_words.size()) {
      line = std::move(raw);
      words = std::move(raw_words);
      start = raw_start;
    }
  }
  return cut(line, start < words.size() ? words[start].begin : 0);
}

}  // namespace ws::mock

#include "api-client/base/markdown_bounds.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "api-client/base/byte_set.hpp"

namespace ws::markdown {
namespace {

/// Syntax characters, and in `stand_ins` at the same index the control character that replaces each: not a newline, a
/// tab, or any character with a meaning to cmark.
constexpr std::string_view signs = "[]!*_~<>-+.)|`";
constexpr std::string_view stand_ins = "\x01\x02\x03\x04\x05\x06\x07\x0E\x0F\x10\x11\x12\x13\x14";
static_assert(signs.size() == stand_ins.size());

/// Characters whose cost grows within one paragraph.
constexpr std::string_view inline_signs = "[]!*_~";
constexpr ByteSet is_inline_sign(inline_signs);
/// The limit for one paragraph: syntax characters times bytes. A paragraph of 1,000 words with 200 such characters
/// costs 1.2 million; cmark does some hundred million a second.
constexpr std::uint64_t max_steps = std::uint64_t{64} << 20U;
constexpr std::uint64_t steps_per_byte = 1024;
constexpr std::size_t deepest_nesting = 100;
constexpr std::uint64_t free_cells = 100'000;
constexpr std::uint64_t max_expanded_bytes = std::uint64_t{16} << 20U;

char stand_in(char c) {
  const std::size_t at = signs.find(c);
  return at == std::string_view::npos ? c : stand_ins[at];
}

/// The largest number of containers that a line may open or continue: quotes, list items, and one for every two columns
/// of indentation.
struct Nesting {
  std::size_t indent = 0;
  std::size_t marks = 0;
  std::size_t bytes = 0;  ///< of all these prefixes
};

Nesting nesting_of(std::string_view line) {
  Nesting nesting;
  std::size_t at = 0;
  while (at < line.size()) {
    const char c = line[at];
    const bool ends_mark = at + 1 >= line.size() || line[at + 1] == ' ' || line[at + 1] == '\t' || line[at + 1] == '\r';
    if (c == ' ' || c == '\t') {
      nesting.indent += c == '\t' ? 4 : 1;
      ++at;
    } else if (c == '>' || (ends_mark && (c == '-' || c == '*' || c == '+'))) {
      ++nesting.marks;
      ++at;
    } else if (c >= '0' && c <= '9') {
      const std::size_t end = std::min(line.find_first_not_of("0123456789", at), line.size());
      const bool is_mark = end < line.size() && end - at <= 9 && (line[end] == '.' || line[end] == ')');
      const bool is_ended = end + 1 >= line.size() || line[end + 1] == ' ' || line[end + 1] == '\t';
      if (!is_mark || !is_ended) break;
      ++nesting.marks;
      at = end + 1;
    } else {
      break;
    }
  }
  nesting.bytes = at;
  return nesting;
}

bool is_delimiter_row(std::string_view line) {
  return line.find('-') != std::string_view::npos && line.find_first_not_of(" \t\r>|:-") == std::string_view::npos;
}

/// Whether the line starts a new paragraph in any context: a list item or a heading indented by at most three spaces.
bool begins_paragraph(std::string_view line) {
  const std::size_t indent = line.find_first_not_of(' ');
  if (indent == std::string_view::npos || indent > 3) return false;
  const std::string_view text = line.substr(indent);
  const std::size_t hashes = std::min(text.find_first_not_of('#'), text.size());
  if (hashes > 0) return hashes <= 6 && hashes < text.size() && text[hashes] == ' ';
  const bool is_bullet = text.size() > 2 && (text[0] == '-' || text[0] == '*' || text[0] == '+') && text[1] == ' ';
  return is_bullet && text.find_first_not_of(" \t\r", 1) != std::string_view::npos;
}

/// Whether the line ends every paragraph: blank, or an empty quote marker indented by at most three spaces.
bool ends_paragraph(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return true;
  if (first > 3 || line[first] != '>' || line.find_first_not_of(" >\r", first) != std::string_view::npos) return false;
  return line.find("  ", first) == std::string_view::npos && line.find('\t') == std::string_view::npos;
}

/// `<?`: for each one cmark searches to the end of the paragraph.
bool begins_instruction(std::string_view text, std::size_t at) {
  return text[at] == '<' && at + 1 < text.size() && text[at + 1] == '?';
}

class Guard {
 public:
  explicit Guard(std::string_view body) : body_(body) {}

  std::optional<std::string> run() {
    for (std::size_t at = 0; at < body_.size();) {
      const std::size_t end = std::min(body_.find('\n', at), body_.size());
      take_line(at, end);
      at = end + 1;
    }
    close_paragraph(body_.size());
    close_table();
    limit_paragraphs();
    limit_references();
    return std::move(harmless_);
  }

 private:
  struct Paragraph {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::uint64_t steps = 0;
  };

  void take_line(std::size_t begin, std::size_t end) {
    const std::string_view line = body_.substr(begin, end - begin);
    limit_nesting(begin, nesting_of(line));
    const bool is_blank = ends_paragraph(line);
    if (is_blank) close_table();
    if (is_blank) {
      close_paragraph(std::min(end + 1, body_.size()));
    } else if (begins_paragraph(line) || (is_table_ && line.starts_with('|'))) {
      close_paragraph(begin);
    }
    if (columns_ > 0) ++rows_;
    note_table(begin, end, line);
    for (std::size_t at = 0; at < line.size(); ++at) {
      if (is_inline_sign.has(line[at]) || begins_instruction(line, at)) ++signs_in_paragraph_;
      if (line[at] == ']') ++closing_brackets_;
    }
    note_reference(begin, end, line, is_blank);
    last_line_ = line;
    last_begins_ = begin;
  }

  /// A link reference definition begins with a bracket; its title may continue on the next lines.
  void note_reference(std::size_t begin, std::size_t end, std::string_view line, bool is_blank) {
    const std::size_t first = line.find_first_not_of(" \t>-*+.)0123456789");
    const bool begins = first != std::string_view::npos && line[first] == '[';
    if (begins || is_blank) reference_begin_ = begins ? begin : body_.size();
    if (end > reference_begin_)
      longest_reference_ = std::max<std::uint64_t>(longest_reference_, end - reference_begin_);
  }

  void limit_nesting(std::size_t begin, const Nesting& nesting) {
    if (nesting.marks == 0 || nesting.indent / 2 + nesting.marks <= deepest_nesting) return;
    replace(begin, begin + nesting.bytes, signs);
  }

  /// A delimiter row may begin a table; every row below it gets as many cells as it has columns, even if they are
  /// missing in the text.
  void note_table(std::size_t begin, std::size_t end, std::string_view line) {
    if (!is_delimiter_row(line)) return;
    close_table();
    const auto bars = static_cast<std::uint64_t>(std::ranges::count(line, '|'));
    columns_ = bars + 1;
    delimiter_begin_ = begin;
    delimiter_end_ = end;
    rows_ = 0;
    // Certainly a table: the line above is its header, both are between bars, with the same number of cells.
    const bool is_framed = line.starts_with('|') && last_line_.starts_with('|') && line.find("||") == line.npos;
    const bool has_plain_bars = last_line_.find('\\') == std::string_view::npos;
    is_table_ = is_framed && has_plain_bars && last_line_.find_last_of('|') != 0 && paragraph_begin_ == last_begins_ &&
                static_cast<std::uint64_t>(std::ranges::count(last_line_, '|')) == bars &&
                last_line_.ends_with('|') == line.ends_with('|');
  }

  void close_table() {
    if (columns_ > 0 && columns_ * rows_ > free_cells + body_.size()) {
      replace(delimiter_begin_, delimiter_end_, "-|");
    }
    columns_ = 0;
    rows_ = 0;
    is_table_ = false;
  }

  void close_paragraph(std::size_t end) {
    const std::uint64_t steps = signs_in_paragraph_ * static_cast<std::uint64_t>(end - paragraph_begin_);
    if (steps > 0) paragraphs_.push_back({.begin = paragraph_begin_, .end = end, .steps = steps});
    paragraph_begin_ = end;
    signs_in_paragraph_ = 0;
  }

  /// Masks the most expensive paragraphs first, until the rest is within the limit.
  void limit_paragraphs() {
    std::uint64_t steps = 0;
    for (const Paragraph& paragraph : paragraphs_) steps += paragraph.steps;
    const std::uint64_t bound = max_steps + steps_per_byte * body_.size();
    if (steps <= bound) return;
    std::ranges::sort(paragraphs_, std::greater<>(), &Paragraph::steps);
    for (const Paragraph& paragraph : paragraphs_) {
      if (steps <= bound) return;
      replace(paragraph.begin, paragraph.end, inline_signs);
      for (std::size_t at = paragraph.begin; at < paragraph.end; ++at) {
        if (begins_instruction(body_, at)) (*harmless_)[at] = stand_in('<');
      }
      steps -= paragraph.steps;
    }
  }

  void limit_references() {
    if (longest_reference_ * closing_brackets_ <= max_expanded_bytes + 4 * body_.size()) return;
    replace(0, body_.size(), "[]!");
  }

  void replace(std::size_t begin, std::size_t end, std::string_view these) {
    if (!harmless_) harmless_.emplace(body_);
    for (std::size_t i = begin; i < end; ++i) {
      char& c = (*harmless_)[i];
      if (these.find(c) != std::string_view::npos) c = stand_in(c);
    }
  }

  std::string_view body_;
  std::optional<std::string> harmless_ = {};
  std::vector<Paragraph> paragraphs_ = {};
  std::size_t paragraph_begin_ = 0;
  std::uint64_t signs_in_paragraph_ = 0;
  std::uint64_t closing_brackets_ = 0;
  std::uint64_t longest_reference_ = 0;
  std::size_t reference_begin_ = body_.size();
  std::string_view last_line_ = {};
  std::size_t last_begins_ = 0;
  bool is_table_ = false;
  std::uint64_t columns_ = 0;
  std::uint64_t rows_ = 0;
  std::size_t delimiter_begin_ = 0;
  std::size_t delimiter_end_ = 0;
};

}  // namespace

std::optional<std::string> mask_costly_syntax(std::string_view body) { return Guard(body).run(); }

void unmask_syntax(std::string& text) {
  for (char& c : text) {
    const std::size_t at = stand_ins.find(c);
    if (at != std::string_view::npos) c = signs[at];
  }
}

}  // namespace ws::markdown

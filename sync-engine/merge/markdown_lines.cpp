#include "sync-engine/merge/markdown_lines.hpp"

#include <algorithm>

#include "api-client/base/ascii.hpp"
#include "api-client/base/utf8.hpp"

namespace ws::sync::merge {
namespace {

using LineKind = MarkdownLine::Kind;

constexpr std::string_view blanks = " \t";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t indent_of(std::string_view line) {
  const std::size_t found = line.find_first_not_of(blanks);
  return found == std::string_view::npos ? line.size() : found;
}

/// Without indentation and the marks of quotations.
std::string_view inner(std::string_view line) {
  const std::size_t start = line.find_first_not_of(" \t>");
  return start == std::string_view::npos ? std::string_view() : line.substr(start);
}

/// How many of the same fence sign begin the text: three or more make a fence.
std::size_t fence_length(std::string_view text) {
  if (text.empty() || (text[0] != '`' && text[0] != '~')) return 0;
  const std::size_t length = std::min(text.find_first_not_of(text[0]), text.size());
  return length >= 3 ? length : 0;
}

/// Signs, dashes and blanks alone, with a bar: the second row of a table.
bool is_delimiter_row(std::string_view line) {
  return line.find('|') != std::string_view::npos && line.find('-') != std::string_view::npos &&
         line.find_first_not_of(" \t|:-") == std::string_view::npos;
}

bool is_rule(std::string_view text) {
  if (text.empty() || std::string_view("-*_=").find(text[0]) == std::string_view::npos) return false;
  return std::ranges::all_of(text, [&](char c) { return c == text[0] || c == ' ' || c == '\t'; }) &&
         (text[0] == '=' || text[0] == '-' || std::ranges::count(text, text[0]) >= 3);
}

class Classifier {
 public:
  std::vector<MarkdownLine> run(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      lines_.push_back({.text = text.substr(0, end)});
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    for (std::size_t i = 0; i < lines_.size(); ++i) lines_[i].kind = kind_of(i);
    return std::move(lines_);
  }

 private:
  LineKind kind_of(std::size_t i) {
    const std::string_view line = lines_[i].text;
    const std::string_view text = inner(line);
    if (fence_ != 0) {
      const bool closes = text.find_first_not_of(fence_sign_) == std::string_view::npos && text.size() >= fence_;
      if (closes) fence_ = 0;
      return LineKind::code;
    }
    if (const std::size_t length = fence_length(text_of_item(text)); length != 0) {
      fence_ = length;
      fence_sign_ = text_of_item(text)[0];
      return LineKind::code;
    }
    if (text.starts_with("$$")) {
      if (text.find("$$", 2) == std::string_view::npos) in_formula_ = !in_formula_;
      return LineKind::code;
    }
    if (in_formula_) return LineKind::code;
    if (indent_of(line) == line.size()) {
      in_html_ = false;
      return LineKind::blank;
    }
    in_html_ = in_html_ || text.starts_with('<');
    return in_html_ ? LineKind::code : written_kind(i, line, text);
  }

  /// A fence may begin in the line of an item.
  static std::string_view text_of_item(std::string_view text) {
    const ItemMark mark = item_mark(text);
    return mark.whole.empty() ? text : text.substr(mark.whole.size());
  }

  LineKind written_kind(std::size_t i, std::string_view line, std::string_view text) const {
    const bool after_gap = i == 0 || lines_[i - 1].kind == LineKind::blank || lines_[i - 1].kind == LineKind::code;
    const bool is_deep = line.starts_with('\t') || indent_of(line) >= 4;
    if (is_deep && after_gap && item_mark(line).whole.empty()) return LineKind::code;
    if (is_table_row(i)) return LineKind::table;
    if (is_rule(text)) return LineKind::rule;
    return item_mark(line).whole.empty() ? LineKind::prose : LineKind::item;
  }

  bool is_table_row(std::size_t i) const {
    if (lines_[i].text.find('|') == std::string_view::npos) return false;
    if (i > 0 && lines_[i - 1].kind == LineKind::table) return true;
    return i + 1 < lines_.size() && is_delimiter_row(lines_[i + 1].text);
  }

  std::vector<MarkdownLine> lines_ = {};
  std::size_t fence_ = 0;  ///< the length of the open one, or 0
  char fence_sign_ = '`';
  bool in_formula_ = false;
  bool in_html_ = false;  ///< up to the next blank line
};

using LineKind = MarkdownLine::Kind;
using Sort = Token::Sort;

bool is_word_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Scripts that put no blanks between words: each character is one.
bool stands_alone(char32_t c) {
  return (c >= 0x2E80 && c <= 0x9FFF) || (c >= 0xAC00 && c <= 0xD7AF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0xFF00 && c <= 0xFF60) || (c >= 0x20000 && c <= 0x3FFFF);
}

/// Finds what must not be cut: a code span, a wiki link, a link's target, a tag, an address. Each way to close one is
/// looked for past the end of the text once at most, so that many open ones cost no more than one.
class WholeParts {
 public:
  explicit WholeParts(std::string_view text) : text_(text) {
    for (std::size_t at = text.find('`'); at != std::string_view::npos; at = text.find('`', at)) {
      const std::size_t end = std::min(text.find_first_not_of('`', at), text.size());
      runs_.push_back({.begin = at, .longest = end - at});
      at = end;
    }
    for (std::size_t i = runs_.size(); i-- > 1;) {
      runs_[i - 1].longest = std::max(runs_[i - 1].longest, runs_[i].longest);
    }
  }

  /// The length of such a part at `at`. 0: there is none.
  std::size_t length(std::size_t at) {
    const std::string_view text = text_.substr(at);
    if (text.starts_with('`')) return code_length(at, std::min(text.find_first_not_of('`'), text.size()));
    if (text.starts_with("[[")) return up_to("]]", at, 2, no_bracket_);
    if (text.starts_with("](")) return up_to(")", at, 2, no_parenthesis_);
    if (text.starts_with('<')) return up_to(">", at, 1, no_angle_);
    if (text.starts_with("http://") || text.starts_with("https://"))
      return std::min(text.find_first_of(" \t)>"), text.size());
    return 0;
  }

 private:
  /// A run of backticks, and the length of the longest that begins here or behind it.
  struct Run {
    std::size_t begin = 0;
    std::size_t longest = 0;
  };

  std::size_t code_length(std::size_t at, std::size_t ticks) const {
    const auto next = std::ranges::lower_bound(runs_, at + ticks, {}, &Run::begin);
    if (next == runs_.end() || next->longest < ticks) return 0;
    return text_.find(std::string(ticks, '`'), at + ticks) + ticks - at;
  }

  std::size_t up_to(std::string_view close, std::size_t at, std::size_t from, bool& is_none) const {
    if (is_none) return 0;
    const std::size_t found = text_.find(close, at + from);
    is_none = found == std::string_view::npos;
    return is_none ? 0 : found + close.size() - at;
  }

  std::string_view text_;
  std::vector<Run> runs_ = {};
  bool no_bracket_ = false;
  bool no_parenthesis_ = false;
  bool no_angle_ = false;
};

std::size_t word_length(std::string_view text) {
  std::string_view rest = text;
  const char32_t first = utf8::next(rest);
  if (stands_alone(first)) return text.size() - rest.size();
  std::size_t length = text.size() - rest.size();
  while (!rest.empty() && (is_word_byte(rest[0]) || (rest[0] == '\'' && rest.size() > 1 && is_word_byte(rest[1])))) {
    if (stands_alone(utf8::next(rest))) break;
    length = text.size() - rest.size();
  }
  return length;
}

bool ends_sentence(std::string_view text, std::size_t at) {
  return std::string_view(".!?;:").find(text[at]) != std::string_view::npos &&
         (at + 1 == text.size() || text[at + 1] == ' ');
}

class Tokenizer {
 public:
  explicit Tokenizer(const std::vector<MarkdownLine>& lines) : lines_(lines) {}

  std::vector<Token> run(Span span) {
    for (std::size_t i = span.begin; i < span.end; ++i) {
      add_line(lines_[i]);
      add_newline(i, span.end);
    }
    return std::move(tokens_);
  }

 private:
  void add(Sort sort, std::string_view raw, std::string key) {
    tokens_.push_back({.sort = sort, .key = std::move(key), .raw = raw});
  }
  void add(Sort sort, std::string_view raw) { add(sort, raw, std::string(raw)); }

  void add_line(const MarkdownLine& line) {
    switch (line.kind) {
      case LineKind::blank:
      case LineKind::rule:
      case LineKind::code:
        if (!line.text.empty()) add(Sort::word, line.text);
        return;
      case LineKind::table: add_row(line.text); return;
      case LineKind::item: add_item(line.text); return;
      case LineKind::prose: add_prose(line.text); return;
    }
  }

  void add_item(std::string_view text) {
    const ItemMark mark = item_mark(text);
    add(Sort::mark, mark.whole, "\n" + std::string(mark.indent, ' ') + (mark.ordinal.empty() ? "" : "1") + mark.sign);
    if (!mark.tick.empty()) {
      add(Sort::sign, mark.tick, "[" + std::string(1, mark.tick[1] == ' ' ? ' ' : 'x') + "]");
      add(Sort::mark, mark.tick.substr(mark.tick.size()), "\nticked");
    }
    add_words(text.substr(mark.whole.size() + mark.tick.size()));
  }

  /// A heading's signs and a quotation's are marks; an indentation continues a paragraph and is part of its newline.
  void add_prose(std::string_view text) {
    const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
    if (first != 0 && !is_soft_) add(Sort::blank, text.substr(0, first));
    text.remove_prefix(first);
    const std::size_t signs = text.find_first_not_of(text.starts_with('#') ? "#" : "> ");
    const bool is_heading = text.starts_with('#') && signs != std::string_view::npos && text[signs] == ' ';
    if ((is_heading || text.starts_with('>')) && signs != std::string_view::npos) {
      add(Sort::mark, text.substr(0, signs), "\n" + std::string(trimmed(text.substr(0, signs), " \t")));
      text.remove_prefix(signs);
    }
    add_words(text);
  }

  void add_words(std::string_view text) {
    WholeParts wholes(text);
    std::size_t at = 0;
    while (at < text.size()) {
      const std::string_view rest = text.substr(at);
      std::size_t length = wholes.length(at);
      if (length != 0) {
        add(Sort::word, rest.substr(0, length));
      } else if (rest[0] == ' ' || rest[0] == '\t') {
        length = std::min(rest.find_first_not_of(" \t"), rest.size());
        add(Sort::blank, rest.substr(0, length), " ");
      } else if (is_word_byte(rest[0])) {
        length = word_length(rest);
        add(Sort::word, rest.substr(0, length));
      } else {
        length = 1;
        add(ends_sentence(rest, 0) ? Sort::mark : Sort::sign, rest.substr(0, 1));
      }
      at += length;
    }
  }

  void add_row(std::string_view text) {
    std::size_t from = 0;
    bool in_code = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '`') in_code = !in_code;
      if (text[i] != '|' || in_code || (i > 0 && text[i - 1] == '\\')) continue;
      add_cell(text.substr(from, i - from));
      add(Sort::mark, text.substr(i, 1), "\n|");
      from = i + 1;
    }
    add_cell(text.substr(from));
  }

  void add_cell(std::string_view cell) {
    if (cell.empty()) return;
    std::string key(trimmed(cell, " \t"));
    if (key.find_first_not_of(":-") == std::string::npos && key.find('-') != std::string::npos) {
      key = std::string(key.front() == ':' ? ":" : "") + "-" + (key.back() == ':' ? ":" : "");
    }
    add(Sort::word, cell, std::move(key));
  }

  /// Between two lines of one paragraph the newline is a blank, and the next line's indentation belongs to it.
  void add_newline(std::size_t i, std::size_t end) {
    const MarkdownLine& line = lines_[i];
    is_soft_ =
        i + 1 < end && (line.kind == LineKind::prose || line.kind == LineKind::item) && continues(line, lines_[i + 1]);
    const char* newline = line.text.data() + line.text.size();
    if (!is_soft_) return add(Sort::mark, std::string_view(newline, 1), "\n");
    const std::string_view next = lines_[i + 1].text;
    const std::size_t indent = std::min(next.find_first_not_of(" \t"), next.size());
    add(Sort::blank, std::string_view(newline, 1 + indent), " ");
  }

  static bool continues(const MarkdownLine& line, const MarkdownLine& next) {
    const std::string_view text = trimmed(line.text, " \t");
    const std::string_view after = trimmed(next.text, " \t");
    const bool is_broken = line.text.ends_with("  ") || line.text.ends_with('\\');
    return next.kind == LineKind::prose && !is_broken && !text.starts_with('#') && !text.starts_with('>') &&
           !after.starts_with('#') && !after.starts_with('>');
  }

  const std::vector<MarkdownLine>& lines_;
  std::vector<Token> tokens_ = {};
  bool is_soft_ = false;  ///< the newline before this line was a blank
};

}  // namespace

std::vector<MarkdownLine> markdown_lines(std::string_view text) { return Classifier().run(text); }

ItemMark item_mark(std::string_view line) {
  ItemMark mark{.indent = indent_of(line)};
  std::size_t at = mark.indent;
  while (at < line.size() && is_digit(line[at])) ++at;
  mark.ordinal = line.substr(mark.indent, at - mark.indent);
  if (at == line.size() || mark.ordinal.size() > 9) return {};
  mark.sign = line[at];
  const std::string_view signs = mark.ordinal.empty() ? "-*+" : ".)";
  if (signs.find(mark.sign) == std::string_view::npos) return {};
  ++at;
  if (at < line.size() && line[at] != ' ' && line[at] != '\t') return {};
  at += indent_of(line.substr(at));
  if (is_rule(line.substr(mark.indent)) && mark.ordinal.empty() && at < line.size()) return {};
  mark.whole = line.substr(0, at);
  const std::string_view rest = line.substr(at);
  const bool is_tick = rest.size() >= 3 && rest[0] == '[' && rest[2] == ']' &&
                       std::string_view(" xX").find(rest[1]) != std::string_view::npos &&
                       (rest.size() == 3 || rest[3] == ' ');
  if (is_tick) mark.tick = rest.substr(0, std::min<std::size_t>(4, rest.size()));
  return mark;
}

std::vector<Token> markdown_tokens(const std::vector<MarkdownLine>& lines, Span span) {
  return Tokenizer(lines).run(span);
}

}  // namespace ws::sync::merge

#include "sync-engine/merge/markdown_lines.hpp"

#include <algorithm>
#include <string>

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

}  // namespace ws::sync::merge

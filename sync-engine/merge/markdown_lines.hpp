/// A Markdown text as lines, each with what it is: which of them may be merged word by word, and which may not. A run
/// of lines as words, blanks and marks: what a change inside a line is made of.
///
/// A classifier, no parser: what it is not sure of it calls `code`, and code is merged by whole lines alone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sync-engine/merge/three_way.hpp"

namespace ws::sync::merge {

struct MarkdownLine {
  enum class Kind {
    blank,
    prose,  ///< of a paragraph, a heading, a quotation
    item,   ///< the first line of a list item
    table,  ///< a row, the delimiter row too
    rule,   ///< `---` and the like, underlines of headings too
    code,   ///< fenced or indented code, HTML, formulas
  };
  Kind kind = Kind::prose;
  std::string_view text = {};  ///< without its newline
};

/// `text` has LF alone and ends with one (or is empty). The lines point into it.
std::vector<MarkdownLine> markdown_lines(std::string_view text);

/// The mark of a list item and what stands around it: `  12. [x] text` is indent 2, ordinal 12, tick `[x] `.
struct ItemMark {
  std::size_t indent = 0;         ///< bytes
  std::string_view ordinal = {};  ///< its digits; empty: a bullet
  char sign = 0;                  ///< `-` `*` `+`, or what follows the ordinal: `.` `)`
  std::string_view whole = {};    ///< from the start of the line up to the text or the tick
  std::string_view tick = {};     ///< `[ ] `, `[x] `, or empty
};
/// Empty `whole` where the line begins no item.
ItemMark item_mark(std::string_view line);

struct Token {
  enum class Sort {
    word,   ///< a word; a code span, link target or address as a whole; a cell of a table
    blank,  ///< spaces, and the newline inside a paragraph: wrapped anew it is the same text
    sign,   ///< punctuation
    mark,   ///< what holds lines apart: a newline, the mark of an item, the bar of a table, the end of a sentence
  };
  Sort sort = Sort::word;
  std::string key = {};  ///< equal keys are the same thing: the number of an item and a cell's padding do not count
  std::string_view raw = {};  ///< as written; points into the text
};

/// The tokens of lines [span.begin, span.end); their `raw` joined is the text, each line with its newline. `code` lines
/// come as one word each.
std::vector<Token> markdown_tokens(const std::vector<MarkdownLine>& lines, Span span);

}  // namespace ws::sync::merge

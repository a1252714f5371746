/// A run of Markdown lines as words, blanks and marks: what a change inside a line is made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sync-engine/merge/markdown_lines.hpp"
#include "sync-engine/merge/three_way.hpp"

namespace ws::sync::merge {

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

/// A Markdown text as lines, each with what it is: which of them may be merged word by word, and which may not.
///
/// A classifier, no parser: what it is not sure of it calls `code`, and code is merged by whole lines alone.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

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

}  // namespace ws::sync::merge

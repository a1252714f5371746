/// Reads Markdown (the only user of cmark-gfm): headings, sections, plain text, and a tree for rendering.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ws::markdown {

/// A heading with the text below it up to the next heading of any level.
struct Section {
  std::vector<std::string> heading_path =
      {};                      ///< plain text of the headings above and of its own; empty: before the first
  int level = 0;               ///< 1-6; 0 before the first heading
  std::string_view text = {};  ///< the source of the section, heading line included; points into the input
};

/// The plain text of the first level-1 heading.
std::optional<std::string> first_heading(std::string_view source);

inline constexpr std::size_t all_sections = static_cast<std::size_t>(-1);

/// Splits the text at its headings, except those in fenced code and front matter; joined, the sections are the input.
/// The last of `at_most` sections holds the rest: a hostile text can have as many headings as bytes.
std::vector<Section> sections(std::string_view source, std::size_t at_most = all_sections);

/// The text without markup, one block a line, without link targets and HTML. Tables are kept as written.
std::string plain_text(std::string_view source);

/// A text as a tree for rendering. Texts are neither escaped nor sanitised.
struct Part {
  enum class Kind {
    document,
    paragraph,
    heading,  ///< `level` is 1-6
    list,     ///< of items; `level` is the first number of an ordered list, otherwise 0
    item,     ///< `checked` if it is a task
    quote,
    code_block,  ///< `text` includes its newlines
    html_block,  ///< `text`
    rule,
    table,  ///< of rows; the first is the header
    row,
    cell,  ///< `align`
    text,
    code,
    html,
    emphasis,
    strong,
    struck,
    link,   ///< `target`
    image,  ///< `target`; the child parts are its description
    soft_break,
    line_break,
  };
  enum class Align { left, center, right };

  Kind kind = Kind::document;
  std::string text = {};
  std::string target = {};
  int level = 0;
  bool tight = false;  ///< a list without blank lines between items
  std::optional<bool> checked = {};
  Align align = Align::left;
  bool is_limited = false;  ///< of a document: some of its syntax is read as plain text (`markdown_bounds.hpp`)
  std::vector<Part> parts = {};
};

/// Parses the body of the text (CommonMark with tables, task lists and strikethrough). Front matter and anything nested
/// deeper than 40 levels is left out.
Part parse(std::string_view source);

/// The offset of the body: after a front matter block (`---` ... `---`) at the start, otherwise 0.
std::size_t body_offset(std::string_view source);

}  // namespace ws::markdown

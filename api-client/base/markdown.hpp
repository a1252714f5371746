/// What is read out of a Markdown text (cmark-gfm's one home): its first heading, its sections.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ws::markdown {

/// A heading and what stands below it up to the next heading, whatever its level.
struct Section {
  std::vector<std::string> heading_path =
      {};                      ///< plain text of the headings above and of its own; empty: before the first
  int level = 0;               ///< 1-6; 0 before the first heading
  std::string_view text = {};  ///< the source of the section, heading line included; points into the input
};

/// Plain text of the first level-1 heading.
std::optional<std::string> first_heading(std::string_view source);

inline constexpr std::size_t all_sections = static_cast<std::size_t>(-1);

/// The text cut at its headings, in order; joined they are the input. Fenced code and front matter hold no headings.
/// With `at_most` the last one holds all that is left; a hostile text has as many headings as bytes.
std::vector<Section> sections(std::string_view source, std::size_t at_most = all_sections);

/// The words without their marks, blocks on lines of their own: no link targets, no HTML. Tables stay as written.
std::string plain_text(std::string_view source);

/// A text as a tree: what a reader of it renders. Values only, nothing of it is escaped or cleaned.
struct Part {
  enum class Kind {
    document,
    paragraph,
    heading,  ///< `level` 1-6
    list,     ///< of items; `level` is the first number of an ordered one, else 0
    item,     ///< `checked` where it is a task
    quote,
    code_block,  ///< `text`, with its newlines
    html_block,  ///< `text`
    rule,
    table,  ///< of rows, the first is the heading
    row,
    cell,  ///< `align`
    text,
    code,
    html,
    emphasis,
    strong,
    struck,
    link,   ///< `target`
    image,  ///< `target`; the parts are its description
    soft_break,
    line_break,
  };
  enum class Align { left, center, right };

  Kind kind = Kind::document;
  std::string text = {};
  std::string target = {};
  int level = 0;
  bool tight = false;  ///< a list without blank lines between its items
  std::optional<bool> checked = {};
  Align align = Align::left;
  bool is_limited = false;  ///< a document: some of its signs are read as plain text (`markdown_bounds.hpp`)
  std::vector<Part> parts = {};
};

/// The body of the text (CommonMark with tables, task lists and strikethrough); front matter is left out. What is
/// nested deeper than 40 levels is left out too.
Part parse(std::string_view source);

/// Where the body begins: behind a front matter block (`---` ... `---`) at the very start, else 0.
std::size_t body_offset(std::string_view source);

}  // namespace ws::markdown

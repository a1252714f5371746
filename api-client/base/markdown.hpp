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

/// Where the body begins: behind a front matter block (`---` ... `---`) at the very start, else 0.
std::size_t body_offset(std::string_view source);

}  // namespace ws::markdown

/// Sections that both sides brought in at one place: a heading with what is below it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sync-engine/merge/markdown_lines.hpp"

namespace ws::sync::merge {

/// The level of a heading that begins with `#`; 0: the line is none.
std::size_t heading_level(const MarkdownLine& line);

/// Both insertions, ours first; a section of one heading once, where it has equal text or nothing but entries of a
/// list. The lines are those of the three texts. Empty where the base has more than blank lines in the span; where a
/// side's lines do not begin with a heading, or the levels differ; where what follows would get another parent; where
/// the section has a sister of that heading, or both name a release by different headings.
std::optional<std::string> merge_sections(const std::vector<MarkdownLine>& base,
                                          Span base_span,
                                          const std::vector<MarkdownLine>& ours,
                                          Span our_span,
                                          const std::vector<MarkdownLine>& theirs,
                                          Span their_span);

}  // namespace ws::sync::merge

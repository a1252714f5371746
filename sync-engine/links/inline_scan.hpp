/// Finds the references of one block of Markdown, or of one block of HTML, in its source.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sync-engine/links/references.hpp"

namespace ws::sync::links {

/// The inside of a paragraph, a heading or a row, at [begin, end) of `text`. Adds to `into`, links in the order in
/// which they end, and the `id`s of its HTML to `ids`.
void scan_inlines(std::string_view text,
                  std::size_t begin,
                  std::size_t end,
                  std::vector<Reference>& into,
                  std::vector<std::string>& ids);

/// HTML at [begin, end): the attributes alone. `in_comment`: a comment that an earlier block began is still open.
void scan_html(std::string_view text,
               std::size_t begin,
               std::size_t end,
               bool& in_comment,
               std::vector<Reference>& into,
               std::vector<std::string>& ids);

/// Definitions at the begin of a paragraph; returns where they end.
std::size_t scan_definitions(std::string_view text, std::size_t begin, std::size_t end, std::vector<Reference>& into);

}  // namespace ws::sync::links

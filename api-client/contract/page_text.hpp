/// Extracts one-line messages from untrusted texts: HTML error pages, messages with control characters.
#pragma once

#include <string>
#include <string_view>

namespace ws::contract {

/// Makes one line: collapses white space, removes control characters and bidirectional marks, replaces bytes that are
/// not UTF-8 by U+FFFD, and truncates to `max_code_points` with an ellipsis.
std::string one_line(std::string_view text, std::size_t max_code_points);

/// The text of `<title>`, otherwise of the first `<h1>`; empty if neither is in the first 64 KiB.
std::string page_title(std::string_view html);

}  // namespace ws::contract

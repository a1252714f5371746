/// Sentences out of texts that were not made for us: HTML pages, messages with control characters in them.
#pragma once

#include <string>
#include <string_view>

namespace ws::contract {

/// On one line, blanks run together, without control characters and marks that turn the direction of writing; bytes
/// that are no UTF-8 become U+FFFD; at most `max_code_points`, cut with an ellipsis.
std::string one_line(std::string_view text, std::size_t max_code_points);

/// The text of `<title>`, else of the first `<h1>`; empty where there is neither in the first 64 KiB.
std::string page_title(std::string_view html);

}  // namespace ws::contract

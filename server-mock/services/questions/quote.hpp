/// Finds the line or paragraph of a Markdown text that matches search terms. Pure.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "server-mock/services/text_index/query.hpp"

namespace ws::mock {

inline constexpr std::size_t max_quote_bytes = 400;

/// A part of `text` without list and quote marks: where most terms occur, else its beginning. Never a heading, a fence
/// or front matter; empty if there is nothing else.
std::string_view find_quote(std::string_view text, const std::vector<Term>& terms);

}  // namespace ws::mock

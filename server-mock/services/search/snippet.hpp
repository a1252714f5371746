/// Snippets of search results. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "server-mock/services/text_index/query.hpp"

namespace ws::mock {

inline constexpr std::size_t max_snippet_bytes = 240;

/// Plain text on one line, at most `max_snippet_bytes` with an ellipsis at either end, around the place where most
/// terms occur; the beginning if none does. `source` is Markdown.
std::string make_snippet(std::string_view source, const std::vector<Term>& terms);

}  // namespace ws::mock

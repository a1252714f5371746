/// Renders search results for a terminal, with the words of the query highlighted.
#pragma once

#include <string>

#include "api-client/base/json.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

/// A line a result where the terminal is at least 120 columns wide, else some lines a result. `items` is the `data` of
/// an answer; `query` is what was asked. Cleaned; empty for no items.
std::string render_search_results(const Json& items, const std::string& query, const Terminal& terminal);

}  // namespace ws::cli

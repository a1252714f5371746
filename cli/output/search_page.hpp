/// Renders search results for a terminal, with the words of the query highlighted.
#pragma once

#include <string>

#include "api-client/base/json.hpp"
#include "cli/output/view.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

/// A line a result where the terminal is at least 120 columns wide, else some lines a result. `items` is the `data` of
/// an answer; the words of `{@query}` are marked. Cleaned; empty for no items. The id is the one that `ws docs get`
/// opens, as in the other formats.
std::string render_search_results(const Json& items, ViewContext& context, const Terminal& terminal);

}  // namespace ws::cli

/// Renders search results for a terminal, with the words of the query highlighted.
#pragma once

#include <string>

#include "api-client/base/json.hpp"
#include "cli/output/view.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

/// One line per result on a terminal of at least 120 columns, otherwise several. `items` is the `data` of a response;
/// words of `{@query}` are highlighted. Cleaned; empty for no items. The id is the one for `ws docs get`, as in the
/// other formats.
std::string render_search_results(const Json& items, ViewContext& context, const Terminal& terminal);

}  // namespace ws::cli

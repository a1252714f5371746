// How search results look on a terminal.
#include <nlohmann/json.hpp>

#include "cli/commands/search/commands.hpp"
#include "cli/output/search_page.hpp"

namespace ws::cli {
namespace {

std::string render_results(const Json& whole, ViewContext& context, const Terminal& terminal) {
  const Json* const items = find(whole, "data");
  return items == nullptr ? std::string() : render_search_results(*items, context, terminal);
}

constexpr std::string_view run_by[] = {"search.run"};
constexpr View views[] = {{.of = run_by, .list = render_results, .none = "No results."}};

}  // namespace

std::span<const View> search_views() { return views; }

}  // namespace ws::cli

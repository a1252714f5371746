#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "api-client/client.hpp"
#include "api-client/contract/operations.hpp"

namespace ws {
namespace {

// A service may filter after it has cut its pages, but not for ever.
constexpr int most_empty_pages = 100;

Failure bad_page(const Call& call, std::string what, std::string code) {
  return {.kind = Failure::Kind::internal,
          .what = fmt::format("{}: {}", call.operation, what),
          .code = std::move(code),
          .call = {.operation = std::string(call.operation)}};
}

void set_cursor(Call& call, const std::string& cursor) {
  std::erase_if(call.parameters, [](const auto& parameter) { return parameter.first == "cursor"; });
  call.parameters.emplace_back("cursor", cursor);
}

}  // namespace

Result<void> Client::each_item(Call call, const std::function<Result<bool>(const Json& item)>& visit) {
  const contract::Operation* const operation = contract::find_operation(call.operation);
  const bool has_cursor = operation != nullptr && operation->paging == contract::Paging::cursor;
  std::set<std::string> seen;
  int empty_pages = 0;
  while (true) {
    WS_LET(const Reply page, this->call(call));
    const Json* const items = find(*page.json, "data");
    if (items == nullptr || !items->is_array()) {
      return fail(bad_page(call, "the answer has no list `data`", "unusable_answer"));
    }
    for (const Json& item : *items) {
      WS_LET(const bool more, visit(item));
      if (!more) return {};
    }
    const std::string next = find_text(*page.json, "next_cursor").value_or("");
    if (!has_cursor || next.empty()) return {};
    empty_pages = items->empty() ? empty_pages + 1 : 0;
    if (!seen.insert(next).second) {
      return fail(
          bad_page(call, "the service gave the same cursor twice; the list may be incomplete", "cursor_repeated"));
    }
    if (empty_pages >= most_empty_pages) {
      return fail(bad_page(call, fmt::format("{} pages in a row were empty", empty_pages), "endless_list"));
    }
    set_cursor(call, next);
  }
}

}  // namespace ws

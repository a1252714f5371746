#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "api-client/client/client.hpp"
#include "api-client/client/page_guard.hpp"
#include "api-client/contract/operations.hpp"

namespace ws {
namespace {

Failure no_list(const Call& call) {
  return {.kind = Failure::Kind::internal,
          .what = fmt::format("{}: the answer has no list `data`", call.operation),
          .code = "unusable_answer",
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
  PageGuard guard(call.operation);
  while (true) {
    WS_LET(const Reply page, this->call(call));
    const Json* const items = find(*page.json, "data");
    if (items == nullptr || !items->is_array()) return fail(no_list(call));
    for (const Json& item : *items) {
      WS_LET(const bool more, visit(item));
      if (!more) return {};
    }
    if (!has_cursor) return {};
    WS_LET(const std::string next, guard.cursor_of(*page.json));
    if (next.empty()) return {};
    WS_TRY(guard.go_on(next, items->size()));
    set_cursor(call, next);
  }
}

}  // namespace ws

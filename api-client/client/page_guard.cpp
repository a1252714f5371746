#include "api-client/client/page_guard.hpp"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "api-client/client/client.hpp"
#include "api-client/contract/operations.hpp"

namespace ws {
namespace {

// A service may filter items after it has divided them into pages, but there must be an end.
constexpr int max_empty_pages = 100;

Failure unfollowable(const std::string& operation, std::string_view what, std::string code) {
  return {.kind = Failure::Kind::internal,
          .what = fmt::format("{}: {}", operation, what),
          .code = std::move(code),
          .call = {.operation = operation}};
}

void set_cursor(Call& call, const std::string& cursor) {
  std::erase_if(call.parameters, [](const auto& parameter) { return parameter.first == "cursor"; });
  call.parameters.emplace_back("cursor", cursor);
}

}  // namespace

Result<std::string> PageGuard::cursor_of(const Json& page) const {
  const Json* const cursor = find(page, "next_cursor");
  if (cursor == nullptr || cursor->is_null()) return std::string();
  if (cursor->is_string()) return cursor->get<std::string>();
  if (cursor->is_number_integer()) return cursor->dump();
  Failure failure =
      unfollowable(operation_, "the answer is not usable: its next_cursor is neither text nor null", "unusable_answer");
  failure.hint = "check that the base URL names the service";
  return fail(std::move(failure));
}

Result<void> PageGuard::go_on(const std::string& next_cursor, std::size_t items) {
  const auto endless = [&](const std::string& what) { return fail(unfollowable(operation_, what, "endless_list")); };
  if (next_cursor.size() > max_cursor_bytes) {
    return endless(fmt::format("a next_cursor of more than {} bytes", max_cursor_bytes));
  }
  if (!seen_.insert(Sha256::of(next_cursor)).second) {
    return fail(unfollowable(
        operation_, "the service gave the same next_cursor twice; the list may be incomplete", "cursor_repeated"));
  }
  empty_pages_ = items == 0 ? empty_pages_ + 1 : 0;
  if (empty_pages_ >= max_empty_pages) {
    return endless(fmt::format("{} pages in a row were empty; the list would never end", empty_pages_));
  }
  if (seen_.size() < max_list_pages) return {};
  return endless(fmt::format("more than {} pages; the list would never end", max_list_pages));
}

Result<void> PageGuard::keep(std::size_t items, std::size_t bytes) {
  kept_items_ += items;
  kept_bytes_ += bytes;
  if (kept_items_ <= max_kept_items && kept_bytes_ <= max_kept_bytes) return {};
  Failure failure =
      unfollowable(operation_,
                   fmt::format("more than {} items or {} MiB in one document", max_kept_items, max_kept_bytes >> 20U),
                   "endless_list");
  failure.hint = "--format ndjson prints each page as it arrives; --max-items N stops after N items";
  return fail(std::move(failure));
}

Result<void> Client::each_item(Call call, const std::function<Result<bool>(const Json& item)>& visit) {
  const contract::Operation* const operation = contract::find_operation(call.operation);
  const bool has_cursor = operation != nullptr && operation->paging == contract::Paging::cursor;
  PageGuard guard(call.operation);
  while (true) {
    WS_LET(const Reply page, this->call(call));
    const Json* const items = find(*page.json, "data");
    if (items == nullptr || !items->is_array())
      return fail(unfollowable(std::string(call.operation), "the answer has no list `data`", "unusable_answer"));
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

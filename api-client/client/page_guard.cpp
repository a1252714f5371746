#include "api-client/client/page_guard.hpp"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ws {
namespace {

// A service may filter after it has cut its pages, but not for ever.
constexpr int most_empty_pages = 100;

Failure unfollowable(const std::string& operation, std::string_view what, std::string code) {
  return {.kind = Failure::Kind::internal,
          .what = fmt::format("{}: {}", operation, what),
          .code = std::move(code),
          .call = {.operation = operation}};
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
  if (!seen_.insert(next_cursor).second) {
    return fail(unfollowable(
        operation_, "the service gave the same next_cursor twice; the list may be incomplete", "cursor_repeated"));
  }
  empty_pages_ = items == 0 ? empty_pages_ + 1 : 0;
  if (empty_pages_ < most_empty_pages) return {};
  return fail(unfollowable(
      operation_, fmt::format("{} pages in a row were empty; the list would never end", empty_pages_), "endless_list"));
}

}  // namespace ws

#include "api-client/page_guard.hpp"

#include <utility>

#include <fmt/format.h>

namespace ws {
namespace {

// A service may filter after it has cut its pages, but not for ever.
constexpr int most_empty_pages = 100;

Failure endless(const std::string& operation, std::string_view what, std::string code) {
  return {.kind = Failure::Kind::internal,
          .what = fmt::format("{}: {}", operation, what),
          .code = std::move(code),
          .call = {.operation = operation}};
}

}  // namespace

Result<void> PageGuard::go_on(const std::string& next_cursor, std::size_t items) {
  if (!seen_.insert(next_cursor).second) {
    return fail(endless(
        operation_, "the service gave the same next_cursor twice; the list may be incomplete", "cursor_repeated"));
  }
  empty_pages_ = items == 0 ? empty_pages_ + 1 : 0;
  if (empty_pages_ < most_empty_pages) return {};
  return fail(endless(
      operation_, fmt::format("{} pages in a row were empty; the list would never end", empty_pages_), "endless_list"));
}

}  // namespace ws

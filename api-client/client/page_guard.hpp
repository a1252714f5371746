/// Stops following `next_cursor` if a list would never end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/sha256.hpp"

namespace ws {

class PageGuard {
 public:
  /// `operation` is named in failures: `docs.list`; `api`.
  explicit PageGuard(std::string_view operation) : operation_(operation) {}

  /// The `next_cursor` of a page; empty on the last page; an integer is converted to text. Fails with `internal`
  /// (`unusable_answer`) for any other value, so that an incomplete list is not taken for a complete one.
  Result<std::string> cursor_of(const Json& page) const;

  /// Call it after each page that has a next one, with its number of items. Fails with `internal`: the cursor was
  /// returned before (`cursor_repeated`), or the list does not end (`endless_list`): too many empty pages in a row,
  /// more than `max_list_pages` pages, or a cursor longer than a URL may be.
  Result<void> go_on(const std::string& next_cursor, std::size_t items);

  /// Call it after each page that is kept in memory, with its items and bytes. Fails with `internal` (`endless_list`)
  /// if the sum exceeds `max_kept_items` or `max_kept_bytes`.
  Result<void> keep(std::size_t items, std::size_t bytes);

 private:
  std::string operation_;
  std::set<Sha256> seen_;
  int empty_pages_ = 0;
  std::uint64_t kept_items_ = 0;
  std::uint64_t kept_bytes_ = 0;
};

// Far above any Workspace: 10,000,000 items in pages of 100, and about 1 GiB of memory.
inline constexpr std::size_t max_list_pages = 100'000;
inline constexpr std::size_t max_cursor_bytes = 4096;
inline constexpr std::uint64_t max_kept_items = 1'000'000;
inline constexpr std::uint64_t max_kept_bytes = std::uint64_t{256} << 20U;

}  // namespace ws

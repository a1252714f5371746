/// Ends the following of `next_cursor` where a service would never end it.
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
  /// `operation` is named in the failures: `docs.list`; `api`.
  explicit PageGuard(std::string_view operation) : operation_(operation) {}

  /// The `next_cursor` of a page, empty where it is the last; one that is a whole number is its digits. Fails with
  /// `internal` (`unusable_answer`) where it is anything else: a list that goes on is not taken for a whole one.
  Result<std::string> cursor_of(const Json& page) const;

  /// After a page of so many items that names a next one. Fails with `internal`: the cursor was there before
  /// (`cursor_repeated`), or the list would not end (`endless_list`): too many pages in a row were empty, there were
  /// `most_list_pages` of them, or the cursor is longer than an address may be.
  Result<void> go_on(const std::string& next_cursor, std::size_t items);

  /// After a page of so many items, and bytes as it came, that is kept with those before it. Fails with `internal`
  /// (`endless_list`) where all of them are over `most_kept_items` or `most_kept_bytes`.
  Result<void> keep(std::size_t items, std::size_t bytes);

 private:
  std::string operation_;
  std::set<Sha256> seen_;
  int empty_pages_ = 0;
  std::uint64_t kept_items_ = 0;
  std::uint64_t kept_bytes_ = 0;
};

// Far above any Workspace: 10,000,000 items in pages of 100, and about 1 GiB of memory.
inline constexpr std::size_t most_list_pages = 100'000;
inline constexpr std::size_t most_cursor_bytes = 4096;
inline constexpr std::uint64_t most_kept_items = 1'000'000;
inline constexpr std::uint64_t most_kept_bytes = std::uint64_t{256} << 20U;

}  // namespace ws

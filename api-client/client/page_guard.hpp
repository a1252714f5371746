/// Ends the following of `next_cursor` where a service would never end it.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"

namespace ws {

class PageGuard {
 public:
  /// `operation` is named in the failures: `docs.list`; `api`.
  explicit PageGuard(std::string_view operation) : operation_(operation) {}

  /// The `next_cursor` of a page, empty where it is the last; one that is a whole number is its digits. Fails with
  /// `internal` (`unusable_answer`) where it is anything else: a list that goes on is not taken for a whole one.
  Result<std::string> cursor_of(const Json& page) const;

  /// After a page of so many items that names a next one. Fails with `internal`: the cursor was there before
  /// (`cursor_repeated`), or too many pages in a row were empty (`endless_list`).
  Result<void> go_on(const std::string& next_cursor, std::size_t items);

 private:
  std::string operation_;
  std::set<std::string> seen_;
  int empty_pages_ = 0;
};

}  // namespace ws

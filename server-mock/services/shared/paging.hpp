/// Pages of lists. A cursor is an opaque position in a list, valid for that list only ("docs.list", with its filters).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "server-mock/services/shared/errors.hpp"

namespace ws::mock {

/// The position before the newest entry of a list that is ordered newest first.
inline constexpr std::int64_t from_newest = std::numeric_limits<std::int64_t>::max();

/// A cursor for the entries after `place`.
std::string make_cursor(std::string_view list, std::int64_t place);
/// The position; empty if the cursor is malformed or of another list.
std::optional<std::int64_t> parse_cursor(std::string_view list, std::string_view cursor);
/// The position in the parameter `cursor`, without one `first`; 422 as `parse_cursor` finds.
ApiResult<std::int64_t> cursor_position(const ServiceCall& call, std::string_view list, std::int64_t first);

/// Appends a row to a page and returns its position.
using AddItem = std::function<ApiResult<std::int64_t>(const sqlite::Statement& row, Json& data)>;
/// A page of at most `limit` rows, with a cursor if the query, which asks for one row more, has it.
ServiceResult read_page(sqlite::Statement& rows, std::string_view list, std::int64_t limit, const AddItem& add);

}  // namespace ws::mock

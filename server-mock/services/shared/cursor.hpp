/// Opaque list cursors: a place in a list, bound to the list it came from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ws::mock {

/// A cursor for the entries behind `place` of the list that `list` names ("docs.list", with its filters).
std::string make_cursor(std::string_view list, std::int64_t place);
/// The place; empty where the cursor is malformed or of another list.
std::optional<std::int64_t> parse_cursor(std::string_view list, std::string_view cursor);

}  // namespace ws::mock

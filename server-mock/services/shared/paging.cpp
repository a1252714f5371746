#include "server-mock/services/shared/paging.hpp"

#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"

namespace ws::mock {
namespace {

/// A checksum over list and position, so that forged cursors and those of other lists are rejected.
std::string seal(std::string_view list, std::string_view place) {
  return Sha256::of(fmt::format("{}\n{}", list, place)).hex().substr(0, 12);
}

}  // namespace

std::string make_cursor(std::string_view list, std::int64_t place) {
  const std::string text = fmt::format("{:x}", place);
  return fmt::format("c1_{}_{}", text, seal(list, text));
}

std::optional<std::int64_t> parse_cursor(std::string_view list, std::string_view cursor) {
  constexpr std::string_view version = "c1_";
  const std::size_t middle = cursor.rfind('_');
  if (!cursor.starts_with(version) || middle < version.size()) return std::nullopt;
  const std::string_view text = cursor.substr(version.size(), middle - version.size());
  if (cursor.substr(middle + 1) != seal(list, text)) return std::nullopt;
  std::int64_t place = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), place, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return place;
}

ApiResult<std::int64_t> cursor_position(const ServiceCall& call, std::string_view list, std::int64_t first) {
  const Json* cursor = find(call.parameters, "cursor");
  if (cursor == nullptr || !cursor->is_string()) return first;
  const auto place = parse_cursor(list, cursor->get_ref<const std::string&>());
  if (!place) return invalid("query", "cursor", "value_error", "The cursor is malformed", *cursor);
  return *place;
}

ServiceResult read_page(sqlite::Statement& rows, std::string_view list, std::int64_t limit, const AddItem& add) {
  Json data = Json::array();
  Json next = nullptr;
  std::int64_t last = 0;
  while (true) {
    WS_API_LET(const bool found, rows.step());
    if (!found) break;
    if (static_cast<std::int64_t>(data.size()) == limit) {
      next = make_cursor(list, last);
      break;
    }
    WS_API_LET(last, add(rows, data));
  }
  return Answer{.body = Json{{"data", std::move(data)}, {"next_cursor", std::move(next)}}};
}

}  // namespace ws::mock

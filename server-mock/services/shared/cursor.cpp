#include "server-mock/services/shared/cursor.hpp"

#include <charconv>

#include <fmt/format.h>

#include "api-client/base/sha256.hpp"

namespace ws::mock {
namespace {

/// Ties the place to its list, so that a made-up or mixed-up cursor is told from a real one.
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

}  // namespace ws::mock

#include "server-mock/http/target.hpp"

#include <algorithm>

#include "api-client/base/percent.hpp"
#include "api-client/base/text.hpp"

namespace ws::mock::http {
namespace {

std::string decode(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  auto decoded = percent_decode(spaced);
  return decoded ? std::move(*decoded) : spaced;
}

}  // namespace

std::optional<std::vector<std::string>> split_path(std::string_view path) {
  if (!path.starts_with('/')) return std::nullopt;
  std::vector<std::string> segments;
  segments.reserve(8);
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, slash);
    path.remove_prefix(slash);
    if (segment.find('%') == std::string_view::npos) {
      segments.emplace_back(segment);
      continue;
    }
    auto decoded = percent_decode(segment);
    if (!decoded) return std::nullopt;
    segments.push_back(std::move(*decoded));
  }
  return segments;
}

std::string decoded_path(std::string_view path) {
  const auto segments = split_path(path);
  if (!segments) return std::string(path);
  std::string text;
  for (const std::string& segment : *segments) text += "/" + segment;
  return text;
}

SandboxPath within_sandbox(std::string_view path) {
  constexpr std::string_view root = "/_s/";
  if (!path.starts_with(root)) return {.path = path};
  const std::size_t end = std::min(path.find('/', root.size()), path.size());
  const std::string_view rest = path.substr(end);
  return {.id = path.substr(root.size(), end - root.size()), .path = rest.empty() ? std::string_view("/") : rest};
}

Pairs parse_query(std::string_view query) {
  Pairs pairs;
  for (const std::string_view pair : split(query, '&')) {
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    pairs.emplace_back(decode(pair.substr(0, equals)), decode(pair.substr(std::min(equals + 1, pair.size()))));
  }
  return pairs;
}

std::string_view value_of(const Pairs& pairs, std::string_view name) {
  for (const auto& [key, value] : pairs) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace ws::mock::http

#include "sync-engine/binding/left_out.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/text.hpp"
#include "api-client/base/uuid.hpp"
#include "api-client/base/yaml.hpp"

namespace ws::sync {
namespace {

constexpr const char* config_name = "config.yaml";
constexpr std::string_view key = "leave_out";
constexpr std::size_t max_config_bytes = std::size_t{1} << 20U;

/// The text without the lines of the key.
std::string without_key(std::string_view text, int line) {
  const std::vector<std::string_view> lines = whole_lines(text);
  const auto is_of_value = [](std::string_view each) {
    constexpr std::string_view continues = " \t-]\r\n";
    return continues.find(each.front()) != std::string_view::npos;
  };
  std::string kept;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i + 1 == static_cast<std::size_t>(line)) {
      while (i + 1 < lines.size() && is_of_value(lines[i + 1])) ++i;
      continue;
    }
    kept += lines[i];
  }
  return kept;
}

Json other_keys(const Json& whole) {
  Json others = whole.is_object() ? whole : Json::object();
  others.erase(std::string(key));
  return others;
}

}  // namespace

Result<void> LeftOut::add(std::string_view name) {
  if (is_uuid(name)) {
    documents.insert(DocumentId{std::string(name)});
    return {};
  }
  if (name.ends_with('/')) name.remove_suffix(1);
  WS_LET(RelativePath place, RelativePath::parse(name));
  places.insert(std::move(place));
  return {};
}

bool LeftOut::covers(const RelativePath& place, std::string_view path) {
  return is_at_or_below(path, place.text()) || is_at_or_below(service_form(path), service_form(place.text()));
}

bool LeftOut::takes(std::string_view path) const {
  return std::ranges::any_of(places, [&](const RelativePath& place) { return covers(place, path); });
}

std::vector<std::string> LeftOut::names() const {
  std::vector<std::string> all;
  for (const RelativePath& place : places) all.push_back(place.string());
  for (const DocumentId& document : documents) all.push_back(document.text());
  return all;
}

Result<void> write_left_out(const WsFolder& folder,
                            const LeftOut& wanted,
                            const std::map<DocumentId, RelativePath>& notes) {
  std::string text;
  if (auto read = folder.read(config_name, max_config_bytes)) {
    text = std::move(*read);
  } else if (read.error().kind != Failure::Kind::not_found) {
    return fail(std::move(read).error());
  }
  WS_LET(const YamlWithPositions before, parse_yaml_with_positions(text));
  const auto at = before.keys.find("/" + std::string(key));
  if (at != before.keys.end()) text = without_key(text, at->second.line);
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  if (!wanted.empty()) {
    text += fmt::format("{}:\n", key);
    for (const RelativePath& place : wanted.places) text += fmt::format("  - {}\n", Json(place.string()).dump());
    for (const DocumentId& document : wanted.documents) {
      const auto note = notes.find(document);
      text += fmt::format(
          "  - {}{}\n", Json(document.text()).dump(), note == notes.end() ? "" : "  # " + note->second.string());
    }
  }
  const auto after = parse_yaml_with_positions(text);
  const Json names = wanted.empty() ? Json() : Json(wanted.names());
  const bool is_as_meant =
      after && other_keys(*after->value) == other_keys(*before.value) &&
      (after->value->is_object() ? after->value->value(std::string(key), Json()) : Json()) == names;
  if (!is_as_meant) {
    return fail(Failure::Kind::usage,
                fmt::format("`{}` in .ws/config.yaml cannot be changed without changing other lines", key),
                "write it as a key of its own, one name a line");
  }
  return folder.write(config_name, text);
}

}  // namespace ws::sync

#include "server-mock/services/shared/entity_tags.hpp"

#include <cstdint>
#include <functional>

#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "server-mock/store/tree.hpp"

namespace ws::mock {
namespace {

// Given by `pack_for` of http/server/gzip.cpp.
constexpr std::string_view gzip_ending = "-gzip\"";

/// Calls `visit(tag, is_weak)` for each tag of a list, until it returns true. A comma may stand inside of a tag.
template <class Visit>
bool any_tag(std::string_view list, const Visit& visit) {
  while (true) {
    const std::size_t open = list.find('"');
    const std::size_t close = open == std::string_view::npos ? open : list.find('"', open + 1);
    if (close == std::string_view::npos) return false;
    const bool is_weak = list.substr(0, open).ends_with("W/");
    if (visit(list.substr(open, close - open + 1), is_weak)) return true;
    list.remove_prefix(close + 1);
  }
}

/// Whether the tag is `etag`, or that of its compressed form.
bool is_tag_of(std::string_view tag, std::string_view etag) {
  if (tag == etag) return true;
  return tag.ends_with(gzip_ending) &&
         tag.substr(0, tag.size() - gzip_ending.size()) == etag.substr(0, etag.size() - 1);
}

}  // namespace

std::string document_etag(const World& world, const Document& document) {
  std::uint64_t hash = 0;
  const auto add = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15U + (hash >> 29U); };
  const auto add_text = [&add](std::string_view text) { add(std::hash<std::string_view>()(text)); };
  for (const std::string* text : {&document.content_sha256,
                                  &document.title,
                                  &document.parent_node_id,
                                  &document.project_id,
                                  &document.updated_by.kind,
                                  &document.updated_by.id,
                                  &document.updated_by.name}) {
    add_text(*text);
  }
  add(static_cast<std::uint64_t>(document.updated_at));
  // The switches that change which members an answer has.
  add_text(world.assumptions.value("assumed_fields"));
  add_text(world.assumptions.value("list_extra"));
  std::string tag = "\"" + std::to_string(document.content_revision) + "-";
  for (int shift = 60; shift >= 0; shift -= 4) tag += "0123456789abcdef"[(hash >> shift) & 15U];
  return tag + '"';
}

std::optional<std::string_view> find_match(std::string_view list, std::string_view etag) {
  if (trimmed(list) == "*") return etag;
  std::optional<std::string_view> found;
  any_tag(list, [&](std::string_view tag, bool /*is_weak*/) {
    if (is_tag_of(tag, etag)) found = tag;
    return found.has_value();
  });
  return found;
}

ApiResult<void> require_match(const ServiceCall& call, std::string_view etag) {
  if (!call.if_match || trimmed(*call.if_match) == "*") return {};
  const auto names_it = [&](std::string_view tag, bool is_weak) { return !is_weak && is_tag_of(tag, etag); };
  if (any_tag(*call.if_match, names_it)) return {};
  return refuse({.status = 412,
                 .code = "precondition_failed",
                 .message = "If-Match does not match the present state of the object",
                 .members = Json{{"current_etag", etag}}});
}

}  // namespace ws::mock

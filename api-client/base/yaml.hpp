/// The only way to read YAML: bounded, without anchors, aliases and tags (yaml-cpp's one home).
///
/// yaml-cpp guards depth but not aliases: 350 bytes become 20 million nodes, and an alias can be a cycle (`safety.md`).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"

namespace ws {

/// One document as JSON: plain scalars become null, booleans, integers, numbers by YAML's core schema, quoted ones stay
/// text. Fails with `invalid`, naming line and column: syntax, an anchor, alias or tag, a key that stands twice, a key
/// that is no scalar, or more than `bounds` allow. An empty text is null.
Result<Json> parse_yaml(std::string_view text,
                        const JsonBounds& bounds = {.max_bytes = 1U << 20U, .max_values = 100'000, .max_depth = 64});

/// Where a value stands in its text, from 1.
struct TextPlace {
  int line = 1;
  int column = 1;
  bool operator==(const TextPlace&) const = default;
};

/// The same with the place of every value, by its JSON pointer: "" is the whole, "/people/0/email" a member.
struct PlacedYaml {
  JsonBox value = {};
  std::map<std::string, TextPlace> places = {};
  std::map<std::string, TextPlace> keys = {};  ///< of every member, where its key stands; by the same pointer
};
Result<PlacedYaml> parse_placed_yaml(std::string_view text,
                                     const JsonBounds& bounds = {
                                         .max_bytes = 16U << 20U, .max_values = 200'000, .max_depth = 64});

/// Block style, keys in their order.
std::string to_yaml(const Json& value);

}  // namespace ws

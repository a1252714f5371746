/// The only parser of YAML: bounded, without anchors, aliases and tags (the only user of yaml-cpp).
///
/// yaml-cpp does not limit aliases: 350 bytes can expand to 20 million nodes, or form a cycle (`safety.md`).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"

namespace ws {

/// Parses one document to JSON: plain scalars become null, booleans, integers or numbers by YAML's core schema, quoted
/// ones become strings. Fails with `invalid`, naming line and column, on a syntax error, an anchor, alias or tag, a
/// duplicate key, a key that is not a scalar, or if it exceeds `bounds`. An empty text is null.
Result<Json> parse_yaml(std::string_view text,
                        const JsonBounds& bounds = {.max_bytes = 1U << 20U, .max_values = 100'000, .max_depth = 64});

/// A position in a text; lines and columns count from 1.
struct TextPosition {
  int line = 1;
  int column = 1;
  bool operator==(const TextPosition&) const = default;
};

/// A document with the position of every value, by JSON pointer: "" is the root, "/people/0/email" a member.
struct YamlWithPositions {
  JsonBox value = {};
  std::map<std::string, TextPosition> places = {};
  std::map<std::string, TextPosition> keys = {};  ///< the position of every member's key, by the same pointer
};
Result<YamlWithPositions> parse_yaml_with_positions(std::string_view text,
                                                    const JsonBounds& bounds = {.max_bytes = 16U << 20U,
                                                                                .max_values = 200'000,
                                                                                .max_depth = 64});

/// Block style; keys keep their order.
std::string to_yaml(const Json& value);

}  // namespace ws

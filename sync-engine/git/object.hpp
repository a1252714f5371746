/// Names and forms of git's objects, written by us, read by any git.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws::sync::git {

/// Levels of folders in one state of the history: a path that is synced has at most 200. More come from a history that
/// somebody made, and would be followed until the stack is full.
inline constexpr int max_tree_depth = 200;
Failure too_deep_tree();

/// The SHA-1 that names an object. All zero: none.
struct ObjectId {
  std::array<std::uint8_t, 20> bytes = {};
  bool empty() const { return *this == ObjectId{}; }
  std::string hex() const;
  static std::optional<ObjectId> from_hex(std::string_view text);
  auto operator<=>(const ObjectId&) const = default;
};

/// The numbers are those of git's pack format.
enum class ObjectType : std::uint8_t { commit = 1, tree = 2, blob = 3 };

ObjectId object_id(ObjectType type, std::string_view data);

}  // namespace ws::sync::git

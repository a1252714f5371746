/// The written form of a link's target: taken apart and decoded, and a path put into it again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sync-engine/links/references.hpp"

namespace ws::sync::links {

/// Where the bytes of a target stand in its text, and what is around them.
struct RawTarget {
  Reference::Kind kind = Reference::Kind::link;
  bool is_angle = false;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Decodes it into a reference whose whole is still to be filled in. Empty: it leads out of the tree, or is empty.
std::optional<Reference> read_target(std::string_view text, const RawTarget& raw);

/// `path` as it is written in that place: `was` is the text of the old path there. Parts that both have keep their
/// spelling. Empty where the place cannot hold such a name (a `|` in a wiki link).
std::optional<std::string> write_path(std::string_view path, std::string_view was, const Reference& reference);

/// The percent signs resolved; invalid ones stay.
std::string percent_decoded(std::string_view text);

}  // namespace ws::sync::links

/// A block that one side moved and the other edited where it was: the edit follows the block.
#pragma once

#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws::sync::merge {

struct FollowedMoves {
  std::string ours = {};
  std::string theirs = {};
};

/// The two sides, where each edit inside a block that the other side moved stands at the block's new place, and the
/// edited block reads as in the base. A move is told by whole lines: they left one place and came, unchanged and only
/// once, at another; an edit that reaches over the block's ends follows nothing. LF alone. Fails with `internal`.
Result<FollowedMoves> follow_moves(std::string_view base, std::string_view ours, std::string_view theirs);

}  // namespace ws::sync::merge

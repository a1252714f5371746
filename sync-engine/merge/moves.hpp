/// Blocks that one side moved and the other edited.
#pragma once

#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws::sync::merge {

struct FollowedMoves {
  std::string ours = {};
  std::string theirs = {};
};

/// Both sides, where an edit inside a block that the other side moved is applied at the block's new place, and taken
/// out at the old one: there the block is as in the base. Moved are whole lines that are gone from one place and stand
/// unchanged, and only once, at another; an edit that reaches beyond the block's ends stays where it is. Line ends are
/// LF. Fails with `internal`.
Result<FollowedMoves> follow_moves(std::string_view base, std::string_view ours, std::string_view theirs);

}  // namespace ws::sync::merge

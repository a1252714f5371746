/// The lines below the front matter.
#pragma once

#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/merge/merge.hpp"

namespace ws::sync::merge {

/// What the numbers of ordered lists say. `follow`: nothing but the order, and the caller counts them anew.
enum class Ordinals { kept, follow };

/// LF alone; each text ends with one or is empty. Fails with `internal`.
Result<std::vector<Piece>> merge_body(std::string_view base,
                                      std::string_view ours,
                                      std::string_view theirs,
                                      Ordinals ordinals);

}  // namespace ws::sync::merge

/// In which order files are renamed, so that each place is free before it is taken. Pure; linear in what meets.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {

struct PlannedMove {
  RelativePath from;
  RelativePath to;
};

/// Calls `move` once for each, after the moves that leave its target, or what is above or beneath it. Moves that wait
/// for each other in a circle are opened by `step_aside`, which frees one `from`; false: it could not. Ends early with
/// a failure of `move`.
Result<void> move_in_order(const std::vector<PlannedMove>& moves,
                           const std::function<Result<void>(std::size_t move)>& move,
                           const std::function<bool(std::size_t move)>& step_aside);

}  // namespace ws::sync

/// `.ws/`: where it is, what it says, how it is made.
#pragma once

#include <filesystem>

#include "api-client/base/result.hpp"
#include "sync-engine/engine.hpp"

namespace ws::sync {

/// Makes `.ws/` below `root` with everything in it but the source's texts. Fails with `disk`.
Result<void> write_tie(const std::filesystem::path& root, const Tie& tie);

}  // namespace ws::sync

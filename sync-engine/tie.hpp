/// `.ws/`: where it is, what it says, how it is made.
#pragma once

#include <filesystem>

#include "api-client/base/result.hpp"
#include "sync-engine/engine.hpp"

namespace ws::sync {

/// Makes `.ws/` below `root` with everything in it but the source's texts. Fails with `disk`.
Result<void> write_tie(const std::filesystem::path& root, const Tie& tie);

/// What people may set in `.ws/config.yaml`.
struct TreeConfig {
  std::uint64_t max_file_bytes = std::uint64_t{1} << 20U;
};
/// Defaults where there is none. Fails with `invalid`, naming the line.
Result<TreeConfig> read_config(const std::filesystem::path& root);

}  // namespace ws::sync

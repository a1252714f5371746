/// Whole small files: settings, credentials, ready files. (A synced file is written by `sync-engine/tree/safe_write`.)
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws {

/// Fails with `not_found`, or `disk` with the system's reason; over `max_bytes` with `invalid`.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes = std::size_t{64} << 20U);

/// All or nothing: temporary file beside it, fsync, rename, fsync of the folder. Fails with `disk`.
Result<void> write_file(const std::filesystem::path& path, std::string_view text, unsigned mode = 0644);

/// Makes the folder and those above it, the new ones with `mode`. Fails with `disk`.
Result<void> make_folders(const std::filesystem::path& path, unsigned mode = 0755);

}  // namespace ws

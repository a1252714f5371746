/// The schema of `.ws/state.db`.
#pragma once

#include <filesystem>

#include "api-client/base/result.hpp"
#include "api-client/base/sqlite.hpp"

namespace ws::sync {

/// Opens the file, or makes it. Fails with `disk`; code `newer_format` for one that a later version wrote,
/// `older_format` for one from before the first release: nothing of it is changed.
Result<sqlite::Database> open_state(const std::filesystem::path& file);

}  // namespace ws::sync

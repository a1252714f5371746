/// The schema of `.ws/state.db`, and the migrations from every older format.
#pragma once

#include <filesystem>

#include "api-client/base/result.hpp"
#include "api-client/base/sqlite.hpp"

namespace ws::sync {

/// Opens the file, makes it or brings it to today's format. Fails with `disk`; code `newer_format` for one that a later
/// version wrote.
Result<sqlite::Database> open_state(const std::filesystem::path& file);

/// The failure of a database that a later version wrote.
Failure newer_format(const std::filesystem::path& file, std::int64_t found, std::int64_t known);

}  // namespace ws::sync

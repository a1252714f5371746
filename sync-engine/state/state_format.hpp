/// The schema of `.ws/state.db`, and the migrations from every older format.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "api-client/base/sqlite.hpp"

namespace ws::sync {

/// Opens the file, makes it or brings it to today's format. Fails with `disk`; code `newer_format` for one that a later
/// version wrote.
Result<sqlite::Database> open_state(const std::filesystem::path& file);

/// The values of a column of paths that break a rule of `RelativePath` which came after they were written.
Result<std::vector<std::string>> refused_paths(sqlite::Database& database, const char* table, const char* column);
Result<void> drop_paths(sqlite::Database& database,
                        const char* table,
                        const char* column,
                        const std::vector<std::string>& paths);

/// The failure of a database that a later version wrote.
Failure newer_format(const std::filesystem::path& file, std::int64_t found, std::int64_t known);

}  // namespace ws::sync

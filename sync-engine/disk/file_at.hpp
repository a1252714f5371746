/// Reads a file by its name in an open folder. No link is followed, and nothing but a regular file is read.
#pragma once

#include <optional>
#include <string>

#include "api-client/base/result.hpp"
#include "api-client/base/sha256.hpp"

namespace ws::sync {

/// The whole file. Fails with `not_found` or `disk`.
Result<std::string> read_file_at(int folder, const std::string& name);

/// The hash of the file, read piece by piece; empty: there is none. Fails with `disk`.
Result<std::optional<Sha256>> hash_file_at(int folder, const std::string& name);

}  // namespace ws::sync

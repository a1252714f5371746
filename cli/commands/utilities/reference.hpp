/// `ws __reference`: all that the reference pages and the man pages are made of, as JSON.
#pragma once

#include <string>
#include <vector>

#include "cli/grammar/catalogue.hpp"

namespace ws::cli {

/// `{v: 1, version, commands: [as `--help --json`], global_flags, topics, exit_codes, settings, operations}`.
std::string reference_text(const std::vector<Entry>& entries);

}  // namespace ws::cli

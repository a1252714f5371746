/// A unified diff for people.
#pragma once

#include <string>

#include "cli/commands/shared/session.hpp"

namespace ws::cli {

/// Hunks as git colours them, cleaned for the terminal: colours only where it shows some.
std::string coloured_diff(Session& session, const std::string& hunks);

}  // namespace ws::cli

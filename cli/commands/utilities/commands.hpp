/// Commands about ws itself, and requests by hand.
#pragma once

#include <string>
#include <vector>

#include "cli/grammar/command.hpp"

namespace ws::cli {

// about.cpp
Command version_command();
Command call_overview_command();
Command commands_command();
Command schema_command();
Command exit_codes_command();

// api.cpp
Command api_command();

// discover.cpp
Command discover_command();

// skill.cpp
Command skill_show_command();
Command skill_install_command();

// doctor.cpp
Command doctor_command();

// completion.cpp
Command completion_command();

// mock.cpp
Command mock_command();
/// Becomes ws-mock; comes back only where it cannot.
Failure start_mock(const std::vector<std::string>& arguments);

}  // namespace ws::cli

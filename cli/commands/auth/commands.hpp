/// Login, logout and the stored keys.
#pragma once

#include "cli/grammar/command.hpp"

namespace ws::cli {

// login.cpp
Command login_command();
Command logout_command();

// keys.cpp
Command auth_status_command();
Command auth_list_command();
Command auth_switch_command();
Command auth_token_command();

}  // namespace ws::cli

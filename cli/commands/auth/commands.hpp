/// Login, logout and the stored keys.
#pragma once

#include <span>

#include "cli/grammar/command.hpp"
#include "cli/output/view.hpp"

namespace ws::cli {

// login.cpp
Command login_command();
Command logout_command();

// keys.cpp
Command auth_status_command();
Command auth_list_command();
Command auth_switch_command();
Command auth_token_command();

// views.cpp
std::span<const View> auth_views();

}  // namespace ws::cli

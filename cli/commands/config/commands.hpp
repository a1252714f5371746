/// Settings.
#pragma once

#include "cli/grammar/command.hpp"

namespace ws::cli {

Command config_get_command();
Command config_set_command();
Command config_list_command();
Command config_explain_command();

}  // namespace ws::cli

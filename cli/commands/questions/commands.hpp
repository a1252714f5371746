/// Questions.
#pragma once

#include "cli/grammar/command.hpp"

namespace ws::cli {

Command ask_command();
Command questions_get_command();

}  // namespace ws::cli

/// Questions.
#pragma once

#include <span>

#include "cli/grammar/command.hpp"
#include "cli/output/view.hpp"

namespace ws::cli {

Command ask_command();
Command questions_get_command();

// views.cpp
std::span<const View> questions_views();

}  // namespace ws::cli

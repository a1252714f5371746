/// Test runs.
#pragma once

#include <span>

#include "cli/grammar/command.hpp"
#include "cli/output/view.hpp"

namespace ws::cli {

Command tests_runs_launch_command();
Command tests_runs_get_command();

// views.cpp
std::span<const View> tests_views();

}  // namespace ws::cli

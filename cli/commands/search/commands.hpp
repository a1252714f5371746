/// Search.
#pragma once

#include <span>

#include "cli/grammar/command.hpp"
#include "cli/output/view.hpp"

namespace ws::cli {

Command search_command();

// views.cpp
std::span<const View> search_views();

}  // namespace ws::cli

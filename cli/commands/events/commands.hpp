/// Agent events: claimed one at a time, or worked off.
#pragma once

#include <span>

#include "cli/grammar/command.hpp"
#include "cli/output/view.hpp"

namespace ws::cli {

// events.cpp
Command events_claim_command();
Command events_renew_command();
Command events_complete_command();
Command events_fail_command();

// work.cpp
Command events_work_command();

// views.cpp
std::span<const View> events_views();

}  // namespace ws::cli

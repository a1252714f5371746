/// Agent events: claimed one at a time, or worked off.
#pragma once

#include "cli/grammar/command.hpp"

namespace ws::cli {

// events.cpp
Command events_claim_command();
Command events_renew_command();
Command events_complete_command();
Command events_fail_command();

// work.cpp
Command events_work_command();

}  // namespace ws::cli

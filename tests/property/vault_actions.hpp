/// What users of a vault do beside writing notes: pictures, links, and settings of their folder.
#pragma once

#include "tests/property/bound_folder.hpp"
#include "tests/property/script.hpp"
#include "tests/property/user_actions.hpp"

namespace ws::property {

/// Does nothing if the step does not apply.
void act_in_vault(BoundFolder& place, const Step& step, Words& words);

}  // namespace ws::property

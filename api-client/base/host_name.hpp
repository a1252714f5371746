/// The name of this machine.
#pragma once

#include <string>

namespace ws {

/// Empty where the system tells none.
std::string host_name();

}  // namespace ws

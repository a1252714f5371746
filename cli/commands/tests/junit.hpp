/// A test run as JUnit XML, the form that CI systems read.
#pragma once

#include <string>

#include "api-client/base/json.hpp"

namespace ws::cli {

/// One suite, a case for each result; what neither passed nor was skipped is a failure. Names and messages are the
/// service's text: escaped, and without what XML 1.0 cannot hold.
std::string run_to_junit(const Json& run);

}  // namespace ws::cli

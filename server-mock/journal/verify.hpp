/// Whether what was asked of the server is what a test expected, and what came nearest where it is not.
///
/// Pure: functions of the journal's entries as they are shown (`Journal::read`), secrets left out.
#pragma once

#include <string>
#include <vector>

#include "api-client/base/json.hpp"
#include "server-mock/services/shared/validation_errors.hpp"

namespace ws::mock {

/// In what an entry differs from `{operation, method, path, status, query, headers, body}`, a sentence each; none: it
/// matches. Operation and path may be patterns, a status may be "4xx", a body is a subset of the one that came.
std::vector<std::string> differences(const Json& match, const Json& entry);

/// All that is wrong with a verification: `{match, times | min, max, in_order}`; `match` is one or a list.
void check_verification(const Json& verification, Complaints& complaints);

/// `{verified, matched}`, and where it is not as expected `expected` and `nearest: [{seq, method, path, operation,
/// status, differences}]`. A list in order is expected once, with anything in between; else each of it is counted.
Json verify(const Json& verification, const Json& entries);

/// The operations whose method and path come nearest: `[{operation, method, path}]`.
Json nearest_operations(const std::string& method, const std::string& path);

}  // namespace ws::mock

/// Verification: whether the journal contains the expected requests, and which were nearest if not.
///
/// Pure functions of what `Journal::find` shows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "api-client/base/json.hpp"
#include "server-mock/journal/exchange.hpp"
#include "server-mock/services/shared/errors.hpp"

namespace ws::mock {

/// The differences between an exchange and `{operation, method, path, status, query, headers, body}`, a sentence each;
/// none if it matches. Operation and path may be patterns, a status may be "4xx", a body is compared as a subset.
std::vector<std::string> differences(const Json& match, const Exchange& exchange);

/// Validates `{match, times | min, max, in_order}`; `match` is one expectation or a list.
void check_verification(const Json& verification, ValidationErrors& errors);

/// Finds operations, members of bodies and parameters that no request can have, and misspelled headers: an expectation
/// of them would prove nothing. What `entries` have is known, too.
void check_names(const Json& verification, std::span<const Exchange> entries, ValidationErrors& errors);

/// `{verified, matched}`, and if not verified also `expected` and `nearest: [{seq, method, path, operation, status,
/// differences}]`. With `in_order` the list is expected once, other requests in between; else each match is counted.
Json verify(const Json& verification, std::span<const Exchange> entries);

/// The operations with the most similar method and path: `[{operation, method, path}]`.
Json nearest_operations(const std::string& method, const std::string& path);

}  // namespace ws::mock

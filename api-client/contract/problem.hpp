/// Every error body that a service may send, read into one `Problem`, and one `Problem` into a `Failure`.
///
/// Read are `{"detail": "text", "code": ...}`, `{"detail": [validation entries]}`, `{"detail": {"code", "message"}}`,
/// RFC 9457 problem documents, RFC 8628 `{"error", "error_description"}`, an HTML page and an empty body
/// (`decisions.md`, "Errors"). Whatever it is, a person is shown the status, the best message found, code and request
/// id.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"

namespace ws::contract {

struct Problem {
  int status = 0;
  std::string code = {};        ///< "revision_conflict"; empty where the body names none
  std::string message = {};     ///< the best sentence found, at most 500 code points, or the status' own words
  std::string request_id = {};  ///< from the body, else from the header
  JsonBox members = {};         ///< the body as an object; null where it was none
};

/// `content_type` and `request_id` are header values, empty where there were none. Never fails: bad bytes make a poor
/// message, not an error.
Problem read_problem(int status, std::string_view content_type, std::string_view request_id, std::string_view body);

/// The kind of failure that a status stands for (`cli.md`, "Exit codes"): 401 auth, 403 forbidden, 404 and 410
/// not_found, 409 and 412 conflict, 408 and 5xx service, 429 rate_limited, 428 pending, other 4xx invalid.
Failure::Kind kind_of_status(int status);

/// With what is known of the call: operation, status, code, request id, hint for the next step (401: log in; 403: which
/// scope is missing).
Failure to_failure(const Problem& problem, std::string_view operation);

/// "Not Found": RFC 9110's words; "Status 799" for one it does not know.
std::string reason_phrase(int status);

}  // namespace ws::contract

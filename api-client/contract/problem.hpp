/// Reads every error body that a service may send into a `Problem`, and converts a `Problem` into a `Failure`.
///
/// Known forms: `{"detail": "text", "code": ...}`, `{"detail": [validation entries]}`, `{"detail": {"code",
/// "message"}}`, RFC 9457 problem documents, RFC 8628 `{"error", "error_description"}`, an HTML page and an empty body
/// (`decisions.md`, "Errors"). For any of them, the user sees the status, the best message found, the code and the
/// request id.
#pragma once

#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"

namespace ws::contract {

struct Problem {
  int status = 0;
  std::string code = {};        ///< "revision_conflict"; empty if the body has none
  std::string message = {};     ///< the best message found, at most 500 code points, or the reason phrase of the status
  std::string request_id = {};  ///< from the body, otherwise from the header
  JsonBox members = {};         ///< the body as an object; null if it was not one
};

/// `content_type` and `request_id` are header values, empty if absent. Never fails: a malformed body only makes the
/// message less precise.
Problem read_problem(int status, std::string_view content_type, std::string_view request_id, std::string_view body);

/// The object of an error body that holds a member: its `detail`, or else the body itself.
const Json& holder_of(const Json& body, std::string_view member);

/// The failure kind of an HTTP status (`cli.md`, "Exit codes"): 401 auth, 403 forbidden, 404 and 410 not_found, 409 and
/// 412 conflict, 408 and 5xx service, 429 rate_limited, 428 pending, other 4xx invalid.
Failure::Kind kind_of_status(int status);

/// Adds what is known about the call: operation, status, code, request id, and a hint for the next step (401: log in;
/// 403: which scope is missing).
Failure to_failure(const Problem& problem, std::string_view operation);

/// The reason phrase of RFC 9110, such as "Not Found"; "Status 799" if the status is unknown.
std::string reason_phrase(int status);

}  // namespace ws::contract

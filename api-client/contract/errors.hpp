/// The error responses other than 422: status, code, further members (`decisions.md`, "Errors").
///
/// All of them are assumed. The client reads any error body (`problem.hpp`); the mock sends these, and the OpenAPI
/// document lists them. A code that may come with either of two statuses (`decisions.md`, "Assumption switches") has a
/// row for each; the first is the usual one.
#pragma once

#include <string_view>
#include <vector>

#include "api-client/contract/schema.hpp"

namespace ws::contract {

struct ErrorCode {
  int status = 0;
  std::string_view code = {};
  std::string_view members = {};  ///< names of further members, separated by spaces
};

inline constexpr ErrorCode error_codes[] = {
    {400, "authorization_pending", "error"},
    {400, "slow_down", "error"},
    {400, "access_denied", "error"},
    {400, "expired_token", "error"},
    {400, "invalid_grant", "error"},
    {401, "missing_credential", ""},
    {401, "invalid_credential", ""},
    {401, "expired_credential", ""},
    {401, "revoked_credential", ""},
    {403, "missing_scope", "required_scope"},
    {403, "insufficient_role", "required_role"},
    {403, "forbidden", ""},
    {403, "agent_paused", ""},
    {404, "not_found", ""},
    {405, "method_not_allowed", ""},
    {409, "revision_conflict", "current_content_revision current_content_sha256 expected_content_revision"},
    {409, "idempotency_in_flight", ""},
    {409, "handle_taken", ""},
    {409, "lease_lost", ""},
    {409, "already_finished", ""},
    {409, "node_cycle", ""},
    {409, "project_at_root", ""},
    {409, "conflict_resolved", ""},
    {409, "plan_expired", ""},
    {409, "upload_incomplete", ""},
    {409, "upload_consumed", "asset_id"},
    {409, "archived", ""},
    {409, "sync_conflict", ""},
    {410, "upload_expired", ""},
    {412, "revision_conflict", "current_content_revision current_content_sha256 expected_content_revision"},
    {412, "precondition_failed", "current_etag"},
    {413, "payload_too_large", ""},
    {415, "unsupported_media_type", ""},
    {416, "range_not_satisfiable", ""},
    {428, "authorization_pending", ""},
    {428, "slow_down", ""},
    {429, "rate_limited", ""},
    {500, "internal_error", ""},
    {503, "unavailable", ""},
};

/// The first row of the code; null if it is unknown.
constexpr const ErrorCode* find_error(std::string_view code) {
  for (const ErrorCode& error : error_codes) {
    if (error.code == code) return &error;
  }
  return nullptr;
}

/// The errors that this operation can return, its own and those common to its kind, in the order of the table above.
std::vector<const ErrorCode*> errors_of(const Operation& operation);

}  // namespace ws::contract

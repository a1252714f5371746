#include "api-client/contract/errors.hpp"

#include <algorithm>

namespace ws::contract {
namespace {

bool is_own(const Operation& operation, std::string_view code) {
  return std::ranges::find(operation.errors, code) != operation.errors.end();
}

/// Whether the operation's path or body refers to objects, which may be missing.
bool names_objects(const Operation& operation) {
  const auto is_in_path = [](const Parameter& parameter) { return parameter.in == In::path; };
  const auto is_id = [](const Field& field) { return field.type.kind == Kind::uuid; };
  return std::ranges::any_of(operation.parameters, is_in_path) ||
         (operation.request != nullptr && std::ranges::any_of(operation.request->fields, is_id));
}

bool applies(const Operation& operation, const ErrorCode& error) {
  switch (error.status) {
    case 401: return operation.auth == Auth::key;
    case 403:
      if (error.code == "missing_scope" || error.code == "agent_paused") return !operation.scope.empty();
      if (error.code == "insufficient_role") return operation.role != Role::none;
      return operation.role != Role::none || !operation.scope.empty();
    case 404: return names_objects(operation);
    case 409: return error.code == "idempotency_in_flight" && operation.idempotency == Idempotency::key;
    case 413:
    case 415: return operation.request != nullptr;
    case 429:
    case 500:
    case 503: return true;
    default: return false;
  }
}

}  // namespace

std::vector<const ErrorCode*> errors_of(const Operation& operation) {
  std::vector<const ErrorCode*> result;
  for (const ErrorCode& error : error_codes) {
    if (applies(operation, error) || is_own(operation, error.code)) result.push_back(&error);
  }
  return result;
}

}  // namespace ws::contract

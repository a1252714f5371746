#include "server-mock/access/access.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/contract/operations.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/services/authorization/keys.hpp"

namespace ws::mock {
namespace {

using contract::Role;
using Identified = tl::expected<const Caller*, ApiError>;

// Bounds the memory that a client with ever new keys can use; many times the keys of a test run.
constexpr std::size_t max_known = 10'000;

// Keys of audiences other than `workspace` are not bound to one: /v1/me shows the first Workspace of their owner.
constexpr const char* key_query =
    "select k.id, k.owner_user_id, k.agent_id, k.audience, k.scopes, k.expires_at, k.revoked_at, "
    "iif(k.workspace_id <> '', k.workspace_id, m.workspace_id), m.role, a.status, k.ceiling from keys k left join "
    "members m on m.user_id = k.owner_user_id and m.workspace_id = "
    "iif(k.workspace_id <> '', k.workspace_id, (select min(workspace_id) from members where user_id = "
    "k.owner_user_id)) left join agents a on a.id = k.agent_id where k.secret_sha256 = ?";
enum Column { id, owner, agent, audience, scopes, expires_at, revoked_at, workspace, role, agent_status, ceiling };

tl::unexpected<ApiError> unauthorized(std::string_view code, std::string_view sentence) {
  return tl::unexpected(ApiError{.status = 401, .code = std::string(code), .message = std::string(sentence)});
}

ApiError broken(const Failure& failure) { return internal_error(failure.what); }

ApiError forbidden_with(std::string_view code, std::string message, std::string_view member, std::string_view value) {
  return ApiError{.status = 403,
                  .code = std::string(code),
                  .message = std::move(message),
                  .members = Json{{std::string(member), value}}};
}

/// The KEY of "Bearer KEY"; empty for other schemes.
std::string_view bearer(std::string_view authorization) {
  const std::size_t space = authorization.find(' ');
  if (space == std::string_view::npos) return {};
  if (!equal_ignoring_case(authorization.substr(0, space), "bearer")) return {};
  std::string_view secret = authorization.substr(space + 1);
  while (secret.starts_with(' ')) secret.remove_prefix(1);
  return secret.find(' ') == std::string_view::npos ? secret : std::string_view();
}

/// A paused agent may still read its identity and revoke its key.
bool is_open_to_paused(const contract::Operation& operation) {
  return operation.id == "discovery.get" || operation.id == "me.get" || operation.id == "auth.revoke";
}

/// Operations that need a role: all but those for any valid key and creating a Workspace.
bool acts_in_workspace(const contract::Operation& operation) {
  return !operation.scope.empty() && operation.id != "workspaces.create";
}

}  // namespace

Identified Access::identify(std::optional<std::string_view> authorization) {
  is_paused_ = false;
  if (!authorization || authorization->empty()) {
    if (mode_ == AuthMode::off) return first_person();
    return unauthorized("missing_credential", "This operation needs a key: Authorization: Bearer KEY");
  }
  const std::string_view secret = bearer(*authorization);
  Identified found = secret.empty() ? unauthorized("invalid_credential", "The Authorization header is not a Bearer key")
                                    : find(secret);
  const bool lenient = mode_ == AuthMode::off || (mode_ == AuthMode::any && !secret.empty());
  if (!found && lenient && found.error().code == "invalid_credential") return first_person();
  return found;
}

Identified Access::find(std::string_view secret) {
  const auto version = world_.callers_version();
  if (const auto seen = known_.find(secret); seen != known_.end() && seen->second.read_at == version) {
    const KnownKey& same = seen->second;
    is_paused_ = same.is_paused;
    if (!same.expires_at || *same.expires_at > world_.now()) return &same.caller;
  }
  auto row = world_.database.cached(key_query);
  if (!row) return tl::unexpected(broken(row.error()));
  sqlite::Statement& key = **row;
  key.bind(1, Sha256::of(secret).hex());
  const auto there = key.step();
  if (!there) return tl::unexpected(broken(there.error()));
  if (!*there) return unauthorized("invalid_credential", "The key is not known");
  if (!key.is_null(revoked_at) || key.text(agent_status) == "revoked") {
    return unauthorized("revoked_credential", "The key was revoked");
  }
  if (!key.is_null(expires_at) && key.integer(expires_at) <= world_.now()) {
    return unauthorized("expired_credential", "The key has expired");
  }
  if (known_.size() >= max_known) known_.clear();
  KnownKey& known = known_[std::string(secret)];
  const Role ceiling_role = contract::find_role(key.text(ceiling)).value_or(Role::none);
  known = {.caller = {.key_id = key.string(id),
                      .owner_user_id = key.string(owner),
                      .agent_id = key.string(agent),
                      .audience = find_audience(key.text(audience)).value_or(Audience::workspace),
                      .workspace_id = key.string(workspace),
                      .role = std::min(contract::find_role(key.text(role)).value_or(Role::none), ceiling_role),
                      .ceiling = ceiling_role},
           .expires_at = key.optional_integer(expires_at),
           .is_paused = key.text(agent_status) == "paused",
           .read_at = version};
  if (const auto list = parse_bounded(key.text(scopes)); list && list->is_array()) {
    for (const Json& scope : *list) known.caller.scopes.push_back(scope.get<std::string>());
  }
  is_paused_ = known.is_paused;
  return &known.caller;
}

Identified Access::first_person() {
  auto row = world_.database.cached(
      "select m.user_id, m.workspace_id, m.role from members m order by m.user_id, m.workspace_id limit 1");
  if (!row) return tl::unexpected(broken(row.error()));
  const auto there = (*row)->step();
  if (!there) return tl::unexpected(broken(there.error()));
  if (!*there) return unauthorized("invalid_credential", "There is no person to act as");
  Caller& caller = known_["first person"].caller;
  caller.key_id = "00000000-0000-7000-8000-000000000000";
  caller.owner_user_id = (*row)->string(0);
  caller.audience = Audience::workspace;
  caller.workspace_id = (*row)->string(1);
  caller.role = contract::find_role((*row)->text(2)).value_or(Role::none);
  caller.scopes.assign(contract::all_scopes.begin(), contract::all_scopes.end());
  return &caller;
}

std::optional<ApiError> Access::authorization_error(const contract::Operation& operation, const Caller& caller) {
  if (is_paused_ && !is_open_to_paused(operation)) {
    return ApiError{.status = 403, .code = "agent_paused", .message = "The agent is paused"};
  }
  if (!operation.scope.empty() && std::ranges::find(caller.scopes, operation.scope) == caller.scopes.end()) {
    return forbidden_with("missing_scope",
                          fmt::format("The key does not have the scope {}", operation.scope),
                          "required_scope",
                          operation.scope);
  }
  if (operation.scope.starts_with("tests:") && caller.audience == Audience::user) {
    return ApiError{.status = 403, .code = "forbidden", .message = "Tests are for keys of a Workspace or the platform"};
  }
  if (caller.role < operation.role) return role_error(operation, caller);
  const bool bound = caller.audience == Audience::workspace || !caller.agent_id.empty();
  if (bound && caller.role == Role::none && acts_in_workspace(operation)) {
    return ApiError{
        .status = 403, .code = "forbidden", .message = "The owner of the key is no longer a member of its Workspace"};
  }
  return std::nullopt;
}

std::optional<ApiError> Access::role_error(const contract::Operation& operation, const Caller& caller) {
  const ApiError api_error = forbidden_with("insufficient_role",
                                            fmt::format("This needs the role {}", contract::name(operation.role)),
                                            "required_role",
                                            contract::name(operation.role));
  if (caller.audience == Audience::workspace || !caller.agent_id.empty()) return api_error;
  auto rows = world_.database.cached("select role from members where user_id = ?");
  if (!rows) return broken(rows.error());
  (*rows)->bind(1, caller.owner_user_id);
  while (true) {
    const auto there = (*rows)->step();
    if (!there) return broken(there.error());
    if (!*there) return api_error;
    const Role there_now = contract::find_role((*rows)->text(0)).value_or(Role::none);
    if (std::min(there_now, caller.ceiling) >= operation.role) return std::nullopt;
  }
}

}  // namespace ws::mock

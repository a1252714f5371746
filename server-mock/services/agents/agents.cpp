#include <algorithm>

#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "server-mock/services/authorization/keys.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/resources.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

using contract::Role;

#define WS_AGENT_COLUMNS                                                                               \
  "id, workspace_id, owner_user_id, handle, display_name, avatar_url, provider, status, permissions, " \
  "last_seen_at, created_at, updated_at"

struct Agent {
  std::string id = {};
  std::string workspace_id = {};
  std::string owner_user_id = {};
  std::string handle = {};
  std::string display_name = {};
  std::optional<std::string> avatar_url = {};
  std::string provider = {};
  std::string status = {};
  std::string permissions = {};  ///< a JSON array
  std::optional<std::int64_t> last_seen_at = {};
  std::int64_t created_at = 0;
  std::int64_t updated_at = 0;
};

Json to_json(const Agent& agent) {
  return {{"id", agent.id},
          {"object", "agent"},
          {"workspace_id", agent.workspace_id},
          {"owner_user_id", agent.owner_user_id},
          {"handle", agent.handle},
          {"display_name", agent.display_name},
          {"avatar_url", agent.avatar_url ? Json(*agent.avatar_url) : Json(nullptr)},
          {"provider", agent.provider},
          {"status", agent.status},
          {"permissions", parse_bounded(agent.permissions).value_or(Json::array())},
          {"last_seen_at", agent.last_seen_at ? Json(rfc3339(*agent.last_seen_at)) : Json(nullptr)},
          {"created_at", rfc3339(agent.created_at)},
          {"updated_at", rfc3339(agent.updated_at)}};
}

// The keys of agents: their scopes follow from the agent's permissions.

/// The permission that grants a scope; empty if agents cannot have it.
std::string_view permission_for(std::string_view scope) {
  if (scope.starts_with("tests:") || scope.starts_with("admin_")) return {};
  if (scope.ends_with(":read") || scope.starts_with("agent_events:") || scope == "questions:write") return "read";
  if (scope == "comments:write") return "comment";
  if (scope == "documents:write" || scope == "assets:write" || scope == "sync:write") return "edit";
  return {};
}

/// The scopes for these permissions (`decisions.md`, "Credentials, roles, scopes"), in the order of the API document.
/// Permissions do not imply each other: without `read` an agent reads nothing.
std::vector<std::string_view> scopes_for(const Json& permissions) {
  std::vector<std::string_view> scopes;
  for (const std::string_view scope : contract::all_scopes) {
    const std::string_view permission = permission_for(scope);
    if (!permission.empty() && std::ranges::find(permissions, Json(permission)) != permissions.end()) {
      scopes.push_back(scope);
    }
  }
  return scopes;
}

/// Issues another key for the agent: its secret, which is shown only here, and what else the API shows of it.
Result<Json> issue_credential(World& world, const Agent& agent) {
  WS_LET(const Json permissions, parse_bounded(agent.permissions));
  const std::vector<std::string_view> scopes = scopes_for(permissions);
  WS_LET(const IssuedKey key,
         issue_key(world,
                   {.owner_user_id = agent.owner_user_id,
                    .agent_id = agent.id,
                    .workspace_id = agent.workspace_id,
                    .scopes = std::vector<std::string>(scopes.begin(), scopes.end())}));
  return Json{{"secret", key.secret},
              {"display_prefix", display_prefix(key.secret)},
              {"scopes", scopes},
              {"created_at", rfc3339(key.created_at)}};
}

Result<void> revoke_credentials(World& world, std::string_view agent_id) {
  return put(world,
             "update keys set revoked_at = ? where agent_id = ? and agent_id <> '' "
             "and revoked_at is null",
             world.now(),
             agent_id);
}

/// After a change of permissions: no key keeps a scope that they no longer grant. One that had all that they granted,
/// as an issued credential has, gets what they grant now; one of fewer scopes stays as narrow as it was made.
Result<void> update_credential_scopes(World& world, const Agent& agent, std::string_view permissions_before) {
  struct Key {
    std::string id = {};
    std::vector<std::string> scopes = {};
  };
  WS_LET(const Json given, parse_bounded(permissions_before));
  WS_LET(const Json permissions, parse_bounded(agent.permissions));
  const std::vector<std::string_view> before = scopes_for(given);
  const std::vector<std::string_view> now = scopes_for(permissions);
  const auto is_in = [](const auto& scopes, std::string_view scope) {
    return std::ranges::find(scopes, scope) != scopes.end();
  };
  WS_LET(const std::vector<Key> keys,
         read_rows(world,
                   read_as<Key>,
                   "select id, scopes from keys where agent_id = ? and agent_id <> '' and revoked_at is null",
                   agent.id));
  for (const Key& key : keys) {
    const bool had_all = std::ranges::all_of(before, [&](std::string_view one) { return is_in(key.scopes, one); });
    std::vector<std::string_view> scopes;
    for (const std::string_view scope : contract::all_scopes) {
      const bool keeps = is_in(key.scopes, scope) && (is_in(now, scope) || !is_in(before, scope));
      if (keeps || (had_all && is_in(now, scope))) scopes.push_back(scope);
    }
    WS_TRY(put(world, "update keys set scopes = ? where id = ?", dump(Json(scopes)), key.id));
  }
  return {};
}

/// Without duplicates, in the order of the API document; by default only `read`.
Json permissions_in(const Json& body) {
  const Json* asked = find(body, "permissions");
  Json permissions = Json::array();
  if (asked == nullptr || !asked->is_array()) return Json::array({"read"});
  for (const char* permission : {"read", "comment", "edit"}) {
    if (std::ranges::find(*asked, Json(permission)) != asked->end()) permissions.push_back(permission);
  }
  return permissions;
}

Result<bool> is_taken(World& world, std::string_view workspace_id, std::string_view handle) {
  return has_row(world,
                 "select 1 from agents where workspace_id = ?1 and handle = ?2 union all "
                 "select 1 from members m join users u on u.id = m.user_id where m.workspace_id = ?1 "
                 "and substr(u.email, 1, instr(u.email, '@') - 1) = ?2 collate nocase",
                 workspace_id,
                 handle);
}

/// An agent that the caller may change (its owner, admins): 404 if the caller may not see it, else 403.
ApiResult<Agent> own_agent(World& world, const ServiceCall& call) {
  WS_API_LET(std::optional<Agent> agent,
             read_row(world,
                      read_as<Agent>,
                      "select " WS_AGENT_COLUMNS " from agents where id = ?",
                      id_of(call.parameters, "agent_id")));
  if (!agent) return not_found("agent");
  WS_API_LET(const Role role, role_in(world, call.caller, agent->workspace_id));
  if (role == Role::none) return not_found("agent");
  WS_API_TRY(require_role(call, role));
  const bool owner = call.caller.agent_id.empty() && agent->owner_user_id == call.caller.owner_user_id;
  if (!owner && !is_admin(call.caller, role)) return forbidden("Only the owner of the agent and admins may do this");
  return std::move(*agent);
}

/// Copies the members of the body to `agent`; null means unchanged.
void apply(Agent& agent, const Json& body) {
  if (const auto name = find_text(body, "display_name")) agent.display_name = *name;
  if (const auto url = find_text(body, "avatar_url")) agent.avatar_url = *url;
  if (const auto status = find_text(body, "status")) agent.status = *status;
  const Json* permissions = find(body, "permissions");
  if (permissions != nullptr && permissions->is_array()) agent.permissions = dump(permissions_in(body));
}

Result<void> save(World& world, const Agent& agent, std::string_view permissions_before) {
  WS_TRY(put(world,
             "update agents set display_name = ?, avatar_url = ?, status = ?, permissions = ?, "
             "updated_at = ? where id = ?",
             agent.display_name,
             agent.avatar_url,
             agent.status,
             agent.permissions,
             agent.updated_at,
             agent.id));
  if (agent.permissions != permissions_before) WS_TRY(update_credential_scopes(world, agent, permissions_before));
  if (agent.status == "revoked") return revoke_credentials(world, agent.id);
  // A paused agent keeps its events: pending claims may get one now.
  if (world.on_queue_change) {
    world.on_queue_change(
        {.agent_id = agent.id, .owner_user_id = agent.owner_user_id, .workspace_id = agent.workspace_id});
  }
  return {};
}

ServiceResult list_agents(World& world, const ServiceCall& call) {
  WS_API_LET(std::vector<Json> data,
             read_rows(
                 world,
                 [](const sqlite::Statement& row) { return to_json(read_as<Agent>(row)); },
                 "select " WS_AGENT_COLUMNS
                 " from agents where workspace_id in (select workspace_id from members where user_id = ?1) "
                 "and (?2 = '' or workspace_id = ?2) and (?3 or status <> 'revoked') order by id",
                 call.caller.owner_user_id,
                 bound_workspace(call.caller),
                 find_bool(call.parameters, "include_revoked").value_or(false)));
  return Answer{.body = Json{{"data", std::move(data)}}};
}

ServiceResult create_agent(World& world, const ServiceCall& call) {
  std::string_view handle = text_of(call.body, "handle");
  if (handle.size() > 1 && handle.starts_with('@')) handle.remove_prefix(1);
  WS_API_LET(const std::string workspace_id, own_workspace(call));
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(const bool taken, is_taken(world, workspace_id, handle));
  if (taken) return conflict("handle_taken", "Another agent or a person of the Workspace has this handle");
  const std::string_view provider = text_of(call.body, "provider");
  const Agent agent = {.id = world.ids.uuid("agent"),
                       .workspace_id = workspace_id,
                       .owner_user_id = call.caller.owner_user_id,
                       .handle = std::string(handle),
                       .display_name = std::string(text_of(call.body, "display_name")),
                       .avatar_url = find_text(call.body, "avatar_url"),
                       .provider = std::string(provider.empty() ? "custom" : provider),
                       .status = "active",
                       .permissions = dump(permissions_in(call.body)),
                       .created_at = world.now(),
                       .updated_at = world.now()};
  WS_API_TRY(
      put_row(world, "insert into agents (" WS_AGENT_COLUMNS ") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", agent));
  WS_API_LET(Json credential, issue_credential(world, agent));
  WS_API_TRY(work.commit());
  Json body = to_json(agent);
  body["credential"] = std::move(credential);
  return Answer{.status = 201, .body = std::move(body)};
}

ServiceResult update_agent(World& world, const ServiceCall& call) {
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(Agent agent, own_agent(world, call));
  const Agent before = agent;
  apply(agent, call.body);
  if (to_json(agent) != to_json(before)) {
    agent.updated_at = world.now();
    WS_API_TRY(save(world, agent, before.permissions));
  }
  WS_API_TRY(work.commit());
  return Answer{.body = to_json(agent)};
}

ServiceResult rotate_agent_credential(World& world, const ServiceCall& call) {
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(const Agent agent, own_agent(world, call));
  WS_API_TRY(revoke_credentials(world, agent.id));
  WS_API_LET(Json credential, issue_credential(world, agent));
  WS_API_TRY(work.commit());
  credential["agent_id"] = agent.id;
  return Answer{.body = std::move(credential)};
}

}  // namespace

ServiceTable agent_services() {
  static constexpr ServiceEntry entries[] = {
      {"agents.list", list_agents},
      {"agents.create", create_agent},
      {"agents.update", update_agent},
      {"agents.rotate", rotate_agent_credential},
  };
  return entries;
}

}  // namespace ws::mock

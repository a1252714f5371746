// Control calls for API keys: of any audience, scopes, role and expiry, for any person or agent.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "api-client/contract/operations/fields.hpp"
#include "server-mock/control/calls.hpp"
#include "server-mock/services/authorization/keys.hpp"
#include "server-mock/services/shared/errors.hpp"
#include "server-mock/services/shared/visibility.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock::control {
namespace {

using contract::nullable;
using contract::optional;

constexpr contract::Type name_or_id = contract::string(1, 300);
constexpr std::int64_t longest_s = std::int64_t{100} * 366 * 86400;
constexpr contract::Field key_fields[] = {
    nullable(optional("person", name_or_id)),
    nullable(optional("user", name_or_id)),
    nullable(optional("user_id", name_or_id)),
    nullable(optional("email", name_or_id)),
    nullable(optional("agent", name_or_id)),
    nullable(optional("agent_id", name_or_id)),
    nullable(optional("handle", name_or_id)),
    nullable(optional("agent_handle", name_or_id)),
    nullable(optional("audience", contract::choice(contract::audience_values))),
    nullable(optional("workspace", name_or_id)),
    nullable(optional("workspace_id", name_or_id)),
    nullable(optional("role", contract::choice(roles))),
    nullable(optional("scopes", contract::array_of(name_or_id))),
    nullable(optional("expires_in", contract::integer(-longest_s, longest_s))),
    nullable(optional("expires_at", contract::date_time())),
};
constexpr contract::Schema key_body = {.name = "NewKey", .fields = key_fields};

const Loc in_key_body = {std::string("body")};

/// By id or email; empty if there is none.
Result<std::optional<std::string>> find_person(World& world, std::string_view word) {
  return read_row(world, read_text, "select id from users where id = lower(?1) or email = ?1", word);
}

/// By id or name; of two with the same name the older.
Result<std::optional<std::string>> find_workspace(World& world, std::string_view word) {
  return read_row(
      world, read_text, "select id from workspaces where id = lower(?1) or name = ?1 order by id limit 1", word);
}

/// The effective role of the key in its Workspace: the lower of the key's ceiling and its owner's role. Null if the key
/// is not bound to a Workspace or its owner is no member.
ApiResult<Json> role_of(World& world, const NewKey& key) {
  if (key.workspace_id.empty()) return Json(nullptr);
  WS_API_LET(const contract::Role role, member_role(world, key.workspace_id, key.owner_user_id));
  if (role == contract::Role::none) return Json(nullptr);
  return Json(contract::name(std::min(role, key.ceiling)));
}

/// The first of several alternative members that is present; empty if none is.
std::string first_of(const Json& body, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (auto text = find_text(body, name)) return std::move(*text);
  }
  return {};
}

std::vector<std::string> scopes_of(const Json& body) {
  const Json* given = find(body, "scopes");
  if (given == nullptr || !given->is_array()) return {contract::all_scopes.begin(), contract::all_scopes.end()};
  return given->get<std::vector<std::string>>();
}

std::optional<std::int64_t> expiry_of(const Json& body, std::int64_t now) {
  if (const auto seconds = find_integer(body, "expires_in")) return now + *seconds * 1000;
  if (const auto text = find_text(body, "expires_at")) {
    if (const auto time = parse_rfc3339(*text)) return time->time_since_epoch().count();
  }
  return std::nullopt;
}

struct Owner {
  std::string user_id = {};
  std::string agent_id = {};
  std::string workspace_id = {};  ///< of an agent
};

/// The agent and its owner, or the person. Default: the first person of the world.
ApiResult<Owner> owner_of(Call& call) {
  World& world = *call.sandbox.world;
  if (const std::string agent = first_of(call.body, {"agent", "agent_id", "handle", "agent_handle"}); !agent.empty()) {
    WS_API_LET(const std::optional<FoundAgent> found, find_agent(world, agent));
    if (!found) return not_found("agent");
    return Owner{.user_id = found->owner_user_id, .agent_id = found->id, .workspace_id = found->workspace_id};
  }
  const std::string person = first_of(call.body, {"person", "user", "user_id", "email"});
  if (person.empty()) return Owner{.user_id = call.sandbox.built_in.user_id};
  WS_API_LET(std::optional<std::string> found, find_person(world, person));
  if (!found) return not_found("person");
  return Owner{.user_id = std::move(*found)};
}

/// The named Workspace; for a key that is bound to a Workspace, by default one of the owner's.
ApiResult<std::string> workspace_of(Call& call, const Owner& owner, Audience audience) {
  World& world = *call.sandbox.world;
  if (const std::string named = first_of(call.body, {"workspace", "workspace_id"}); !named.empty()) {
    WS_API_LET(std::optional<std::string> found, find_workspace(world, named));
    if (!found) return not_found("Workspace");
    return std::move(*found);
  }
  if (audience != Audience::workspace) return std::string();
  if (!owner.workspace_id.empty()) return owner.workspace_id;
  WS_API_LET(const std::optional<std::string> found,
             read_row(world,
                      read_text,
                      "select workspace_id from members where user_id = ?1 "
                      "order by workspace_id = ?2 desc, workspace_id limit 1",
                      owner.user_id,
                      call.sandbox.built_in.workspace_id));
  return found.value_or(call.sandbox.built_in.workspace_id);
}

Answer key_answer(const NewKey& key, const IssuedKey& issued, Json role) {
  const auto or_null = [](std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); };
  return {.status = 201,
          .body = Json{{"key_id", issued.id},
                       {"secret", issued.secret},
                       {"audience", name(key.audience)},
                       {"user_id", key.owner_user_id},
                       {"agent_id", or_null(key.agent_id)},
                       {"workspace_id", or_null(key.workspace_id)},
                       {"scopes", key.scopes},
                       {"role", std::move(role)},
                       {"expires_at", key.expires_at ? Json(rfc3339(*key.expires_at)) : Json(nullptr)}}};
}

void check_scopes(const Json& body, ValidationErrors& errors) {
  const Json* given = find(body, "scopes");
  if (given == nullptr || !given->is_array()) return;
  for (std::size_t i = 0; i < given->size(); ++i) {
    const Json& scope = (*given)[i];
    if (!scope.is_string()) continue;
    const auto text = scope.get<std::string>();
    if (std::ranges::find(contract::all_scopes, text) == contract::all_scopes.end()) {
      errors.add(within(within(in_key_body, "scopes"), i), fmt::format("There is no scope {}", text), scope);
    }
  }
}

/// `{person?, agent?, audience?, workspace?, scopes?, role?, expires_in?, expires_at?}`. People are named by id or
/// email (also `user_id`, `email`), agents by id or handle (also `agent_id`, `handle`), Workspaces by id or name (also
/// `workspace_id`). `role` is the key's ceiling.
ServiceResult create_key(Call& call) {
  const Json body = call.body.is_null() ? Json::object() : call.body;
  NewKey key = {.scopes = scopes_of(body),
                .expires_at = expiry_of(body, call.sandbox.world->now()),
                .ceiling = contract::find_role(first_of(body, {"role"})).value_or(contract::Role::owner)};
  key.audience = find_audience(first_of(body, {"audience"})).value_or(Audience::workspace);
  WS_API_LET(const Owner owner, owner_of(call));
  WS_API_LET(const std::string workspace_id, workspace_of(call, owner, key.audience));
  key.owner_user_id = owner.user_id;
  key.agent_id = owner.agent_id;
  key.workspace_id = workspace_id;
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(*call.sandbox.world));
  WS_API_LET(const IssuedKey issued, issue_key(*call.sandbox.world, key));
  WS_API_TRY(work.commit());
  WS_API_LET(Json role, role_of(*call.sandbox.world, key));
  return key_answer(key, issued, std::move(role));
}

ServiceResult revoke_key(Call& call) {
  WS_API_LET(const bool found, mock::revoke_key(*call.sandbox.world, http::value_of(call.path, "id")));
  if (!found) return not_found("key");
  return Answer{.status = 204};
}

ServiceResult expire_key(Call& call) {
  WS_API_LET(const bool found, mock::expire_key(*call.sandbox.world, http::value_of(call.path, "id")));
  if (!found) return not_found("key");
  return Answer{.status = 204};
}

}  // namespace

CallTable key_calls() {
  static constexpr CallEntry entries[] = {
      {"POST",
       "/_mock/keys",
       "make a key of any audience, scope, role and expiry, for any person or agent",
       create_key,
       members_and(key_body, check_scopes)},
      {"POST", "/_mock/keys/{id}:revoke", "revoke a key", revoke_key, nothing},
      {"POST", "/_mock/keys/{id}:expire", "let a key expire", expire_key, nothing},
  };
  return entries;
}

}  // namespace ws::mock::control


#include <nlohmann/json.hpp>

#include "api-client/base/percent.hpp"
#include "api-client/contract/operations.hpp"
#include "server-mock/services/authorization/device_logins.hpp"
#include "server-mock/services/authorization/keys.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

/// 400 with the error code of RFC 8628, 3.5, also as member `error`.
Unexpected device_refusal(std::string_view word, std::string_view sentence) {
  return Unexpected(ApiError{
      .status = 400, .code = std::string(word), .message = std::string(sentence), .members = Json{{"error", word}}});
}

/// `authorization_pending` and `slow_down`, in the form that `device_pending` selects.
ServiceResult not_yet(const World& world, std::string_view word, std::string_view sentence) {
  const std::string_view form = world.assumptions.value("device_pending");
  if (form == "detail_400") return Answer{.status = 400, .body = Json{{"detail", word}}};
  if (form == "status_428") {
    return Unexpected(ApiError{.status = 428, .code = std::string(word), .message = std::string(sentence)});
  }
  if (form == "status_202") return Answer{.status = 202, .body = Json{{"status", word}}};
  if (form == "ok_without_secret") {
    return Answer{.body = Json{{"status", word}},
                  .headers = {{assumed_header, world.assumptions.assignment("device_pending")}}};
  }
  return device_refusal(word, sentence);
}

ServiceResult hand_out(World& world, const DeviceLogin& login) {
  const Audience audience = login.workspace_id.empty() ? Audience::user : Audience::workspace;
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(const IssuedKey key,
             issue_key(world,
                       {.owner_user_id = login.user_id,
                        .audience = audience,
                        .workspace_id = login.workspace_id,
                        .scopes = login.scopes}));
  WS_API_TRY(consume_device_login(world, login));
  WS_API_LET(const std::optional<std::string> title,
             read_row(world, read_text, "select name from workspaces where id = ?", login.workspace_id));
  WS_API_TRY(work.commit());
  return Answer{.body = Json{{"secret", key.secret},
                             {"key_id", key.id},
                             {"audience", name(audience)},
                             {"scopes", login.scopes},
                             {"expires_at", nullptr},
                             {"created_at", rfc3339(key.created_at)},
                             {"workspace_id", text_or_null(login.workspace_id)},
                             {"workspace_name", title ? Json(*title) : Json(nullptr)}}};
}

ServiceResult start_authorization(World& world, const ServiceCall& call) {
  WS_API_LET(const StartedLogin started,
             start_device_login(world,
                                {.client_name = text_of(call.body, "client_name"),
                                 .cli_version = text_of(call.body, "cli_version"),
                                 .scopes = find_texts(call.body, "scopes")}));
  const std::string page = call.base_url + "/device";
  return Answer{
      .status = 201,
      .body = Json{{"authorization_id", started.login.id},
                   {"device_code", started.device_code},
                   {"user_code", started.login.user_code},
                   {"verification_uri", page},
                   {"verification_uri_complete", page + "?user_code=" + percent_encode(started.login.user_code)},
                   {"expires_in", world.options.device_expires.count()},
                   {"interval", started.login.interval_s}}};
}

ServiceResult exchange_device_code(World& world, const ServiceCall& call) {
  WS_API_LET(const Polled polled, poll_device_login(world, text_of(call.body, "device_code")));
  switch (polled.outcome) {
    case Poll::approved: return hand_out(world, polled.login);
    case Poll::pending: return not_yet(world, "authorization_pending", "The login has not been approved yet");
    case Poll::slow_down: return not_yet(world, "slow_down", "Polled too fast: the interval is 5 seconds longer now");
    case Poll::denied: return device_refusal("access_denied", "The login was denied");
    case Poll::expired: return device_refusal("expired_token", "The login was not approved in time");
    case Poll::unknown: return device_refusal("invalid_grant", "The device code is not known, or was used already");
  }
  return device_refusal("invalid_grant", "The device code is not known");
}

ServiceResult revoke_current_credential(World& world, const ServiceCall& call) {
  WS_API_LET(const bool revoked, revoke_key(world, call.caller.key_id));
  if (!revoked) return not_found("credential");
  return Answer{.body = Json{{"ok", true}, {"key_id", call.caller.key_id}, {"revoked_at", rfc3339(world.now())}}};
}

/// The row as an object, its columns under these names; null if there is none.
Result<Json> object_or_null(World& world,
                            std::initializer_list<std::string_view> names,
                            const char* sql,
                            std::string_view id) {
  const auto read = [&](const sqlite::Statement& row) {
    Json object = Json::object();
    int column = 0;
    for (const std::string_view name : names) object[std::string(name)] = row.text(column++);
    return object;
  };
  WS_LET(std::optional<Json> object, read_row(world, read, sql, id));
  return std::move(object).value_or(nullptr);
}

Result<Json> credential_of(World& world, const Caller& caller) {
  const auto read = [](const sqlite::Statement& row) { return row.optional_integer(0); };
  WS_LET(const auto expires_at, read_row(world, read, "select expires_at from keys where id = ?", caller.key_id));
  return Json{{"key_id", caller.key_id},
              {"audience", name(caller.audience)},
              {"scopes", caller.scopes},
              {"expires_at", expires_at && *expires_at ? Json(rfc3339(**expires_at)) : Json(nullptr)}};
}

ServiceResult get_identity(World& world, const ServiceCall& call) {
  const Caller& caller = call.caller;
  Json user;
  if (caller.agent_id.empty()) {
    WS_API_LET(user,
               object_or_null(world,
                              {"id", "email", "display_name"},
                              "select id, email, display_name from users where id = ?",
                              caller.owner_user_id));
  }
  WS_API_LET(Json agent,
             object_or_null(world, {"id", "handle"}, "select id, handle from agents where id = ?", caller.agent_id));
  // The default Workspace of the key, if its owner is still a member.
  Json workspace;
  if (caller.role != contract::Role::none) {
    WS_API_LET(
        workspace,
        object_or_null(world, {"id", "name"}, "select id, name from workspaces where id = ?", caller.workspace_id));
    if (!workspace.is_null()) workspace["role"] = contract::name(caller.role);
  }
  WS_API_LET(Json credential, credential_of(world, caller));
  return Answer{.body = Json{{"object", "identity"},
                             {"user", std::move(user)},
                             {"agent", std::move(agent)},
                             {"workspace", std::move(workspace)},
                             {"credential", std::move(credential)},
                             {"links", {{"self", "/v1/me"}, {"workspaces", "/v1/workspaces"}}}}};
}

Json describe(const contract::Operation& operation) {
  return {{"id", operation.id},
          {"method", contract::name(operation.method)},
          {"path", operation.path},
          {"summary", operation.summary},
          {"scope", operation.scope.empty() ? Json(nullptr) : Json(operation.scope)},
          {"idempotent", operation.idempotency == contract::Idempotency::key}};
}

/// Limits that belong to no single field; those of fields are in the OpenAPI document.
Json limits() {
  return {{"json_body_bytes", 16 << 20},
          {"document_content_bytes", 1 << 20},
          {"file_bytes", 104'857'600},
          {"page_items", 100},
          {"scopes_per_authorization", contract::max_scopes_per_authorization}};
}

ServiceResult get_discovery(World& /*world*/, const ServiceCall& call) {
  Json operations = Json::array();
  for (const contract::Operation* operation : contract::operations()) operations.push_back(describe(*operation));
  return Answer{.body = Json{{"object", "discovery"},
                             {"version", contract::api_version},
                             {"operations", std::move(operations)},
                             {"limits", limits()},
                             {"openapi_url", call.base_url + "/openapi.json"},
                             {"skill_url", call.base_url + "/skill/service-operate-workspace"},
                             {"links", {{"self", "/v1"}, {"me", "/v1/me"}}}}};
}

}  // namespace

ServiceTable authorization_services() {
  static constexpr ServiceEntry entries[] = {
      {"auth.start", start_authorization},
      {"auth.token", exchange_device_code},
      {"auth.revoke", revoke_current_credential},
      {"me.get", get_identity},
      {"discovery.get", get_discovery},
  };
  return entries;
}

}  // namespace ws::mock

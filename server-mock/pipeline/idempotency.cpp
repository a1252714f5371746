#include "server-mock/pipeline/idempotency.hpp"

#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "server-mock/services/questions/question_store.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

constexpr std::int64_t kept_ms = std::int64_t{24} * 60 * 60 * 1000;

}  // namespace

IdempotencyKey make_idempotency_key(
    const Caller& caller, std::string_view key, std::string_view method, std::string_view path, const Json& body) {
  Sha256Stream hash;
  hash.update(method);
  hash.update(" ");
  hash.update(path);
  hash.update("\n");
  hash.update(canonical(body));
  return {.owner = idempotency_owner(caller), .key = std::string(key), .fingerprint = hash.finish().hex()};
}

Result<std::optional<StoredResponse>> find_stored_response(World& world, const IdempotencyKey& key) {
  WS_LET(const sqlite::CachedStatement row,
         world.database.cached("select fingerprint, status, body, headers from idempotency_records "
                               "where owner = ? and key = ? and created_at > ?"));
  row->bind_all(key.owner, key.key, world.now() - kept_ms);
  WS_LET(const bool found, row->step());
  if (!found) return std::nullopt;
  WS_LET(const Json headers, parse_bounded(row->text(3)));
  StoredResponse kept = {.fingerprint = row->string(0),
                         .answer = {.status = static_cast<int>(row->integer(1)), .body = JsonText{row->string(2)}}};
  for (const Json& pair : headers) kept.answer.headers.emplace_back(pair[0], pair[1]);
  return kept;
}

Result<void> store_response(World& world, const IdempotencyKey& key, const Answer& answer) {
  WS_TRY(put(world, "delete from idempotency_records where created_at <= ?", world.now() - kept_ms));
  return put(world,
             "insert or replace into idempotency_records (owner, key, fingerprint, status, body, "
             "headers, created_at) values (?, ?, ?, ?, ?, ?, ?)",
             key.owner,
             key.key,
             key.fingerprint,
             answer.status,
             answer.body.text(),
             dump(Json(answer.headers)),
             world.now());
}

ApiResult<void> require_shown(World& world, const ServiceCall& call, const Json& body) {
  if (!body.is_structured()) return {};
  const bool is_document = find_text(body, "object") == "document";
  for (const auto& [name, member] : body.items()) {
    WS_API_TRY(require_shown(world, call, member));
    if (!member.is_string()) continue;
    const auto& id = member.get_ref<const std::string&>();
    if (name == "workspace_id") {
      WS_API_LET(const contract::Role role, role_in(world, call.caller, id));
      if (role == contract::Role::none) return not_found("Workspace");
    } else if (name == "document_id" || (name == "id" && is_document)) {
      WS_API_TRY(find_visible_document(world, call, id, WithContent::no));
    } else if (name == "conversation_id") {
      WS_API_LET(const std::optional<Conversation> conversation, find_conversation(world, id));
      if (!conversation) return not_found("conversation");
      WS_API_LET(const bool seen, is_seen(world, call.caller, conversation->workspace_id, conversation->maker));
      if (!seen) return not_found("conversation");
    }
  }
  return {};
}

std::string idempotency_owner(const Caller& caller) {
  return caller.agent_id.empty() ? "user " + caller.owner_user_id : "agent " + caller.agent_id;
}

ApiError key_in_flight() {
  return ApiError{.status = 409,
                  .code = "idempotency_in_flight",
                  .message = "The first call with this idempotency key is still running"};
}

ApiError key_reused(std::string_view key) {
  constexpr std::string_view message = "The idempotency key was used for another request";
  return invalid("header", "Idempotency-Key", "idempotency_key_reused", message, key).value();
}

}  // namespace ws::mock

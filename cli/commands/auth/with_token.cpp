#include "cli/commands/auth/with_token.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "cli/commands/auth/keep_key.hpp"
#include "cli/commands/shared/values.hpp"

namespace ws::cli {
namespace {

Result<std::string> key_from_stdin() {
  WS_LET(std::string secret, read_stdin());
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r' || secret.back() == ' ')) secret.pop_back();
  const auto is_visible = [](char c) { return c > ' ' && c < '\x7f'; };
  if (!secret.empty() && std::ranges::all_of(secret, is_visible)) return secret;
  return fail(Failure::Kind::usage, "stdin holds no key", "ws login --with-token < key.txt");
}

}  // namespace

Result<ExitCode> login_with_token(Session& session, const std::function<Result<KeptIn>(Session&)>& agree_on_store) {
  WS_LET(const BaseUrl url, session.base_url());
  WS_LET(const std::string secret, key_from_stdin());
  const std::string& profile = session.settings().profile.value;
  StoredCredential credential{.profile = profile.empty() ? "default" : profile,
                              .base_url = url.text,
                              .origin = url.origin,
                              .created_at = to_rfc3339(session.world().clock.now()),
                              .secret = secret};
  WS_LET(const std::unique_ptr<Client> client, session.client_with({.secret = secret, .origin = url.origin}));
  WS_LET(const Reply reply, client->call({.operation = "me.get"}));
  WS_LET(credential.kept_in, agree_on_store(session));
  const Json none = Json::object();
  const Json* const key = find(*reply.json, "credential");
  const Json* const workspace = find(*reply.json, "workspace");
  const Json& known = key == nullptr ? none : *key;
  credential.key_id = find_text(known, "key_id").value_or("");
  credential.audience = find_text(known, "audience").value_or("");
  credential.expires_at = find_text(known, "expires_at").value_or("");
  credential.scopes = find_texts(known, "scopes");
  credential.workspace_id = find_text(workspace == nullptr ? none : *workspace, "id").value_or("");
  credential.workspace_name = find_text(workspace == nullptr ? none : *workspace, "name").value_or("");
  if (credential.key_id.empty()) return fail(Failure::Kind::internal, "the server does not say which key this is");
  WS_TRY(keep_key(session, credential));
  print_login(session, credential);
  return ExitCode::done;
}

}  // namespace ws::cli

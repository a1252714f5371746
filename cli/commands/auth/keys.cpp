// The stored keys: which one is in use, all of them, another one from now on.
#include <nlohmann/json.hpp>

#include "api-client/base/shell_command.hpp"
#include "api-client/base/suggestion.hpp"
#include "cli/commands/shared/account.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/credentials/presets.hpp"

namespace ws::cli {
namespace {

/// All but the secret.
Json to_json(const Session& session, const StoredCredential& credential) {
  const auto account = known_account(session, credential.key_id);
  return {{"profile", credential.profile},
          {"account_name", text_or_null(account ? account->name : "")},
          {"base_url", credential.base_url},
          {"workspace_id", text_or_null(credential.workspace_id)},
          {"workspace_name", text_or_null(credential.workspace_name)},
          {"key_id", credential.key_id},
          {"audience", credential.audience},
          {"scopes", credential.scopes},
          {"created_at", text_or_null(credential.created_at)},
          {"expires_at", text_or_null(credential.expires_at)},
          {"current", credential.current}};
}

bool is_past(const std::string& time, Time now) {
  const auto moment = parse_rfc3339(time);
  return moment && *moment <= now;
}

/// The key itself, for programs that call the API on their own.
Result<ExitCode> token(Session& session) {
  WS_LET(const Key key, session.key());
  if (prints_text(session)) {
    session.printer().line(key.credential.secret);
  } else {
    session.printer().resource({{"v", 1}, {"token", key.credential.secret}, {"origin", key.credential.origin}});
  }
  return ExitCode::done;
}

Result<ExitCode> status(Session& session) {
  WS_LET(const Key key, session.key());
  WS_LET(const BaseUrl url, session.base_url());
  const bool is_table = session.format() == Format::table;
  Json value = {{"v", 1}, {"base_url", url.text}};
  if (key.stored) {
    if (is_table) value["stored_at"] = url.text;
    value["kept_in"] = session.credentials().place(key.stored->kept_in);
    value.update(to_json(session, *key.stored));
    if (is_past(key.stored->expires_at, session.world().clock.now())) {
      session.note("this key has expired; " + login_like(*key.stored).in_backticks() + " gets a new one");
    }
  } else {
    value[is_table ? "unchecked_in" : "kept_in"] = session.key_variable();
  }
  session.printer().resource("ws.status", value, {});
  if (is_table) session.note("`ws whoami` checks the key and says whose it is");
  return ExitCode::done;
}

Result<ExitCode> list(Session& session) {
  WS_LET(const auto stored, session.credentials().load());
  Json value = {{"v", 1}, {"data", Json::array()}, {"next_cursor", nullptr}};
  for (const StoredCredential& credential : stored) value["data"].push_back(to_json(session, credential));
  print_own_list(session, "ws.keys", value);
  if (session.format() == Format::table && !stored.empty()) {
    session.note("only the keys on this machine are listed: the API cannot list those on the service");
  }
  return ExitCode::done;
}

Result<ExitCode> use(Session& session) {
  const std::string& name = session.arguments().words.front();
  WS_LET(const auto stored, session.credentials().load());
  std::vector<const StoredCredential*> named;
  for (const StoredCredential& one : stored) {
    if (one.profile == name || one.key_id == name || one.workspace_id == name) named.push_back(&one);
  }
  if (named.empty()) {
    std::vector<std::string> profiles;
    for (const StoredCredential& one : stored) profiles.push_back(one.profile);
    const std::string near = suggestion(name, profiles);
    return fail(Failure::Kind::not_found,
                "no stored key is called `" + name + "`",
                near.empty() ? "`ws auth list` shows them" : near + " `ws auth list` shows them");
  }
  if (named.size() > 1) {
    return fail(
        Failure::Kind::usage, "several keys are called `" + name + "`", "name one by its key id: `ws auth list`");
  }
  const bool is_planned = session.has("dry-run");
  if (!is_planned) WS_TRY(session.credentials().make_current(named.front()->key_id));
  session.note(std::string(is_planned ? "would use" : "using") + " the key of profile `" + named.front()->profile +
               "` at " + named.front()->base_url);
  return ExitCode::done;
}

}  // namespace

Command auth_status_command() {
  return {.words = "auth status",
          .summary = "Show the key in use; no network",
          .examples = {"ws auth status"},
          .run = status};
}

Command auth_list_command() {
  return {.words = "auth list",
          .summary = "List the stored keys",
          .details =
              "Lists the keys on this machine; the API cannot list those on the service. `ws logout` revokes the key "
              "in use; a new login for the same profile revokes the key that it replaces.",
          .examples = {"ws auth list"},
          .run = list};
}

Command auth_token_command() {
  return {.words = "auth token",
          .summary = "Print the key in use",
          .details = "For programs that call the API on their own. Whoever has it can do what the key may do.",
          .examples = {"curl -H \"Authorization: Bearer $(ws auth token)\" \"$WS_BASE_URL/v1/me\""},
          .run = token};
}

Command auth_switch_command() {
  return {.words = "auth switch",
          .summary = "Use another stored key from now on",
          .arguments = {{.placeholder = "NAME", .help = "a profile, the id of a key or of a Workspace"}},
          .examples = {"ws auth switch work"},
          .run = use};
}

}  // namespace ws::cli

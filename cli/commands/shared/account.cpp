#include "cli/commands/shared/account.hpp"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/sha256.hpp"
#include "cli/credentials/presets.hpp"
#include "cli/state/known_accounts.hpp"

namespace ws::cli {
namespace {

std::string key_name_of(const Key& key) {
  return key.stored ? key.stored->key_id : Sha256::of(key.credential.origin + "\n" + key.credential.secret).hex();
}

}  // namespace

sync::Account read_account(const Json& me) {
  sync::Account account;
  const auto take = [&](std::string_view member, std::string_view name, std::string_view sign) {
    const Json* const one = find(me, member);
    if (!account.id.empty() || one == nullptr) return;
    account.id = find_text(*one, "id").value_or("");
    const std::string text = find_text(*one, name).value_or(find_text(*one, "email").value_or(""));
    account.name = text.empty() ? account.id : std::string(sign) + text;
    account.signs_as = find_text(*one, "display_name").value_or("");
  };
  take("agent", "handle", "@");
  take("user", "display_name", "");
  if (const Json* const workspace = find(me, "workspace"); workspace != nullptr) {
    account.workspace_id = find_text(*workspace, "id").value_or("");
    account.workspace_name = find_text(*workspace, "name").value_or("");
  }
  return account;
}

std::string account_name(const sync::Account& account) {
  const std::string workspace = clean(account.workspace_name, Breaks::space);
  const std::string name = clean(account.name, Breaks::space);
  if (name.empty()) return workspace.empty() ? "" : "the Workspace " + workspace;
  return workspace.empty() ? name : name + " (Workspace " + workspace + ")";
}

std::string identity_of(const sync::Account& account) {
  return account.id.empty() ? "" : Sha256::of(account.workspace_id + " " + account.id).hex();
}

bool is_same_account(const sync::Account& one, const sync::Account& other) {
  const bool same_workspace =
      one.workspace_id.empty() || other.workspace_id.empty() || one.workspace_id == other.workspace_id;
  return one.id == other.id && same_workspace;
}

std::optional<sync::Account> known_account(const Session& session, const std::string& key_id) {
  return KnownAccounts(session.paths().state).find(key_id);
}

std::optional<sync::Account> known_account(const Session& session, const Key& key) {
  return known_account(session, key_name_of(key));
}

bool is_of_same_account(Session& session, const Key& one, const Key& other) {
  const auto first = account_of(session, one);
  const auto second = first ? account_of(session, other) : fail(Failure());
  return first && second && is_same_account(*first, *second);
}

ShellCommand login_beside(Session& session, const std::string& profile, const std::string& base_url) {
  const auto stored = session.credentials().load();
  const std::string name = profile.empty() ? "default" : profile;
  return login_like({.profile = stored ? free_profile(*stored, base_url, name) : name, .base_url = base_url});
}

void keep_account(const Session& session, const std::string& key_id, const sync::Account& account) {
  static_cast<void>(KnownAccounts(session.paths().state).keep(key_id, account));
}

Result<sync::Account> account_told(Session& session,
                                   const Key& key,
                                   const Result<Reply>& me,
                                   std::string_view follows) {
  using Kind = Failure::Kind;
  const auto is_told = [](const Failure& failure) {
    return failure.kind == Kind::auth || failure.kind == Kind::unreachable || failure.kind == Kind::cancelled ||
           failure.kind == Kind::rate_limited || failure.kind == Kind::service;
  };
  if (!me && is_told(me.error())) return fail(me.error());
  if (!me) {
    session.note(fmt::format(
        "the service does not say whose key this is, {}: {}", follows, clean(me.error().what, Breaks::space)));
  }
  sync::Account account = me ? read_account(*me->json) : sync::Account();
  if (account.workspace_id.empty() && key.stored) {
    account.workspace_id = key.stored->workspace_id;
    account.workspace_name = key.stored->workspace_name;
  }
  keep_account(session, key_name_of(key), account);
  return account;
}

Result<sync::Account> account_of(Session& session, const Key& key, std::string_view follows) {
  if (auto account = known_account(session, key)) return std::move(*account);
  WS_LET(const auto client, session.client_with(key.credential));
  return account_told(session, key, client->call({.operation = "me.get", .validate = false}), follows);
}

}  // namespace ws::cli

#include "cli/commands/auth/keep_key.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/shell_command.hpp"
#include "cli/commands/shared/account.hpp"

namespace ws::cli {
namespace {

struct ReplacedKey {
  StoredCredential stored = {};
  std::string secret = {};
};

/// The keys in whose place `credential` comes, with their secrets, which are gone once it is stored.
std::vector<ReplacedKey> replaced_by(Session& session, const StoredCredential& credential) {
  std::vector<ReplacedKey> replaced;
  const auto stored = session.credentials().load();
  if (!stored) return replaced;
  for (const StoredCredential& one : *stored) {
    if (!same_place(one, credential) || one.key_id == credential.key_id) continue;
    auto secret = session.credentials().secret_of(one);
    if (secret) replaced.push_back({one, std::move(*secret)});
  }
  return replaced;
}

Result<void> revoke(Session& session, const Credential& key) {
  WS_LET(const std::unique_ptr<Client> client, session.client_with(key));
  const auto revoked = client->call({.operation = "auth.revoke"});
  // A key that the server does not know any more needs no revoking.
  if (revoked || revoked.error().kind == Failure::Kind::auth) return {};
  return fail(revoked.error());
}

void revoke_replaced(Session& session, const ReplacedKey& key) {
  const auto revoked = revoke(session, {.secret = key.secret, .origin = key.stored.origin});
  if (!revoked) {
    session.note("warning: the replaced key " + key.stored.key_id + " is still valid: " + revoked.error().what);
  } else {
    session.note("The replaced key is revoked.");
  }
}

Key key_of(const StoredCredential& credential) {
  return {.credential = {.secret = credential.secret, .origin = credential.origin}, .stored = credential};
}

/// The same of one whose secret may be in the keyring.
Result<Key> stored_key_of(Session& session, const StoredCredential& stored) {
  WS_LET(std::string secret, session.credentials().secret_of(stored));
  return Key{.credential = {.secret = std::move(secret), .origin = stored.origin}, .stored = stored};
}

std::optional<StoredCredential> key_in_use(Session& session) {
  const auto stored = session.credentials().load();
  if (!stored) return std::nullopt;
  const auto current = std::ranges::find_if(*stored, [](const StoredCredential& one) { return one.current; });
  return current == stored->end() ? std::nullopt : std::optional(*current);
}

/// The new key is in use from now on: who gave it a profile may not expect that. A synced folder keeps to its person.
void note_switch(Session& session, const StoredCredential& before, const StoredCredential& now) {
  const auto earlier = stored_key_of(session, before);
  const bool is_same = earlier && is_of_same_account(session, *earlier, key_of(now));
  session.note("commands without --profile now use the key of profile " + shell_word(now.profile) +
               (is_same ? "" : ", but those in a synced folder a key of the person whose folder it is") + "; " +
               ShellCommand{"ws", "auth", "switch", before.profile != now.profile ? before.profile : before.key_id}
                   .in_backticks() +
               " uses the earlier key again");
}

/// Which calls a second key is for.
void note_use_of_second(Session& session, const StoredCredential& first, const StoredCredential& second) {
  std::vector<std::string> scopes = second.scopes;
  std::erase_if(scopes, [&](const std::string& one) { return std::ranges::count(first.scopes, one) > 0; });
  const auto of_first = stored_key_of(session, first);
  if (!of_first || !is_of_same_account(session, *of_first, key_of(second))) {
    return session.note("warning: this key is of another person than that of profile " + shell_word(first.profile) +
                        ", so that it is not used with it; " +
                        ShellCommand{"--profile=", second.profile}.in_backticks() + " uses it");
  }
  if (scopes.empty())
    return session.note("the key of profile " + shell_word(first.profile) + " may do all of this, and is still used");
  session.note(fmt::format("ws uses this key for what needs {}, and still that of profile {} for all else",
                           fmt::join(scopes, ", "),
                           shell_word(first.profile)));
}

}  // namespace

Result<bool> confirm_replacing(Session& session, const std::string& profile, const std::string& base_url) {
  WS_LET(const auto stored, session.credentials().load());
  const auto same = [&](const StoredCredential& one) { return one.profile == profile && one.base_url == base_url; };
  const bool has_key = std::ranges::any_of(stored, same);
  if (!has_key || !session.terminal().may_ask()) return true;
  return session.confirm("the profile `" + profile + "` has a key for " + base_url +
                         " already; log in again and revoke that key?");
}

Result<void> keep_key(Session& session, const StoredCredential& credential) {
  const std::vector<ReplacedKey> replaced = replaced_by(session, credential);
  const auto before = key_in_use(session);
  WS_TRY(session.credentials().put(credential));
  for (const ReplacedKey& key : replaced) revoke_replaced(session, key);
  WS_LET(const auto stored, session.credentials().load());
  if (const StoredCredential* const first = find_first_key(stored, credential)) {
    note_use_of_second(session, *first, credential);
  } else if (before && !same_place(*before, credential)) {
    note_switch(session, *before, credential);
  }
  return {};
}

Failure revoke_unkept(Session& session, const StoredCredential& credential, Failure failure) {
  const auto stored = session.credentials().load();
  if (stored && std::ranges::find(*stored, credential.key_id, &StoredCredential::key_id) != stored->end())
    return failure;
  const auto revoked = revoke(session, key_of(credential).credential);
  failure.kind = Failure::Kind::disk;
  failure.call.operation = "auth.token";
  failure.call.applied = revoked ? Applied::no : Applied::yes;
  failure.what += revoked ? "; the new key was revoked again"
                          : "; the new key " + credential.key_id +
                                " was made, is lost here and could not be revoked: " + revoked.error().what;
  if (!revoked) failure.hint = "revoke it where the service lists your keys, then log in again";
  return failure;
}

void print_login(Session& session, const StoredCredential& credential) {
  if (session.format() != Format::table) {
    return session.printer().resource({{"v", 1},
                                       {"profile", credential.profile},
                                       {"base_url", credential.base_url},
                                       {"key_id", credential.key_id},
                                       {"audience", credential.audience},
                                       {"scopes", credential.scopes},
                                       {"expires_at", text_or_null(credential.expires_at)},
                                       {"created_at", credential.created_at},
                                       {"workspace_id", text_or_null(credential.workspace_id)},
                                       {"workspace_name", text_or_null(credential.workspace_name)},
                                       {"kept_in", session.credentials().place(credential.kept_in)}});
  }
  const bool is_overruled = session.world().environment.text("WS_TOKEN").has_value();
  const auto account = is_overruled ? fail(Failure()) : account_of(session, key_of(credential));
  const std::string who = account ? clean(account->name, Breaks::space) : std::string();
  const std::string workspace = clean(credential.workspace_name, Breaks::space);
  session.printer().sentence("Logged in at " + credential.base_url + (who.empty() ? "" : " as " + who) +
                             (workspace.empty() ? "" : ", Workspace " + workspace) + ".");
  session.printer().sentence("The key is saved in " + session.credentials().place(credential.kept_in) + ".");
  session.printer().sentence("Next: `ws docs list`, or `ws sync init` in a folder of notes.");
}

}  // namespace ws::cli

// `ws sync account`, and which key the commands of a tree use.
#include "cli/commands/sync/tree_account.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/shell_command.hpp"
#include "cli/commands/shared/account.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/sync/tree.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

/// Whether the user named a key, rather than to leave the choice to us.
bool names_key(const Session& session) {
  const auto is_named = [](Where where) { return where == Where::flag || where == Where::environment; };
  return (session.settings().profile && is_named(session.settings().profile.where)) ||
         (session.settings().workspace && is_named(session.settings().workspace.where));
}

std::string word_of_key(const Session& session, const Key& key) {
  if (key.stored) return "the key of profile `" + key.stored->profile + "`";
  return "the key in " + session.key_variable();
}

/// "Mara Lindqvist's"; of nobody: "of an account that the service does not name".
std::string whose(const sync::Account& account) {
  const std::string name = clean(account.name, Breaks::space);
  return name.empty() ? "of an account that the service does not name" : name + "'s";
}

Failure foreign_account(const Session& session,
                        const sync::Account& owner,
                        const Key& key,
                        const sync::Account& account) {
  if (owner.id == account.id) {
    const auto workspace_of = [](const sync::Account& one) {
      return one.workspace_name.empty() ? one.workspace_id : clean(one.workspace_name, Breaks::space);
    };
    return {.kind = Failure::Kind::usage,
            .what = fmt::format("this folder syncs with the Workspace {}; {} is for {}",
                                workspace_of(owner),
                                word_of_key(session, key),
                                workspace_of(account)),
            .hint = "nothing was sent; leave that key out, and ws uses the one of this folder",
            .code = "foreign_account"};
  }
  return {.kind = Failure::Kind::usage,
          .what = fmt::format("this folder is {}; {} is {}", whose(owner), word_of_key(session, key), whose(account)),
          .hint = fmt::format(
              "nothing was sent; {} to sync as {}; or, to sync it as {} from now on, {}",
              key.stored ? "leave that key out" : ShellCommand{"unset", session.key_variable()}.in_backticks(),
              account_name(owner),
              account_name(account),
              ShellCommand{"ws", "sync", "account", "--set"}.in_backticks()),
          .code = "foreign_account"};
}

Failure no_key_of(Session& session, const sync::TreeBinding& binding) {
  const ShellCommand login = login_beside(session, binding.profile, binding.base_url);
  return {.kind = Failure::Kind::auth,
          .what = fmt::format("this folder syncs as {}, and no key of that account is stored",
                              account_name(*binding.account)),
          .hint = "log in as that person: " + login.in_backticks()};
}

/// The stored keys for the tree's server, those that tied it first, then those with more scopes.
Result<std::vector<StoredCredential>> candidates(Session& session, const sync::TreeBinding& binding) {
  WS_LET(std::vector<StoredCredential> stored, session.credentials().load());
  std::erase_if(stored, [&](const StoredCredential& one) { return one.origin != binding.origin; });
  std::ranges::stable_sort(stored, [&](const StoredCredential& a, const StoredCredential& b) {
    const auto rank = [&](const StoredCredential& one) {
      return std::pair(one.profile != binding.profile, -static_cast<std::int64_t>(one.scopes.size()));
    };
    return rank(a) < rank(b);
  });
  return stored;
}

Result<sync::Account> use_stored_key_of(Session& session, const sync::TreeBinding& binding) {
  WS_LET(const std::vector<StoredCredential> stored, candidates(session, binding));
  for (const StoredCredential& one : stored) {
    auto secret = session.credentials().secret_of(one);
    if (!secret) continue;
    Key key{.credential = {.secret = std::move(*secret), .origin = one.origin}, .stored = one};
    const auto account = account_of(session, key);
    if (!account || !is_same_account(*account, *binding.account)) continue;
    session.use_key(std::move(key));
    return *binding.account;
  }
  return fail(no_key_of(session, binding));
}

Result<ExitCode> show_account(Session& session) {
  WS_LET(const fs::path root, sync::find_root(fs::current_path()));
  WS_LET(sync::TreeBinding binding, sync::read_binding(root, session.settings().trusted));
  if (session.has("set")) {
    WS_TRY(session.prefer_server(binding.base_url, binding.origin));
    WS_LET(const Key key, session.key());
    if (key.credential.origin != binding.origin) {
      return fail(Failure{.kind = Failure::Kind::usage,
                          .what = "this folder syncs with " + binding.base_url,
                          .hint = "use a key of that server",
                          .code = "foreign_server"});
    }
    WS_LET(const sync::Account account, account_of(session, key));
    const bool is_other = binding.account && !is_same_account(account, *binding.account);
    if (is_other) {
      WS_LET(const bool agreed,
             session.confirm(fmt::format("this folder syncs as {}: sync it as {} from now on?",
                                         account_name(*binding.account),
                                         account_name(account))));
      if (!agreed) return fail(Failure::Kind::usage, "not confirmed; nothing was changed");
    }
    binding.profile = key.stored ? key.stored->profile : "";
    WS_TRY(sync::bind_account(root, account, binding.profile, session.settings().trusted));
    binding.account = account;
  }
  if (session.format() == Format::table) {
    session.printer().sentence(
        binding.account ? fmt::format("{} syncs as {}.", root.string(), account_name(*binding.account))
                        : "This folder has no account yet: the next `ws sync` sets the account of the key in use.");
    return ExitCode::done;
  }
  const sync::Account account = binding.account.value_or(sync::Account());
  session.printer().resource({{"v", 1},
                              {"folder", root.string()},
                              {"base_url", binding.base_url},
                              {"account_id", text_or_null(account.id)},
                              {"account_name", text_or_null(account.name)},
                              {"workspace_id", text_or_null(account.workspace_id)},
                              {"workspace_name", text_or_null(account.workspace_name)},
                              {"profile", text_or_null(binding.profile)}});
  return ExitCode::done;
}

}  // namespace

Result<sync::Account> use_account_of(Session& session,
                                     const fs::path& root,
                                     const sync::TreeBinding& binding,
                                     Network network) {
  auto key = session.key();
  if (!key && (!binding.account || names_key(session))) return fail(std::move(key).error());
  if (!key) return use_stored_key_of(session, binding);
  WS_LET(const sync::Account account, account_of(session, *key));
  if (!binding.account) {
    const std::string profile = key->stored ? key->stored->profile : "";
    if (network == Network::needed) WS_TRY(sync::bind_account(root, account, profile, session.settings().trusted));
    return account;
  }
  if (is_same_account(account, *binding.account)) return account;
  if (!key->stored || names_key(session)) return fail(foreign_account(session, *binding.account, *key, account));
  return use_stored_key_of(session, binding);
}

Command sync_account_command() {
  return {.words = "sync account",
          .summary = "Show the account that a folder syncs as, or change it",
          .details =
              "A folder syncs as the person or agent that set it up: every `ws sync` there uses a key of that "
              "account, whichever profile is in use, and refuses a key of another one.",
          .flags = {{.name = "set", .help = "sync this folder as the account of the key in use; asks first"}},
          .examples = {"ws sync account", "ws sync account --set --profile work"},
          .run = show_account};
}

}  // namespace ws::cli

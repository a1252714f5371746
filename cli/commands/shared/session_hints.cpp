// What to do about a failure that the words, the server or the key of a command explain.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/contract/problem.hpp"
#include "cli/commands/shared/account.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/names.hpp"
#include "cli/commands/shared/session.hpp"
#include "cli/credentials/presets.hpp"

namespace ws::cli {

/// The paths of the API begin with /v1 by themselves, so a base URL that ends in it finds nothing.
Failure Session::with_base_url_hint(Failure failure) {
  constexpr std::string_view version = "/v1";
  const int status = failure.call.http_status;
  const bool is_elsewhere =
      failure.kind == Failure::Kind::not_found || status == 401 || status == 405 || failure.code == "unusable_answer";
  if (!is_elsewhere) return failure;
  const auto url = base_url();
  if (!url || !url->text.ends_with(version)) return failure;
  const std::string without = url->text.substr(0, url->text.size() - version.size());
  failure.hint = fmt::format("the base URL {} ends in {}, which ws adds itself: use {}",
                             url->text,
                             version,
                             ShellCommand{"--base-url=", without}.in_backticks());
  return failure;
}

/// Where a word is to name a file, and none is there, that of the nearest name.
Failure Session::with_nearest_file(Failure failure) {
  for (std::size_t i = 0; i < arguments_.words.size(); ++i) {
    const std::vector<Word>& known = command().arguments;
    if (known.empty()) break;
    const std::string& names = known[std::min(i, known.size() - 1)].placeholder;
    std::error_code ignored;
    const bool is_here = std::filesystem::exists(std::filesystem::symlink_status(arguments_.words[i], ignored));
    if ((names != "PATH" && names != "FROM") || is_here) continue;
    const std::string near = nearest_file(arguments_.words[i]);
    if (near.empty()) continue;
    failure.hint = failure.hint.empty() ? near : near + " " + failure.hint;
    break;
  }
  return failure;
}

Failure Session::with_hint(Failure failure) {
  // What the refusal of a repeat asks for comes first, but does not tell what the first send has done.
  const std::string check = failure.call.applied == Applied::unknown ? failure.hint : std::string();
  failure = with_hint_at_cause(std::move(failure));
  if (!check.empty() && failure.hint != check) failure.hint += "; then " + check;
  return failure;
}

Failure Session::with_hint_at_cause(Failure failure) {
  if (failure.kind == Failure::Kind::auth && failure.call.http_status == 401) {
    const std::string hint = failure.hint;
    failure = with_base_url_hint(std::move(failure));
    return failure.hint == hint ? with_refused_key(std::move(failure)) : failure;
  }
  if (failure.kind == Failure::Kind::not_found && failure.call.operation.empty())
    return with_nearest_file(std::move(failure));
  if (failure.code != "missing_scope") return with_base_url_hint(std::move(failure));
  const auto details = parse_bounded(failure.call.details);
  const auto scope =
      details ? find_text(contract::holder_of(*details, "required_scope"), "required_scope") : std::nullopt;
  const auto used = key();
  if (!scope || !used) return failure;
  failure.hint = hint_for_scope(*used, *scope);
  return failure;
}

/// A key of another profile, for the same server, Workspace and person as `used`, that has the scope.
std::optional<StoredCredential> Session::stored_key_with(const Key& used,
                                                         const std::string& scope,
                                                         const std::vector<StoredCredential>& stored) {
  for (const StoredCredential& one : stored) {
    if (one.origin != used.credential.origin || std::ranges::count(one.scopes, scope) == 0) continue;
    if (used.stored && (one.profile == used.stored->profile || one.workspace_id != used.stored->workspace_id)) continue;
    auto secret = credentials().secret_of(one);
    if (!secret) continue;
    const Key other{.credential = {.secret = std::move(*secret), .origin = one.origin}, .stored = one};
    if (is_of_same_account(*this, used, other)) return one;
  }
  return std::nullopt;
}

std::string Session::key_variable() const {
  for (const char* const name : {"WS_TOKEN", "WS_TOKEN_FILE"}) {
    if (world_.environment.text(name)) return name;
  }
  return "";
}

/// What is not known of a key is left to the service.
Result<void> Session::check_scope_of(std::string_view operation) {
  const std::string scope(operation_of(operation).scope);
  WS_LET(const Key used, key());
  if (!used.stored || used.stored->scopes.empty()) return {};
  WS_LET(const std::vector<StoredCredential> stored, credentials().load());
  for (const StoredCredential* const one : {&*used.stored, find_second_key(stored, *used.stored)}) {
    if (one != nullptr && std::ranges::count(one->scopes, scope) != 0) return {};
  }
  return fail(Failure{.kind = Failure::Kind::forbidden,
                      .what = "nothing was changed: " + ShellCommand{"ws"}.words(command_.words).in_backticks() +
                              " needs the scope " + scope,
                      .hint = hint_for_scope(used, scope),
                      .code = "missing_scope"});
}

std::string Session::hint_for_scope(const Key& used, const std::string& scope) {
  const auto stored = credentials().load();
  const std::vector<StoredCredential> all = stored ? *stored : std::vector<StoredCredential>();
  if (!used.stored) return hint_for_scope_of_token(used, scope, all);
  const StoredCredential& key = *used.stored;
  const std::string lacks = "the key of profile " + shell_word(key.profile) + " lacks " + shell_word(scope);
  const bool is_for_second =
      std::ranges::count(key.scopes, scope) == 0 && key.scopes.size() + 1 > contract::max_scopes_per_authorization;
  if (const auto other = stored_key_with(used, scope, all)) {
    return lacks + "; that of " + shell_word(other->profile) + " has it: add " +
           ShellCommand{"--profile=", other->profile}.in_backticks() + ", or run " +
           ShellCommand{"ws", "auth", "switch", other->profile}.in_backticks();
  }
  return lacks + ": run " + login_with_scope(key, scope, all).in_backticks() +
         (is_for_second ? " for a second key, which ws uses where it is needed" : "") + ", then repeat the command";
}

std::string Session::hint_for_scope_of_token(const Key& used,
                                             const std::string& scope,
                                             const std::vector<StoredCredential>& stored) {
  const std::string lacks = "the key of " + key_variable() + " lacks " + shell_word(scope);
  if (const auto other = stored_key_with(used, scope, stored))
    return fmt::format("{}; the key of profile {} has it: run {} to use that",
                       lacks,
                       shell_word(other->profile),
                       ShellCommand{"unset", key_variable()}.in_backticks());
  const auto url = base_url();
  const std::string server = url ? url->text : used.credential.origin;
  const StoredCredential wanted{.profile = free_profile(stored, server, "default"), .base_url = server};
  return fmt::format("{}; a login is not used while {} is set: run {}, then {}",
                     lacks,
                     key_variable(),
                     ShellCommand{"unset", key_variable()}.in_backticks(),
                     login_with_scope(wanted, scope, stored).in_backticks());
}

/// `used`, or its second key where the call that failed was sent with that.
StoredCredential Session::sent_key(const StoredCredential& used, const Failure& failure) {
  const contract::Operation* const operation = contract::find_operation(failure.call.operation);
  if (!client_ || !client_->options().second || operation == nullptr) return used;
  if (std::ranges::count(client_->options().second->scopes, operation->scope) == 0) return used;
  const auto stored = credentials().load();
  const StoredCredential* const second = stored ? find_second_key(*stored, used) : nullptr;
  return second == nullptr ? used : *second;
}

Failure Session::with_refused_key(Failure failure) {
  if (has("with-token")) {
    failure.hint = "the key from stdin was used: check that it is whole and of this server";
    return failure;
  }
  const auto used = key();
  if (!used) return failure;
  if (used->stored) {
    const StoredCredential sent = sent_key(*used->stored, failure);
    failure.hint = "the key of profile " + shell_word(sent.profile) + " is not valid any more: run " +
                   login_like(sent).in_backticks();
    return failure;
  }
  const auto stored = credentials().load();
  const auto other = stored ? choose(*stored, {.origin = used->credential.origin}) : std::nullopt;
  const auto mine = known_account(*this, *used);
  const auto theirs = other ? known_account(*this, other->key_id) : std::nullopt;
  const auto url = base_url();
  const std::string server = url ? url->text : used->credential.origin;
  failure.hint = "the key of " + key_variable() + " was used; ";
  if (!other) {
    failure.hint += "not logged in at this server: unset it and run " +
                    login_like({.profile = settings_.profile.value, .base_url = server}).in_backticks();
  } else if (mine && theirs && !is_same_account(*mine, *theirs)) {
    failure.hint +=
        "no key of that person is stored: unset it and run " +
        login_like({.profile = free_profile(*stored, server, other->profile), .base_url = server}).in_backticks();
  } else {
    const std::string who = theirs ? clean(theirs->name, Breaks::space) : std::string();
    failure.hint += "unset it to use the stored key of profile " + shell_word(other->profile) +
                    (who.empty() ? std::string() : ", " + who + "'s");
  }
  return failure;
}

}  // namespace ws::cli

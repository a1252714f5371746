// `ws login` by the OAuth device grant (RFC 8628), and `ws logout`.
#include <algorithm>
#include <iterator>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/clean.hpp"
#include "api-client/base/descriptor.hpp"
#include "api-client/base/host_name.hpp"
#include "api-client/base/process.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/suggestion.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/login/device_login.hpp"
#include "cli/commands/auth/keep_key.hpp"
#include "cli/commands/shared/account.hpp"
#include "cli/commands/shared/build_call.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/commands/shared/outcomes.hpp"
#include "cli/commands/shared/values.hpp"
#include "cli/credentials/keyring.hpp"
#include "cli/credentials/pending_login.hpp"
#include "cli/credentials/presets.hpp"
#include "cli/terminal/programs.hpp"
#include "cli/terminal/qr_code.hpp"

namespace ws::cli {
namespace {

constexpr const char* preset_names = "notes, read, sync, team, worker, tests or admin";

bool is_plain_url(std::string_view url) {
  if (url.substr(0, 8) != "https://" && url.substr(0, 7) != "http://") return false;
  for (const char c : url) {
    if (c <= 0x20 || c > 0x7E || c == '"' || c == '\'' || c == '`' || c == '\\' || c == '<' || c == '>') return false;
  }
  return true;
}

/// Whether a browser on this machine can show the page to the user: a terminal, no remote shell, a display (or
/// BROWSER), no CI.
bool can_open_browser(const Environment& environment, const Terminal& terminal) {
  if (!terminal.may_ask()) return false;
  const bool is_remote = environment.text("SSH_CONNECTION") || environment.text("SSH_TTY");
  return has_desktop(environment) || (environment.text("BROWSER") && !is_remote);
}

/// Runs BROWSER, otherwise `xdg-open`, with the URL as its only argument and without a shell. Returns false if it
/// cannot be started or the URL is not plain http(s). Does not wait.
bool open_browser(const Environment& environment, const std::string& url) {
  if (!is_plain_url(url)) return false;
  std::string program = environment.text("BROWSER").value_or("xdg-open");
  program = program.substr(0, program.find(':'));  // BROWSER can be a list; only the first is tried
  return open_on_desktop(url, program);
}

Result<std::string> key_from_stdin() {
  WS_LET(const std::string text, read_stdin());
  return check_key(text, "stdin");
}

Failure too_many_scopes(const std::vector<std::string>& scopes) {
  const std::span<const std::string> all(scopes);
  const std::size_t most = contract::max_scopes_per_authorization;
  const auto login = [](std::string_view profile, std::span<const std::string> some) {
    return ShellCommand{"ws", "login", "--profile=", profile, "--scopes=", fmt::format("{}", fmt::join(some, ","))}
        .in_backticks();
  };
  return {.kind = Failure::Kind::usage,
          .what = fmt::format("{} scopes are more than the {} that one key can have", scopes.size(), most),
          .hint = fmt::format("split them: {} and {}", login("one", all.first(most)), login("two", all.subspan(most)))};
}

Result<std::vector<std::string>> scopes_of(const Session& session) {
  std::vector<std::string> scopes = session.arguments().items("scopes");
  if (session.has("scopes") && session.has("for")) {
    return fail(Failure::Kind::usage, "give --for or --scopes, not both");
  }
  if (!session.has("scopes")) {
    const std::string name = session.arguments().value("for").value_or("notes");
    const auto preset = std::ranges::find(presets(), name, &Preset::name);
    if (preset != presets().end()) return preset->scopes;
    return fail(Failure::Kind::usage, "there is no preset `" + name + "`", "use " + std::string(preset_names));
  }
  if (scopes.empty()) return fail(Failure::Kind::usage, "--scopes is empty");
  std::vector<std::string> known(contract::all_scopes.begin(), contract::all_scopes.end());
  for (const std::string& scope : scopes) {
    if (std::ranges::find(known, scope) != known.end() || session.has("no-validate")) continue;
    const std::string hint = suggestion(scope, known);
    return fail(Failure::Kind::usage, "there is no scope `" + scope + "`", hint);
  }
  if (scopes.size() > contract::max_scopes_per_authorization) return fail(too_many_scopes(scopes));
  return scopes;
}

Result<void> check_keyring() {
  WS_LET(const Keyring keyring, Keyring::open());
  return keyring.check();
}

/// The keyring where one answers; plain text only where somebody said so. `store`: what is asked for, or empty.
Result<KeptIn> choose_store(Session& session, const std::string& store) {
  if (store == "file") return KeptIn::file;
  if (!store.empty() && store != "keyring") {
    return fail(Failure::Kind::usage, "there is no credential store `" + store + "`", "use --store keyring or file");
  }
  if (store == "keyring" || Keyring::is_likely(session.world().environment)) {
    auto usable = check_keyring();
    if (usable) return KeptIn::keyring;
    if (store == "keyring") return fail(std::move(usable).error());
    session.note(usable.error().what);
  }
  if (!session.terminal().may_ask()) {
    return fail(Failure::Kind::usage,
                "no keyring found",
                "add --store file to save the key as plain text, readable by you alone");
  }
  WS_LET(const bool yes,
         session.confirm("no keyring found; save the key as plain text, readable by you alone, in " +
                         session.credentials().place(KeptIn::file) + "?"));
  if (!yes) return fail(Failure::Kind::usage, "not confirmed; no login was started");
  return KeptIn::file;
}

/// Before the login begins, so that no key is lost.
Result<KeptIn> agree_on_store(Session& session, const std::string& store) {
  WS_LET(const KeptIn kept_in, choose_store(session, store));
  WS_TRY(session.credentials().check());
  return kept_in;
}

/// Reads the key from stdin, asks the server whose it is, and stores it where the settings say. Fails with `usage`
/// where stdin holds none, as the server does where it does not accept it.
Result<ExitCode> login_with_token(Session& session) {
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
  WS_LET(credential.kept_in, agree_on_store(session, session.settings().credential_store.value));
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
  if (credential.key_id.empty()) return fail(Failure::Kind::internal, "the service does not say which key this is");
  keep_account(session, credential.key_id, read_account(*reply.json));
  WS_TRY(keep_key(session, credential));
  print_login(session, credential);
  return ExitCode::done;
}

std::string client_name() {
  const std::string host = host_name();
  return host.empty() ? "ws" : "ws on " + host.substr(0, 90);
}

void show_qr_code(Session& session, const std::string& address) {
  const auto code = QrCode::of(address);
  if (!code) return session.note(code.error().what + (code.error().hint.empty() ? "" : "; " + code.error().hint));
  session.terminal().write(Stream::err, render_qr_code(*code, session.terminal(), Stream::err));
}

void show_code(Session& session, const DeviceAuthorization& authorization) {
  const Terminal& terminal = session.terminal();
  const std::string code = clean(authorization.user_code, Breaks::space);
  const bool complete = !authorization.verification_uri_complete.empty();
  const std::string& address = complete ? authorization.verification_uri_complete : authorization.verification_uri;
  std::string text = "Your code:  " + terminal.paint(Stream::err, Look::strong, code) + "\n";
  text += "Approve at: " + clean(address, Breaks::space) + "\n";
  session.terminal().write(Stream::err, text);
  if (session.has("qr")) show_qr_code(session, address);
  const Environment& environment = session.world().environment;
  // A remote server does not make the browser open a page of this machine.
  const auto base = session.base_url();
  const bool may_open = base && http::may_lead_to(address, base->text) && !session.has("no-browser");
  if (may_open && can_open_browser(environment, terminal) && open_browser(environment, address)) {
    session.note("(opened in your browser)");
  }
}

StoredCredential to_credential(Session& session, const PendingLogin& login, const DeviceKey& key, KeptIn kept_in) {
  return {.profile = login.profile,
          .base_url = login.base_url,
          .origin = http::origin_of(login.base_url),
          .key_id = key.key_id,
          .audience = key.audience,
          .scopes = key.scopes,
          .expires_at = key.expires_at,
          .created_at = key.created_at.empty() ? to_rfc3339(session.world().clock.now()) : key.created_at,
          .workspace_id = key.workspace_id,
          .workspace_name = key.workspace_name,
          .secret = key.secret,
          .kept_in = kept_in};
}

/// A person may approve less than was asked for, and finds out much later, by a 403.
void note_missing_scopes(Session& session, const PendingLogin& login, const DeviceKey& key) {
  std::vector<std::string> missing;
  std::ranges::copy_if(login.scopes, std::back_inserter(missing), [&](const std::string& asked) {
    return std::ranges::find(key.scopes, asked) == key.scopes.end();
  });
  if (missing.empty()) return;
  if (key.scopes.empty())
    return session.note(fmt::format("warning: the service does not say which scopes the key has; {} were asked for",
                                    login.scopes.size()));
  session.note(fmt::format("warning: the key has {} of the {} scopes that were asked for; it lacks {}",
                           login.scopes.size() - missing.size(),
                           login.scopes.size(),
                           fmt::join(missing, ", ")));
}

Result<ExitCode> keep(Session& session, const PendingLogin& login, const DeviceKey& key, KeptIn kept_in) {
  const StoredCredential credential = to_credential(session, login, key, kept_in);
  const auto kept = keep_key(session, credential);
  PendingLogins(session.paths().state).forget(login.authorization.authorization_id);
  if (!kept) return fail(revoke_unkept(session, credential, kept.error()));
  session.outcomes().forget("auth.start");
  session.outcomes().keep_elsewhere("auth.token", "the key is saved; `ws auth list` shows it");
  print_login(session, credential);
  note_missing_scopes(session, login, key);
  if (session.world().environment.text("WS_TOKEN")) {
    session.note("note: WS_TOKEN is set, and is used instead of the stored key");
  }
  return ExitCode::done;
}

/// A login that was refused for good is not resumed.
Failure without_key(Session& session, const PendingLogin& login, Failure failure) {
  const bool is_over = failure.kind == Failure::Kind::auth || failure.kind == Failure::Kind::forbidden;
  if (!is_over) return failure;
  PendingLogins(session.paths().state).forget(login.authorization.authorization_id);
  const StoredCredential wanted{.profile = login.profile, .base_url = login.base_url, .scopes = login.scopes};
  failure.hint = "run " + login_like(wanted).in_backticks() + " again";
  return failure;
}

ShellCommand resume_of(const DeviceAuthorization& authorization) {
  return {"ws", "login", "--resume=", authorization.authorization_id};
}

void note_waiting(Session& session, const PendingLogin& login) {
  ShellCommand again{"ws", "login", "--resume"};
  if (login.profile != "default") again.add({"--profile=", login.profile});
  const auto left = login.authorization.expires_at - session.world().clock.now();
  const auto minutes = std::max<std::int64_t>(1, std::chrono::round<std::chrono::minutes>(left).count());
  session.note(fmt::format(
      "Waiting for approval; the code expires in {} min. After Ctrl-C, {} continues.", minutes, again.in_backticks()));
}

Result<ExitCode> wait_for_key(Session& session, const PendingLogin& login, KeptIn kept_in) {
  WS_LET(Client * client, session.keyless_client());
  if (session.has("once")) {
    auto key = poll_device_login(*client, login.authorization.device_code);
    if (!key) return fail(without_key(session, login, std::move(key).error()));
    if (*key) return keep(session, login, **key, kept_in);
    return fail(Failure{.kind = Failure::Kind::pending,
                        .what = "the login is not approved yet",
                        .hint = "check again: " + resume_of(login.authorization).in_backticks(),
                        .code = "authorization_pending"});
  }
  note_waiting(session, login);
  const auto key =
      await_device_key(*client, session.world().clock, login.authorization, make_sleeper(&session.world().cancelled));
  if (!key) return fail(without_key(session, login, key.error()));
  return keep(session, login, *key, kept_in);
}

Result<ExitCode> resume(Session& session) {
  const std::vector<std::string>& words = session.arguments().words;
  const Setting& profile = session.settings().profile;
  const bool is_asked = profile.where == Where::flag || profile.where == Where::environment;
  const std::string wanted = is_asked ? profile.value : std::string();
  const auto named = session.arguments().value("base-url");
  const std::string origin = named ? http::origin_of(*named) : "";
  WS_LET(const PendingLogin login,
         PendingLogins(session.paths().state).load(words.empty() ? "" : words.front(), wanted, origin));
  if (!wanted.empty() && login.profile != wanted) {
    return fail(Failure::Kind::usage,
                "this login was started for the profile `" + login.profile + "`, not for `" + wanted + "`",
                "leave out --profile");
  }
  // A device code is sent only to the server that issued it.
  if (named && origin != http::origin_of(login.base_url)) {
    return fail(Failure::Kind::usage,
                "this login was started at " + login.base_url + ", not at " + *named,
                "leave out --base-url");
  }
  session.use_server(login.base_url);
  const bool is_decided = !login.store.empty() && !session.has("store");
  const std::string store = is_decided ? login.store : session.settings().credential_store.value;
  WS_LET(const KeptIn kept_in, agree_on_store(session, store));
  return wait_for_key(session, login, kept_in);
}

/// The API's answer, JSON unless another format was asked for.
Result<ExitCode> print_begun(Session& session, const DeviceAuthorization& authorization) {
  if (session.has("qr")) show_qr_code(session, authorization.verification_uri_complete);
  WS_LET(const Json body, parse_bounded(authorization.body));
  const bool asked = session.settings().format || session.has("jq") || session.has("template") || session.has("fields");
  if (asked) {
    session.printer().resource(body, authorization.body);
  } else {
    session.printer().raw(authorization.body + "\n");
  }
  return ExitCode::done;
}

Result<ExitCode> login(Session& session) {
  if (session.has("resume")) return resume(session);
  if (session.has("with-token")) return login_with_token(session);
  if (!session.arguments().words.empty()) return fail(Failure::Kind::usage, "an ID is for --resume only");
  WS_LET(const std::vector<std::string> scopes, scopes_of(session));
  WS_LET(const BaseUrl url, session.base_url());
  if (session.has("dry-run")) {
    return print_request(
        session,
        {.operation = "auth.start",
         .body = Json{{"client_name", client_name()}, {"cli_version", std::string(version())}, {"scopes", scopes}}});
  }
  const std::string& named = session.settings().profile.value;
  const std::string profile = named.empty() ? "default" : named;
  KeptIn kept_in = KeptIn::file;
  std::string store = session.settings().credential_store.value;
  if (!session.has("no-wait")) {
    WS_LET(const bool agreed, confirm_replacing(session, profile, url.text));
    if (!agreed) return fail(Failure::Kind::usage, "not confirmed; the stored key stays");
    WS_LET(kept_in, agree_on_store(session, store));
    store = kept_in == KeptIn::file ? "file" : "keyring";
  }
  WS_LET(Client * client, session.keyless_client());
  PendingLogin pending{.base_url = url.text, .profile = profile, .scopes = scopes, .store = std::move(store)};
  WS_LET(pending.authorization,
         start_device_login(*client, session.world().clock, client_name(), std::string(version()), scopes));
  const PendingLogins logins(session.paths().state);
  WS_TRY(logins.save(pending));
  const std::string& id = pending.authorization.authorization_id;
  session.outcomes().keep_elsewhere("auth.start",
                                    fmt::format("its codes are in {}, which only you can read; {} continues it",
                                                logins.file(id).string(),
                                                resume_of(pending.authorization).in_backticks()));
  if (session.has("no-wait")) return print_begun(session, pending.authorization);
  show_code(session, pending.authorization);
  return wait_for_key(session, pending, kept_in);
}

/// The second key of one that is gone would stand for itself from now on.
void note_second_key(Session& session, const StoredCredential& gone) {
  const auto stored = session.credentials().load();
  const StoredCredential* const second = stored ? find_second_key(*stored, gone) : nullptr;
  if (second == nullptr) return;
  session.note(
      "its second key stays: " +
      ShellCommand{"ws", "logout", "--base-url=", second->base_url, "--profile=", second->profile}.in_backticks() +
      " revokes that too");
}

/// A stored key that the service does not know any more needs no revoking. One refusal does not tell that: the key is
/// asked for whose it is. Fails where the key may live, and for one that was never stored, which may be mistyped.
Result<void> check_is_dead(Client& client, const Key& key, Failure refusal) {
  if (refusal.kind != Failure::Kind::auth) return fail(std::move(refusal));
  refusal.hint = key.stored ? "the key may live on: run the same command again"
                            : "nothing was revoked: the service does not know the key of WS_TOKEN";
  if (!key.stored) return fail(std::move(refusal));
  const auto whose = client.call({.operation = "me.get", .validate = false});
  const bool is_dead = !whose && whose.error().kind == Failure::Kind::auth;
  return is_dead ? Result<void>() : fail(std::move(refusal));
}

Result<ExitCode> logout(Session& session) {
  WS_LET(const Key key, session.key());
  const auto& operation = *contract::find_operation("auth.revoke");
  WS_TRY(check_named_members(session, operation));
  if (session.has("dry-run")) return print_request(session, {.operation = operation.id});
  WS_LET(Client * client, session.client());
  const auto reply = client->call({.operation = operation.id});
  if (!reply) WS_TRY(check_is_dead(*client, key, reply.error()));
  if (key.stored) WS_TRY(session.credentials().remove(key.stored->key_id));
  if (key.stored) note_second_key(session, *key.stored);
  if (!key.stored) session.note("the key of WS_TOKEN is revoked; unset WS_TOKEN");
  if (session.format() != Format::table) {
    session.printer().resource(reply ? *reply->json : Json{{"ok", true}}, reply ? reply->body : "");
  } else {
    session.printer().sentence(reply ? "Logged out; the key is revoked and forgotten."
                                     : "Logged out; the service had revoked the key already.");
  }
  return ExitCode::done;
}

}  // namespace

Command login_command() {
  return {
      .words = "login",
      .summary = "Log in: get a key for this machine",
      .details =
          "A code is shown; a person approves it in a browser, on any machine. The key goes to the server "
          "that issued it and nowhere else.",
      .arguments = {{.placeholder = "ID", .help = "with --resume: the ID of the login", .count = Count::optional}},
      .flags = {{.name = "for",
                 .placeholder = "USE",
                 .help = "what the key may do",
                 .limits = preset_names,
                 .fallback = "notes"},
                {.name = "scopes",
                 .placeholder = "A,B",
                 .is_repeated = true,
                 .help = "the scopes one by one, in place of --for",
                 .limits = "1-12 scopes"},
                {.name = "store",
                 .placeholder = "WHERE",
                 .help = "where the key is kept; `file` is plain text, readable by you alone",
                 .limits = "keyring or file"},
                {.name = "with-token", .help = "read a key from stdin and store it, in place of a login in a browser"},
                {.name = "no-wait", .help = "start only, and print the answer as JSON; it contains the device code"},
                {.name = "resume", .help = "continue a login that was started: the one with the ID, else the last"},
                {.name = "once", .help = "with --resume: check once, end with 8 while it is pending"},
                {.name = "qr", .help = "show the address as a QR code too"},
                {.name = "no-browser", .help = "open no browser"}},
      .examples = {"ws login --base-url https://workspace.example",
                   "ws login --for sync --store file",
                   "ws login --with-token < key.txt"},
      .operation = contract::find_operation("auth.start"),
      .run = login};
}

Command logout_command() {
  return {.words = "logout",
          .summary = "Log out: revoke the key and forget it",
          .examples = {"ws logout", "ws logout --profile work"},
          .operation = contract::find_operation("auth.revoke"),
          .run = logout};
}

}  // namespace ws::cli

#include "cli/commands/shared/session.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/clean.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/suggestion.hpp"
#include "api-client/http/curl.hpp"
#include "cli/commands/shared/account.hpp"
#include "cli/commands/shared/build_call.hpp"
#include "cli/commands/shared/outcomes.hpp"
#include "cli/credentials/presets.hpp"
#include "cli/output/failure.hpp"
#include "cli/terminal/programs.hpp"
#include "cli/terminal/table.hpp"

namespace ws::cli {
namespace {

constexpr std::string_view version_text = WS_VERSION;
constexpr std::string_view user_agent_text = "ws/" WS_VERSION;

/// What a profile without a key is followed by: the stored one that is like it.
std::string with_nearest_profile(const std::string& profile, const std::vector<StoredCredential>& stored) {
  std::vector<std::string> profiles;
  profiles.reserve(stored.size());
  for (const StoredCredential& one : stored) profiles.push_back(one.profile);
  const std::string near = suggestion(profile, profiles);
  return near.empty() ? near : near + " Else ";
}

/// A profile without a key most likely belongs to the server that the others log in at.
Failure no_server(const std::string& profile, const std::vector<StoredCredential>& stored) {
  if (const auto known = choose(stored, {}); known && !profile.empty()) {
    return {.kind = Failure::Kind::usage,
            .what = "the profile `" + profile + "` has no key, and no server is given",
            .hint = with_nearest_profile(profile, stored) + "run " +
                    ShellCommand{"ws", "login", "--base-url=", known->base_url, "--profile=", profile}.in_backticks()};
  }
  return {.kind = Failure::Kind::usage,
          .what = "no server is given",
          .hint = "run `ws login --base-url https://...`, or set WS_BASE_URL"};
}

/// What else names a key than the environment, whose key is used.
void note_unused_key(Session& session, const Key& used) {
  const std::string set = "note: " + session.key_variable() + " is set, so the key of ";
  const Setting& profile = session.settings().profile;
  if (profile.where == Where::flag) session.note(set + "profile `" + profile.value + "` is not used");
  const Setting& workspace = session.settings().workspace;
  if (workspace.value.empty() || workspace.where != Where::project_file) return;
  const auto account = known_account(session, used);
  if (account && (account->workspace_id == workspace.value || account->workspace_name == workspace.value)) return;
  session.note(set + "the Workspace " + workspace.value + ", which .ws.yaml names, is not used");
}

}  // namespace

std::string_view version() { return version_text; }
std::string_view user_agent() { return user_agent_text; }

Session::Session(const World& world, const Command& command, Parsed arguments)
    : world_(world),
      command_(command),
      arguments_(std::move(arguments)),
      paths_(Paths::of(world.environment)),
      credentials_(paths_.data),
      outcomes_(std::make_unique<OutcomeLog>(*this)) {}

Session::~Session() = default;

Result<void> Session::open(FindView find_view) {
  if (!command_.reads_no_settings) {
    WS_LET(settings_, settings_here());
  }
  WS_LET(PrinterOptions options, printer_options(find_view));
  printer_ = std::make_unique<Printer>(terminal(), std::move(options));
  for (const std::string& text : settings_.notes) note(text);
  return printer_->check();
}

Result<Settings> Session::settings_here() const {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error) {
    return fail(Failure::Kind::disk,
                "the working directory no longer exists: " + error.message(),
                "change to another folder, or give one with -C DIR");
  }
  auto settings = read_settings(setting_flags(), world_.environment, paths_, here);
  if (settings || !command_.needs_no_settings) return settings;
  if (auto own = read_settings(setting_flags(), world_.environment, paths_, {})) return own;
  return settings_without_files(setting_flags(), world_.environment);
}

SettingFlags Session::setting_flags() const {
  return {.profile = arguments_.value("profile"),
          .workspace = arguments_.value("workspace"),
          .base_url = arguments_.value("base-url"),
          .format = arguments_.value("format"),
          .max_wait = arguments_.value("max-wait"),
          .store = arguments_.value("store"),
          .skill_url = arguments_.value("url"),
          .device_name = arguments_.value("device-name")};
}

bool fills_folder(const Session& session) {
  const std::string output = session.arguments().value("output").value_or("");
  if (!session.command().fills_folder || output.empty() || output == "-") return false;
  std::error_code ignored;
  if (output.ends_with('/') || std::filesystem::is_directory(output, ignored)) return true;
  const bool is_shaped = session.settings().format || session.has("json") || session.has("fields") ||
                         session.has("jq") || session.has("template");
  return !is_shaped && (session.has("stdin") || session.arguments().words.size() > 1);
}

Result<PrinterOptions> Session::printer_options(FindView find_view) {
  // One thing that is read again may find itself there; what changes something is refused before it is sent.
  const contract::Operation* const operation = command_.operation;
  const bool reads_one = operation != nullptr && operation->retry == contract::RetryClass::read && !is_list(*operation);
  PrinterOptions options{.fields = arguments_.items("fields"), .find_view = find_view, .now = world_.clock.now()};
  const std::string file = arguments_.value("output").value_or("-");
  const bool to_file =
      !file.empty() && file != "-" && !command_.writes_output && !fills_folder(*this) && !has("dry-run");
  if (to_file) {
    options.file.emplace(file, has("force") ? Overwrite::yes : reads_one ? Overwrite::only_same : Overwrite::no);
  }
  options.format = terminal().is_terminal(Stream::out) && !to_file ? Format::table : Format::tsv;
  if (has("jq") && has("template")) return fail(Failure::Kind::usage, "give --jq or --template, not both");
  // Both read the document as it is, whatever people are used to see; NDJSON gives them its items.
  const bool shaped = has("jq") || has("template");
  if (shaped) options.format = Format::json;
  const Setting& wanted = settings_.format;
  const bool is_passed_over = command_.needs_no_settings && wanted.where != Where::flag && !find_format(wanted.value);
  if (wanted && !has("json") && !is_passed_over) {
    // Lines for an editor are what that command prints anyway.
    const bool is_quickfix =
        command_.words == "links check" && (wanted.value == "quickfix" || wanted.value == "github");
    const auto format = is_quickfix ? Format::table : find_format(wanted.value);
    if (!format) {
      return fail(Failure::Kind::usage,
                  wanted.place + ": `" + wanted.value + "` is not a format",
                  "use table, tsv, json, ndjson, yaml, csv or ids");
    }
    if (!shaped || *format == Format::ndjson) options.format = *format;
  }
  if (has("json")) {
    if (const auto named = arguments_.value("format"); named && *named != "json") {
      return fail(Failure::Kind::usage, "give --json or --format " + *named + ", not both");
    }
    options.format = Format::json;
  }
  if (const auto expression = arguments_.value("jq")) {
    WS_LET(options.jq, JqProgram::compile(*expression));
  }
  if (const auto text = arguments_.value("template")) {
    WS_LET(options.line_of, Template::parse(*text));
  }
  const bool may_page = !has("no-pager") && !terminal().is_plain() && !to_file && options.format != Format::ndjson;
  if (may_page) options.pager = pager_of(world_.environment, settings_.pager.value, terminal());
  return options;
}

void Session::note(std::string_view text, std::size_t indent) {
  if (has("quiet")) return;
  const std::string line = wrap_for(terminal(), Stream::err, clean(text, Breaks::space), indent) + "\n";
  const bool waits = is_json(format()) && !command_.runs_on && !has("verbose") && !has("debug");
  if (waits || printer().is_holding()) {
    held_notes_ += line;
  } else {
    terminal().write(Stream::err, line);
  }
}

void Session::print_notes() {
  if (!held_notes_.empty()) terminal().write(Stream::err, std::exchange(held_notes_, {}));
}

void Session::output_done() {
  for (const auto& act : std::exchange(after_output_, {})) act();
  if (printer_->shown_ids().empty() || !has_person()) return;
  if (const auto shown = shown_ids()) shown->keep({printer_->shown_ids().begin(), printer_->shown_ids().end()});
}

bool Session::has_person() const {
  return world_.terminal.is_terminal(Stream::out) || world_.terminal.is_terminal(Stream::err);
}

void Session::remember_last(std::string_view kind, std::string_view id) {
  if (const auto shown = shown_ids()) shown->keep_last(kind, id);
}

std::optional<ShownIds> Session::shown_ids() {
  const auto url = base_url();
  if (!url) return std::nullopt;
  return ShownIds(paths_.state, url->text);
}

void Session::replace_value(std::string_view flag, std::string text) {
  const auto found = arguments_.flags.find(flag);
  if (found != arguments_.flags.end() && !found->second.empty()) found->second.back() = std::move(text);
}

Result<bool> Session::confirm(std::string_view question, const std::vector<std::string_view>& operations) {
  if (has("yes")) return true;
  for (const std::string_view operation : operations) WS_TRY(check_scope_of(operation));
  if (!terminal().may_ask()) {
    return fail(
        Failure::Kind::usage, "cannot ask without a terminal: " + std::string(question), "add --yes to confirm");
  }
  std::string asked = clean(question, Breaks::space);
  if (!asked.empty() && asked.front() >= 'a' && asked.front() <= 'z') asked.front() -= 'a' - 'A';
  const auto answer = terminal().ask_line(wrap_for(terminal(), Stream::err, asked + " [y/N]", 0) + " ");
  if (!answer && world_.cancelled.load()) return fail(Failure::Kind::cancelled, "stopped: a question was not answered");
  return answer && (*answer == "y" || *answer == "Y" || *answer == "yes");
}

bool Session::confirm_word(std::string_view question, std::string_view word) {
  if (!terminal().may_ask()) return false;
  return terminal().ask(wrap_for(terminal(), Stream::err, clean(question, Breaks::space), 0) + " ") == word;
}

bool Session::has_json_errors() const {
  const auto named = find_format(settings_.format.value);
  return has("json") || (named && is_json(*named));
}

void Session::print_failure(const Failure& failure, ExitCode exit) {
  terminal().write(Stream::err,
                   has_json_errors() ? failure_line(failure, exit) : render_failure(failure, exit, terminal()));
}

Result<void> Session::prefer_server(const std::string& base_url, const std::string& origin) {
  WS_TRY(check_server_of_environment_key());
  if (settings_.base_url) return {};
  WS_LET(const auto stored, credentials().load());
  const auto chosen = choose(stored,
                             {.base_url = base_url,
                              .origin = origin,
                              .profile = settings_.profile.value,
                              .workspace_id = settings_.workspace.value});
  if (!chosen) {
    return fail(Failure::Kind::auth,
                "not logged in at " + base_url,
                "run " + login_like({.profile = settings_.profile.value, .base_url = base_url}).in_backticks());
  }
  use_server(chosen->base_url);
  return {};
}

void Session::use_server(const std::string& base_url) {
  if (settings_.base_url.where != Where::flag) settings_.base_url = {base_url, Where::fallback};
}

Result<std::optional<StoredCredential>> Session::stored_key() {
  WS_LET(const auto stored, credentials().load());
  return choose(stored, {.profile = settings_.profile.value, .workspace_id = settings_.workspace.value});
}

Result<BaseUrl> Session::base_url() {
  std::string text = settings_.base_url.value;
  if (text.empty()) {
    WS_LET(const auto chosen, stored_key());
    if (!chosen && settings_.workspace) return fail(no_key_for_workspace());
    if (!chosen) {
      WS_LET(const auto stored, credentials().load());
      return fail(no_server(settings_.profile.value, stored));
    }
    text = chosen->base_url;
  }
  WS_LET(BaseUrl url, check_base_url(text, world_.environment));
  return url;
}

Result<void> Session::check_server_of_environment_key() const {
  if (key_variable().empty() || world_.environment.text("WS_BASE_URL") || settings_.base_url.where == Where::flag)
    return {};
  return fail(Failure::Kind::usage,
              key_variable() + " is set, but not the server that it is for, so nothing was sent",
              "set WS_BASE_URL to that server, or unset " + key_variable() + " to use a stored key");
}

Result<std::optional<Key>> Session::environment_key(const BaseUrl& url) {
  std::string secret = world_.environment.text("WS_TOKEN").value_or("");
  std::string_view source = "WS_TOKEN";
  if (secret.empty()) {
    source = "the file of WS_TOKEN_FILE";
    const auto file = world_.environment.text("WS_TOKEN_FILE");
    if (!file) return std::optional<Key>();
    auto text = read_file(*file, 64U << 10U, Source::connected);
    if (!text) return fail(Failure::Kind::disk, "WS_TOKEN_FILE: " + text.error().what);
    secret = *text;
  }
  WS_TRY(check_server_of_environment_key());
  const auto beside = world_.environment.text("WS_BASE_URL");
  const std::string origin = beside ? http::origin_of(*beside) : url.origin;
  if (origin != url.origin) return std::optional<Key>();
  WS_LET(secret, check_key(secret, source));
  return std::optional<Key>(Key{.credential = {.secret = secret, .origin = origin}});
}

Failure Session::no_key_for_workspace() const {
  const bool is_flag = settings_.workspace.where == Where::flag;
  const std::string by = is_flag ? "-W" : settings_.workspace.where == Where::environment ? "WS_WORKSPACE" : ".ws.yaml";
  Failure failure{
      .kind = Failure::Kind::auth,
      .what = "no key is stored for the Workspace " + settings_.workspace.value + ", which " + by + " names",
      .hint = "`ws auth list` shows the stored keys; `ws login` adds one"};
  if (key_variable().empty()) return failure;
  failure.what += "; " + key_variable() + " is not used, because " + by + " selects a stored key";
  failure.hint = (is_flag ? "leave out -W" : "unset " + by) + " to use " + key_variable() + ", or run `ws login`";
  return failure;
}

Result<Key> Session::key() {
  if (chosen_key_) return *chosen_key_;
  WS_LET(const BaseUrl url, base_url());
  // A Workspace is named by the key that sees it, so -W always means a stored one. What a file of the tree names does
  // not stand above the environment.
  const bool names_stored = settings_.workspace && (settings_.workspace.where == Where::flag ||
                                                    settings_.workspace.where == Where::environment);
  if (!names_stored) {
    WS_LET(auto given, environment_key(url));
    if (given) return std::move(*given);
  }
  WS_LET(const auto stored, credentials().load());
  auto chosen = choose(stored,
                       {.base_url = url.text,
                        .origin = url.origin,
                        .profile = settings_.profile.value,
                        .workspace_id = settings_.workspace.value});
  if (chosen) {
    WS_LET(std::string secret, credentials().secret_of(*chosen));
    Credential credential{.secret = std::move(secret), .origin = chosen->origin};
    return Key{.credential = std::move(credential), .stored = std::move(chosen)};
  }
  if (names_stored) return fail(no_key_for_workspace());
  std::string what = "not logged in at " + url.text;
  if (settings_.profile) what += " as profile `" + settings_.profile.value + "`";
  if (settings_.workspace) what += ", Workspace " + settings_.workspace.value;
  return fail(Failure::Kind::auth,
              what,
              with_nearest_profile(settings_.profile.value, stored) + "run " +
                  login_like({.profile = settings_.profile.value, .base_url = url.text}).in_backticks());
}

void Session::add_keys(ClientOptions& options, const Key& key) {
  options.credential = key.credential;
  if (!key.stored || key.stored->scopes.empty()) return;
  const auto stored = credentials().load();
  const StoredCredential* const second = stored ? find_second_key(*stored, *key.stored) : nullptr;
  if (second == nullptr) return;
  std::vector<std::string> scopes = second->scopes;
  std::erase_if(scopes, [&](const std::string& one) { return std::ranges::count(key.stored->scopes, one) > 0; });
  auto secret = credentials().secret_of(*second);
  if (scopes.empty() || !secret) return;
  const Key other{.credential = {.secret = std::move(*secret), .origin = second->origin}, .stored = *second};
  if (is_of_same_account(*this, key, other)) options.second = {.credential = other.credential, .scopes = scopes};
}

Result<http::Transport*> Session::transport(std::size_t connections) {
  if (!transport_) {
    WS_LET(transport_, http::make_curl_transport({.max_connections = connections}));
  }
  return transport_.get();
}

Result<std::chrono::milliseconds> Session::seconds(std::string_view place, const std::string& text) const {
  auto duration = parse_duration(text);
  if (!duration) {
    return fail(Failure::Kind::usage, std::string(place) + " takes a time like 30 or 2m, not `" + text + "`");
  }
  return *duration;
}

Result<ClientOptions> Session::client_options() {
  WS_LET(const BaseUrl url, base_url());
  ClientOptions options{.base_url = url.text, .user_agent = std::string(user_agent())};
  options.retry = !has("no-retry");
  if (url.plain_http) options.allowed_http_hosts = {url.origin.substr(std::string_view("http://").size())};
  options.cancelled = &world_.cancelled;
  options.budget.retries_left = retries_;
  if (settings_.max_wait) {
    WS_LET(options.budget.max_wait, seconds(settings_.max_wait.place, settings_.max_wait.value));
  }
  if (const auto timeout = arguments_.value("timeout")) {
    WS_LET(options.timeout, seconds("--timeout", *timeout));
  }
  if (has("debug") || world_.environment.text("WS_DEBUG")) {
    options.trace = [this](const std::string& line) {
      terminal().write(Stream::err, terminal().paint(Stream::err, Look::faint, clean(line, Breaks::space)) + "\n");
    };
  }
  options.notice = [this](const std::string& text) { note("note: " + text); };
  return options;
}

Result<std::unique_ptr<Client>> Session::make_client(ClientOptions options) {
  printer_->know("server", options.base_url);
  options.log = outcomes_.get();
  WS_LET(http::Transport * network, transport());
  return std::make_unique<Client>(*network, world_.clock, world_.random, std::move(options));
}

Result<Client*> Session::client(std::size_t connections) {
  if (!client_) {
    WS_TRY(transport(connections));
    WS_LET(Key chosen, key());
    if (!chosen.stored) note_unused_key(*this, chosen);
    WS_LET(ClientOptions options, client_options());
    add_keys(options, chosen);
    WS_LET(client_, make_client(std::move(options)));
  }
  return client_.get();
}

Result<std::unique_ptr<Client>> Session::client_with(Credential credential) {
  WS_LET(ClientOptions options, client_options());
  options.credential = std::move(credential);
  return make_client(std::move(options));
}

Result<Client*> Session::keyless_client() {
  if (!keyless_client_) {
    WS_LET(ClientOptions options, client_options());
    WS_LET(keyless_client_, make_client(std::move(options)));
  }
  return keyless_client_.get();
}

}  // namespace ws::cli

#include "cli/settings/settings.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/own_file.hpp"
#include "api-client/base/text.hpp"
#include "api-client/base/yaml.hpp"
#include "api-client/http/transport.hpp"
#include "cli/settings/config_text.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_config_bytes = std::size_t{1} << 20U;

/// Null where there is no such file.
Result<Json> parse_yaml_file(const fs::path& path, Result<std::string> text) {
  if (!text && text.error().kind == Failure::Kind::not_found) return Json();
  if (!text) return fail(std::move(text).error());
  auto value = parse_yaml(*text);
  if (!value) return fail(Failure::Kind::usage, path.string() + ": " + value.error().what);
  if (!value->is_null() && !value->is_object()) {
    return fail(Failure::Kind::usage, path.string() + " does not hold names and values");
  }
  return std::move(*value);
}

/// The user's own: it may be a link, as programs that manage dot files make them.
Result<Json> read_yaml_file(const fs::path& path) { return parse_yaml_file(path, read_file(path, max_config_bytes)); }

std::optional<fs::path> find_upward(fs::path folder, std::string_view file) {
  std::error_code error;
  if (folder.empty()) return std::nullopt;
  folder = fs::absolute(folder, error);
  while (!error) {
    // Whatever it is: a link that leads nowhere is refused, not passed over.
    std::error_code none;
    if (fs::exists(fs::symlink_status(folder / file, none))) return folder / file;
    if (!folder.has_relative_path()) break;
    folder = folder.parent_path();
  }
  return std::nullopt;
}

std::string scalar(const Json& object, std::string_view key) {
  const Json* value = find(object, key);
  if (value == nullptr || value->is_null() || value->is_structured()) return {};
  if (const auto* text = value->get_ptr<const Json::string_t*>()) return *text;
  return dump(*value);
}

const Json& member(const Json& object, std::string_view key) {
  static const Json none = Json::object();
  const Json* found = find(object, key);
  return found != nullptr && found->is_object() ? *found : none;
}

void read_project_file(const Json& project, const std::string& path, Settings& settings) {
  if (!project.is_object()) return;
  for (const auto& entry : project.items()) {
    if (entry.key() == "profile" || entry.key() == "workspace") continue;
    if (entry.key() == "sync" || entry.key() == "roots" || entry.key() == "sync_roots") continue;
    settings.notes.push_back(path + ": `" + entry.key() + "` is ignored; a folder may name profile, workspace, roots");
  }
}

fs::path config_file(const Paths& paths) { return paths.config / "config.yaml"; }

constexpr SettingRule rules[] = {
    {.key = "profile",
     .flag = "--profile",
     .variable = "WS_PROFILE",
     .of_project = true,
     .help = "which stored key is used"},
    {.key = "workspace",
     .flag = "--workspace",
     .variable = "WS_WORKSPACE",
     .of_project = true,
     .of_profile = true,
     .help = "the key of this Workspace is used"},
    {.key = "base_url", .flag = "--base-url", .variable = "WS_BASE_URL", .of_profile = true, .help = "the server"},
    {.key = "format",
     .flag = "--format",
     .variable = "WS_FORMAT",
     .of_profile = true,
     .help = "table, tsv, json, ndjson, yaml, csv or ids; unset: a table on a terminal, else tsv"},
    {.key = "max_wait",
     .flag = "--max-wait",
     .variable = "WS_MAX_WAIT",
     .of_profile = true,
     .fallback = "60",
     .help = "the longest wait, in seconds, when the service says when to retry"},
    {.key = "credential_store",
     .flag = "--store",
     .variable = "WS_CREDENTIAL_STORE",
     .help = "where a key is kept: keyring or file"},
    {.key = "pager", .variable = "WS_PAGER", .help = "the program that shows long output; unset: PAGER, else less"},
    {.key = "device_name",
     .flag = "--device-name",
     .variable = "WS_DEVICE_NAME",
     .help = "what this machine is called in runs, conflicts and commits; unset: its host name"},
    {.key = "trusted_folders",
     .variable = "WS_TRUSTED_FOLDERS",
     .help =
         "folders whose .ws and .ws.yaml may belong to another user, with : between them; DIR/* for all below, or *"},
    {.key = "skill_url", .flag = "--url", .of_profile = true, .help = "where the operating skill is published"},
};

std::optional<std::string> given(const SettingFlags& flags, std::string_view key) {
  if (key == "profile") return flags.profile;
  if (key == "workspace") return flags.workspace;
  if (key == "base_url") return flags.base_url;
  if (key == "format") return flags.format;
  if (key == "max_wait") return flags.max_wait;
  if (key == "credential_store") return flags.store;
  if (key == "skill_url") return flags.skill_url;
  if (key == "device_name") return flags.device_name;
  return std::nullopt;
}

/// All places that a setting may be named in, read once.
class Sources {
 public:
  /// Without files.
  Sources(const SettingFlags& flags, const Environment& environment) : flags_(flags), environment_(environment) {}

  static Result<Sources> read(const SettingFlags& flags,
                              const Environment& environment,
                              const Paths& paths,
                              const fs::path& folder) {
    Sources sources(flags, environment);
    sources.config_path_ = config_file(paths).string();
    WS_LET(Json config, read_yaml_file(config_file(paths)));
    sources.config_ = std::move(config);
    if (const auto file = find_upward(folder, ".ws.yaml")) {
      sources.project_path_ = file->string();
      WS_LET(Json project, parse_yaml_file(*file, read_trusted_file(*file, max_config_bytes, sources.trusted())));
      sources.project_ = std::move(project);
    }
    const std::vector<Named> profile = sources.named(*find_setting_rule("profile"));
    // Without a name it is the profile that a login without a name makes.
    sources.profile_ = profile.empty() ? "default" : profile.front().value;
    return sources;
  }

  /// Said by nobody but the user: not by a file of a tree, which would trust itself.
  TrustedFolders trusted() const {
    const std::vector<Named> named = this->named(*find_setting_rule("trusted_folders"));
    return TrustedFolders::parse(named.empty() ? "" : named.front().value, environment_.text("SUDO_UID").value_or(""));
  }

  /// The one that wins first.
  std::vector<Named> named(const SettingRule& rule) const {
    std::vector<Named> found;
    const auto add = [&found](Where where, std::string place, std::string value) {
      if (!value.empty()) found.push_back({where, std::move(place), std::move(value)});
    };
    add(Where::flag, std::string(rule.flag), given(flags_, rule.key).value_or(""));
    const std::string variable(rule.variable);
    if (!variable.empty()) add(Where::environment, variable, environment_.text(variable).value_or(""));
    if (rule.of_project) add(Where::project_file, project_path_, scalar(*project_, rule.key));
    if (rule.of_profile) {
      const Json& profile = member(member(*config_, "profiles"), profile_);
      add(Where::user_config, place_of("profiles." + profile_, rule.key), scalar(profile, rule.key));
    }
    add(Where::user_config, place_of("defaults", rule.key), scalar(member(*config_, "defaults"), rule.key));
    add(Where::fallback, "built in", std::string(rule.fallback));
    return found;
  }

  void read_project(Settings& settings) const { read_project_file(*project_, project_path_, settings); }

 private:
  std::string place_of(const std::string& group, std::string_view key) const {
    return config_path_ + ": " + group + "." + std::string(key);
  }

  const SettingFlags& flags_;
  const Environment& environment_;
  JsonBox config_ = {};
  JsonBox project_ = {};
  std::string config_path_ = {};
  std::string project_path_ = {};
  std::string profile_ = {};
};

}  // namespace

std::span<const SettingRule> setting_rules() { return rules; }

const SettingRule* find_setting_rule(std::string_view key) {
  const auto* found = std::ranges::find(rules, key, &SettingRule::key);
  return found == std::end(rules) ? nullptr : found;
}

std::string_view name(Where where) {
  switch (where) {
    case Where::flag: return "flag";
    case Where::environment: return "environment";
    case Where::project_file: return "project file";
    case Where::user_config: return "user config";
    case Where::stored_key: return "stored key";
    case Where::fallback: return "default";
  }
  return "default";
}

namespace {

Settings settings_of(const Sources& sources) {
  Settings settings;
  sources.read_project(settings);
  const auto winner = [&](std::string_view key) {
    const std::vector<Named> named = sources.named(*find_setting_rule(key));
    if (named.empty() || named.front().where == Where::fallback) return Setting();
    return Setting{named.front().value, named.front().where, named.front().place};
  };
  settings.profile = winner("profile");
  settings.workspace = winner("workspace");
  settings.base_url = winner("base_url");
  settings.format = winner("format");
  settings.max_wait = winner("max_wait");
  settings.credential_store = winner("credential_store");
  settings.pager = winner("pager");
  settings.skill_url = winner("skill_url");
  settings.device_name = winner("device_name");
  settings.trusted = sources.trusted();
  return settings;
}

}  // namespace

Result<Settings> read_settings(const SettingFlags& flags,
                               const Environment& environment,
                               const Paths& paths,
                               const fs::path& folder) {
  WS_LET(const Sources sources, Sources::read(flags, environment, paths, folder));
  return settings_of(sources);
}

Settings settings_without_files(const SettingFlags& flags, const Environment& environment) {
  return settings_of(Sources(flags, environment));
}

Result<std::vector<Named>> who_names(const SettingRule& rule,
                                     const SettingFlags& flags,
                                     const Environment& environment,
                                     const Paths& paths,
                                     const fs::path& folder) {
  WS_LET(const Sources sources, Sources::read(flags, environment, paths, folder));
  return sources.named(rule);
}

Result<std::map<std::string, std::string>> read_aliases(const Paths& paths) {
  WS_LET(const Json config, read_yaml_file(config_file(paths)));
  std::map<std::string, std::string> aliases;
  for (const auto& entry : member(config, "aliases").items()) {
    if (const auto* text = entry.value().get_ptr<const Json::string_t*>()) aliases.emplace(entry.key(), *text);
  }
  return aliases;
}

Result<void> write_config(const Paths& paths, std::string_view path, const std::string& value) {
  std::error_code error;
  // Other processes that change another setting meanwhile must not lose it.
  WS_TRY(make_folders(paths.config, 0700));
  WS_LET(const Descriptor lock, wait_for_lock(paths.config / "config.lock"));
  // A file that lies elsewhere, behind a link, stays there.
  const fs::path named = config_file(paths);
  const fs::path file = fs::is_symlink(named, error) ? fs::weakly_canonical(named, error) : named;
  auto text = read_file(file, max_config_bytes);
  const bool is_new = !text && text.error().kind == Failure::Kind::not_found;
  if (!text && !is_new) return fail(std::move(text).error());
  const std::vector<std::string_view> steps = split(path, '.');
  auto edited = edit_config(is_new ? "" : *text, {steps.begin(), steps.end()}, value);
  if (!edited) {
    Failure failure = std::move(edited).error();
    failure.kind = Failure::Kind::usage;
    failure.what = file.string() + ": " + failure.what;
    return fail(std::move(failure));
  }
  if (is_new ? edited->empty() : *edited == *text) return {};
  return write_file(file, *edited);
}

Result<std::string> check_key(std::string_view text, std::string_view source) {
  const std::string_view key = trimmed_end(text);
  const auto refuse = [&](std::string_view what) -> Result<std::string> {
    return fail(
        Failure::Kind::usage, fmt::format("{} {}", source, what), "give the key alone, on one line without blanks");
  };
  if (key.empty()) return refuse("holds no key");
  const std::size_t blank = key.find_first_of(" \t\r\n");
  if (equal_ignoring_case(key.substr(0, blank), "bearer")) return refuse("begins with `Bearer`, which ws adds itself");
  if (blank != std::string_view::npos) return refuse("holds a blank or a line end within the key");
  const bool is_visible = std::ranges::all_of(key, [](char c) { return c > ' ' && c < '\x7f'; });
  return is_visible ? std::string(key) : refuse("holds a character that no key has");
}

/// Whether a user name, and perhaps a password, stands before the host.
bool names_user(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  return url.substr(0, url.find_first_of("/?#")).find('@') != std::string_view::npos;
}

Result<BaseUrl> check_base_url(std::string_view text, const Environment& environment) {
  if (names_user(text))
    return fail(Failure::Kind::usage,
                "the base URL holds a user name or a password, which ws does not send",
                "give it as https://host[:port][/prefix], and the key in WS_TOKEN or by `ws login`");
  while (!text.empty() && text.back() == '/') text.remove_suffix(1);
  BaseUrl url{.text = std::string(text), .origin = http::origin_of(text)};
  const std::size_t colon = url.origin.rfind(':');
  const bool has_port = colon != std::string::npos && std::atoi(url.origin.c_str() + colon + 1) <= 65'535;
  if (!has_port || text.find_first_of("?# \t\r\n") != std::string_view::npos) {
    return fail(Failure::Kind::usage,
                "the base URL `" + url.text + "` is not of the form https://host[:port][/prefix]",
                "give it with --base-url or WS_BASE_URL");
  }
  if (url.origin.substr(0, 7) != "http://" || http::is_loopback(url.origin)) return url;
  url.plain_http = true;
  const std::string host_and_port = url.origin.substr(7);
  const std::string host = host_and_port.substr(0, host_and_port.rfind(':'));
  if (http::may_take_key(url.origin, environment.get("WS_ALLOW_HTTP").value_or(""))) return url;
  return fail(Failure::Kind::usage,
              "a key is not sent over plain http to " + host,
              "use https, or name the host: WS_ALLOW_HTTP=" + host_and_port);
}

}  // namespace ws::cli

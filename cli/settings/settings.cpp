#include "cli/settings/settings.hpp"

#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/yaml.hpp"
#include "api-client/http/transport.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_config_bytes = std::size_t{1} << 20U;

/// Null where there is no such file.
Result<Json> read_yaml_file(const fs::path& path) {
  auto text = read_file(path, max_config_bytes);
  if (!text) {
    if (text.error().kind == Failure::Kind::not_found) return Json();
    return fail(Failure::Kind::usage, text.error().what);
  }
  auto value = parse_yaml(*text);
  if (!value) return fail(Failure::Kind::usage, path.string() + ": " + value.error().what);
  if (!value->is_null() && !value->is_object()) {
    return fail(Failure::Kind::usage, path.string() + " does not hold names and values");
  }
  return std::move(*value);
}

std::optional<fs::path> find_upward(fs::path folder, std::string_view file) {
  std::error_code error;
  folder = fs::absolute(folder, error);
  while (!error) {
    if (fs::exists(folder / file, error)) return folder / file;
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

/// The first of those who named a value.
class Precedence {
 public:
  explicit Precedence(const std::optional<std::string>& flag) {
    if (flag) setting_ = {*flag, Where::flag};
  }
  Precedence& then(Where where, std::string value) {
    if (!setting_ && !value.empty()) setting_ = {std::move(value), where};
    return *this;
  }
  Setting take() { return std::move(setting_); }

 private:
  Setting setting_;
};

const Json& member(const Json& object, std::string_view key) {
  static const Json none = Json::object();
  const Json* found = find(object, key);
  return found != nullptr && found->is_object() ? *found : none;
}

void read_project_file(const Json& project, const fs::path& path, Settings& settings) {
  if (!project.is_object()) return;
  for (const auto& entry : project.items()) {
    if (entry.key() == "profile" || entry.key() == "workspace") continue;
    if (entry.key() == "sync" || entry.key() == "roots") continue;
    settings.notes.push_back(path.string() + ": `" + entry.key() +
                             "` is ignored; a tree may name profile, workspace, roots");
  }
  const Json* roots = find(project, "roots");
  if (roots == nullptr || !roots->is_array()) return;
  for (const Json& root : *roots) {
    if (const auto* text = root.get_ptr<const Json::string_t*>()) settings.sync_roots.push_back(*text);
  }
}

}  // namespace

std::string_view name(Where where) {
  switch (where) {
    case Where::flag: return "flag";
    case Where::environment: return "environment";
    case Where::project_file: return "project file";
    case Where::user_config: return "user config";
    case Where::fallback: return "default";
  }
  return "default";
}

Result<Settings> read_settings(const SettingFlags& flags,
                               const Environment& environment,
                               const Paths& paths,
                               const fs::path& folder) {
  Settings settings;
  WS_LET(const Json config, read_yaml_file(paths.config / "config.yaml"));
  Json project;
  if (const auto file = find_upward(folder, ".ws.yaml")) {
    WS_LET(project, read_yaml_file(*file));
    read_project_file(project, *file, settings);
  }
  const Json& defaults = member(config, "defaults");
  const auto variable = [&environment](std::string_view name) { return environment.text(name).value_or(""); };

  settings.profile = Precedence(flags.profile)
                         .then(Where::environment, variable("WS_PROFILE"))
                         .then(Where::project_file, scalar(project, "profile"))
                         .then(Where::user_config, scalar(defaults, "profile"))
                         .take();
  const Json& profile = member(member(config, "profiles"), settings.profile.value);
  settings.workspace = Precedence(flags.workspace)
                           .then(Where::environment, variable("WS_WORKSPACE"))
                           .then(Where::project_file, scalar(project, "workspace"))
                           .then(Where::user_config, scalar(profile, "workspace"))
                           .take();
  settings.base_url = Precedence(flags.base_url)
                          .then(Where::environment, variable("WS_BASE_URL"))
                          .then(Where::user_config, scalar(profile, "base_url"))
                          .take();
  settings.format = Precedence(flags.format)
                        .then(Where::environment, variable("WS_FORMAT"))
                        .then(Where::user_config, scalar(profile, "format"))
                        .then(Where::user_config, scalar(defaults, "format"))
                        .take();
  settings.max_wait = Precedence(flags.max_wait)
                          .then(Where::environment, variable("WS_MAX_WAIT"))
                          .then(Where::user_config, scalar(defaults, "max_wait"))
                          .take();
  settings.credential_store = Precedence(flags.store)
                                  .then(Where::environment, variable("WS_CREDENTIAL_STORE"))
                                  .then(Where::user_config, scalar(defaults, "credential_store"))
                                  .take();
  return settings;
}

Result<BaseUrl> check_base_url(std::string_view text, const Environment& environment) {
  while (!text.empty() && text.back() == '/') text.remove_suffix(1);
  BaseUrl url{.text = std::string(text), .origin = http::origin_of(text)};
  if (url.origin.empty() || text.find_first_of("?# \t\r\n") != std::string_view::npos) {
    return fail(Failure::Kind::usage,
                "the base URL `" + url.text + "` is not of the form https://host[:port][/prefix]",
                "give it with --base-url or WS_BASE_URL");
  }
  if (url.origin.substr(0, 7) != "http://" || http::is_loopback(url.origin)) return url;
  url.plain_http = true;
  const std::string host_and_port = url.origin.substr(7);
  const std::string host = host_and_port.substr(0, host_and_port.rfind(':'));
  std::string allowed = environment.get("WS_ALLOW_HTTP").value_or("") + ",";
  for (std::size_t begin = 0, comma = 0; (comma = allowed.find(',', begin)) != std::string::npos; begin = comma + 1) {
    const std::string_view entry = std::string_view(allowed).substr(begin, comma - begin);
    if (entry == host || entry == host_and_port) return url;
  }
  return fail(Failure::Kind::usage,
              "a key does not go over plain http to " + host,
              "use https, or name the host: WS_ALLOW_HTTP=" + host_and_port);
}

}  // namespace ws::cli

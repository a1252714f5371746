/// The effective settings and their sources: flag, then environment, then `.ws.yaml`, then user's config, then default.
///
/// `.ws.yaml` belongs to a tree that may be untrusted: it can set profile, Workspace and sync roots, but nothing that
/// could send a key elsewhere or run a program. Everything else in it is ignored with a note.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/owner.hpp"
#include "api-client/base/result.hpp"
#include "cli/base/environment.hpp"

namespace ws::cli {

/// `stored_key`: the base URL stored with a key at login, used if no other source sets one.
enum class Where { flag, environment, project_file, user_config, stored_key, fallback };
std::string_view name(Where where);

/// One setting: which sources may set it, and its default.
struct SettingRule {
  std::string_view key = {};       ///< "max_wait", as in `config.yaml` and `ws config`
  std::string_view flag = {};      ///< "--max-wait"; empty: none
  std::string_view variable = {};  ///< "WS_MAX_WAIT"; empty: none
  bool of_project = false;         ///< `.ws.yaml` may name it
  bool of_profile = false;         ///< a profile of the user's config may name it, before the config's defaults
  std::string_view fallback = {};
  std::string_view help = {};
};
std::span<const SettingRule> setting_rules();
/// Returns null if the key is unknown.
const SettingRule* find_setting_rule(std::string_view key);

/// A value and its source.
struct Setting {
  std::string value = {};  ///< empty: not set by any source
  Where where = Where::fallback;
  std::string place = {};  ///< as of `Named`

  explicit operator bool() const { return !value.empty(); }
};

/// Settings that can be given as flags; empty: not given.
struct SettingFlags {
  std::optional<std::string> profile = {};
  std::optional<std::string> workspace = {};
  std::optional<std::string> base_url = {};
  std::optional<std::string> format = {};
  std::optional<std::string> max_wait = {};
  std::optional<std::string> store = {};
  std::optional<std::string> skill_url = {};
  std::optional<std::string> device_name = {};
};

struct Settings {
  Setting profile = {};
  Setting workspace = {};
  Setting base_url = {};  ///< from flag, environment or the profile; never from `.ws.yaml`
  Setting format = {};
  Setting max_wait = {};
  Setting credential_store = {};
  Setting pager = {};
  Setting skill_url = {};
  Setting device_name = {};
  TrustedFolders trusted = {};          ///< only from the environment and the user's config
  std::vector<std::string> notes = {};  ///< for stderr: what was ignored
};

/// Reads `config.yaml` and the nearest `.ws.yaml` at or above `folder` (empty: none). Fails with `usage`, naming file,
/// line and reason; with `disk` where one cannot be read, code `foreign_owner` for a `.ws.yaml` that another user owns.
Result<Settings> read_settings(const SettingFlags& flags,
                               const Environment& environment,
                               const Paths& paths,
                               const std::filesystem::path& folder);

/// What flags and environment set.
Settings settings_without_files(const SettingFlags& flags, const Environment& environment);

/// A source that sets a value: "WS_FORMAT", "--format", "/home/mira/.config/ws/config.yaml: defaults.format".
struct Named {
  Where where = Where::fallback;
  std::string place = {};
  std::string value = {};

  bool operator==(const Named&) const = default;
};

/// All sources that set it, highest precedence first, a default last. Fails as `read_settings`.
Result<std::vector<Named>> who_names(const SettingRule& rule,
                                     const SettingFlags& flags,
                                     const Environment& environment,
                                     const Paths& paths,
                                     const std::filesystem::path& folder);

/// User-defined commands: `aliases` in `config.yaml`. Fails as `read_settings`.
Result<std::map<std::string, std::string>> read_aliases(const Paths& paths);

/// Sets a dotted path of `config.yaml` ("defaults.format", "profiles.work.base_url", "aliases.mine"), or removes it
/// (an empty value); everything else in the file stays as it is (`config_text.hpp`). Fails with `usage` where the file
/// cannot be read or changed, with `disk` where it cannot be written.
Result<void> write_config(const Paths& paths, std::string_view path, const std::string& value);

/// A normalised base URL: `https://host[:port][/prefix]`, without a slash at the end.
struct BaseUrl {
  std::string text = {};
  std::string origin = {};
  bool plain_http = false;  ///< permitted only by WS_ALLOW_HTTP; causes a warning
};
/// Fails with `usage`: no absolute http(s) URL, or plain http to a host that is neither loopback nor named by
/// WS_ALLOW_HTTP.
Result<BaseUrl> check_base_url(std::string_view text, const Environment& environment);
/// The key in `text`, without blanks behind it. Fails with `usage` where it is none, saying what is wrong with it.
/// `source` says where it came from: "WS_TOKEN".
Result<std::string> check_key(std::string_view text, std::string_view source);

}  // namespace ws::cli

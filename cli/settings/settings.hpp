/// What was asked for, and by whom: flag, then environment, then `.ws.yaml`, then the user's config, then default.
///
/// `.ws.yaml` comes with a tree that somebody else may have written: it may name profile, Workspace and sync roots, and
/// nothing that could send a key elsewhere or run a program. What else it holds is ignored and noted.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "cli/settings/environment.hpp"
#include "cli/settings/paths.hpp"

namespace ws::cli {

enum class Where { flag, environment, project_file, user_config, fallback };
std::string_view name(Where where);

/// A value and who said so.
struct Setting {
  std::string value = {};  ///< empty: nobody named one
  Where where = Where::fallback;

  explicit operator bool() const { return !value.empty(); }
};

/// The settings that flags may name; empty: not given.
struct SettingFlags {
  std::optional<std::string> profile = {};
  std::optional<std::string> workspace = {};
  std::optional<std::string> base_url = {};
  std::optional<std::string> format = {};
  std::optional<std::string> max_wait = {};
  std::optional<std::string> store = {};
};

struct Settings {
  Setting profile = {};
  Setting workspace = {};
  Setting base_url = {};  ///< from flag, environment or the profile; never from `.ws.yaml`
  Setting format = {};
  Setting max_wait = {};
  Setting credential_store = {};
  std::vector<std::string> sync_roots = {};
  std::vector<std::string> notes = {};  ///< for stderr: what was ignored
};

/// Reads `config.yaml` and the nearest `.ws.yaml` at or above `folder`. Fails with `usage`, naming file, line, reason.
Result<Settings> read_settings(const SettingFlags& flags,
                               const Environment& environment,
                               const Paths& paths,
                               const std::filesystem::path& folder);

/// The base URL as it is used: `https://host[:port][/prefix]`, no slash at the end.
struct BaseUrl {
  std::string text = {};
  std::string origin = {};
  bool plain_http = false;  ///< allowed by WS_ALLOW_HTTP alone: worth a warning
};
/// Fails with `usage`: no absolute http(s) URL, or plain http to a host that is neither loopback nor named by
/// WS_ALLOW_HTTP.
Result<BaseUrl> check_base_url(std::string_view text, const Environment& environment);

}  // namespace ws::cli

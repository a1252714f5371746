#include "cli/base/environment.hpp"

#include <pwd.h>
#include <unistd.h>

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

/// Without HOME that of the account, as git takes it: never the root folder, which root may write into.
fs::path home_of(const Environment& environment) {
  if (const auto home = environment.text("HOME")) return *home;
  const passwd* const account = ::getpwuid(::geteuid());
  return account == nullptr || account->pw_dir == nullptr ? "/" : account->pw_dir;
}

/// A relative path in an XDG variable is ignored, as the XDG base directory specification requires.
fs::path xdg_folder(const Environment& environment, std::string_view variable, std::string_view below_home) {
  if (const auto text = environment.text(variable); text && fs::path(*text).is_absolute())
    return fs::path(*text) / "ws";
  return home_of(environment) / below_home / "ws";
}

}  // namespace

Environment Environment::of(Values values) {
  Environment environment;
  environment.values_ = std::move(values);
  return environment;
}

Environment Environment::read() {
  Values values;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) values.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return of(std::move(values));
}

std::optional<std::string> Environment::get(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> Environment::text(std::string_view name) const {
  auto value = get(name);
  if (value && value->empty()) return std::nullopt;
  return value;
}

Paths Paths::of(const Environment& environment) {
  Paths paths;
  paths.config = xdg_folder(environment, "XDG_CONFIG_HOME", ".config");
  if (const auto text = environment.text("WS_CONFIG_DIR")) paths.config = *text;
  paths.data = xdg_folder(environment, "XDG_DATA_HOME", ".local/share");
  paths.state = xdg_folder(environment, "XDG_STATE_HOME", ".local/state");
  paths.cache = xdg_folder(environment, "XDG_CACHE_HOME", ".cache");
  return paths;
}

}  // namespace ws::cli

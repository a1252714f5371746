#include "cli/base/paths.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

/// A relative path in an XDG variable is ignored, as the XDG base directory specification requires.
fs::path folder(const Environment& environment, std::string_view variable, std::string_view below_home) {
  if (const auto text = environment.text(variable); text && fs::path(*text).is_absolute())
    return fs::path(*text) / "ws";
  return fs::path(environment.text("HOME").value_or("/")) / below_home / "ws";
}

}  // namespace

Paths Paths::of(const Environment& environment) {
  Paths paths;
  paths.config = folder(environment, "XDG_CONFIG_HOME", ".config");
  if (const auto text = environment.text("WS_CONFIG_DIR")) paths.config = *text;
  paths.data = folder(environment, "XDG_DATA_HOME", ".local/share");
  paths.state = folder(environment, "XDG_STATE_HOME", ".local/state");
  paths.cache = folder(environment, "XDG_CACHE_HOME", ".cache");
  return paths;
}

}  // namespace ws::cli

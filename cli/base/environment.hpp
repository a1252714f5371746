/// The environment variables, read once at program start, and the folders that they name.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace ws::cli {

class Environment {
 public:
  using Values = std::map<std::string, std::string, std::less<>>;

  static Environment of(Values values);
  /// Reads the environment of this process.
  static Environment read();

  std::optional<std::string> get(std::string_view name) const;
  /// The variable's value if it is set and not empty.
  std::optional<std::string> text(std::string_view name) const;

 private:
  Values values_ = {};
};

/// The directories of `ws` outside a synced tree (XDG base directory specification).
struct Paths {
  std::filesystem::path config = {};  ///< `config.yaml`; WS_CONFIG_DIR moves it
  std::filesystem::path data = {};    ///< `credentials`
  std::filesystem::path state = {};   ///< pending logins, uploads, the idempotency journal
  std::filesystem::path cache = {};

  static Paths of(const Environment& environment);
};

}  // namespace ws::cli

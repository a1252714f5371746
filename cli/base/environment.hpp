/// The environment variables, read once at program start.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

}  // namespace ws::cli

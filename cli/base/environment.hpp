/// The environment variables, read once at the start.
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
  /// Of this process.
  static Environment read();

  std::optional<std::string> get(std::string_view name) const;
  /// Set and not empty.
  std::optional<std::string> text(std::string_view name) const;

 private:
  Values values_ = {};
};

}  // namespace ws::cli

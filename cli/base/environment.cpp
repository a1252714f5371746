#include "cli/base/environment.hpp"

#include <unistd.h>

namespace ws::cli {

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

}  // namespace ws::cli

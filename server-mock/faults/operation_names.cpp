#include "server-mock/faults/operation_names.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "api-client/base/suggestion.hpp"
#include "api-client/contract/operations.hpp"
#include "server-mock/faults/glob.hpp"

namespace ws::mock {

const std::vector<std::string>& operation_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"upload.put", "openapi", "page.device", "page.skill"};
    for (const contract::Operation* operation : contract::operations()) all.emplace_back(operation->id);
    return all;
  }();
  return names;
}

bool names_operation(std::string_view pattern) {
  return std::ranges::any_of(operation_names(), [&](const std::string& name) { return glob_matches(pattern, name); });
}

std::string no_such_operation(std::string_view pattern) {
  const std::string meant = suggestion(pattern, operation_names());
  return fmt::format("There is no operation {}{}{}", pattern, meant.empty() ? "" : "; ", meant);
}

}  // namespace ws::mock

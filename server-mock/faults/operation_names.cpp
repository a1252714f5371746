#include "server-mock/faults/operation_names.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "api-client/base/ascii.hpp"
#include "api-client/contract/operations.hpp"
#include "server-mock/services/shared/errors.hpp"

namespace ws::mock {

namespace {

/// What is answered besides the operations of the API.
struct OtherRequest {
  std::string_view name = {};
  std::string_view path = {};
};
constexpr OtherRequest others[] = {{"upload.put", "/uploads/**"},
                                   {"openapi", "/openapi.json"},
                                   {"page.device", "/device"},
                                   {"page.root", "/"},
                                   {"page.skill", "/skill/**"}};

}  // namespace

const std::vector<std::string>& operation_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const OtherRequest& other : others) all.emplace_back(other.name);
    for (const contract::Operation* operation : contract::operations()) all.emplace_back(operation->id);
    return all;
  }();
  return names;
}

bool names_operation(std::string_view pattern) {
  return std::ranges::any_of(operation_names(), [&](const std::string& name) { return glob_matches(pattern, name); });
}

std::string no_such_operation(std::string_view pattern) { return no_such("operation", pattern, operation_names()); }

std::string never_matched(std::string_view pattern) {
  const contract::Operation* const operation = contract::find_operation(pattern);
  if (operation == nullptr) return fmt::format("No request of {} matches", pattern);
  return fmt::format(
      "{} is {} {}; no request of it matches", pattern, contract::name(operation->method), operation->path);
}

std::vector<std::string> operations_that_match(const RequestPattern& pattern) {
  const auto matches = [&pattern](const std::string& name) {
    if (!pattern.operation.empty() && !glob_matches(pattern.operation, name)) return false;
    const contract::Operation* const operation = contract::find_operation(name);
    if (operation == nullptr) {
      const auto* const other = std::ranges::find(others, name, &OtherRequest::name);
      return pattern.path.empty() || globs_meet(pattern.path, other->path);
    }
    const std::string_view own = contract::name(operation->method);
    const bool has_method = pattern.method.empty() || equal_ignoring_case(pattern.method, own) ||
                            glob_matches(pattern.method, own) ||
                            (own == "GET" && equal_ignoring_case(pattern.method, "HEAD"));
    if (!has_method) return false;
    return pattern.path.empty() || globs_meet(pattern.path, operation->path) ||
           globs_meet(pattern.path, std::string(operation->path) + "/");
  };
  std::vector<std::string> found;
  std::ranges::copy_if(operation_names(), std::back_inserter(found), matches);
  return found;
}

}  // namespace ws::mock

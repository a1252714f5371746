#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "api-client/base/suggestion.hpp"
#include "server-mock/services/shared/errors.hpp"

namespace ws::mock {

Loc within(Loc loc, contract::Step step) {
  loc.push_back(std::move(step));
  return loc;
}

std::string unknown_member_message(std::string_view name, std::span<const std::string_view> known) {
  if (known.empty()) return fmt::format("Unknown: {}; none is taken here", name);
  return fmt::format("Unknown: {}; known are {}", name, fmt::join(known, ", "));
}

std::string no_such(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  const std::string near = nearest_names(name, known);
  return fmt::format("There is no {} {}{}{}", what, name, near.empty() ? "" : "; ", near);
}

void ValidationErrors::check(const Json& value, const contract::Schema& schema, const Loc& loc) {
  contract::Findings findings = contract::validate_value(value, schema, loc);
  std::ranges::move(findings.violations, std::back_inserter(violations_));
  std::vector<std::string_view> names;
  for (const contract::Field& field : schema.fields) names.push_back(field.name);
  for (Loc& unknown : findings.unknown) {
    const auto* name = std::get_if<std::string>(&unknown.back());
    const bool is_direct = unknown.size() == loc.size() + 1 && name != nullptr;
    contract::Violation violation = contract::extra_forbidden(unknown, nullptr);
    if (is_direct) violation.message = unknown_member_message(*name, names);
    violations_.push_back(std::move(violation));
  }
}

void ValidationErrors::add(Loc loc, std::string_view type, std::string_view message, const Json& input) {
  violations_.push_back(
      {.loc = std::move(loc), .type = std::string(type), .message = std::string(message), .input = input});
}

ApiError invalid_request(const std::vector<contract::Violation>& violations) {
  Json body = contract::to_json(violations);
  return ApiError{.status = 422,
                  .code = "validation_error",
                  .message = "The request is not valid",
                  .members = Json{{"detail", std::move(body["detail"])}}};
}

}  // namespace ws::mock

#include "server-mock/complaints.hpp"

#include <iterator>

#include <nlohmann/json.hpp>

namespace ws::mock {

Loc within(Loc loc, contract::Step step) {
  loc.push_back(std::move(step));
  return loc;
}

void Complaints::check(const Json& value, const contract::Schema& schema, const Loc& loc) {
  contract::Findings findings = contract::validate_value(value, schema, loc);
  std::ranges::move(findings.violations, std::back_inserter(violations_));
  for (Loc& unknown : findings.unknown) violations_.push_back(contract::extra_forbidden(std::move(unknown), nullptr));
}

void Complaints::add(Loc loc, std::string_view type, std::string_view message, const Json& input) {
  violations_.push_back(
      {.loc = std::move(loc), .type = std::string(type), .message = std::string(message), .input = input});
}

Refusal Complaints::refusal() const {
  Json body = contract::to_json(violations_);
  return Refusal{.status = 422,
                 .code = "validation_error",
                 .message = "The request is not valid",
                 .members = Json{{"detail", std::move(body["detail"])}}};
}

}  // namespace ws::mock

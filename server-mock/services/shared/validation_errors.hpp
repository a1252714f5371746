/// Collects all errors of an input, to report them at once: bodies of control calls, fault rules, fixtures.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/contract/validate.hpp"
#include "server-mock/services/shared/service.hpp"

namespace ws::mock {

using Loc = std::vector<contract::Step>;

/// `loc` with one more step.
Loc within(Loc loc, contract::Step step);

/// "Unknown member colour; known are kind, agent"
std::string unknown_member_message(std::string_view name, std::span<const std::string_view> known);

/// The message for a name that `known` does not have: "There is no header X; did you mean `Y`?" (`nearest_names`).
std::string no_such(std::string_view what, std::string_view name, const std::vector<std::string>& known);

class ValidationErrors {
 public:
  /// Adds the violations of the schema; unknown members are errors too.
  void check(const Json& value, const contract::Schema& schema, const Loc& loc);
  /// `type` is an error type of pydantic: "value_error".
  void add(Loc loc, std::string_view type, std::string_view message, const Json& input);
  void add(Loc loc, std::string_view message, const Json& input) { add(std::move(loc), "value_error", message, input); }

  bool empty() const { return violations_.empty(); }
  const std::vector<contract::Violation>& all() const { return violations_; }
  /// A 422 in the published form.
  ApiError api_error() const;

 private:
  std::vector<contract::Violation> violations_ = {};
};

}  // namespace ws::mock

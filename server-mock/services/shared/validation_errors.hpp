/// All that is wrong with what somebody sent or wrote, told at once: control bodies, fault rules, fixtures.
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

/// `loc` and one step more.
Loc within(Loc loc, contract::Step step);

/// "Unknown member colour; known are kind, agent"
std::string unknown_among(std::string_view name, std::span<const std::string_view> known);

class Complaints {
 public:
  /// What the schema says of the value; a member that it does not know is a complaint too.
  void check(const Json& value, const contract::Schema& schema, const Loc& loc);
  /// `type` is a word of pydantic's: "value_error".
  void add(Loc loc, std::string_view type, std::string_view message, const Json& input);
  void add(Loc loc, std::string_view message, const Json& input) { add(std::move(loc), "value_error", message, input); }

  bool empty() const { return violations_.empty(); }
  const std::vector<contract::Violation>& all() const { return violations_; }
  /// 422 in the published form.
  Refusal refusal() const;

 private:
  std::vector<contract::Violation> violations_ = {};
};

}  // namespace ws::mock

/// Errors of services (`decisions.md`, "Errors"): how to make them and how to return them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "api-client/contract/validate.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/tree.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// A `T`, or the error that the caller gets. (`Result` is for failures below services: disk, bugs.)
template <class T>
class [[nodiscard]] ApiResult : public tl::expected<T, ApiError> {
  using Base = tl::expected<T, ApiError>;

 public:
  using Base::Base;
  ApiResult(Base base) : Base(std::move(base)) {}  // NOLINT(google-explicit-constructor): a ApiResult is its Base
};

using Unexpected = tl::unexpected<ApiError>;

inline Unexpected refuse(ApiError api_error) { return Unexpected(std::move(api_error)); }
/// A failure below a service is the server's fault: 500 `internal_error`.
Unexpected refuse(Failure failure);

/// 404: the object does not exist or the caller may not see it. The two cases must not be distinguishable.
Unexpected not_found(std::string_view what);
/// 403 `forbidden`: the caller may see but not change the object.
Unexpected forbidden(std::string_view sentence);
/// 403 `insufficient_role` with `required_role`.
Unexpected insufficient_role(contract::Role required);
/// 409 with this code.
Unexpected conflict(std::string_view code, std::string_view sentence);
/// 409 `revision_conflict` (412 under `revision_mismatch`), with the current revision.
Unexpected revision_conflict(const World& world, const Document& now, std::int64_t expected);
/// 422 in the published form, for one value: `invalid("body", "cursor", "value_error", "Malformed cursor", input)`.
Unexpected invalid(
    std::string_view where, std::string_view name, std::string_view type, std::string_view message, const Json& input);

/// 422 in the published form.
ApiError invalid_request(const std::vector<contract::Violation>& violations);

/// 403 if the caller's role in the object's Workspace does not suffice for the operation.
ApiResult<void> require_role(const ServiceCall& call, contract::Role role);

// Collects all errors of an input, to report them at once: bodies of control calls, fault rules, fixtures.

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
  ApiError api_error() const { return invalid_request(violations_); }

 private:
  std::vector<contract::Violation> violations_ = {};
};

}  // namespace ws::mock

/// Like WS_TRY and WS_LET, in functions that return an `ApiResult` or a `ServiceResult`; also accept a `Result`.
#define WS_API_TRY(expression)                                                                           \
  do {                                                                                                   \
    if (auto ws_tried = (expression); !ws_tried) return ::ws::mock::refuse(std::move(ws_tried).error()); \
  } while (false)
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot be parenthesised
#define WS_API_LET(declaration, expression) WS_API_LET_(declaration, expression, WS_JOIN(ws_api_, __LINE__))
#define WS_API_LET_(declaration, expression, name)               \
  auto name = (expression);                                      \
  if (!name) return ::ws::mock::refuse(std::move(name).error()); \
  declaration = std::move(*name)
// NOLINTEND(bugprone-macro-parentheses)

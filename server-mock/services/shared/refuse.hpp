/// How a service says no: refusals in the words of `decisions.md`, "Errors", and the way to pass them up.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

#include "api-client/base/result.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/tree.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// A `T`, or the refusal that the caller gets instead. (`Result` is for what fails beneath: disk, bugs.)
template <class T>
class [[nodiscard]] Served : public tl::expected<T, Refusal> {
  using Base = tl::expected<T, Refusal>;

 public:
  using Base::Base;
  Served(Base base) : Base(std::move(base)) {}  // NOLINT(google-explicit-constructor): a Served is its Base
};

using Refused = tl::unexpected<Refusal>;

inline Refused refuse(Refusal refusal) { return Refused(std::move(refusal)); }
/// What fails beneath a service is the server's fault: 500 `internal_error`.
Refused refuse(Failure failure);

/// 404: there is none, or the caller may not see it. Existence never leaks.
Refused not_found(std::string_view what);
/// 403 `forbidden`: it is seen, but may not be changed.
Refused forbidden(std::string_view sentence);
/// 403 `insufficient_role` with `required_role`.
Refused insufficient_role(contract::Role required);
/// 409 with a code of its own.
Refused conflict(std::string_view code, std::string_view sentence);
/// 409 (412 under `revision_mismatch`) `revision_conflict`, telling what the revision is now.
Refused revision_conflict(const World& world, const Document& now, std::int64_t expected);
/// 422 in the published form, of one value: `invalid("body", "cursor", "value_error", "Malformed cursor", input)`.
Refused invalid(
    std::string_view where, std::string_view name, std::string_view type, std::string_view message, const Json& input);

/// The caller's role in the object's Workspace suffices for the operation, or 403.
Served<void> require_role(const ServiceCall& call, contract::Role role);

}  // namespace ws::mock

/// As WS_TRY and WS_LET, for functions that return a `Served` or a `ServiceResult`; takes a `Result` too.
#define WS_SERVE(expression)                                                                             \
  do {                                                                                                   \
    if (auto ws_tried = (expression); !ws_tried) return ::ws::mock::refuse(std::move(ws_tried).error()); \
  } while (false)
#define WS_SERVE_LET(declaration, expression) WS_SERVE_LET_(declaration, expression, WS_JOIN(ws_served_, __LINE__))
#define WS_SERVE_LET_(declaration, expression, name)             \
  auto name = (expression);                                      \
  if (!name) return ::ws::mock::refuse(std::move(name).error()); \
  declaration = std::move(*name)

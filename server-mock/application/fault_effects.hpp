/// Applies the effects of a fault rule: to the world before or after the handler runs, and to the response.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"
#include "server-mock/faults/faults.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/http/target.hpp"
#include "server-mock/sandbox/sandbox.hpp"

namespace ws::mock {

/// A call that a fault rule matched.
struct FaultedCall {
  Sandbox& sandbox;
  const http::Request& request;
  std::string_view request_id;
  std::string_view operation = {};  ///< empty: no route
  const http::Pairs& values;        ///< path parameters
};

/// Prefix of the cursors of `empty_page`; the rest is the cursor of the page itself, empty for the first page.
inline constexpr std::string_view same_page = "same-page.";
/// The query to serve instead of the request's if it contains such a cursor or the rule repeats a page.
std::optional<std::string> rewritten_query(const http::Request& request, const FaultRule* rule);

/// Applies the effects on keys, leases, revisions and uploads in the rule's phase. Called before the handler (`answer`
/// is null) and after it; each effect happens once. In phase `before` this very call finds an expired key, or a
/// document with a newer revision. The event of a claim is only known from its response, so its lease is lost after the
/// handler in either phase.
Result<void> apply_to_world(const FaultedCall& call, const FaultRule& rule, const http::Response* answer);

/// The response after the effect, with its wire fault. (A delay before the handler has already passed.)
http::Response apply_to_response(const FaultedCall& call, const FaultRule& rule, http::Response&& answer);

}  // namespace ws::mock

/// What a fault does once its turn has come: to the world behind the call, and to the answer on its way.
#pragma once

#include <optional>
#include <string_view>

#include "api-client/base/result.hpp"
#include "server-mock/faults/faults.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/http/target.hpp"
#include "server-mock/sandbox/sandbox.hpp"

namespace ws::mock {

/// A call that is being disturbed.
struct FaultedCall {
  Sandbox& sandbox;
  const http::Request& request;
  std::string_view request_id;
  std::string_view operation = {};  ///< empty: no route
  const http::Pairs& values;        ///< of the path's places
};

/// `expire_key`, `lose_lease`, `bump_revision`, in the rule's phase: called before the handler (`answer` is null) and
/// after it, and does each once. Before: the key is gone for this very call, the document that it names has been edited
/// by somebody else. A claim names no event until it is answered: its lease lapses afterwards in either phase.
Result<void> disturb_world(const FaultedCall& call, const FaultRule& rule, const http::Response* answer);

/// The answer as the effect leaves it, with what the wire is to do to it. (A delay before the handler is over by now.)
http::Response disturb_answer(const FaultedCall& call, const FaultRule& rule, http::Response&& answer);

}  // namespace ws::mock

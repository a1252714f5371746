/// Classifies the outcome of an exchange: success, or a failure with its column of the retry table. Checks that a
/// success is about the object that the call named, and whole.
///
/// Private to `client*.cpp`.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"
#include "api-client/client/client.hpp"
#include "api-client/contract/schema.hpp"
#include "api-client/http/retry.hpp"
#include "api-client/http/transport.hpp"

namespace ws {

struct Verdict {
  http::Ending ending = http::Ending::success;
  bool local = false;    ///< the sink or the source failed: the retry table does not apply
  Reply reply = {};      ///< with `Ending::success`
  Failure failure = {};  ///< otherwise; `kind` follows from the status or the reason
  std::optional<std::chrono::milliseconds> retry_after = {};
};

/// `streamed`: a sink received the body of a success, so that it cannot be parsed.
Verdict read_answer(const contract::Operation& operation, http::Outcome outcome, bool streamed, Time now);

/// Why a success is not believed.
struct Doubt {
  std::string what = {};
  std::string_view code = {};
};
/// Empty if the response names the requested object, or none, its text has the hash beside it, and what was to go is
/// not said to be there. UUIDs are compared without regard to case.
std::optional<Doubt> find_doubt(const contract::Operation& operation,
                                const std::vector<std::pair<std::string, std::string>>& parameters,
                                const Json& answer);

/// The command that shows whether a change of unknown outcome took effect, with the words of the call.
std::string command_to_look(const contract::Operation& operation,
                            const std::vector<std::pair<std::string, std::string>>& parameters);
/// "check with" that command, or what else tells it.
std::string how_to_check(const contract::Operation& operation,
                         const std::vector<std::pair<std::string, std::string>>& parameters);
/// What to do about a change of unknown outcome.
std::string hint_for_unknown(const contract::Operation& operation,
                             const std::vector<std::pair<std::string, std::string>>& parameters,
                             const std::string& idempotency_key);

}  // namespace ws

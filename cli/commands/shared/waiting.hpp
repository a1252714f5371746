/// `--wait`: polls a resource until its status is final.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/shell_command.hpp"
#include "api-client/client/client.hpp"
#include "cli/commands/shared/session.hpp"

namespace ws::cli {

enum class Phase { pending, done, failed };

/// What a status word means. The API publishes `completed` of a question and nothing else, so every word that is not
/// known to be final counts as pending.
Phase phase_of_status(std::string_view status);
/// By the member `status`; what has its answer or its artifacts is done whatever its status says.
Phase phase_of(const Json& value);
/// The note that a status was not known where the result makes it an end; else empty.
std::string unknown_end_of(const Json& value);

/// Whether `--wait` was given. The flag itself: `wait_flag`.
bool waits(const Session& session);
Flag wait_flag(std::string help);

struct Awaited {
  Reply reply = {};
  Phase phase = Phase::pending;
};

/// What the service accepted before it is waited for.
struct Accepted {
  std::string noun = {};  ///< "question"
  std::string id = {};
  ShellCommand again = {};  ///< waits for it once more
};

/// Whatever ends the waiting, the change was made: says so, with the id, and is not retryable.
Failure after_acceptance(Failure failure, const Accepted& accepted);

/// Reads with `read` until the phase is an end, with the status on stderr while it changes, and a note on each status
/// that is neither a known end nor a known beginning. No longer than `--timeout`, else `longest`: then it fails with
/// `pending`, naming the command that continues (`again`).
Result<Awaited> await_end(Session& session,
                          Client& client,
                          const Call& read,
                          const ShellCommand& again,
                          std::optional<std::chrono::milliseconds> longest = std::nullopt);
/// The same for what this command sent itself: fails as `after_acceptance`.
Result<Awaited> await_accepted(Session& session,
                               Client& client,
                               const Call& read,
                               const Accepted& accepted,
                               std::optional<std::chrono::milliseconds> longest = std::nullopt);

/// `done` is 0, `failed` is 13.
ExitCode exit_of(Phase phase);

}  // namespace ws::cli

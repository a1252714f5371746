/// `--wait`: polls a resource until its status is final.
#pragma once

#include <functional>
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
/// By the member `status`; a question that has its answer is done whatever its status says.
Phase phase_of(const Json& value);

/// Whether `--wait` was given. The flag itself: `wait_flag`.
bool waits(const Session& session);
Flag wait_flag(std::string help);

struct Awaited {
  Reply reply = {};
  Phase phase = Phase::pending;
};

/// Reads with `read` until the phase is an end, with the status on stderr while it changes. With `--timeout` no longer
/// than that in all: fails with `pending`, naming the command that goes on (`again`).
Result<Awaited> await_end(Session& session, Client& client, const Call& read, const ShellCommand& again);

/// `done` is 0, `failed` is 13.
ExitCode exit_of(Phase phase);

}  // namespace ws::cli

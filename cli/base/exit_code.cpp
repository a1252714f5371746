#include "cli/base/exit_code.hpp"

#include <csignal>

namespace ws::cli {
namespace {

constexpr ExitCodeMeaning meanings[] = {
    {ExitCode::done, "done", "done; also for an empty list"},
    {ExitCode::unexpected, "unexpected", "an unexpected failure, probably an error in ws itself"},
    {ExitCode::usage, "usage", "usage or local validation; nothing was sent"},
    {ExitCode::refused, "refused", "the service refused the input (413, 415, 416, 422, other 4xx)"},
    {ExitCode::auth, "auth", "not authenticated (401)"},
    {ExitCode::forbidden, "forbidden", "permission or scope missing (403)"},
    {ExitCode::not_found, "not_found", "not found (404, 410)"},
    {ExitCode::conflict, "conflict", "a conflict to decide, or the service has a newer revision (409, 412)"},
    {ExitCode::pending, "pending", "not finished yet (428, or 202)"},
    {ExitCode::rate_limited, "rate_limited", "rate limited after retries (429)"},
    {ExitCode::server, "server", "server failure after retries (408, 5xx)"},
    {ExitCode::network, "network", "network failure; nothing was applied"},
    {ExitCode::unknown_outcome, "unknown_outcome", "a change was sent and no answer came: it may have been made"},
    {ExitCode::partial, "partial", "some of a batch failed"},
    {ExitCode::local, "local", "a local file cannot be used, or is locked"},
    {ExitCode::integrity, "integrity", "hash or size does not match"},
    {ExitCode::interrupted, "interrupted", "stopped by SIGINT"},
    {ExitCode::broken_pipe, "broken_pipe", "the program that reads the output has ended"},
    {ExitCode::terminated, "terminated", "stopped by SIGTERM"},
};

ExitCode of_kind(Failure::Kind kind, bool answered) {
  switch (kind) {
    case Failure::Kind::internal: return ExitCode::unexpected;
    case Failure::Kind::usage: return ExitCode::usage;
    case Failure::Kind::invalid: return answered ? ExitCode::refused : ExitCode::usage;
    case Failure::Kind::auth: return ExitCode::auth;
    case Failure::Kind::forbidden: return ExitCode::forbidden;
    case Failure::Kind::not_found: return ExitCode::not_found;
    case Failure::Kind::conflict: return ExitCode::conflict;
    case Failure::Kind::pending: return ExitCode::pending;
    case Failure::Kind::rate_limited: return ExitCode::rate_limited;
    case Failure::Kind::service: return ExitCode::server;
    case Failure::Kind::unreachable: return ExitCode::network;
    case Failure::Kind::unknown_outcome: return ExitCode::unknown_outcome;
    case Failure::Kind::partial: return ExitCode::partial;
    case Failure::Kind::disk: return ExitCode::local;
    case Failure::Kind::integrity: return ExitCode::integrity;
    case Failure::Kind::cancelled: return ExitCode::interrupted;
  }
  return ExitCode::unexpected;
}

}  // namespace

std::span<const ExitCodeMeaning> exit_codes() { return meanings; }

ExitCode exit_code_of(const Failure& failure, int signal) {
  if (failure.kind == Failure::Kind::cancelled && signal == SIGTERM) return ExitCode::terminated;
  // The device grant's refusals share status 400 (`cli.md`, below the table).
  if (failure.code == "access_denied") return ExitCode::forbidden;
  if (failure.code == "expired_token" || failure.code == "invalid_grant") return ExitCode::auth;
  return of_kind(failure.kind, failure.call.http_status != 0);
}

}  // namespace ws::cli

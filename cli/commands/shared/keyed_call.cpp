#include "cli/commands/shared/keyed_call.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/contract/validate.hpp"
#include "cli/commands/shared/account.hpp"
#include "cli/commands/shared/outcomes.hpp"
#include "cli/state/idempotency_journal.hpp"

namespace ws::cli {
namespace {

bool takes_key(const contract::Operation& operation) { return operation.idempotency == contract::Idempotency::key; }

Failure too_old(const contract::Operation& operation, const EarlierCreate& earlier) {
  return {
      .kind = Failure::Kind::unknown_outcome,
      .what = fmt::format("{}: an earlier run of {} got no answer, and its idempotency key has expired",
                          operation.id,
                          to_rfc3339(earlier.begun_at)),
      .hint = "check with " + command_to_check(operation) + "; if it did not happen, give a new `--idempotency-key`",
      .call = {.operation = std::string(operation.id), .applied = Applied::unknown, .idempotency_key = earlier.key}};
}

/// The published limits of the header.
Result<void> check_key(const Session& session, const contract::Operation& operation, const std::string& key) {
  if (session.has("no-validate")) return {};
  const std::vector<std::pair<std::string, std::string>> headers = {{"Idempotency-Key", key}};
  for (const contract::Violation& violation : contract::validate_parameters(operation, {}, {}, headers).violations) {
    const auto* const place = std::get_if<std::string>(&violation.loc.front());
    if (place == nullptr || *place != "header") continue;
    return fail(Failure::Kind::usage, "--idempotency-key: " + violation.message);
  }
  return {};
}

}  // namespace

Result<void> settle_idempotency_key(Session& session, const contract::Operation& operation, Call& call) {
  if (!takes_key(operation)) return {};
  const auto given = session.arguments().value("idempotency-key");
  if (!given) return {};
  if (!has_stable_key(session)) {
    // An empty one would stand for a new key.
    if (given->empty()) return fail(Failure::Kind::usage, "--idempotency-key takes a key, or `stable`");
    WS_TRY(check_key(session, operation, *given));
    call.idempotency_key = *given;
    return {};
  }
  // Another key of the same person makes the same key of it, so whose this one is has to be known, for --dry-run too;
  // asked once.
  WS_LET(const Key key, session.key());
  WS_TRY(account_of(session, key, "so another key of the same person would make another object"));
  WS_LET(const KeyedCreate create, describe_change(session, operation.id, call.parameters, *call.body));
  WS_LET(IdempotencyJournal journal, IdempotencyJournal::open(session.paths().state));
  WS_LET(const auto earlier, journal.find(create));
  const Time now = session.world().clock.now();
  const bool lapsed = earlier && now - earlier->begun_at > key_lifetime;
  if (lapsed && !earlier->settled) return fail(too_old(operation, *earlier));
  const std::string& fingerprint = create.account_fingerprint.empty() ? create.fingerprint : create.account_fingerprint;
  call.idempotency_key = earlier && !lapsed ? earlier->key : "ws-" + fingerprint;
  return {};
}

}  // namespace ws::cli

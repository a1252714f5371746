#include "cli/commands/shared/keyed_call.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/base/uuid.hpp"
#include "api-client/contract/validate.hpp"
#include "cli/state/idempotency_journal.hpp"

namespace ws::cli {
namespace {

constexpr std::string_view stable_word = "stable";

bool takes_key(const contract::Operation& operation) { return operation.idempotency == contract::Idempotency::key; }

bool is_stable(const Session& session) { return session.arguments().value("idempotency-key") == stable_word; }

/// The service scopes an idempotency key to the credential's owner, whom the client does not know; the Workspace id, or
/// the hash of the credential, stands in. Two owners with the same value do no harm: the service keeps them apart.
Result<KeyedCreate> describe_create(Session& session, const contract::Operation& operation, const Call& call) {
  WS_LET(const BaseUrl url, session.base_url());
  WS_LET(const Key key, session.key());
  const bool has_workspace = key.stored && !key.stored->workspace_id.empty();
  std::string text = url.text + "\n";
  text += has_workspace ? key.stored->workspace_id : Sha256::of(key.credential.secret).hex();
  text += "\n" + std::string(operation.id) + "\n" + canonical(*call.body);
  auto parameters = call.parameters;
  std::ranges::sort(parameters);
  for (const auto& [name, value] : parameters) text += fmt::format("\n{}={}", name, value);
  return KeyedCreate{
      .operation = std::string(operation.id), .origin = url.origin, .fingerprint = Sha256::of(text).hex()};
}

Failure too_old(const contract::Operation& operation, const EarlierCreate& earlier) {
  return {
      .kind = Failure::Kind::unknown_outcome,
      .what = fmt::format("{}: an earlier run of {} got no answer, and its idempotency key has expired since",
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

bool is_open_after(const Result<Reply>& reply) { return !reply && reply.error().call.applied == Applied::unknown; }

}  // namespace

Result<void> settle_idempotency_key(Session& session, const contract::Operation& operation, Call& call) {
  if (!takes_key(operation)) return {};
  const auto given = session.arguments().value("idempotency-key");
  if (given && !is_stable(session)) {
    WS_TRY(check_key(session, operation, *given));
    call.idempotency_key = *given;
  }
  if (given && is_stable(session)) {
    WS_LET(const KeyedCreate create, describe_create(session, operation, call));
    WS_LET(IdempotencyJournal journal, IdempotencyJournal::open(session.paths().state));
    WS_LET(const auto earlier, journal.find(create));
    const Time now = session.world().clock.now();
    const bool lapsed = earlier && now - earlier->begun_at > key_lifetime;
    if (lapsed && !earlier->settled) return fail(too_old(operation, *earlier));
    call.idempotency_key = earlier && !lapsed ? earlier->key : "ws-" + create.fingerprint;
  }
  if (call.idempotency_key.empty()) {
    call.idempotency_key = make_uuid_v7(session.world().clock.now(), session.world().random);
  }
  return {};
}

Result<Reply> send_call(Session& session, Client& client, const contract::Operation& operation, Call call) {
  if (!takes_key(operation)) return client.call(std::move(call));
  if (call.idempotency_key.empty()) WS_TRY(settle_idempotency_key(session, operation, call));
  WS_LET(const KeyedCreate create, describe_create(session, operation, call));
  const std::string key = call.idempotency_key;
  auto journal = IdempotencyJournal::open(session.paths().state);
  Result<Recorded> recorded = Recorded::first_time;
  if (journal) recorded = journal->begin(create, key, is_stable(session), session.world().clock.now());
  const bool is_kept = journal && recorded;
  if (!is_kept) {
    const Failure& failure = journal ? recorded.error() : journal.error();
    if (is_stable(session)) return fail(failure);
    session.note("note: after a crash this request cannot be resumed, as the journal cannot be written: " +
                 failure.what);
  }
  Result<Reply> reply = client.call(std::move(call));
  if (!is_kept || is_open_after(reply)) return reply;
  // A refusal of this run says nothing of an earlier one that is still open.
  if (!reply && *recorded == Recorded::again) return reply;
  const Time now = session.world().clock.now();
  if (!reply) {
    if (auto forgotten = journal->forget(key); !forgotten) session.note("note: " + forgotten.error().what);
    return reply;
  }
  // Settled only after the output was written: `stable`, repeated after a kill, gets this answer again.
  session.after_output([&session, key, now, kept = std::make_shared<IdempotencyJournal>(std::move(*journal))] {
    if (auto settled = kept->settle(key, now); !settled) session.note("note: " + settled.error().what);
  });
  return reply;
}

}  // namespace ws::cli

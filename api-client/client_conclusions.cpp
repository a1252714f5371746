// Refusals that are successes: an earlier send of the same call got no answer, but did its work (`cli.md`, "Retry
// classes and outcomes", classes D and P).
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/client_impl.hpp"

namespace ws {
namespace {

using http::Ending;

/// Class D: what a second send of something already done is answered with.
struct AlreadyDone {
  std::string_view operation;
  int status;
};
constexpr AlreadyDone already_done[] = {
    {"docs.archive", 404}, {"docs.archive", 410}, {"auth.revoke", 401}, {"auth.revoke", 404}};

bool is_already_done(std::string_view operation, int status) {
  for (const AlreadyDone& row : already_done) {
    if (row.operation == operation && row.status == status) return true;
  }
  return false;
}

/// Class P: where to read what a change of a revision has made.
struct ReadBack {
  std::string_view operation;
  std::string_view read;
  bool (*is_equal)(const Json& sent, const Json& there);
};

bool is_document_equal(const Json& sent, const Json& there) {
  for (const std::string_view name : {"title", "content"}) {
    const Json* const ours = find(sent, name);
    if (ours == nullptr || ours->is_null()) continue;
    const Json* const theirs = find(there, name);
    if (theirs == nullptr || *theirs != *ours) return false;
  }
  return true;
}

bool is_resolution_equal(const Json& sent, const Json& there) {
  if (find_text(there, "status") != "resolved") return false;
  if (find_text(there, "resolution") != find_text(sent, "resolution")) return false;
  const auto content = find_text(sent, "content");
  if (!content) return true;
  const Json* const result = find(there, "result");
  return result != nullptr && find_text(*result, "content_sha256") == Sha256::of(*content).hex();
}

constexpr ReadBack read_backs[] = {{"docs.update", "docs.get", is_document_equal},
                                   {"sync.conflict_resolve", "sync.conflict_get", is_resolution_equal}};

const ReadBack* find_read_back(std::string_view operation) {
  for (const ReadBack& row : read_backs) {
    if (row.operation == operation) return &row;
  }
  return nullptr;
}

}  // namespace

bool Client::Impl::conclude(Id id, const Verdict& verdict) {
  const Running& running = *calls.at(id);
  const std::string_view operation = running.prepared.operation->id;
  const int status = verdict.failure.call.http_status;
  if (verdict.ending != Ending::refused || !running.in_doubt) return false;
  if (running.unanswered && is_already_done(operation, status)) {
    trace(running, "< already done by a send that got no answer");
    finish(id,
           Reply{.status = status,
                 .body = verdict.failure.call.details,
                 .sends = running.sends,
                 .idempotency_key = running.prepared.idempotency_key,
                 .after_unanswered_send = true,
                 .concluded = true});
    return true;
  }
  if ((status != 409 && status != 412) || find_read_back(operation) == nullptr) return false;
  compare_with_what_is_there(id, final_failure(running, verdict, decision_on(running, verdict)));
  return true;
}

void Client::Impl::compare_with_what_is_there(Id id, Failure refusal) {
  const Running& running = *calls.at(id);
  const ReadBack& row = *find_read_back(running.prepared.operation->id);
  Call read{.operation = row.read, .parameters = running.call.parameters, .timeout = running.call.timeout};
  trace(running, "the revision has moved after a send without an answer: reading what is there");
  start(std::move(read), [this, id, &row, refusal = std::move(refusal)](Result<Reply> answer) mutable {
    const auto found = calls.find(id);
    if (found == calls.end()) return;
    const Running& ours = *found->second;
    if (!answer && answer.error().kind == Failure::Kind::cancelled) {
      refusal.kind = Failure::Kind::cancelled;
      return finish(id, fail(std::move(refusal)));
    }
    if (!answer) {
      refusal.kind = Failure::Kind::unknown_outcome;
      return finish(id, fail(std::move(refusal)));
    }
    if (!row.is_equal(*ours.call.body, *answer->json)) return finish(id, fail(std::move(refusal)));
    answer->sends += ours.sends;
    answer->after_unanswered_send = ours.unanswered;
    answer->concluded = true;
    finish(id, std::move(answer));
  });
}

}  // namespace ws

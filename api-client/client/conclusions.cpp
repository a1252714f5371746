// Refusals that are successes: an earlier send of the same call got no answer, but did its work (`cli.md`, "Retry
// classes and outcomes", classes D, L and P).
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/client/client_impl.hpp"

namespace ws {
namespace {

using http::Ending;

/// Classes D and L: what a second send of something already done is answered with, and what the first one would have
/// been answered with, as far as that is known.
struct AlreadyDone {
  std::string_view operation;
  int status;
  std::string_view code;  ///< empty: any
  std::string_view id;    ///< the parameter that is the answer's `id`; empty: none
  std::string_view answer;
  bool is_sure = true;  ///< else the refusal would be the same had the first send done nothing: nobody knows
};
constexpr AlreadyDone already_done[] = {
    {"docs.archive", 404, "", "document_id", R"({"object": "document", "status": "archived"})"},
    {"docs.archive", 410, "", "document_id", R"({"object": "document", "status": "archived"})"},
    {"auth.revoke", 401, "", "", R"({"ok": true})"},
    {"auth.revoke", 404, "", "", R"({"ok": true})"},
    {"events.complete", 409, "already_finished", "event_id", R"({"status": "completed"})"},
    {"events.fail", 409, "already_finished", "event_id", R"({"status": "failed"})"},
    // The service answers the same after a `fail` that arrived and after a lease that expired.
    {.operation = "events.fail", .status = 409, .code = "lease_lost", .is_sure = false}};

const AlreadyDone* find_already_done(std::string_view operation, const Failure& refusal) {
  for (const AlreadyDone& row : already_done) {
    const bool is_it = row.operation == operation && row.status == refusal.call.http_status;
    if (is_it && (row.code.empty() || row.code == refusal.code)) return &row;
  }
  return nullptr;
}

Json answer_of(const AlreadyDone& row, const std::vector<std::pair<std::string, std::string>>& parameters) {
  Json answer = Json::object();
  for (const auto& [name, value] : parameters) {
    if (name == row.id) answer["id"] = value;
  }
  if (const auto known = parse_bounded(row.answer)) answer.update(*known);
  return answer;
}

/// Class P: where to read what a change of a revision has made.
struct ReadBack {
  std::string_view operation;
  std::string_view read;
  bool (*is_equal)(const Json& sent, const Json& there);
};

constexpr std::string_view expectation = "expected_content_revision";

/// Every member that asks for something is there as it was sent, and one at least does. Null asks for nothing.
bool is_document_equal(const Json& sent, const Json& there) {
  bool has_compared = false;
  for (const auto& [name, ours] : sent.items()) {
    if (name == expectation || ours.is_null()) continue;
    const Json* const theirs = find(there, name);
    if (theirs == nullptr || *theirs != ours) return false;
    has_compared = true;
  }
  return has_compared;
}

/// The same of a resolution, whose texts and paths stand in its `result`; a text is told by its hash. Where the copy of
/// the local text went does not show, so that nothing is concluded.
bool is_resolution_equal(const Json& sent, const Json& there) {
  const auto resolution = find_text(sent, "resolution");
  if (!resolution || find_text(there, "status") != "resolved") return false;
  if (find_text(there, "resolution") != resolution) return false;
  const Json* const result = find(there, "result");
  for (const auto& [name, ours] : sent.items()) {
    if (name == expectation || name == "resolution" || ours.is_null()) continue;
    if (result == nullptr || !ours.is_string()) return false;
    const bool is_text = name == "content";
    const auto text = ours.get<std::string>();
    const auto theirs = find_text(*result, is_text ? "content_sha256" : std::string_view(name));
    if (theirs != (is_text ? Sha256::of(text).hex() : text)) return false;
  }
  return true;
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
  const std::string_view operation = running.prepared.meaning->id;
  const int status = verdict.failure.call.http_status;
  if (verdict.ending != Ending::refused || !running.in_doubt) return false;
  const AlreadyDone* const done = find_already_done(operation, verdict.failure);
  if (running.unanswered && done != nullptr && !done->is_sure) {
    Failure failure = final_failure(running, verdict, decision_on(running, verdict));
    failure.kind = Failure::Kind::unknown_outcome;
    finish(id, fail(std::move(failure)));
    return true;
  }
  if (running.unanswered && done != nullptr) {
    trace(running, "< already done by a request that got no answer");
    Json answer = answer_of(*done, running.prepared.parameters);
    std::string body = dump(answer);
    finish(id,
           Reply{.status = status,
                 .body = std::move(body),
                 .json = std::move(answer),
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
  const ReadBack& row = *find_read_back(running.prepared.meaning->id);
  Call read{.operation = row.read,
            .parameters = running.prepared.parameters,
            .timeout = running.call.timeout,
            .validate = false};
  trace(running, "a request got no answer and the revision has changed: reading the current text");
  start(std::move(read), [this, id, &row, refusal = std::move(refusal)](Result<Reply> answer) mutable {
    const auto found = calls.find(id);
    if (found == calls.end()) return;
    const Running& ours = *found->second;
    if (!answer && answer.error().kind == Failure::Kind::cancelled) {
      refusal.kind = Failure::Kind::cancelled;
      return finish(id, fail(std::move(refusal)));
    }
    if (!answer) {
      // As every change in doubt: the refusal may be of our own change, so it is not what happened.
      refusal.kind = Failure::Kind::unknown_outcome;
      refusal.what = fmt::format("{}: a request got no answer, and the current state could not be read: {}",
                                 refusal.call.operation,
                                 answer.error().what);
      refusal.code.clear();
      refusal.call.http_status = 0;
      refusal.call.details.clear();
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

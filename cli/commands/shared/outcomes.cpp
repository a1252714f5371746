#include "cli/commands/shared/outcomes.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/uuid.hpp"
#include "api-client/contract/secrets.hpp"
#include "cli/output/format.hpp"

namespace ws::cli {
namespace {

using contract::RetryClass;

constexpr std::size_t most_told = 3;
constexpr std::size_t most_untold = 1000;

/// The id of what an answer is about: its own, or that of the one object in it.
std::string object_of(const Json& answer) {
  if (!answer.is_object()) return {};
  if (std::string id = id_of(answer); !id.empty()) return id;
  for (const Json& member : answer) {
    if (!member.is_object()) continue;
    if (std::string id = id_of(member); !id.empty()) return id;
  }
  return {};
}

bool has_secret_member(const Json& value) {
  if (!value.is_structured()) return false;
  for (const auto& [name, member] : value.items()) {
    const bool is_secret = value.is_object() && !contract::secret_kind(name).empty() && !member.is_null();
    if (is_secret || has_secret_member(member)) return true;
  }
  return false;
}

/// Whether an answer is good for no one any more: a claim whose lease has ended.
bool has_lapsed(const Json& answer, Time now) {
  const Json* const event = find(answer, "event");
  const auto text = event == nullptr ? std::nullopt : find_text(*event, "lease_expires_at");
  if (!text) return false;
  const auto ends = parse_rfc3339(*text);
  return ends && *ends <= now;
}

/// Whether the answer says that there was nothing to change.
bool is_empty_claim(const Json& answer) {
  const Json* const event = find(answer, "event");
  return event != nullptr && event->is_null();
}

}  // namespace

bool is_remembered(const contract::Operation& operation) {
  for (const std::string_view own : {"auth.", "sync.", "files.upload_"}) {
    if (operation.id.starts_with(own)) return false;
  }
  return operation.retry == RetryClass::keyed || operation.retry == RetryClass::revision ||
         operation.retry == RetryClass::repeatable || operation.retry == RetryClass::unsafe;
}

Flag again_flag() {
  return {.name = "again",
          .help =
              "make the change once more, even if a run of the last 24 hours sent the same and could not tell what "
              "came of it"};
}

bool has_stable_key(const Session& session) { return session.arguments().value("idempotency-key") == "stable"; }

Result<KeyedCreate> describe_change(Session& session,
                                    std::string_view operation,
                                    std::vector<std::pair<std::string, std::string>> parameters,
                                    const Json& body) {
  WS_LET(const BaseUrl url, session.base_url());
  WS_LET(const Key key, session.key());
  const bool has_workspace = key.stored && !key.stored->workspace_id.empty();
  std::string text = url.text + "\n";
  text += has_workspace ? key.stored->workspace_id : Sha256::of(key.credential.secret).hex();
  text += "\n" + std::string(operation) + "\n" + canonical(body);
  std::ranges::sort(parameters);
  for (const auto& [name, value] : parameters) text += fmt::format("\n{}={}", name, value);
  return KeyedCreate{.operation = std::string(operation), .origin = url.origin, .fingerprint = Sha256::of(text).hex()};
}

Result<IdempotencyJournal*> OutcomeLog::journal() {
  if (!journal_) {
    journal_.emplace(IdempotencyJournal::open(session_.paths().state));
    if (!*journal_ && !has_stable_key(session_)) {
      session_.note("note: after a crash this request cannot be resumed, as the journal cannot be written: " +
                    journal_->error().what);
    }
  }
  if (!*journal_) return fail(journal_->error());
  return &**journal_;
}

Result<std::optional<EarlierCreate>> OutcomeLog::find_left(const KeyedCreate& change) {
  WS_LET(IdempotencyJournal * kept, journal());
  while (true) {
    const Time now = session_.world().clock.now();
    WS_LET(auto left, kept->find_left(change, now));
    if (left && session_.has("again")) {
      WS_TRY(kept->forget(left->key));
      continue;
    }
    if (!left || left->status == 0) return left;
    const auto answer = parse_bounded(left->answer);
    if (answer && !has_lapsed(*answer, now)) return left;
    WS_TRY(kept->forget(left->key));
  }
}

Result<CallLog::Entry> OutcomeLog::begin(const Sent& sent) {
  if (!is_remembered(sent.operation)) {
    // What is staged is no change yet.
    if (sent.operation.retry == RetryClass::poll || sent.operation.id == "sync.push") return Entry{};
    return without_row(sent);
  }
  const bool is_stable = has_stable_key(session_);
  auto kept = journal();
  if (!kept && is_stable) return fail(kept.error());
  if (!kept) return without_row(sent);
  WS_LET(const KeyedCreate change, describe_change(session_, sent.operation.id, sent.parameters, sent.body));
  Entry entry{.id = sent.idempotency_key};
  if (!sent.key_is_given) {
    const auto found = find_left(change);
    if (!found) {
      check(fail(found.error()));
      return without_row(sent);
    }
    const std::optional<EarlierCreate>& left = *found;
    if (left) {
      entry.id = left->key;
      entry.sent_at = left->begun_at;
      if (!sent.idempotency_key.empty()) entry.idempotency_key = left->key;
    }
    // What may be repeated is: the answer of then may not be true any more.
    if (left && left->status != 0 && sent.operation.retry != RetryClass::repeatable) {
      Reply reply{.status = left->status, .body = left->answer, .idempotency_key = entry.idempotency_key};
      if (auto json = parse_bounded(reply.body)) reply.json = std::move(*json);
      remember(left->key, {.operation = sent.operation.id}, reply);
      session_.note(
          fmt::format("note: {} was done already, at {}, and not told; its answer is shown (--again does it once more)",
                      sent.operation.id,
                      to_rfc3339(left->begun_at)));
      entry.answer = std::move(reply);
      return entry;
    }
  }
  const Time now = session_.world().clock.now();
  if (entry.id.empty()) entry.id = "call " + make_uuid_v7(now, session_.world().random);
  const auto recorded = (*kept)->begin(change, entry.id, is_stable, now);
  if (!recorded && is_stable) return fail(recorded.error());
  if (!recorded) {
    check(fail(recorded.error()));
    return without_row(sent);
  }
  if (*recorded == Recorded::again) again_.insert(entry.id);
  under_way_[entry.id] = {.operation = sent.operation.id};
  return entry;
}

CallLog::Entry OutcomeLog::without_row(const Sent& sent) {
  Entry entry{.id = fmt::format("without row {}", ++without_rows_)};
  under_way_[entry.id] = {.operation = sent.operation.id, .row = Row::none};
  return entry;
}

void OutcomeLog::end(const std::string& id, const Result<Reply>& result) {
  const auto found = under_way_.extract(id);
  if (found.empty()) return;
  const UnderWay& call = found.mapped();
  const bool is_made = result && !is_empty_claim(*result->json);
  if (is_made) remember(id, call, *result);
  if (call.row == Row::none) return;
  const auto kept = journal();
  if (!kept) return;
  if (is_made) return check((*kept)->keep_answer(id, result->status, result->body));
  // A refusal of this run says nothing of an earlier one that is still open.
  const bool is_refused = !result && result.error().call.applied == Applied::no && !again_.contains(id);
  if (result || is_refused) check((*kept)->forget(id));
}

void OutcomeLog::remember(const std::string& id, const UnderWay& call, const Reply& reply) {
  const bool has_secret = has_secret_member(*reply.json);
  // A watch makes changes for weeks.
  if (call.row == Row::none && !has_secret && made_.size() >= most_untold) return;
  made_.push_back({.id = call.row == Row::kept ? id : "",
                   .operation = call.operation,
                   .object = object_of(*reply.json),
                   .body = has_secret ? reply.body : "",
                   .has_secret = has_secret});
}

void OutcomeLog::check(const Result<void>& written) const {
  if (!written) session_.note("note: " + written.error().what);
}

Failure OutcomeLog::tell(Failure failure) const {
  if (made_.empty()) return failure;
  failure.call.applied = Applied::yes;
  failure.call.operation = made_.front().operation;
  Json details = {{"made", Json::array()}};
  std::string names;
  std::string files;
  for (const Made& one : made_) {
    Json row = {{"operation", one.operation}, {"id", text_or_null(one.object)}};
    if (details["made"].size() < most_told) {
      names +=
          fmt::format("{}{}{}{}", names.empty() ? "" : ", ", one.operation, one.object.empty() ? "" : " ", one.object);
    }
    if (one.has_secret) {
      const auto path =
          session_.paths().state / fmt::format("answer-{}.json", Sha256::of(one.body).hex().substr(0, 16));
      if (write_file(path, one.body, 0600)) {
        row["file"] = path.string();
        files += (files.empty() ? "" : ", ") + path.string();
      }
    }
    details["made"].push_back(std::move(row));
  }
  if (made_.size() > most_told) names += fmt::format(" and {} more", made_.size() - most_told);
  failure.what += "; the change was made: " + names;
  const bool is_shown_again = std::ranges::all_of(made_, [](const Made& one) { return !one.id.empty(); });
  const std::string again = is_shown_again ? "run the same command again within a day to see the answer" : "";
  failure.hint = files.empty() ? again : "the answer has a secret and is in " + files + ", which only you can read";
  failure.call.details = dump(details);
  return failure;
}

void OutcomeLog::told() {
  if (std::ranges::all_of(made_, [](const Made& one) { return one.id.empty(); })) return;
  const auto kept = journal();
  if (!kept) return;
  const Time now = session_.world().clock.now();
  for (const Made& one : std::exchange(made_, {})) {
    if (!one.id.empty()) check((*kept)->settle(one.id, now));
  }
}

}  // namespace ws::cli

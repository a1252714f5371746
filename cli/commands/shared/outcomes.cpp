#include "cli/commands/shared/outcomes.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "api-client/base/files.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/uuid.hpp"
#include "api-client/contract/secrets.hpp"
#include "api-client/login/device_login.hpp"
#include "cli/commands/shared/account.hpp"
#include "cli/output/format.hpp"

namespace ws::cli {
namespace {

using contract::RetryClass;

constexpr std::size_t most_told = 3;
constexpr std::size_t most_untold = 1000;
constexpr std::chrono::milliseconds wait_for_others{100};

/// What was answered, also where the operation promises no JSON: `ws api` takes any body.
Json answer_of(const Reply& reply) {
  if (!reply.json->is_null()) return *reply.json;
  auto parsed = parse_bounded(reply.body);
  return parsed ? std::move(*parsed) : Json();
}

/// The id of what an answer is about: its own, that of the one object in it, or the first id that the contract has in
/// it. Empty where it names none.
std::string object_of(const contract::Operation& operation, const Json& answer) {
  if (!answer.is_object()) return {};
  if (std::string id = id_of(answer); !id.empty()) return id;
  for (const Json& member : answer) {
    if (!member.is_object()) continue;
    if (std::string id = id_of(member); !id.empty()) return id;
  }
  const contract::Schema* const schema = operation.responses.empty() ? nullptr : operation.responses.front().schema;
  if (schema == nullptr) return {};
  for (const contract::Field& field : schema->fields) {
    if (field.type.kind != contract::Kind::uuid) continue;
    if (auto id = find_text(answer, field.name)) return *id;
  }
  return {};
}

/// The object that a call is about: the last id in its path. Empty where that has none.
std::string subject_of(const CallLog::Sent& sent) {
  const std::string_view path = sent.operation.path;
  const std::size_t open = path.rfind('{');
  if (open == std::string_view::npos) return {};
  const std::string_view name = path.substr(open + 1, path.find('}', open) - open - 1);
  const auto given = std::ranges::find(sent.parameters, name, &std::pair<std::string, std::string>::first);
  return given == sent.parameters.end() ? std::string() : given->second;
}

/// What a change ends: the secret of the change that began it is good for nothing any more.
std::string begun_by(const CallLog::Sent& sent) {
  if (sent.operation.id == "files.upload_finish") return find_text(sent.body, "upload_id").value_or("");
  if (sent.operation.id == "events.complete" || sent.operation.id == "events.fail") return subject_of(sent);
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

bool makes_key(const contract::Operation& operation) {
  return operation.id == "agents.create" || operation.id == "agents.rotate";
}

/// How a new key is had where the answer with it is lost.
std::string another_key(std::string_view operation, const std::string& agent) {
  if (!operation.starts_with("agents.")) return {};
  return "; " + ShellCommand{"ws", "agents", "rotate", agent}.in_backticks() + " gives a new one";
}

}  // namespace

Result<std::filesystem::path> keep_answer(const std::filesystem::path& state, const std::string& body) {
  const auto path = state / fmt::format("answer-{}.json", Sha256::of(body).hex().substr(0, 16));
  WS_TRY(make_folders(state, 0700));
  WS_TRY(write_file(path, body, 0600));
  return path;
}

bool is_remembered(const contract::Operation& operation, Door door) {
  if (operation.auth == contract::Auth::none) return false;
  for (const std::string_view own : {"auth.", "sync.", "files.upload_"}) {
    if (door == Door::own && operation.id.starts_with(own)) return false;
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
  std::string change = "\n" + std::string(operation) + "\n" + canonical(body);
  std::ranges::sort(parameters);
  for (const auto& [name, value] : parameters) change += fmt::format("\n{}={}", name, value);
  const auto fingerprint = [&](const std::string& owner) { return Sha256::of(url.text + "\n" + owner + change).hex(); };
  const bool has_workspace = key.stored && !key.stored->workspace_id.empty();
  KeyedCreate described{.operation = std::string(operation), .origin = url.origin};
  described.fingerprint =
      fingerprint(has_workspace ? key.stored->workspace_id : Sha256::of(key.credential.secret).hex());
  const auto account = known_account(session, key);
  const std::string identity = account ? identity_of(*account) : "";
  if (!identity.empty()) described.account_fingerprint = fingerprint(identity);
  return described;
}

OutcomeLog::OutcomeLog(Session& session) : session_(session), began_(session.world().clock.now()) {}

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
  bool waits = false;
  while (true) {
    const Time now = session_.world().clock.now();
    WS_LET(auto left, kept->find_left(change, began_, now));
    if (left && session_.has("again")) {
      if (left->is_taken) return std::optional<EarlierCreate>();
      WS_TRY(kept->forget(left->key));
      continue;
    }
    if (left && left->is_taken) {
      if (!std::exchange(waits, true))
        session_.note("note: another run continues the same change; waiting for what comes of it");
      if (make_sleeper(&session_.world().cancelled)(wait_for_others)) continue;
      return fail(Failure::Kind::cancelled, "stopped; another run continues the same change");
    }
    if (!left || left->status == 0) return left;
    const auto answer = parse_bounded(left->answer);
    if (answer && !has_lapsed(*answer, now)) return left;
    WS_TRY(kept->forget(left->key));
  }
}

Result<void> OutcomeLog::check_place_of_key(const Sent& sent) const {
  if (!makes_key(sent.operation) || session_.has("secret-out")) return {};
  std::string shape = session_.arguments().value("jq").value_or("");
  for (const std::string& name : session_.printer().named_members()) shape += " " + name;
  const bool leaves_out = session_.format() == Format::ids || !shape.empty();
  if (!leaves_out || shape.find("secret") != std::string::npos) return {};
  const std::filesystem::path& state = session_.paths().state;
  auto found = make_folders(state, 0700);
  if (found && ::access(state.c_str(), W_OK | X_OK) != 0) {
    found = fail(Failure::Kind::disk, "cannot write in " + state.string() + ": " + std::strerror(errno));
  }
  if (found) return {};
  return fail(Failure::Kind::disk,
              "the new secret would be neither shown nor kept: " + found.error().what,
              "add --secret-out FILE, or `secret` to what is printed");
}

Result<CallLog::Entry> OutcomeLog::begin(const Sent& sent) {
  WS_TRY(check_place_of_key(sent));
  if (!is_remembered(sent.operation, session_.command().passes_on ? Door::any : Door::own)) {
    // What is staged is no change yet.
    if (sent.operation.id == "sync.push") return Entry{};
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
    if (!found && found.error().kind == Failure::Kind::cancelled) return fail(found.error());
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
      reply.json = answer_of(reply);
      remember(left->key, under_way(sent, Row::kept), reply, *reply.json);
      session_.note(fmt::format(
          "note: {} was done already, at {}, but its answer was not shown; here it is (--again does it once more)",
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
  under_way_[entry.id] = under_way(sent, Row::kept);
  return entry;
}

OutcomeLog::UnderWay OutcomeLog::under_way(const Sent& sent, Row row) {
  return {.operation = &sent.operation, .subject = subject_of(sent), .ends = begun_by(sent), .row = row};
}

CallLog::Entry OutcomeLog::without_row(const Sent& sent) {
  Entry entry{.id = fmt::format("without row {}", ++without_rows_)};
  under_way_[entry.id] = under_way(sent, Row::none);
  return entry;
}

void OutcomeLog::end(const std::string& id, const Result<Reply>& result) {
  const auto found = under_way_.extract(id);
  if (found.empty()) return;
  const UnderWay& call = found.mapped();
  const Json answer = result ? answer_of(*result) : Json();
  const bool is_made = result && !is_empty_claim(answer);
  if (is_made) remember(id, call, *result, answer);
  if (call.row == Row::none) return;
  const auto kept = journal();
  if (!kept) return;
  if (is_made) return check((*kept)->keep_answer(id, result->status, result->body));
  // A refusal of this run says nothing of an earlier one that is still open.
  const bool is_refused = !result && result.error().call.applied == Applied::no && !again_.contains(id);
  if (result || is_refused) check((*kept)->forget(id));
}

void OutcomeLog::remember(const std::string& id, const UnderWay& call, const Reply& reply, const Json& answer) {
  const bool has_secret = has_secret_member(answer);
  // A login asks until it has its key.
  if (call.operation->retry == RetryClass::poll && !has_secret) return;
  if (!call.ends.empty()) std::erase_if(made_, [&](const Made& one) { return one.object == call.ends; });
  session_.printer().take_missing_as_empty();
  // A watch makes changes for weeks.
  if (call.row == Row::none && !has_secret && made_.size() >= most_untold) return;
  const std::string object = object_of(*call.operation, answer);
  made_.push_back({.id = call.row == Row::kept ? id : "",
                   .operation = call.operation->id,
                   .object = object.empty() ? call.subject : object,
                   .body = has_secret ? reply.body : "",
                   .has_secret = has_secret});
}

void OutcomeLog::keep_elsewhere(std::string_view operation, const std::string& where) {
  for (Made& one : made_) {
    if (one.operation != operation) continue;
    one.has_secret = false;
    one.body.clear();
    one.kept = where;
  }
}

void OutcomeLog::disbelieve(std::string_view operation) {
  for (const Made& one : made_) {
    if (one.operation != operation || one.id.empty()) continue;
    if (const auto kept = journal()) check((*kept)->keep_answer(one.id, 0, ""));
  }
  forget(operation);
}

void OutcomeLog::forget(std::string_view operation) {
  std::erase_if(made_, [&](const Made& one) { return one.operation == operation; });
}

void OutcomeLog::check(const Result<void>& written) const {
  if (!written) session_.note("note: " + written.error().what);
}

Failure OutcomeLog::tell(Failure failure) const {
  if (made_.empty()) return failure;
  const bool has_format_failed = std::exchange(failure.kind, Failure::Kind::disk) != Failure::Kind::disk;
  failure.call.applied = Applied::yes;
  failure.call.operation = made_.front().operation;
  Json details = {{"made", Json::array()}};
  std::string names;
  std::string files;
  std::vector<std::string> kept;
  std::vector<std::string> lost;
  for (const Made& one : made_) {
    Json row = {{"operation", one.operation}, {"id", text_or_null(one.object)}};
    if (details["made"].size() < most_told) {
      names +=
          fmt::format("{}{}{}{}", names.empty() ? "" : ", ", one.operation, one.object.empty() ? "" : " ", one.object);
    }
    if (one.has_secret) {
      const auto path = keep_answer(session_.paths().state, one.body);
      if (path) {
        row["file"] = path->string();
        files += (files.empty() ? "" : ", ") + path->string();
      } else if (one.id.empty()) {
        lost.push_back("its secret is lost: " + path.error().what + another_key(one.operation, one.object));
      }
    }
    details["made"].push_back(std::move(row));
    if (!one.kept.empty() && std::ranges::find(kept, one.kept) == kept.end()) kept.push_back(one.kept);
  }
  if (made_.size() > most_told) names += fmt::format(" and {} more", made_.size() - most_told);
  failure.what += "; the change was made: " + names;
  const bool is_shown_again = std::ranges::all_of(made_, [](const Made& one) { return !one.id.empty(); });
  if (!files.empty()) kept.push_back("the answer has a secret and is in " + files + ", which only you can read");
  std::ranges::copy(lost, std::back_inserter(kept));
  if (kept.empty() && is_shown_again) kept.emplace_back(shown_again);
  if (has_format_failed) std::ranges::replace(kept, std::string(shown_again), std::string(shown_as_json));
  failure.hint = fmt::format("{}", fmt::join(kept, "; "));
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

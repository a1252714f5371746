#include "api-client/client/client.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/uuid.hpp"
#include "api-client/client/client_impl.hpp"
#include "api-client/contract/secrets.hpp"

namespace ws {
namespace {

using http::Ending;

// How often a wait checks the flag that a signal handler sets.
constexpr std::chrono::milliseconds longest_blindness{100};

constexpr std::string_view idempotency_header = "Idempotency-Key";

/// "7 s"; a time without end is not told to the second.
std::string shown_wait(std::chrono::milliseconds wait) {
  using namespace std::chrono;
  if (wait <= hours{1}) return fmt::format("{} s", ceil<seconds>(wait).count());
  if (wait <= days{2}) return fmt::format("{} h", ceil<hours>(wait).count());
  return wait < days{365} ? fmt::format("{} days", ceil<days>(wait).count()) : "a year or more";
}

Failure sent_earlier(const Prepared& prepared, Time at) {
  return {
      .kind = Failure::Kind::unknown_outcome,
      .what = fmt::format(
          "{}: an earlier run sent the same at {}, and its outcome is unknown", prepared.operation->id, to_rfc3339(at)),
      .hint = how_to_check(*prepared.meaning, prepared.parameters) + "; if it did not happen, add `--again`",
      .call = {.operation = std::string(prepared.operation->id), .applied = Applied::unknown}};
}

void add_keys(Redactor& redactor, const ClientOptions& options) {
  if (options.credential) redactor.add(options.credential->secret);
  if (options.second) redactor.add(options.second->credential.secret);
}

/// The address as a trace may show it. Of an upload's address only the server: the rest lets anyone upload.
enum class Address { of_service, of_upload };
std::string shown_url(const std::string& url, Address address) {
  if (address == Address::of_upload) return fmt::format("{}/{}", http::origin_of(url), contract::redacted);
  const std::size_t query = std::min(url.find('?'), url.size());
  return url.substr(0, query) +
         (query < url.size() ? "?" + contract::redact_pairs(std::string_view(url).substr(query + 1)) : std::string());
}

}  // namespace

Client::Impl::Impl(http::Transport& wire, const Clock& time, Random& chance, ClientOptions settings)
    : transport(wire),
      clock(time),
      random(chance),
      options(std::move(settings)),
      budget(options.budget),
      self(std::make_shared<Impl*>(this)) {}

bool Client::Impl::is_cancelled() const { return options.cancelled != nullptr && options.cancelled->load(); }

void Client::Impl::start(Call call, Done done) {
  auto running = std::make_shared<Running>();
  add_keys(running->redactor, options);
  if (!call.body.is_null()) running->redactor.add_members(*call.body);
  Result<Prepared> prepared = prepare_request(call, options, make_uuid_v7(clock.now(), random));
  if (!prepared) return finish_later(std::move(done), running->redactor.clean(std::move(prepared).error()));
  running->prepared = std::move(*prepared);
  http::Request& request = running->prepared.request;
  if (auto added = add_credential(running->prepared, options); !added) {
    return finish_later(std::move(done), running->redactor.clean(std::move(added).error()));
  }
  if (options.notice) {
    for (const std::string& notice : running->prepared.notices) options.notice(running->redactor.clean(notice));
    const bool is_plain = http::origin_of(request.url).substr(0, 5) == "http:" && !http::is_loopback(request.url);
    if (is_plain && !std::exchange(http_warned, true)) {
      options.notice(
          fmt::format("the key goes to {} over plain http, where anyone on the network can read it; use https",
                      http::origin_of(request.url)));
    }
  }
  if (request.sink) add_sink(running);
  running->call = std::move(call);
  running->done = std::move(done);
  const bool key_is_given = !running->call.idempotency_key.empty();
  begin_logged(std::move(running), key_is_given);
}

/// The exchange may outlive the client, so the request refers to the call by a weak pointer.
void Client::Impl::add_sink(const std::shared_ptr<Running>& running) {
  http::Request& request = running->prepared.request;
  request.sink = [call = std::weak_ptr<Running>(running)](std::string_view piece) -> Result<void> {
    const auto state = call.lock();
    if (!state) return fail(Failure::Kind::cancelled, "the client was destroyed");
    state->sink_has_some = true;
    return state->call.sink(piece);
  };
  if (!request.head) return;
  request.head = [call = std::weak_ptr<Running>(running)](int status, const http::Headers& headers) -> Result<void> {
    const auto state = call.lock();
    if (!state) return fail(Failure::Kind::cancelled, "the client was destroyed");
    return state->call.head(status, headers);
  };
}

void Client::Impl::start(BytesPut put, Done done) {
  auto running = std::make_shared<Running>();
  add_keys(running->redactor, options);
  auto prepared = prepare_put(put, options);
  if (!prepared) return finish_later(std::move(done), running->redactor.clean(std::move(prepared).error()));
  // Whoever has the address may upload: never print it.
  running->redactor.add_address(put.url);
  for (const auto& [name, value] : put.headers) {
    if (!http::find_header({{name, value}}, "Content-Type")) running->redactor.add(value);
  }
  running->prepared = std::move(*prepared);
  running->call.operation = running->prepared.operation->id;
  running->open = std::move(put.open);
  running->done = std::move(done);
  begin(std::move(running));
}

void Client::Impl::start(const AnyCall& call, Done done) {
  auto running = std::make_shared<Running>();
  add_keys(running->redactor, options);
  auto prepared = prepare_any(call, options, make_uuid_v7(clock.now(), random));
  if (!prepared) return finish_later(std::move(done), running->redactor.clean(std::move(prepared).error()));
  running->prepared = std::move(*prepared);
  if (auto added = add_credential(running->prepared, options); !added) {
    return finish_later(std::move(done), running->redactor.clean(std::move(added).error()));
  }
  running->call.operation = running->prepared.operation->id;
  if (auto body = parse_bounded(call.body)) {
    running->redactor.add_members(*body);
    running->call.body = std::move(*body);
  }
  running->done = std::move(done);
  const bool has_key = !running->prepared.idempotency_key.empty();
  begin_logged(std::move(running), has_key && http::find_header(call.headers, idempotency_header).has_value());
}

void Client::Impl::begin_logged(std::shared_ptr<Running> running, bool key_is_given) {
  Prepared& prepared = running->prepared;
  if (options.log == nullptr || prepared.meaning->retry == contract::RetryClass::read) return begin(std::move(running));
  auto parameters = prepared.parameters;
  if (prepared.meaning->id == "api") {
    const http::Request& request = prepared.request;
    parameters = {{"method", request.method}, {"url", request.url}, {"body", request.body}};
  }
  auto entry = options.log->begin({.operation = *prepared.meaning,
                                   .parameters = parameters,
                                   .body = *running->call.body,
                                   .idempotency_key = prepared.idempotency_key,
                                   .key_is_given = key_is_given});
  if (!entry) return finish_later(std::move(running->done), running->redactor.clean(std::move(entry).error()));
  if (entry->answer) return finish_later(std::move(running->done), std::move(*entry->answer));
  if (entry->sent_at && prepared.meaning->retry == contract::RetryClass::unsafe && prepared.meaning->again.empty()) {
    return finish_later(std::move(running->done), sent_earlier(prepared, *entry->sent_at));
  }
  running->log_id = std::move(entry->id);
  if (!entry->idempotency_key.empty()) {
    prepared.idempotency_key = std::move(entry->idempotency_key);
    for (auto& [name, value] : prepared.request.headers) {
      if (name == idempotency_header) value = prepared.idempotency_key;
    }
  } else if (entry->sent_at) {
    // As after an unanswered send of this run: that it is done already, or there, is success.
    running->in_doubt = running->unanswered = true;
  }
  begin(std::move(running));
}

void Client::Impl::begin(std::shared_ptr<Running> running) {
  running->began = running->waiting_since = clock.now();
  running->due = running->began;
  calls.emplace(++last_id, std::move(running));
}

bool Client::Impl::run(Milliseconds at_most) {
  if (is_cancelled()) {
    transport.cancel_all();
    end_waiting_as_cancelled();
  }
  const bool delivers = !ended_at_once.empty();
  deliver();
  send_due();
  if (calls.empty() && ended_at_once.empty()) return false;
  Milliseconds wait = delivers || !ended_at_once.empty() ? Milliseconds{0} : at_most;
  if (const auto due = next_due()) wait = std::min(wait, *due);
  if (options.cancelled != nullptr) wait = std::min(wait, longest_blindness);
  transport.run(wait);
  return !calls.empty() || !ended_at_once.empty();
}

void Client::Impl::send_due() {
  const Time now = clock.now();
  const auto is_due = [&](const Running& running) {
    // Use the steady clock: setting the wall clock back must not prolong a wait.
    return running.due && (now >= *running.due || now < running.waiting_since);
  };
  std::vector<Id> due;
  for (const auto& [id, running] : calls) {
    if (is_due(*running)) due.push_back(id);
  }
  for (const Id id : due) {
    // A `done` that an earlier `send` called may have run the client, which has then sent or ended this call.
    const auto found = calls.find(id);
    if (found != calls.end() && is_due(*found->second)) send(id);
  }
}

std::optional<std::chrono::milliseconds> Client::Impl::next_due() const {
  std::optional<Milliseconds> next;
  const Time now = clock.now();
  for (const auto& [id, running] : calls) {
    if (!running->due) continue;
    const Milliseconds left = std::max(*running->due - now, Milliseconds{0});
    next = next ? std::min(*next, left) : left;
  }
  return next;
}

void Client::Impl::send(Id id) {
  Running& running = *calls.at(id);
  running.due.reset();
  if (running.open) {
    auto source = running.open();
    if (!source) return finish(id, fail(running.redactor.clean(std::move(source).error())));
    running.source = std::move(*source);
    running.prepared.request.source = running.source.get();
  }
  if (running.call.sink_afresh) running.call.sink_afresh();
  ++running.sends;
  const http::Request& request = running.prepared.request;
  const std::string shown = shown_url(request.url, running.open ? Address::of_upload : Address::of_service);
  trace(running, fmt::format("> {} {} (send {})", request.method, shown, running.sends));
  // The exchange may outlive the client: `done` keeps its source alive.
  transport.start(request, [weak = std::weak_ptr<Impl*>(self), id, source = running.source](http::Outcome outcome) {
    if (const auto impl = weak.lock()) (*impl)->on_outcome(id, std::move(outcome));
  });
}

void Client::Impl::on_outcome(Id id, http::Outcome outcome) {
  const auto found = calls.find(id);
  if (found == calls.end()) return;
  const Running& running = *found->second;
  const bool streamed = static_cast<bool>(running.prepared.request.sink);
  settle(id, read_answer(*running.prepared.operation, std::move(outcome), streamed, clock.now()));
}

std::optional<Failure> Client::Impl::not_believed(const Running& running, const Reply& reply) const {
  const Prepared& prepared = running.prepared;
  if (prepared.operation != prepared.meaning) return std::nullopt;
  // Of the reads only that of a document is checked, whose text is edited and saved: what others read is shown, and a
  // service may know an object by another id than it was asked for.
  const bool is_read = prepared.operation->retry == contract::RetryClass::read;
  if (is_read && prepared.operation->id != "docs.get") return std::nullopt;
  const auto doubt = find_doubt(*prepared.operation, prepared.parameters, *reply.json);
  if (!doubt) return std::nullopt;
  Failure failure{.kind = Failure::Kind::integrity,
                  .what = fmt::format("{}: {}", prepared.operation->id, doubt->what),
                  .hint = is_read ? std::string("check the base URL, and any proxy in between")
                                  : hint_for_unknown(*prepared.meaning, prepared.parameters, {}),
                  .code = std::string(doubt->code)};
  failure.call = {.operation = std::string(prepared.operation->id),
                  .http_status = reply.status,
                  .applied = is_read ? Applied::no : Applied::unknown,
                  .idempotency_key = prepared.idempotency_key};
  return running.redactor.clean(std::move(failure));
}

void Client::Impl::settle(Id id, Verdict verdict) {
  Running& running = *calls.at(id);
  if (verdict.ending == Ending::success) {
    trace(running, fmt::format("< {} {} bytes", verdict.reply.status, verdict.reply.body.size()));
    if (auto failure = not_believed(running, verdict.reply)) return finish(id, fail(std::move(*failure)));
    verdict.reply.sends = running.sends;
    verdict.reply.idempotency_key = running.prepared.idempotency_key;
    verdict.reply.after_unanswered_send = running.unanswered;
    return finish(id, std::move(verdict.reply));
  }
  if (conclude(id, verdict)) return;
  const http::Decision decision = decision_on(running, verdict);
  const contract::RetryClass retry = running.prepared.operation->retry;
  trace(running,
        fmt::format("! {}{}",
                    verdict.failure.what,
                    decision.again ? fmt::format("; again in {} ms", decision.delay.count()) : ""));
  if (!decision.again) return finish(id, fail(final_failure(running, verdict, decision)));
  running.in_doubt = running.in_doubt || http::leaves_doubt(retry, verdict.ending);
  running.unanswered = running.unanswered || verdict.ending == Ending::no_answer;
  if (http::is_counted(retry)) --budget.retries_left;
  running.waiting_since = clock.now();
  running.due = running.waiting_since + decision.delay;
}

http::Decision Client::Impl::decision_on(const Running& running, const Verdict& verdict) {
  http::RetryBudget left = budget;
  if (running.call.lease_left) left.lease_left = *running.call.lease_left - (clock.now() - running.began);
  const http::Attempt attempt{.retry = running.prepared.operation->retry,
                              .ending = verdict.ending,
                              .sends = running.sends,
                              .retry_after = verdict.retry_after,
                              .in_doubt = running.in_doubt};
  http::Decision decision = http::decide(attempt, left, random.unit());
  const bool had_enough = running.sink_has_some && !running.call.sink_afresh;
  if (!options.retry || !running.call.repeat || had_enough) decision.again = false;
  return decision;
}

Failure Client::Impl::final_failure(const Running& running,
                                    const Verdict& verdict,
                                    const http::Decision& decision) const {
  const Prepared& prepared = running.prepared;
  Failure failure = verdict.failure;
  CallTrace& call = failure.call;
  const bool decides = verdict.ending != Ending::refused && !verdict.local;
  if (decides) failure.kind = decision.kind;
  // What a refusal's body says of itself (a commit that changed a part) stands, unless an earlier send is in doubt.
  if (verdict.ending != Ending::refused || running.in_doubt) call.applied = decision.applied;
  call.retryable = decision.retryable;
  call.operation = prepared.operation->id;
  call.retry_after = verdict.retry_after;
  call.idempotency_key = prepared.idempotency_key;
  if (call.applied == Applied::unknown) {
    failure.hint = hint_for_unknown(*prepared.meaning, prepared.parameters, call.idempotency_key);
  } else if (failure.hint.empty() && call.retryable && failure.kind == Failure::Kind::unreachable) {
    failure.hint = prepared.meaning->retry == contract::RetryClass::read
                       ? "run the same command again"
                       : "nothing was changed by this request: run the same command again";
  } else if (verdict.retry_after && call.retryable) {
    failure.hint = fmt::format("try again in {}, as the service asks", shown_wait(*verdict.retry_after));
  }
  return running.redactor.clean(std::move(failure));
}

bool Client::Impl::spend_retry(int attempt) {
  if (!options.retry || attempt >= budget.sends_per_call || budget.retries_left <= 0) return false;
  --budget.retries_left;
  const Time until = clock.now() + http::pause_before(attempt, random.unit());
  while (clock.now() < until && !is_cancelled()) {
    transport.run(std::min<Milliseconds>(until - clock.now(), longest_blindness));
  }
  return !is_cancelled();
}

void Client::Impl::end_waiting_as_cancelled() {
  std::vector<Id> waiting;
  for (const auto& [id, running] : calls) {
    if (running->due) waiting.push_back(id);
  }
  for (const Id id : waiting) {
    const auto found = calls.find(id);
    if (found == calls.end()) continue;
    const Running& running = *found->second;
    Failure failure{.kind = Failure::Kind::cancelled,
                    .what = fmt::format("{}: cancelled", running.prepared.operation->id),
                    .call = {.operation = std::string(running.prepared.operation->id),
                             .applied = running.in_doubt ? Applied::unknown : Applied::no,
                             .retryable = true,
                             .idempotency_key = running.prepared.idempotency_key}};
    if (running.in_doubt)
      failure.hint =
          hint_for_unknown(*running.prepared.meaning, running.prepared.parameters, failure.call.idempotency_key);
    finish(id, fail(std::move(failure)));
  }
}

void Client::Impl::finish(Id id, Result<Reply> result) {
  const auto found = calls.find(id);
  const std::shared_ptr<Running> running = std::move(found->second);
  if (!running->log_id.empty()) options.log->end(running->log_id, result);
  calls.erase(found);  // before `done`, which may start and run others
  if (running->done) running->done(std::move(result));
}

void Client::Impl::finish_later(Done done, Result<Reply> result) {
  ended_at_once.emplace_back(std::move(done), std::move(result));
}

void Client::Impl::deliver() {
  while (!ended_at_once.empty()) {
    auto [done, result] = std::move(ended_at_once.front());
    ended_at_once.pop_front();
    if (done) done(std::move(result));
  }
}

void Client::Impl::trace(const Running& running, const std::string& line) const {
  if (options.trace) options.trace(running.redactor.clean(line));
}

Client::Client(http::Transport& transport, const Clock& clock, Random& random, ClientOptions options)
    : impl_(std::make_unique<Impl>(transport, clock, random, std::move(options))) {}
Client::~Client() = default;

Result<Reply> Client::call(Call call) {
  std::optional<Result<Reply>> result;
  start(std::move(call), [&](Result<Reply> ended) { result.emplace(std::move(ended)); });
  while (!result) run(std::chrono::milliseconds{1000});
  return std::move(*result);
}

Result<Reply> Client::call(const AnyCall& call) {
  std::optional<Result<Reply>> result;
  impl_->start(call, [&](Result<Reply> ended) { result.emplace(std::move(ended)); });
  while (!result) run(std::chrono::milliseconds{1000});
  return std::move(*result);
}

void Client::start(Call call, std::function<void(Result<Reply>)> done) {
  impl_->start(std::move(call), std::move(done));
}

void Client::start(BytesPut put, std::function<void(Result<Reply>)> done) {
  impl_->start(std::move(put), std::move(done));
}

void Client::start_afresh() { impl_->budget = impl_->options.budget; }

bool Client::spend_retry(int attempt) { return impl_->spend_retry(attempt); }

bool Client::run(std::chrono::milliseconds at_most) { return impl_->run(at_most); }

Result<http::Request> Client::prepare(const Call& call) const {
  const std::string key = make_uuid_v7(impl_->clock.now(), impl_->random);
  WS_LET(Prepared prepared, prepare_request(call, impl_->options, key));
  return std::move(prepared.request);
}

Result<http::Request> Client::prepare(const AnyCall& call) const {
  const std::string key = make_uuid_v7(impl_->clock.now(), impl_->random);
  WS_LET(Prepared prepared, prepare_any(call, impl_->options, key));
  return std::move(prepared.request);
}

const ClientOptions& Client::options() const { return impl_->options; }
const http::RetryBudget& Client::budget() const { return impl_->budget; }

}  // namespace ws

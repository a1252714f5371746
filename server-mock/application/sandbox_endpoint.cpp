#include "server-mock/application/sandbox_endpoint.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/contract/secrets.hpp"
#include "server-mock/output/print.hpp"
#include "server-mock/pipeline/error_response.hpp"
#include "server-mock/pipeline/pipeline.hpp"

namespace ws::mock {
namespace {

constexpr std::size_t longest_request_id = 128;

bool is_visible_ascii(char c) { return c > ' ' && c <= '~'; }

bool is_under(std::string_view path, std::string_view root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

}  // namespace

SandboxEndpoint::SandboxEndpoint(SharedState& shared,
                                 Sandboxes* sandboxes,
                                 std::unique_ptr<Sandbox> sandbox,
                                 std::uint64_t first_ticket)
    : shared_(shared), sandboxes_(sandboxes), sandbox_(std::move(sandbox)), next_ticket_(first_ticket) {}

std::unique_ptr<http::BodySink> SandboxEndpoint::open_sink(const http::Request& head) {
  return open_upload(*sandbox_, head, accepts_uploads_);
}

void SandboxEndpoint::end() {
  accepts_uploads_.reset();
  sandbox_->pending_claims.end_all();
  std::multimap<Steady::time_point, std::uint64_t> now;
  for (const auto& [until, ticket] : delayed_) now.emplace(Steady::time_point::min(), ticket);
  for (const auto& [until, ticket] : watchers_) now.emplace(Steady::time_point::min(), ticket);
  delayed_ = std::move(now);
  watchers_.clear();
}

/// The client's `X-Request-Id` if it is short visible ASCII, else a number. Control calls have their own counter, so
/// that polling the control API does not change the ids of API requests.
std::string SandboxEndpoint::next_request_id(const http::Request* request, Kind kind) {
  const std::uint64_t number = kind == Kind::control ? ++control_requests_ : ++sandbox_->requests;
  if (request != nullptr) {
    const auto given = request->find("X-Request-Id");
    if (given && !given->empty() && given->size() <= longest_request_id &&
        std::ranges::all_of(*given, is_visible_ascii)) {
      return std::string(*given);
    }
  }
  constexpr std::string_view digits = "0123456789abcdef";
  std::string id = kind == Kind::control ? "ctl_0000000000" : "req_0000000000";
  std::size_t place = id.size();
  for (std::uint64_t rest = number; rest > 0 && place > 4; rest >>= 4U) id[--place] = digits[rest & 15U];
  return id;
}

http::Response SandboxEndpoint::handle(const http::Request& request) {
  if (shared_.control.is_on() && is_under(request.path, "/_mock")) {
    ActiveRequest active = {.request_id = next_request_id(&request, Kind::control), .start = Steady::now()};
    return handle_control(next_ticket_++, request, std::move(active), http::MayWait::yes);
  }
  ActiveRequest active = {
      .request_id = next_request_id(&request, Kind::usual), .time = sandbox_->world->now(), .start = Steady::now()};
  if (sandbox_->rate_limit.is_on()) {
    if (const auto api_error = rate_limit_error(request)) {
      http::Response response = render(*api_error, active.request_id, sandbox_->world->assumptions);
      response.set_header("Retry-After", find_text(*api_error->members, "retry_after").value_or("1"));
      return finish(request, {.response = std::move(response)}, active);
    }
  }
  if (!sandbox_->faults.empty()) {
    active.fault = find_fault(request);
    const bool late = active.fault && active.fault->phase == Phase::before && active.fault->effect.delay.count() > 0;
    if (late) return delay(request, std::move(active));
  }
  return process(next_ticket_++, request, std::move(active), http::MayWait::yes);
}

/// Control calls are not journalled, logged or subject to fault rules.
http::Response SandboxEndpoint::handle_control(std::uint64_t ticket,
                                               const http::Request& request,
                                               ActiveRequest&& active,
                                               http::MayWait may_wait) {
  http::Response response = shared_.control.handle(*sandbox_, sandboxes_, request, active.request_id);
  if (sandbox_->advance && !advancing_) {
    advancing_ = ticket;
    waiting_.emplace(ticket, std::move(active));
    return http::Response::later(ticket);
  }
  const auto watch = std::exchange(sandbox_->watch, std::nullopt);
  if (watch && may_wait == http::MayWait::yes && !active.timed_out) {
    if (watchers_.empty()) watched_seq_ = sandbox_->journal.last_seq();
    watchers_.emplace(active.start + *watch, ticket);
    active.watches_journal = true;
    waiting_.emplace(ticket, std::move(active));
    return http::Response::later(ticket);
  }
  return finish_control(std::move(response), active.request_id);
}

/// What a call changed of switches and clock is durable when it is answered.
http::Response SandboxEndpoint::finish_control(http::Response&& response, const std::string& request_id) {
  if (const auto saved = sandbox_->save_settings(); !saved) {
    response = render(internal_error(saved.error().what), request_id, sandbox_->world->assumptions);
  }
  response.header("X-Request-Id", request_id).header("X-Mock-Operation", "control");
  return std::move(response);
}

/// Advances the clock by one step, after which pending claims may be resumed; responds when it has arrived.
http::Response SandboxEndpoint::continue_advance(std::uint64_t ticket, http::MayWait may_wait) {
  const Steps steps = may_wait == http::MayWait::no ? Steps::all : Steps::one;
  const std::string request_id = waiting_.at(ticket).request_id;
  std::optional<http::Response> response = shared_.control.continue_advance(*sandbox_, steps, request_id);
  if (!response) return http::Response::later(ticket);
  advancing_.reset();
  waiting_.erase(ticket);
  return finish_control(std::move(*response), request_id);
}

/// Responds, or keeps the request pending under its ticket.
http::Response SandboxEndpoint::process(std::uint64_t ticket,
                                        const http::Request& request,
                                        ActiveRequest&& active,
                                        http::MayWait may_wait) {
  Reply reply = answer(request, active);
  if (!reply.long_poll || active.timed_out || may_wait == http::MayWait::no) {
    release(active);
    return finish(request, std::move(reply), active);
  }
  PendingClaims& claims = sandbox_->pending_claims;
  if (active.claim) {
    claims.keep_waiting(*active.claim, reply.long_poll->retry_at);
  } else {
    active.claim = claims.add(*reply.long_poll, both_times());
    sandbox_->pending_calls.emplace(*active.claim, PendingCall{.ticket = ticket, .request_id = active.request_id});
  }
  waiting_.insert_or_assign(ticket, std::move(active));
  return http::Response::later(ticket);
}

/// Keeps the request pending for the delay of a fault rule, before it is handled. Another request with the same
/// idempotency key is answered with 409 meanwhile.
http::Response SandboxEndpoint::delay(const http::Request& request, ActiveRequest&& active) {
  http::Pairs values;
  const contract::Operation* operation = shared_.pipeline.find(request, values);
  const auto key = request.find("Idempotency-Key");
  if (operation != nullptr && operation->idempotency == contract::Idempotency::key && key && !key->empty()) {
    if (const auto caller = sandbox_->access->identify(request.find("Authorization"))) {
      std::pair<std::string, std::string> occupied(idempotency_owner(**caller), std::string(*key));
      if (sandbox_->in_flight.insert(occupied).second) {
        active.in_flight = std::make_unique<std::pair<std::string, std::string>>(std::move(occupied));
      }
    }
  }
  const std::uint64_t ticket = next_ticket_++;
  delayed_.emplace(active.start + active.fault->effect.delay, ticket);
  waiting_.emplace(ticket, std::move(active));
  return http::Response::later(ticket);
}

/// Removes the request from the pending claims, and frees its idempotency key.
void SandboxEndpoint::release(ActiveRequest& active) {
  if (active.in_flight) sandbox_->in_flight.erase(*std::exchange(active.in_flight, nullptr));
  if (!active.claim) return;
  sandbox_->pending_claims.remove(*active.claim);
  sandbox_->pending_calls.erase(*std::exchange(active.claim, std::nullopt));
}

/// Adds the common headers, then records and logs the exchange. The duration counts from the arrival of the request.
http::Response SandboxEndpoint::finish(const http::Request& request, Reply&& reply, const ActiveRequest& active) {
  reply.response.header("X-Request-Id", active.request_id)
      .header("X-Mock-Operation", reply.operation.empty() ? "none" : reply.operation);
  const auto taken = std::chrono::duration_cast<std::chrono::microseconds>(Steady::now() - active.start);
  const ExchangeFacts facts = {.operation = reply.operation,
                               .time = active.time,
                               .duration_us = taken.count(),
                               .fault = active.fault ? std::string_view(active.fault->id) : std::string_view(),
                               .warning = reply.warning};
  write_down(request, reply.response, facts);
  if (shared_.log != LogStyle::off) log(request, reply, taken.count());
  return std::move(reply.response);
}

/// In the journal, its file, and for the observer.
void SandboxEndpoint::write_down(const http::Request& request,
                                 const http::Response& response,
                                 const ExchangeFacts& facts) {
  if (shared_.journal_file.is_open() || shared_.observer) {
    const Exchange exchange = sandbox_->journal.describe(request, response, facts);
    shared_.journal_file.write(dump(to_json(exchange)) + "\n");
    if (shared_.observer) shared_.observer(exchange);
  }
  sandbox_->journal.add(request, response, facts);
}

http::Response SandboxEndpoint::resume(std::uint64_t ticket, const http::Request& request, http::MayWait may_wait) {
  if (ticket == advancing_) return continue_advance(ticket, may_wait);
  auto waited = waiting_.extract(ticket);
  if (waited.empty()) return handle(request);
  ActiveRequest active = std::move(waited.mapped());
  if (active.watches_journal) return handle_control(ticket, request, std::move(active), may_wait);
  if (active.in_flight) sandbox_->in_flight.erase(*std::exchange(active.in_flight, nullptr));
  return process(ticket, request, std::move(active), may_wait);
}

void SandboxEndpoint::cancel(std::uint64_t ticket) {
  if (ticket == advancing_) {
    static_cast<void>(continue_advance(ticket, http::MayWait::no));
    return;
  }
  if (auto waited = waiting_.extract(ticket); !waited.empty()) release(waited.mapped());
}

/// The clock advances only when no pending request is ready at the time that it has reached.
void SandboxEndpoint::take_ready(std::vector<std::uint64_t>& tickets) {
  const std::size_t others = tickets.size();
  for (const PendingClaims::Ready& ready : sandbox_->pending_claims.take_ready(both_times())) {
    const auto claim = sandbox_->pending_calls.find(ready.ticket);
    if (claim == sandbox_->pending_calls.end()) continue;
    tickets.push_back(claim->second.ticket);
    waiting_.at(claim->second.ticket).timed_out = ready.timed_out;
  }
  const auto due = delayed_.upper_bound(Steady::now());
  for (auto held = delayed_.begin(); held != due; ++held) tickets.push_back(held->second);
  delayed_.erase(delayed_.begin(), due);
  take_watchers(tickets);
  if (tickets.size() == others && advancing_) tickets.push_back(*advancing_);
}

/// Journal watchers: all of them if there is a new entry, else those whose time is up.
void SandboxEndpoint::take_watchers(std::vector<std::uint64_t>& tickets) {
  if (watchers_.empty()) return;
  const bool is_new = sandbox_->journal.last_seq() != watched_seq_;
  const auto due = is_new ? watchers_.end() : watchers_.upper_bound(Steady::now());
  for (auto watcher = watchers_.begin(); watcher != due; ++watcher) {
    const auto waiting = waiting_.find(watcher->second);
    if (waiting == waiting_.end()) continue;  // the client has disconnected
    tickets.push_back(watcher->second);
    if (!is_new) waiting->second.timed_out = true;
  }
  watchers_.erase(watchers_.begin(), due);
}

PendingClaims::Now SandboxEndpoint::both_times() const {
  const World& world = *sandbox_->world;
  return {.world = world.now(), .real = world.real_now()};
}

/// A frozen clock makes nothing ready by itself, except what is in real time: delays of fault rules, ends of claims.
std::optional<std::chrono::milliseconds> SandboxEndpoint::next_ready() {
  using std::chrono::milliseconds;
  std::optional<milliseconds> next;
  const auto due = sandbox_->pending_claims.next_due();
  if (due && !sandbox_->clock.is_frozen()) {
    next = milliseconds(std::max<std::int64_t>(0, *due - sandbox_->world->now()));
  }
  if (const auto end = sandbox_->pending_claims.next_real_end()) {
    const milliseconds left(std::max<std::int64_t>(0, *end - sandbox_->world->real_now()));
    next = std::min(next.value_or(left), left);
  }
  for (const auto* waiting : {&delayed_, &watchers_}) {
    if (waiting->empty()) continue;
    const auto left = std::chrono::ceil<milliseconds>(waiting->begin()->first - Steady::now());
    next = std::min(next.value_or(left), std::max(left, milliseconds(0)));
  }
  return next;
}

http::Response SandboxEndpoint::refuse(const http::MalformedRequest& why) {
  const std::string request_id = next_request_id(nullptr, Kind::usual);
  http::Response response =
      render(ApiError{.status = why.status, .code = std::string(why.code), .message = std::string(why.reason)},
             request_id,
             sandbox_->world->assumptions);
  response.header("X-Request-Id", request_id).header("X-Mock-Operation", "none");
  // A malformed request has no fields to record; only its response is recorded.
  const http::Request unread;
  write_down(unread, response, {.time = sandbox_->world->now()});
  return response;
}

http::Response SandboxEndpoint::reject(const http::Request& request, const ApiError& api_error) {
  const std::string_view path = http::within_sandbox(request.path).path;
  if (is_under(path, "/_mock")) {
    const std::string request_id = next_request_id(&request, Kind::control);
    http::Response response = render(api_error, request_id, Assumptions());
    response.header("X-Request-Id", request_id).header("X-Mock-Operation", "control");
    return response;
  }
  ActiveRequest active = {
      .request_id = next_request_id(&request, Kind::usual), .time = sandbox_->world->now(), .start = Steady::now()};
  return finish(request, {.response = render(api_error, active.request_id, sandbox_->world->assumptions)}, active);
}

void SandboxEndpoint::log(const http::Request& request, const Reply& reply, std::int64_t duration_us) const {
  const std::string_view operation = reply.operation.empty() ? "none" : reply.operation;
  const std::string& id = sandbox_->options.id;
  const std::string path = (id.empty() ? "" : "/_s/" + id).append(shown_path(request.path));
  const std::string method = contract::redact_keys(std::string(request.method));
  // The query is not logged: it may contain what a person searched for.
  if (shared_.log == LogStyle::json) {
    const Json line = {{"time", rfc3339(sandbox_->world->now())},
                       {"method", method},
                       {"path", path},
                       {"operation", operation},
                       {"status", reply.response.status()},
                       {"duration_ms", static_cast<double>(duration_us) / 1000}};
    tell(TerminalText::json(dump(line)));
  } else {
    tell(fmt::format("{} {} {} {} {:.1f} ms",
                     reply.response.status(),
                     clean(method, Breaks::space),
                     clean(path, Breaks::space),
                     operation,
                     static_cast<double>(duration_us) / 1000));
  }
}

}  // namespace ws::mock

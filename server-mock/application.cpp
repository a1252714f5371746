#include "server-mock/application.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server-mock/pipeline/errors.hpp"
#include "server-mock/pipeline/upload_put.hpp"

namespace ws::mock {
namespace {

constexpr std::size_t json_body_bytes = std::size_t{16} << 20U;
constexpr std::size_t longest_request_id = 128;

bool is_visible_ascii(char c) { return c > ' ' && c <= '~'; }

bool is_under(std::string_view path, std::string_view root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

}  // namespace

Application::Application(const ApplicationOptions& options, std::unique_ptr<Sandbox> sandbox, JournalFile journal_file)
    : sandbox_(std::move(sandbox)),
      journal_file_(std::move(journal_file)),
      control_(options.control),
      log_(options.log) {}

Result<std::unique_ptr<Application>> Application::open(const ApplicationOptions& options) {
  WS_LET(JournalFile journal_file, JournalFile::open(options.journal_file));
  WS_LET(std::unique_ptr<Sandbox> sandbox, Sandbox::open(options.sandbox));
  return std::unique_ptr<Application>(new Application(options, std::move(sandbox), std::move(journal_file)));
}

std::size_t Application::body_limit(const http::Request& /*head*/) { return json_body_bytes; }

std::unique_ptr<http::BodySink> Application::open_sink(const http::Request& head) {
  return open_upload(*sandbox_, head);
}

/// The caller's own where it is fit to be shown, else one by the number of the request.
std::string Application::next_request_id(const http::Request* request) {
  const std::uint64_t number = ++sandbox_->requests;
  if (request != nullptr) {
    const auto given = request->find("X-Request-Id");
    if (given && !given->empty() && given->size() <= longest_request_id &&
        std::ranges::all_of(*given, is_visible_ascii)) {
      return std::string(*given);
    }
  }
  constexpr std::string_view digits = "0123456789abcdef";
  std::string id = "req_0000000000";
  std::size_t place = id.size();
  for (std::uint64_t rest = number; rest > 0 && place > 4; rest >>= 4U) id[--place] = digits[rest & 15U];
  return id;
}

http::Response Application::handle(const http::Request& request) {
  std::string request_id = next_request_id(&request);
  if (control_.is_on() && is_under(request.path, "/_mock")) return handle_control(request, request_id);
  Begun begun = {.request_id = std::move(request_id), .time = sandbox_->world->now(), .start = Steady::now()};
  if (sandbox_->rate_limit.is_on()) {
    if (const auto refusal = over_the_rate(request)) {
      http::Response response = render(*refusal, begun.request_id, sandbox_->world->assumptions);
      response.set_header("Retry-After", find_text(*refusal->members, "retry_after").value_or("1"));
      return finish(request, {.response = std::move(response)}, begun);
    }
  }
  if (!sandbox_->faults.empty()) {
    begun.fault = find_fault(request);
    const bool late = begun.fault && begun.fault->phase == Phase::before && begun.fault->effect.delay.count() > 0;
    if (late) return hold(request, std::move(begun));
  }
  return go_on(next_ticket_++, request, std::move(begun), http::Patience::some);
}

/// Neither journalled, nor logged, nor disturbed: watching must not change what is watched.
http::Response Application::handle_control(const http::Request& request, const std::string& request_id) {
  http::Response response = control_.handle(*sandbox_, request, request_id);
  if (sandbox_->advance) {
    advancing_ = next_ticket_++;
    waiting_.emplace(*advancing_, Begun{.request_id = request_id});
    return http::Response::later(*advancing_);
  }
  response.header("X-Request-Id", request_id).header("X-Mock-Operation", "control");
  return response;
}

/// One step of time, after which those who wait may look; at the end the answer.
http::Response Application::advance_on(std::uint64_t ticket, http::Patience patience) {
  const Steps steps = patience == http::Patience::none ? Steps::all : Steps::one;
  const std::string request_id = waiting_.at(ticket).request_id;
  std::optional<http::Response> response = control_.advance_on(*sandbox_, steps, request_id);
  if (!response) return http::Response::later(ticket);
  advancing_.reset();
  waiting_.erase(ticket);
  response->header("X-Request-Id", request_id).header("X-Mock-Operation", "control");
  return std::move(*response);
}

/// Answers, or leaves the request waiting under its ticket.
http::Response Application::go_on(std::uint64_t ticket,
                                  const http::Request& request,
                                  Begun&& begun,
                                  http::Patience patience) {
  Reply reply = answer(request, begun);
  if (!reply.waiting || begun.is_over || patience == http::Patience::none) {
    release(begun);
    return finish(request, std::move(reply), begun);
  }
  WaitingRoom& room = sandbox_->waiting_room;
  if (begun.guest) {
    room.stay(*begun.guest, reply.waiting->look_again_at);
  } else {
    begun.guest = room.enter(*reply.waiting, sandbox_->world->now());
    sandbox_->guests.emplace(*begun.guest, Guest{.ticket = ticket, .request_id = begun.request_id});
  }
  waiting_.insert_or_assign(ticket, std::move(begun));
  return http::Response::later(ticket);
}

/// A fault delays the call before anybody looks at it. Who comes meanwhile with the same idempotency key is told so.
http::Response Application::hold(const http::Request& request, Begun&& begun) {
  http::Pairs values;
  const contract::Operation* operation = pipeline_.find(request, values);
  const auto key = request.find("Idempotency-Key");
  if (operation != nullptr && operation->idempotency == contract::Idempotency::key && key && !key->empty()) {
    if (const auto caller = sandbox_->access->identify(request.find("Authorization"))) {
      std::pair<std::string, std::string> occupied(idempotency_owner(**caller), std::string(*key));
      if (sandbox_->in_flight.insert(occupied).second) begun.in_flight = std::move(occupied);
    }
  }
  const std::uint64_t ticket = next_ticket_++;
  held_.emplace(begun.start + begun.fault->effect.delay, ticket);
  waiting_.emplace(ticket, std::move(begun));
  return http::Response::later(ticket);
}

/// It waits no more: neither for an event, nor with a key that nobody else may use meanwhile.
void Application::release(Begun& begun) {
  if (begun.in_flight) sandbox_->in_flight.erase(*std::exchange(begun.in_flight, std::nullopt));
  if (!begun.guest) return;
  sandbox_->waiting_room.leave(*begun.guest);
  sandbox_->guests.erase(*std::exchange(begun.guest, std::nullopt));
}

/// Journalled with its answer, and timed from when it came.
http::Response Application::finish(const http::Request& request, Reply&& reply, const Begun& begun) {
  reply.response.header("X-Request-Id", begun.request_id)
      .header("X-Mock-Operation", reply.operation.empty() ? "none" : reply.operation);
  const auto taken = std::chrono::duration_cast<std::chrono::microseconds>(Steady::now() - begun.start);
  const Exchange exchange = {.operation = reply.operation,
                             .time = begun.time,
                             .duration_us = taken.count(),
                             .fault = begun.fault ? std::string_view(begun.fault->id) : std::string_view(),
                             .warning = reply.warning};
  if (journal_file_.is_open()) journal_file_.write(sandbox_->journal.describe(request, reply.response, exchange));
  sandbox_->journal.add(request, reply.response, exchange);
  if (log_ != LogStyle::off) log(request, reply, taken.count());
  return std::move(reply.response);
}

http::Response Application::again(std::uint64_t ticket, const http::Request& request, http::Patience patience) {
  if (ticket == advancing_) return advance_on(ticket, patience);
  auto waited = waiting_.extract(ticket);
  if (waited.empty()) return handle(request);
  Begun begun = std::move(waited.mapped());
  if (begun.in_flight) sandbox_->in_flight.erase(*std::exchange(begun.in_flight, std::nullopt));
  return go_on(ticket, request, std::move(begun), patience);
}

void Application::forget(std::uint64_t ticket) {
  if (ticket == advancing_) {
    static_cast<void>(advance_on(ticket, http::Patience::none));
    return;
  }
  if (auto waited = waiting_.extract(ticket); !waited.empty()) release(waited.mapped());
}

/// The clock goes on only when nobody else is to look at the time that it has reached.
std::vector<std::uint64_t> Application::take_ready() {
  std::vector<std::uint64_t> tickets;
  for (const WaitingRoom::Ready& ready : sandbox_->waiting_room.take_ready(sandbox_->world->now())) {
    const auto guest = sandbox_->guests.find(ready.ticket);
    if (guest == sandbox_->guests.end()) continue;
    tickets.push_back(guest->second.ticket);
    waiting_.at(guest->second.ticket).is_over = ready.is_over;
  }
  const auto due = held_.upper_bound(Steady::now());
  for (auto held = held_.begin(); held != due; ++held) tickets.push_back(held->second);
  held_.erase(held_.begin(), due);
  if (tickets.empty() && advancing_) tickets.push_back(*advancing_);
  return tickets;
}

/// While the clock stands still nothing is due by itself, but for what a fault holds up: its delays are real.
std::optional<std::chrono::milliseconds> Application::next_ready() {
  using std::chrono::milliseconds;
  std::optional<milliseconds> next;
  const auto due = sandbox_->waiting_room.next_due();
  if (due && !sandbox_->clock.is_frozen()) {
    next = milliseconds(std::max<std::int64_t>(0, *due - sandbox_->world->now()));
  }
  if (!held_.empty()) {
    const auto left = std::chrono::ceil<milliseconds>(held_.begin()->first - Steady::now());
    next = std::min(next.value_or(left), std::max(left, milliseconds(0)));
  }
  return next;
}

http::Response Application::refuse(const http::Unreadable& why) {
  const std::string request_id = next_request_id(nullptr);
  http::Response response =
      render(Refusal{.status = why.status, .code = std::string(why.code), .message = std::string(why.reason)},
             request_id,
             sandbox_->world->assumptions);
  response.header("X-Request-Id", request_id).header("X-Mock-Operation", "none");
  // What came was no whole request: of it nothing is known but how it was answered.
  const http::Request unread;
  const Exchange exchange = {.time = sandbox_->world->now()};
  if (journal_file_.is_open()) journal_file_.write(sandbox_->journal.describe(unread, response, exchange));
  sandbox_->journal.add(unread, response, exchange);
  return response;
}

void Application::log(const http::Request& request, const Reply& reply, std::int64_t duration_us) const {
  const std::string_view operation = reply.operation.empty() ? "none" : reply.operation;
  // The query stays out: it may hold what a person was looking for.
  if (log_ == LogStyle::json) {
    const Json line = {{"time", rfc3339(sandbox_->world->now())},
                       {"method", request.method},
                       {"path", shown_path(request.path)},
                       {"operation", operation},
                       {"status", reply.response.status()},
                       {"duration_ms", static_cast<double>(duration_us) / 1000}};
    fmt::print(stderr, "{}\n", dump(line));
  } else {
    fmt::print(stderr,
               "{} {} {} {} {:.1f} ms\n",
               reply.response.status(),
               request.method,
               shown_path(request.path),
               operation,
               static_cast<double>(duration_us) / 1000);
  }
}

}  // namespace ws::mock

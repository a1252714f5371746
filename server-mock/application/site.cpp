#include "server-mock/application/site.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server-mock/pipeline/errors.hpp"
#include "server-mock/pipeline/upload_put.hpp"

namespace ws::mock {
namespace {

constexpr std::size_t longest_request_id = 128;

bool is_visible_ascii(char c) { return c > ' ' && c <= '~'; }

bool is_under(std::string_view path, std::string_view root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

}  // namespace

Site::Site(Household& household, Worlds* worlds, std::unique_ptr<Sandbox> sandbox, std::uint64_t first_ticket)
    : household_(household), worlds_(worlds), sandbox_(std::move(sandbox)), next_ticket_(first_ticket) {}

std::unique_ptr<http::BodySink> Site::open_sink(const http::Request& head) {
  return open_upload(*sandbox_, head, is_open_);
}

void Site::end() {
  is_open_.reset();
  sandbox_->waiting_room.end_all();
  std::multimap<Steady::time_point, std::uint64_t> now;
  for (const auto& [until, ticket] : held_) now.emplace(Steady::time_point::min(), ticket);
  for (const auto& [until, ticket] : watchers_) now.emplace(Steady::time_point::min(), ticket);
  held_ = std::move(now);
  watchers_.clear();
}

/// The caller's own where it is fit to be shown, else one by the number of the request. Control calls count apart: who
/// watches renumbers nothing.
std::string Site::next_request_id(const http::Request* request, Kind kind) {
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

http::Response Site::handle(const http::Request& request) {
  if (household_.control.is_on() && is_under(request.path, "/_mock")) {
    Begun begun = {.request_id = next_request_id(&request, Kind::control), .start = Steady::now()};
    return handle_control(next_ticket_++, request, std::move(begun), http::Patience::some);
  }
  Begun begun = {
      .request_id = next_request_id(&request, Kind::usual), .time = sandbox_->world->now(), .start = Steady::now()};
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
http::Response Site::handle_control(std::uint64_t ticket,
                                    const http::Request& request,
                                    Begun&& begun,
                                    http::Patience patience) {
  http::Response response = household_.control.handle(*sandbox_, worlds_, request, begun.request_id);
  if (sandbox_->advance && !advancing_) {
    advancing_ = ticket;
    waiting_.emplace(ticket, std::move(begun));
    return http::Response::later(ticket);
  }
  const auto watch = std::exchange(sandbox_->watch, std::nullopt);
  if (watch && patience == http::Patience::some && !begun.is_over) {
    if (watchers_.empty()) watched_to_ = sandbox_->journal.last_seq();
    watchers_.emplace(begun.start + *watch, ticket);
    begun.watches = true;
    waiting_.emplace(ticket, std::move(begun));
    return http::Response::later(ticket);
  }
  response.header("X-Request-Id", begun.request_id).header("X-Mock-Operation", "control");
  return response;
}

/// One step of time, after which those who wait may look; at the end the answer.
http::Response Site::advance_on(std::uint64_t ticket, http::Patience patience) {
  const Steps steps = patience == http::Patience::none ? Steps::all : Steps::one;
  const std::string request_id = waiting_.at(ticket).request_id;
  std::optional<http::Response> response = household_.control.advance_on(*sandbox_, steps, request_id);
  if (!response) return http::Response::later(ticket);
  advancing_.reset();
  waiting_.erase(ticket);
  response->header("X-Request-Id", request_id).header("X-Mock-Operation", "control");
  return std::move(*response);
}

/// Answers, or leaves the request waiting under its ticket.
http::Response Site::go_on(std::uint64_t ticket, const http::Request& request, Begun&& begun, http::Patience patience) {
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
http::Response Site::hold(const http::Request& request, Begun&& begun) {
  http::Pairs values;
  const contract::Operation* operation = household_.pipeline.find(request, values);
  const auto key = request.find("Idempotency-Key");
  if (operation != nullptr && operation->idempotency == contract::Idempotency::key && key && !key->empty()) {
    if (const auto caller = sandbox_->access->identify(request.find("Authorization"))) {
      std::pair<std::string, std::string> occupied(idempotency_owner(**caller), std::string(*key));
      if (sandbox_->in_flight.insert(occupied).second) {
        begun.in_flight = std::make_unique<std::pair<std::string, std::string>>(std::move(occupied));
      }
    }
  }
  const std::uint64_t ticket = next_ticket_++;
  held_.emplace(begun.start + begun.fault->effect.delay, ticket);
  waiting_.emplace(ticket, std::move(begun));
  return http::Response::later(ticket);
}

/// It waits no more: neither for an event, nor with a key that nobody else may use meanwhile.
void Site::release(Begun& begun) {
  if (begun.in_flight) sandbox_->in_flight.erase(*std::exchange(begun.in_flight, nullptr));
  if (!begun.guest) return;
  sandbox_->waiting_room.leave(*begun.guest);
  sandbox_->guests.erase(*std::exchange(begun.guest, std::nullopt));
}

/// Journalled with its answer, and timed from when it came.
http::Response Site::finish(const http::Request& request, Reply&& reply, const Begun& begun) {
  reply.response.header("X-Request-Id", begun.request_id)
      .header("X-Mock-Operation", reply.operation.empty() ? "none" : reply.operation);
  const auto taken = std::chrono::duration_cast<std::chrono::microseconds>(Steady::now() - begun.start);
  const Exchange exchange = {.operation = reply.operation,
                             .time = begun.time,
                             .duration_us = taken.count(),
                             .fault = begun.fault ? std::string_view(begun.fault->id) : std::string_view(),
                             .warning = reply.warning};
  if (household_.journal_file.is_open())
    household_.journal_file.write(sandbox_->journal.describe(request, reply.response, exchange));
  sandbox_->journal.add(request, reply.response, exchange);
  if (household_.log != LogStyle::off) log(request, reply, taken.count());
  return std::move(reply.response);
}

http::Response Site::again(std::uint64_t ticket, const http::Request& request, http::Patience patience) {
  if (ticket == advancing_) return advance_on(ticket, patience);
  auto waited = waiting_.extract(ticket);
  if (waited.empty()) return handle(request);
  Begun begun = std::move(waited.mapped());
  if (begun.watches) return handle_control(ticket, request, std::move(begun), patience);
  if (begun.in_flight) sandbox_->in_flight.erase(*std::exchange(begun.in_flight, nullptr));
  return go_on(ticket, request, std::move(begun), patience);
}

void Site::forget(std::uint64_t ticket) {
  if (ticket == advancing_) {
    static_cast<void>(advance_on(ticket, http::Patience::none));
    return;
  }
  if (auto waited = waiting_.extract(ticket); !waited.empty()) release(waited.mapped());
}

/// The clock goes on only when nobody else is to look at the time that it has reached.
void Site::take_ready(std::vector<std::uint64_t>& tickets) {
  const std::size_t others = tickets.size();
  for (const WaitingRoom::Ready& ready : sandbox_->waiting_room.take_ready(sandbox_->world->now())) {
    const auto guest = sandbox_->guests.find(ready.ticket);
    if (guest == sandbox_->guests.end()) continue;
    tickets.push_back(guest->second.ticket);
    waiting_.at(guest->second.ticket).is_over = ready.is_over;
  }
  const auto due = held_.upper_bound(Steady::now());
  for (auto held = held_.begin(); held != due; ++held) tickets.push_back(held->second);
  held_.erase(held_.begin(), due);
  take_watchers(tickets);
  if (tickets.size() == others && advancing_) tickets.push_back(*advancing_);
}

/// Those who watch the journal: all of them when there is something new, and who has watched long enough.
void Site::take_watchers(std::vector<std::uint64_t>& tickets) {
  if (watchers_.empty()) return;
  const bool is_new = sandbox_->journal.last_seq() != watched_to_;
  const auto due = is_new ? watchers_.end() : watchers_.upper_bound(Steady::now());
  for (auto watcher = watchers_.begin(); watcher != due; ++watcher) {
    const auto waiting = waiting_.find(watcher->second);
    if (waiting == waiting_.end()) continue;  // went away meanwhile
    tickets.push_back(watcher->second);
    if (!is_new) waiting->second.is_over = true;
  }
  watchers_.erase(watchers_.begin(), due);
}

/// While the clock stands still nothing is due by itself, but for what a fault holds up: its delays are real.
std::optional<std::chrono::milliseconds> Site::next_ready() {
  using std::chrono::milliseconds;
  std::optional<milliseconds> next;
  const auto due = sandbox_->waiting_room.next_due();
  if (due && !sandbox_->clock.is_frozen()) {
    next = milliseconds(std::max<std::int64_t>(0, *due - sandbox_->world->now()));
  }
  for (const auto* waiting : {&held_, &watchers_}) {
    if (waiting->empty()) continue;
    const auto left = std::chrono::ceil<milliseconds>(waiting->begin()->first - Steady::now());
    next = std::min(next.value_or(left), std::max(left, milliseconds(0)));
  }
  return next;
}

http::Response Site::refuse(const http::Unreadable& why) {
  const std::string request_id = next_request_id(nullptr, Kind::usual);
  http::Response response =
      render(Refusal{.status = why.status, .code = std::string(why.code), .message = std::string(why.reason)},
             request_id,
             sandbox_->world->assumptions);
  response.header("X-Request-Id", request_id).header("X-Mock-Operation", "none");
  // What came was no whole request: of it nothing is known but how it was answered.
  const http::Request unread;
  const Exchange exchange = {.time = sandbox_->world->now()};
  if (household_.journal_file.is_open())
    household_.journal_file.write(sandbox_->journal.describe(unread, response, exchange));
  sandbox_->journal.add(unread, response, exchange);
  return response;
}

http::Response Site::turn_away(const http::Request& request, const Refusal& refusal) {
  const std::string_view path = http::within_sandbox(request.path).path;
  if (is_under(path, "/_mock")) {
    const std::string request_id = next_request_id(&request, Kind::control);
    http::Response response = render(refusal, request_id, Assumptions());
    response.header("X-Request-Id", request_id).header("X-Mock-Operation", "control");
    return response;
  }
  Begun begun = {
      .request_id = next_request_id(&request, Kind::usual), .time = sandbox_->world->now(), .start = Steady::now()};
  return finish(request, {.response = render(refusal, begun.request_id, sandbox_->world->assumptions)}, begun);
}

void Site::log(const http::Request& request, const Reply& reply, std::int64_t duration_us) const {
  const std::string_view operation = reply.operation.empty() ? "none" : reply.operation;
  const std::string& id = sandbox_->options.id;
  const std::string path = (id.empty() ? "" : "/_s/" + id).append(shown_path(request.path));
  // The query stays out: it may hold what a person was looking for.
  if (household_.log == LogStyle::json) {
    const Json line = {{"time", rfc3339(sandbox_->world->now())},
                       {"method", request.method},
                       {"path", path},
                       {"operation", operation},
                       {"status", reply.response.status()},
                       {"duration_ms", static_cast<double>(duration_us) / 1000}};
    fmt::print(stderr, "{}\n", dump(line));
  } else {
    fmt::print(stderr,
               "{} {} {} {} {:.1f} ms\n",
               reply.response.status(),
               request.method,
               path,
               operation,
               static_cast<double>(duration_us) / 1000);
  }
}

}  // namespace ws::mock

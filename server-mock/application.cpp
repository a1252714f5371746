#include "server-mock/application.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/contract/openapi.hpp"
#include "server-mock/pages/device_page.hpp"
#include "server-mock/pipeline/errors.hpp"

namespace ws::mock {
namespace {

constexpr std::size_t json_body_bytes = std::size_t{16} << 20U;
constexpr std::size_t longest_request_id = 128;
constexpr std::string_view openapi_path = "/openapi.json";

bool is_visible_ascii(char c) { return c > ' ' && c <= '~'; }

bool is_under(std::string_view path, std::string_view root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

}  // namespace

Application::Application(const ApplicationOptions& options, std::unique_ptr<Sandbox> sandbox)
    : sandbox_(std::move(sandbox)), control_(options.control), log_(options.log) {}

Result<std::unique_ptr<Application>> Application::open(const ApplicationOptions& options) {
  WS_LET(std::unique_ptr<Sandbox> sandbox, Sandbox::open(options.sandbox));
  return std::unique_ptr<Application>(new Application(options, std::move(sandbox)));
}

std::size_t Application::body_limit(const http::Request& /*head*/) { return json_body_bytes; }

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

Reply Application::answer(const http::Request& request, std::string_view request_id) {
  if (request.path == pages::device_path) {
    return {.response = pages::device(*sandbox_, request), .operation = "page.device"};
  }
  if (request.path == openapi_path && (request.method == "GET" || request.method == "HEAD")) {
    http::Response response;
    response.body("application/json", dump(contract::openapi(sandbox_->base_url), 2));
    return {.response = std::move(response), .operation = "openapi"};
  }
  return pipeline_.handle(*sandbox_, request, request_id);
}

http::Response Application::handle(const http::Request& request) {
  const std::string request_id = next_request_id(&request);
  if (control_.is_on() && is_under(request.path, "/_mock")) {
    // Neither journalled nor logged: watching must not change what is watched.
    http::Response response = control_.handle(*sandbox_, request, request_id);
    response.header("X-Request-Id", request_id).header("X-Mock-Operation", "control");
    return response;
  }
  Begun begun = {.request_id = request_id, .time = sandbox_->world->now(), .start = std::chrono::steady_clock::now()};
  Reply reply = answer(request, request_id);
  if (reply.waiting) {
    const std::uint64_t ticket = sandbox_->waiting_room.enter(*reply.waiting, sandbox_->world->now());
    waiting_.emplace(ticket, std::move(begun));
    return http::Response::later(ticket);
  }
  return finish(request, std::move(reply), begun);
}

/// Journalled with its answer, and timed from when it came.
http::Response Application::finish(const http::Request& request, Reply&& reply, const Begun& begun) {
  reply.response.header("X-Request-Id", begun.request_id)
      .header("X-Mock-Operation", reply.operation.empty() ? "none" : reply.operation);
  const auto taken =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begun.start);
  sandbox_->journal.add(
      request, reply.response, {.operation = reply.operation, .time = begun.time, .duration_us = taken.count()});
  if (log_ != LogStyle::off) log(request, reply, taken.count());
  return std::move(reply.response);
}

http::Response Application::again(std::uint64_t ticket, const http::Request& request, http::Patience patience) {
  auto waited = waiting_.extract(ticket);
  if (waited.empty()) return handle(request);
  Begun& begun = waited.mapped();
  Reply reply = answer(request, begun.request_id);
  if (reply.waiting && !begun.is_over && patience == http::Patience::some) {
    sandbox_->waiting_room.stay(ticket, reply.waiting->look_again_at);
    waiting_.insert(std::move(waited));
    return http::Response::later(ticket);
  }
  sandbox_->waiting_room.leave(ticket);
  return finish(request, std::move(reply), begun);
}

void Application::forget(std::uint64_t ticket) {
  sandbox_->waiting_room.leave(ticket);
  waiting_.erase(ticket);
}

std::vector<std::uint64_t> Application::take_ready() {
  std::vector<std::uint64_t> tickets;
  for (const WaitingRoom::Ready& ready : sandbox_->waiting_room.take_ready(sandbox_->world->now())) {
    tickets.push_back(ready.ticket);
    const auto waited = waiting_.find(ready.ticket);
    if (waited != waiting_.end()) waited->second.is_over = ready.is_over;
  }
  return tickets;
}

/// While the clock stands still nothing is due by itself.
std::optional<std::chrono::milliseconds> Application::next_ready() {
  const auto due = sandbox_->waiting_room.next_due();
  if (!due || sandbox_->clock.is_frozen()) return std::nullopt;
  return std::chrono::milliseconds(std::max<std::int64_t>(0, *due - sandbox_->world->now()));
}

http::Response Application::refuse(const http::Unreadable& why) {
  const std::string request_id = next_request_id(nullptr);
  http::Response response =
      render(Refusal{.status = why.status, .code = std::string(why.code), .message = std::string(why.reason)},
             request_id,
             sandbox_->world->assumptions);
  response.header("X-Request-Id", request_id).header("X-Mock-Operation", "none");
  return response;
}

void Application::log(const http::Request& request, const Reply& reply, std::int64_t duration_us) const {
  const std::string_view operation = reply.operation.empty() ? "none" : reply.operation;
  // The query stays out: it may hold what a person was looking for.
  if (log_ == LogStyle::json) {
    const Json line = {{"time", rfc3339(sandbox_->world->now())},
                       {"method", request.method},
                       {"path", request.path},
                       {"operation", operation},
                       {"status", reply.response.status()},
                       {"duration_ms", static_cast<double>(duration_us) / 1000}};
    fmt::print(stderr, "{}\n", dump(line));
  } else {
    fmt::print(stderr,
               "{} {} {} {} {:.1f} ms\n",
               reply.response.status(),
               request.method,
               request.path,
               operation,
               static_cast<double>(duration_us) / 1000);
  }
}

}  // namespace ws::mock

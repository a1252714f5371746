/// An in-memory transport and a manual clock for a `Client`, without sockets and real time.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/http/transport.hpp"

namespace ws::test {

class FakeClock final : public Clock {
 public:
  Time now() const override { return now_; }
  void advance(std::chrono::milliseconds time) { now_ += time; }

 private:
  Time now_{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20}};
};

inline http::Response json_response(int status, std::string_view body, const http::Headers& headers = {}) {
  http::Response response{.status = status, .headers = headers, .body = std::string(body)};
  if (!http::find_header(headers, "Content-Type")) response.headers.emplace_back("Content-Type", "application/json");
  return response;
}

inline http::TransportError transport_error(http::TransportError::Stage stage) {
  const auto kind =
      stage == http::TransportError::Stage::cancelled ? Failure::Kind::cancelled : Failure::Kind::unreachable;
  return {.stage = stage, .reason = {.kind = kind, .what = "the wire broke"}};
}

/// Calls the handler for the outcome of each exchange; an empty outcome leaves it pending until `cancel_all`. If no
/// exchange can complete, `run` advances the clock instead.
class FakeTransport final : public http::Transport {
 public:
  using Handler = std::function<std::optional<http::Outcome>(const http::Request&)>;
  FakeTransport(FakeClock& clock, Handler handler) : clock_(clock), handler_(std::move(handler)) {}

  void start(http::Request request, std::function<void(http::Outcome)> done) override {
    requests_.push_back(request);
    times_.push_back(clock_.now());
    started_.push_back({std::move(request), std::move(done)});
  }
  void run(std::chrono::milliseconds at_most) override {
    if (started_.empty()) {
      clock_.advance(at_most);
      return;
    }
    while (!started_.empty()) {
      Exchange exchange = std::move(started_.front());
      started_.pop_front();
      std::optional<http::Outcome> outcome = handler_(exchange.request);
      if (outcome) {
        exchange.done(through_sink(exchange.request, std::move(*outcome)));
      } else {
        held_.push_back(std::move(exchange));
      }
    }
  }
  std::size_t under_way() const override { return started_.size() + held_.size(); }
  void cancel_all() override {
    std::deque<Exchange> all = std::move(started_);
    started_.clear();
    for (Exchange& exchange : held_) all.push_back(std::move(exchange));
    held_.clear();
    for (Exchange& exchange : all) exchange.done(transport_error(http::TransportError::Stage::cancelled));
  }

  const std::vector<http::Request>& requests() const { return requests_; }
  const std::vector<Time>& times() const { return times_; }  ///< the clock's time at the start of each exchange

 private:
  struct Exchange {
    http::Request request;
    std::function<void(http::Outcome)> done;
  };

  static http::Outcome through_sink(const http::Request& request, http::Outcome outcome) {
    auto* const response = std::get_if<http::Response>(&outcome);
    if (response == nullptr || !request.sink || response->status / 100 != 2) return outcome;
    Result<void> taken;
    if (request.head && !response->body.empty()) taken = request.head(response->status, response->headers);
    if (taken) taken = request.sink(response->body);
    if (!taken) return http::TransportError{http::TransportError::Stage::sink, std::move(taken).error()};
    response->body.clear();
    return outcome;
  }

  FakeClock& clock_;
  Handler handler_;
  std::deque<Exchange> started_;
  std::deque<Exchange> held_;
  std::vector<http::Request> requests_;
  std::vector<Time> times_;
};

}  // namespace ws::test

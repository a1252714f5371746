/// The network between one folder and the service: simulated time, and seeded random faults.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api-client/base/random.hpp"
#include "api-client/http/transport.hpp"
#include "tests/support/fake_transport.hpp"

namespace ws::property {

/// The fault rate during one command. The same seed gives the same faults.
struct FaultRate {
  std::uint64_t seed = 0;
  unsigned one_in = 0;  ///< one in this many exchanges fails; 0: none
};

class Network {
 public:
  using Exchange = std::function<http::Response(const http::Request&)>;
  explicit Network(Exchange exchange) : exchange_(std::move(exchange)) {}

  void begin(const FaultRate& fault_rate);
  http::Outcome carry(const http::Request& asked);
  ws::test::FakeClock& clock() { return clock_; }
  void replace(Exchange exchange) { exchange_ = std::move(exchange); }

  /// Called before a request reaches the service; can make concurrent changes.
  std::function<void(const http::Request&)> meanwhile = {};
  /// May change the service's response.
  std::function<void(const http::Request&, http::Response&)> tamper = {};

  /// "POST /v1/sync/plan {...}" for every request sent since `begin`.
  const std::vector<std::string>& sent() const { return sent_; }
  /// The number of requests that are not reads.
  std::size_t writes() const;

 private:
  http::Response deliver(const http::Request& request);
  void deliver_late();

  Exchange exchange_;
  ws::test::FakeClock clock_;
  std::optional<SeededRandom> random_;
  unsigned one_in_ = 0;
  std::vector<std::string> sent_;
  std::deque<http::Request> late_;  ///< delayed requests, which their senders believe lost
};

}  // namespace ws::property

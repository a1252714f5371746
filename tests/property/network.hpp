/// The way between one folder and the service: simulated time, and by seed everything that goes wrong on a bad network.
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

/// How bad it is during one command. The same seed, the same mishaps.
struct Weather {
  std::uint64_t seed = 0;
  unsigned one_in = 0;  ///< so many exchanges one goes wrong; 0: none does
};

class Network {
 public:
  using Exchange = std::function<http::Response(const http::Request&)>;
  explicit Network(Exchange exchange) : exchange_(std::move(exchange)) {}

  void begin(const Weather& weather);
  http::Outcome carry(const http::Request& request);
  ws::test::FakeClock& clock() { return clock_; }
  void replace(Exchange exchange) { exchange_ = std::move(exchange); }

  /// Asked before a request reaches the service; what it does happens in between.
  std::function<void(const http::Request&)> meanwhile = {};
  /// May change what the service answered.
  std::function<void(const http::Request&, http::Response&)> tamper = {};

  /// "POST /v1/sync/plan {...}" of every request that was sent, since `begin`.
  const std::vector<std::string>& sent() const { return sent_; }
  /// Those that are no reads.
  std::size_t writes() const;

 private:
  http::Response deliver(const http::Request& request);
  void deliver_late();

  Exchange exchange_;
  ws::test::FakeClock clock_;
  std::optional<SeededRandom> random_;
  unsigned one_in_ = 0;
  std::vector<std::string> sent_;
  std::deque<http::Request> late_;  ///< lost on the way, as their senders believe
};

}  // namespace ws::property

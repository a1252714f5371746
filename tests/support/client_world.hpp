/// A client with an in-memory network: makes the client in one line, performs calls, and records what was sent.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api-client/base/random.hpp"
#include "api-client/client/client.hpp"
#include "tests/support/fake_transport.hpp"

namespace ws::test {

inline constexpr const char* base_url = "https://api.example.org";
inline constexpr const char* secret_key = "wsk_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
inline constexpr const char* some_id = "01936b2e-7d6a-7c3e-8a4b-1f2e3d4c5b6a";

struct ClientWorld {
  explicit ClientWorld(FakeTransport::Handler handler, ClientOptions settings = {})
      : transport(clock, std::move(handler)), client(transport, clock, random, complete(std::move(settings))) {}

  /// Returns the outcomes in order, and the last one repeatedly.
  static FakeTransport::Handler in_turn(std::vector<http::Outcome> outcomes) {
    return [outcomes = std::move(outcomes), next = std::size_t{0}](const http::Request&) mutable {
      const std::size_t place = std::min(next++, outcomes.size() - 1);
      return std::optional<http::Outcome>(outcomes[place]);
    };
  }

  ClientOptions complete(ClientOptions settings) {
    if (settings.base_url.empty()) settings.base_url = base_url;
    if (!settings.credential) settings.credential = Credential{secret_key, http::origin_of(settings.base_url)};
    if (!settings.trace) settings.trace = [this](const std::string& line) { trace.push_back(line); };
    if (!settings.notice) settings.notice = [this](const std::string& text) { notices.push_back(text); };
    return settings;
  }
  std::size_t sends() const { return transport.requests().size(); }

  FakeClock clock;
  SeededRandom random{1};
  std::vector<std::string> trace;
  std::vector<std::string> notices;
  FakeTransport transport;
  Client client;
};

}  // namespace ws::test

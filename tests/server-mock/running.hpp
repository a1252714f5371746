/// A server in this process, on a socket and its own thread; its clock is frozen by default.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <nlohmann/json.hpp>

#include "server-mock/application/application.hpp"
#include "server-mock/http/server/server.hpp"
#include "tests/server-mock/wire.hpp"

namespace ws::mock::test {

class Running {
 public:
  explicit Running(std::string_view clock = "frozen:2026-11-20T10:00:00Z", ApplicationOptions options = {});
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { stop(); }
  void stop();

  std::uint16_t port() const { return server_->port(); }
  const BuiltIn& built_in() const { return built_in_; }

  /// With the key of every scope; the answer as JSON.
  Json send(const std::string& method, const std::string& target, const Json& body, int status);
  RawRequest request(const std::string& method,
                     const std::string& target,
                     const Json& body,
                     const std::string& token) const;
  /// The bytes of a claim, by the built-in key where no other is given.
  std::string claim(int wait_seconds, const std::string& token = "") const;
  /// The answer of `clock:advance`.
  Json advance(int seconds);
  /// A comment that mentions the built-in agent.
  void mention();

 private:
  std::unique_ptr<Application> application_;
  std::unique_ptr<http::Server> server_;
  BuiltIn built_in_;
  std::thread thread_;
};

}  // namespace ws::mock::test

/// Sends requests to the service under test: one at a time, on one connection, within a budget.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "api-client/base/result.hpp"
#include "api-client/http/transport.hpp"
#include "server-mock/journal/redactor.hpp"

namespace ws::mock::compare {

struct CallerOptions {
  std::string base_url = {};
  std::string token = {};
  std::size_t max_requests = 1500;
  std::chrono::milliseconds max_time{60'000};
  const std::atomic<bool>* stop = nullptr;  ///< when set, no more requests are sent; null: never
};

/// The credential that a request carries.
enum class WithKey { right, none, wrong };

struct CallRequest {
  std::string method = "GET";
  std::string target = {};  ///< "/v1/documents?limit=2"
  WithKey key = WithKey::right;
  std::string body = {};           ///< JSON; empty: none
  ws::http::Headers headers = {};  ///< in addition to `Authorization` and `Content-Type`
  std::string upload_url = {};     ///< if set, `body` is sent there as bytes, and `target` is ignored
  std::chrono::milliseconds timeout{20'000};
};

/// Fails with `usage` if a key would go over plain http to another machine that `WS_ALLOW_HTTP` does not name.
Result<void> check_key_way(const std::string& base_url);

class Caller {
 public:
  /// Fails as `make_curl_transport` does.
  static Result<Caller> open(const CallerOptions& options);

  /// On a 429 or 503 with `Retry-After`, waits and sends the request again. Fails with `unreachable` (no response),
  /// `rate_limited` (the budget is used up) or `cancelled`.
  Result<WireExchange> send(const CallRequest& request);
  /// Ignores `stop` and the time budget from now on, so that the objects created by the run can be removed.
  void begin_cleanup();

  std::size_t sent() const { return sent_; }
  const std::string& base_url() const { return options_.base_url; }

 private:
  Caller(CallerOptions options, std::unique_ptr<ws::http::Transport> transport);
  Result<WireExchange> send_once(const CallRequest& request);
  Result<void> check_budget() const;

  CallerOptions options_;
  std::unique_ptr<ws::http::Transport> transport_;
  std::chrono::steady_clock::time_point begin_;
  std::size_t sent_ = 0;
  bool is_cleanup_ = false;
};

}  // namespace ws::mock::compare

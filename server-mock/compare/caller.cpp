#include "server-mock/compare/caller.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clock.hpp"
#include "api-client/http/curl.hpp"

namespace ws::mock::compare {
namespace {

constexpr int max_tries = 4;
constexpr std::chrono::seconds longest_pause{30};
/// Part of the budget reserved for removing what the run created.
constexpr std::size_t cleanup_requests = 60;
/// A well-formed key that does not exist.
constexpr std::string_view wrong_key = "wsk_0000000000000000000000000000000000000000000";

/// The `Retry-After` of the response; empty: none.
std::optional<std::chrono::seconds> pause_of(const WireExchange& answer) {
  if (answer.status != 429 && answer.status != 503) return std::nullopt;
  const auto given = ws::http::find_header(answer.response_headers, "Retry-After");
  const auto seconds = given ? parse_bounded(*given) : Result<Json>(Json());
  if (!seconds || !seconds->is_number_unsigned()) return std::nullopt;
  return std::chrono::seconds(std::min<std::uint64_t>(seconds->get<std::uint64_t>(), 3600));
}

}  // namespace

Result<void> check_key_way(const std::string& base_url) {
  const char* const allowed = std::getenv("WS_ALLOW_HTTP");
  if (ws::http::may_take_key(base_url, allowed == nullptr ? "" : allowed)) return {};
  const std::string host_and_port = ws::http::origin_of(base_url).substr(std::string_view("http://").size());
  return fail(Failure::Kind::usage,
              fmt::format("a key is not sent over plain http to {}", host_and_port.substr(0, host_and_port.rfind(':'))),
              "use https, or name the host: WS_ALLOW_HTTP=" + host_and_port);
}

Caller::Caller(CallerOptions options, std::unique_ptr<ws::http::Transport> transport)
    : options_(std::move(options)), transport_(std::move(transport)), begin_(std::chrono::steady_clock::now()) {}

Result<Caller> Caller::open(const CallerOptions& options) {
  CallerOptions own = options;
  while (own.base_url.ends_with('/')) own.base_url.pop_back();
  if (ws::http::origin_of(own.base_url).empty()) {
    return fail(Failure::Kind::usage, fmt::format("\"{}\" is not an http or https address", own.base_url));
  }
  WS_TRY(check_key_way(own.base_url));
  WS_LET(auto transport, ws::http::make_curl_transport({.max_connections = 1}));
  return Caller(std::move(own), std::move(transport));
}

void Caller::begin_cleanup() {
  is_cleanup_ = true;
  options_.max_time += std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin_);
}

Result<void> Caller::check_budget() const {
  if (!is_cleanup_ && options_.stop != nullptr && *options_.stop) return fail(Failure::Kind::cancelled, "stopped");
  const std::size_t most = is_cleanup_ ? options_.max_requests : options_.max_requests - cleanup_requests;
  if (sent_ >= most) {
    return fail(Failure::Kind::rate_limited, fmt::format("{} requests were sent, which is the limit", sent_));
  }
  if (std::chrono::steady_clock::now() - begin_ > options_.max_time) {
    return fail(Failure::Kind::rate_limited, fmt::format("it took longer than {} s", options_.max_time.count() / 1000));
  }
  return {};
}

Result<WireExchange> Caller::send(const CallRequest& request) {
  for (int tries = 1;; ++tries) {
    WS_TRY(check_budget());
    WS_LET(WireExchange answer, send_once(request));
    const auto pause = pause_of(answer);
    if (!pause || tries == max_tries || *pause > longest_pause) return answer;
    const auto until = std::chrono::steady_clock::now() + *pause;
    while (std::chrono::steady_clock::now() < until) {
      WS_TRY(check_budget());
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
}

Result<WireExchange> Caller::send_once(const CallRequest& request) {
  ++sent_;
  WireExchange exchange = {.method = request.method,
                           .request_headers = request.headers,
                           .request_body = request.body,
                           .request_bytes = request.body.size(),
                           .time_ms = SystemClock().now().time_since_epoch().count(),
                           .upload_url = request.upload_url};
  if (request.upload_url.empty()) {
    const std::size_t question = request.target.find('?');
    exchange.path = request.target.substr(0, question);
    if (question != std::string::npos) exchange.query = request.target.substr(question + 1);
    if (!request.body.empty()) exchange.request_headers.emplace_back("Content-Type", "application/json");
    if (request.key != WithKey::none) {
      const std::string_view key = request.key == WithKey::right ? std::string_view(options_.token) : wrong_key;
      exchange.request_headers.emplace_back("Authorization", fmt::format("Bearer {}", key));
    }
  }
  ws::http::Headers headers = exchange.request_headers;
  headers.emplace_back("Accept", "application/json, application/problem+json;q=0.9, */*;q=0.8");
  headers.emplace_back("User-Agent", "ws-mock-diff");
  const auto sent_at = std::chrono::steady_clock::now();
  ws::http::Outcome outcome =
      transport_->send({.method = request.method,
                        .url = request.upload_url.empty() ? options_.base_url + request.target : request.upload_url,
                        .headers = std::move(headers),
                        .body = request.body,
                        .timeout = request.timeout});
  if (auto* error = std::get_if<ws::http::TransportError>(&outcome)) {
    return fail(Failure::Kind::unreachable, error->reason.what);
  }
  auto& response = std::get<ws::http::Response>(outcome);
  const auto taken = std::chrono::steady_clock::now() - sent_at;
  exchange.duration_us = std::chrono::duration_cast<std::chrono::microseconds>(taken).count();
  exchange.status = response.status;
  exchange.response_headers = std::move(response.headers);
  exchange.response_bytes = response.body.size();
  exchange.response_body = std::move(response.body);
  return exchange;
}

}  // namespace ws::mock::compare

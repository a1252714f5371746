#include "tests/property/network.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace ws::property {
namespace {

using ErrorStage = http::TransportError::Stage;

http::Response refusal(int status, const char* code, const http::Headers& headers = {}) {
  return ws::test::json_response(
      status, std::string(R"({"error": {"code": ")") + code + R"(", "message": "not now"}})", headers);
}

http::Response cut_short(http::Response response, std::uint64_t where) {
  response.body.resize(response.body.empty() ? 0 : where % response.body.size());
  return response;
}

/// With its bytes in memory: a request that arrives late outlives its source.
http::Request with_body(http::Request request) {
  if (request.source == nullptr) return request;
  std::string bytes(request.source->size_bytes(), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const auto read = request.source->read(bytes.data() + filled, bytes.size() - filled);
    if (!read || *read == 0) break;
    filled += *read;
  }
  bytes.resize(filled);
  request.body = std::move(bytes);
  request.source = nullptr;
  return request;
}

}  // namespace

void Network::begin(const FaultRate& fault_rate) {
  random_.emplace(fault_rate.seed);
  one_in_ = fault_rate.one_in;
  sent_.clear();
}

std::size_t Network::writes() const {
  return static_cast<std::size_t>(std::count_if(
      sent_.begin(), sent_.end(), [](const std::string& request) { return !request.starts_with("GET "); }));
}

http::Response Network::deliver(const http::Request& request) {
  if (meanwhile) meanwhile(request);
  http::Response response = exchange_(request);
  if (tamper) tamper(request, response);
  return response;
}

void Network::deliver_late() {
  while (!late_.empty() && random_->below(3) == 0) {
    static_cast<void>(exchange_(late_.front()));
    late_.pop_front();
  }
}

http::Outcome Network::carry(const http::Request& asked) {
  const http::Request request = with_body(asked);
  sent_.push_back(request.method + " " + request.url + " " + request.body);
  if (one_in_ == 0 || random_->below(one_in_) != 0) return deliver(request);
  deliver_late();
  switch (random_->below(12)) {
    case 0: return ws::test::transport_error(ErrorStage::nothing_sent);
    case 1: return ws::test::transport_error(ErrorStage::no_answer);
    case 2: static_cast<void>(deliver(request)); return ws::test::transport_error(ErrorStage::no_answer);
    case 3: late_.push_back(request); return ws::test::transport_error(ErrorStage::no_answer);
    case 4: static_cast<void>(deliver(request)); return deliver(request);
    case 5: return cut_short(deliver(request), random_->next());
    case 6: static_cast<void>(deliver(request)); return ws::test::transport_error(ErrorStage::unusable);
    case 7: return refusal(500, "internal_error");
    case 8: static_cast<void>(deliver(request)); return refusal(502, "bad_gateway");
    case 9: return refusal(503, "unavailable", {{"Retry-After", "7"}});
    case 10: return refusal(429, "rate_limited", {{"Retry-After", "2"}});
    default: break;
  }
  if (random_->below(4) == 0) return refusal(401, "invalid_token");
  clock_.advance(std::chrono::minutes(5));
  return deliver(request);
}

}  // namespace ws::property

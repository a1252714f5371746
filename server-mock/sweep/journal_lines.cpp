#include "server-mock/sweep/journal_lines.hpp"

#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/contract/operations.hpp"
#include "server-mock/sweep/printed_text.hpp"

namespace ws::mock::sweep {

bool SentRequest::is_create() const {
  const contract::Operation* known = contract::find_operation(operation);
  return known != nullptr && known->idempotency == contract::Idempotency::key;
}

SentRequest sent_request(Exchange exchange) {
  SentRequest sent = {std::move(exchange)};
  sent.host = sent.request_header("host");
  sent.has_key = find(*sent.request_headers, "authorization") != nullptr;
  sent.idempotency_key = sent.request_header("idempotency-key");
  if (!sent.request_body.is_null()) sent.body = canonical(*sent.request_body);
  return sent;
}

std::vector<SentRequest> read_journal(const Json& journal) {
  std::vector<SentRequest> all;
  const Json* data = find(journal, "data");
  if (data == nullptr || !data->is_array()) return all;
  for (const Json& entry : *data) {
    if (auto exchange = read_exchange(entry)) all.push_back(sent_request(std::move(*exchange)));
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> request_digests(const std::vector<SentRequest>& sent) {
  const std::set<std::string> none;
  std::map<std::string, std::size_t> ordinals;
  std::vector<std::pair<std::string, std::string>> digests;
  for (const SentRequest& one : sent) {
    const std::string text = TextBinder(none).bind(one.method + " " + one.path + "?" + one.query + "\n" + one.body);
    digests.emplace_back(fmt::format("{}#{}", one.operation, ++ordinals[one.operation]), Sha256::of(text).hex());
  }
  return digests;
}

std::string line_of(const SentRequest& sent) {
  const std::int64_t in_day = sent.time_ms % 86'400'000;
  std::string line = fmt::format("{:02}:{:02}:{:02}.{:03}  {}  {} {}",
                                 in_day / 3'600'000,
                                 in_day / 60'000 % 60,
                                 in_day / 1000 % 60,
                                 in_day % 1000,
                                 sent.status == 0 ? std::string("---") : std::to_string(sent.status),
                                 sent.method,
                                 sent.path);
  if (!sent.query.empty()) line += "?" + sent.query;
  if (!sent.idempotency_key.empty()) line += "  key " + sent.idempotency_key.substr(0, 16);
  // Before the path, which may be cut off at the width of a terminal.
  if (!sent.fault.empty()) line.insert(std::string_view("00:00:00.000  ").size() + 3, " fault");
  return line;
}

std::vector<std::string> lines_of_last(const std::vector<SentRequest>& sent) {
  std::vector<std::string> lines;
  const std::size_t at = sent.size() < shown_lines ? 0 : sent.size() - shown_lines;
  for (std::size_t i = at; i < sent.size(); ++i) lines.push_back(line_of(sent[i]));
  return lines;
}

std::vector<std::string> lines_around(const std::vector<SentRequest>& sent) {
  const auto hit = std::ranges::find_if(sent, [](const SentRequest& one) { return !one.fault.empty(); });
  if (hit == sent.end()) return lines_of_last(sent);
  std::vector<std::string> lines;
  for (auto one = hit; one != sent.end() && lines.size() < shown_lines; ++one) lines.push_back(line_of(*one));
  return lines;
}

}  // namespace ws::mock::sweep

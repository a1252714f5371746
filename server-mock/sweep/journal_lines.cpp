#include "server-mock/sweep/journal_lines.hpp"

#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clock.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/contract/operations.hpp"
#include "server-mock/sweep/printed_text.hpp"

namespace ws::mock::sweep {
namespace {

std::string text_at(const Json& object, std::string_view name) { return find_text(object, name).value_or(""); }

}  // namespace

bool SentRequest::is_create() const {
  const contract::Operation* known = contract::find_operation(operation);
  return known != nullptr && known->idempotency == contract::Idempotency::key;
}

SentRequest read_entry(const Json& entry) {
  SentRequest sent = {.seq = static_cast<std::uint64_t>(find_integer(entry, "seq").value_or(0)),
                      .operation = text_at(entry, "operation"),
                      .method = text_at(entry, "method"),
                      .path = text_at(entry, "path"),
                      .query = text_at(entry, "query"),
                      .status = static_cast<int>(find_integer(entry, "status").value_or(0)),
                      .fault = text_at(entry, "fault"),
                      .assumed = text_at(entry, "assumed")};
  if (const auto time = parse_rfc3339(text_at(entry, "time"))) sent.time_ms = time->time_since_epoch().count();
  if (const Json* headers = find(entry, "request_headers"); headers != nullptr) {
    sent.host = text_at(*headers, "host");
    sent.has_key = find(*headers, "authorization") != nullptr;
    sent.idempotency_key = text_at(*headers, "idempotency-key");
  }
  if (const Json* body = find(entry, "request_body"); body != nullptr && !body->is_null()) sent.body = canonical(*body);
  if (const Json* answer = find(entry, "response_body"); answer != nullptr) sent.answer = *answer;
  return sent;
}

std::vector<SentRequest> read_journal(const Json& journal) {
  std::vector<SentRequest> all;
  const Json* data = find(journal, "data");
  if (data == nullptr || !data->is_array()) return all;
  for (const Json& entry : *data) all.push_back(read_entry(entry));
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

}  // namespace ws::mock::sweep

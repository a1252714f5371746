#include "server-mock/journal/journal.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server-mock/http/target.hpp"
#include "server-mock/journal/redactor.hpp"
#include "server-mock/output/print.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {
void Journal::fill(Entry& entry,
                   const http::Request& request,
                   const http::Response& response,
                   const ExchangeFacts& facts) const {
  entry.seq = next_seq_;
  entry.operation = facts.operation;
  entry.time = facts.time;
  entry.duration_us = facts.duration_us;
  entry.status = response.status();
  entry.request_size = request.sink != nullptr ? request.sink->taken_bytes() : request.body.size();
  entry.response_size = response.body_bytes();
  const std::string_view asked = request.body.substr(0, bounds_.body_bytes);
  const std::string_view answered = std::string_view(response.text()).substr(0, bounds_.body_bytes);
  entry.head_bytes = static_cast<std::uint32_t>(request.head.size());
  entry.request_bytes = static_cast<std::uint32_t>(asked.size());
  entry.text.assign(request.head).append(asked).append(answered);
  entry.fault = facts.fault;
  entry.warning = facts.warning;
  entry.assumed = response.find(assumed_header);
}

void Journal::add(const http::Request& request, const http::Response& response, const ExchangeFacts& facts) {
  if (bounds_.entries == 0) {
    ++dropped_;
    ++next_seq_;
    return;
  }
  Entry entry;
  // Evicts the oldest entry and reuses its memory.
  if (entries_.size() >= bounds_.entries) {
    entry = std::move(entries_.front());
    entries_.pop_front();
    bytes_ -= entry.text.size();
    ++dropped_;
  }
  fill(entry, request, response, facts);
  ++next_seq_;
  bytes_ += entry.text.size();
  entries_.push_back(std::move(entry));
  while (bytes_ > bounds_.bytes && !entries_.empty()) {
    bytes_ -= entries_.front().text.size();
    entries_.pop_front();
    ++dropped_;
  }
}

Exchange Journal::describe(const http::Request& request,
                           const http::Response& response,
                           const ExchangeFacts& facts) const {
  Entry entry;
  fill(entry, request, response, facts);
  return redact(entry);
}

void Journal::clear() {
  entries_.clear();
  bytes_ = 0;
  dropped_ = 0;
  next_seq_ = 1;
}

Exchange Journal::redact(const Entry& entry) const {
  const std::string_view text = entry.text;
  const http::Request asked = http::read_head(text.substr(0, entry.head_bytes));
  WireExchange wire = {.seq = entry.seq,
                       .method = std::string(asked.method),
                       .path = std::string(sandbox_.empty() ? asked.path : http::within_sandbox(asked.path).path),
                       .query = std::string(asked.query),
                       .operation = std::string(entry.operation),
                       .request_body = std::string(text.substr(entry.head_bytes, entry.request_bytes)),
                       .request_bytes = entry.request_size,
                       .status = entry.status,
                       .response_body = std::string(text.substr(entry.head_bytes + entry.request_bytes)),
                       .response_bytes = entry.response_size,
                       .time_ms = entry.time,
                       .duration_us = entry.duration_us,
                       .fault = entry.fault,
                       .sandbox = sandbox_,
                       .warning = entry.warning,
                       .assumed = entry.assumed};
  for (const http::Header& field : asked.headers) wire.request_headers.emplace_back(field.name, field.value);
  return Redactor(Redactor::Undescribed::shown).redact(wire);
}

std::vector<Exchange> Journal::find(const Filter& filter) const {
  std::vector<const Entry*> found;
  for (const Entry& entry : entries_) {
    if (entry.seq <= filter.since || entry.time < filter.since_time) continue;
    if (!filter.operation.empty() && entry.operation != filter.operation) continue;
    found.push_back(&entry);
  }
  const std::size_t count = std::min(found.size(), filter.limit.value_or(found.size()));
  const std::size_t first = filter.keep == Filter::Keep::newest ? found.size() - count : 0;
  std::vector<Exchange> exchanges;
  for (const Entry* entry : std::span(found).subspan(first, count)) exchanges.push_back(redact(*entry));
  return exchanges;
}

Json Journal::read(const Filter& filter) const {
  Json data = Json::array();
  for (Exchange& one : find(filter)) data.push_back(to_json(std::move(one)));
  return {{"data", std::move(data)}, {"dropped", dropped_}};
}

Result<LineOutput> open_journal_file(const std::string& path) {
  if (path.empty()) return LineOutput();
  return LineOutput::open(
      path, LineOutput::Begin::append, LineOutput::Gaps::allowed, "journal_file", [](const std::string& reason) {
        tell(fmt::format("ws-mock: lines of the journal's file are lost: {}; /_mock/health counts them", reason));
      });
}

}  // namespace ws::mock

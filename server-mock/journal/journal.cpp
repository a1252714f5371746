#include "server-mock/journal/journal.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "server-mock/http/target.hpp"
#include "server-mock/journal/redactor.hpp"
#include "server-mock/output/print.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {
namespace {

http::Pairs fields_of(std::string_view head) {
  http::Pairs fields;
  std::size_t line = head.find("\r\n");
  while (line != std::string_view::npos) {
    const std::size_t start = line + 2;
    line = head.find("\r\n", start);
    const std::string_view field = head.substr(start, line == std::string_view::npos ? line : line - start);
    const std::size_t colon = field.find(':');
    if (colon == std::string_view::npos) continue;
    fields.emplace_back(field.substr(0, colon), trimmed(field.substr(colon + 1), " \t"));
  }
  return fields;
}

/// The value of a header field in wire format, written as the server writes it; empty if there is none.
std::string_view value_in(std::string_view headers, std::string_view name) {
  const std::size_t at = headers.find(name);
  if (at == std::string_view::npos || (at > 0 && headers[at - 1] != '\n')) return {};
  const std::string_view field = headers.substr(at + name.size() + 2);
  return field.substr(0, field.find('\r'));
}

}  // namespace

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
  entry.assumed = value_in(response.headers(), assumed_header);
}

void Journal::add(const http::Request& request, const http::Response& response, const ExchangeFacts& facts) {
  if (bounds_.entries == 0) {
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
  const std::string_view head = text.substr(0, entry.head_bytes);
  const std::size_t space = std::min(head.find(' '), head.size());
  const std::string_view rest = head.substr(std::min(space + 1, head.size()));
  http::Request asked = {.target = rest.substr(0, rest.find(' '))};
  http::split_target(asked);
  return Redactor(Redactor::Undescribed::shown)
      .redact({.seq = entry.seq,
               .method = std::string(head.substr(0, space)),
               .path = std::string(sandbox_.empty() ? asked.path : http::within_sandbox(asked.path).path),
               .query = std::string(asked.query),
               .operation = std::string(entry.operation),
               .request_headers = fields_of(head),
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
               .assumed = entry.assumed});
}

Json Journal::read(const Filter& filter) const {
  std::vector<const Entry*> found;
  for (const Entry& entry : entries_) {
    if (entry.seq <= filter.since || entry.time < filter.since_time) continue;
    if (!filter.operation.empty() && entry.operation != filter.operation) continue;
    found.push_back(&entry);
  }
  const std::size_t count = std::min(found.size(), filter.limit.value_or(found.size()));
  const std::size_t first = filter.keep == Filter::Keep::newest ? found.size() - count : 0;
  Json data = Json::array();
  for (const Entry* entry : std::span(found).subspan(first, count)) data.push_back(to_json(redact(*entry)));
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

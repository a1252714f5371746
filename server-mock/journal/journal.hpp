/// Requests with their responses, in a ring buffer bounded in entries and bytes.
///
/// Messages are stored as raw bytes. Parsing to JSON and redaction of secrets happen when the journal is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/journal/exchange.hpp"
#include "server-mock/output/line_output.hpp"

namespace ws::mock {

struct JournalBounds {
  std::size_t entries = 1000;
  std::size_t bytes = std::size_t{16} << 20U;
  std::size_t body_bytes = std::size_t{64} << 10U;  ///< of one body; a longer one is truncated
};

/// Facts about an exchange that are not in its bytes.
struct ExchangeFacts {
  std::string_view operation = {};  ///< operation id; empty: no route
  std::int64_t time = 0;            ///< by the world's clock
  std::int64_t duration_us = 0;
  std::string_view fault = {};    ///< id of the fault rule that was applied; empty: none
  std::string_view warning = {};  ///< unknown fields that were ignored; empty: none
};

class Journal {
 public:
  /// `sandbox`: id of the sandbox; empty for the one at the base URL.
  explicit Journal(const JournalBounds& bounds = {}, std::string_view sandbox = {})
      : bounds_(bounds), sandbox_(sandbox) {}

  void add(const http::Request& request, const http::Response& response, const ExchangeFacts& facts);
  void clear();

  /// `seq` of the last entry; 0 if there was none since the start or `clear`.
  std::uint64_t last_seq() const { return next_seq_ - 1; }

  struct Filter {
    std::string_view operation = {};  ///< empty: any
    std::uint64_t since = 0;          ///< only entries with a greater `seq`
    std::int64_t since_time = 0;      ///< only entries at or after that time
    enum class Keep { newest, oldest } keep = Keep::newest;
    std::optional<std::size_t> limit = {};  ///< at most so many entries, the newest or oldest of them
  };
  /// Oldest first.
  std::vector<Exchange> find(const Filter& filter) const;
  std::uint64_t dropped() const { return dropped_; }
  /// `{data: [{seq, time, method, path, query, operation, status, ...}], dropped}`, oldest first.
  Json read(const Filter& filter) const;
  /// The entry that `add` would store, without bounds: for the journal file.
  Exchange describe(const http::Request& request, const http::Response& response, const ExchangeFacts& facts) const;

 private:
  struct Entry {
    std::uint64_t seq = 0;
    std::string_view operation = {};
    std::int64_t time = 0;
    std::int64_t duration_us = 0;
    int status = 0;
    std::uint32_t head_bytes = 0;
    std::uint32_t request_bytes = 0;  // stored part
    std::size_t request_size = 0;     // full size
    std::size_t response_size = 0;
    std::string text = {};  // head, request body and response body, concatenated
    std::string fault = {};
    std::string warning = {};
    std::string assumed = {};  // `X-Mock-Assumed` of the response
  };
  void fill(Entry& entry,
            const http::Request& request,
            const http::Response& response,
            const ExchangeFacts& facts) const;
  Exchange redact(const Entry& entry) const;

  JournalBounds bounds_;
  std::string sandbox_;
  std::deque<Entry> entries_ = {};
  std::size_t bytes_ = 0;
  std::uint64_t next_seq_ = 1;
  std::uint64_t dropped_ = 0;
};

/// The file of `--journal-file`: a line of JSON for each exchange. An empty path: none. Fails with `disk`.
Result<LineOutput> open_journal_file(const std::string& path);

}  // namespace ws::mock

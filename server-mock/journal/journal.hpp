/// What came and what was answered: a ring, bounded in entries and in bytes.
///
/// A request is kept as the bytes that it was; JSON is made of it, and secrets are taken out, when somebody reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "server-mock/http/message.hpp"

namespace ws::mock {

struct JournalBounds {
  std::size_t entries = 1000;
  std::size_t bytes = std::size_t{16} << 20U;
  std::size_t body_bytes = std::size_t{64} << 10U;  ///< of one body; the rest is cut off and said so
};

/// What the pipeline knows of an exchange beside its bytes.
struct Exchange {
  std::string_view operation = {};  ///< id of the table; empty: no route
  std::int64_t time = 0;            ///< of the world's clock
  std::int64_t duration_us = 0;
  std::string_view fault = {};    ///< id of the rule that disturbed it; empty: none
  std::string_view warning = {};  ///< what was unknown and ignored; empty: nothing
};

class Journal {
 public:
  /// `sandbox`: whose journal it is; empty: of the world at the base URL itself.
  explicit Journal(const JournalBounds& bounds = {}, std::string_view sandbox = {})
      : bounds_(bounds), sandbox_(sandbox) {}

  void add(const http::Request& request, const http::Response& response, const Exchange& exchange);
  void clear();

  /// Of the entry that came last; 0: none did since the start or `clear`.
  std::uint64_t last_seq() const { return next_seq_ - 1; }

  struct Filter {
    std::string_view operation = {};  ///< empty: any
    std::uint64_t since = 0;          ///< only entries with a greater `seq`
    std::int64_t since_time = 0;      ///< only entries of that time and later
  };
  /// `{data: [{seq, time, method, path, query, operation, status, ...}], dropped}`, oldest first.
  Json read(const Filter& filter) const;
  /// What `add` would keep, whatever the bounds: for a file.
  Json describe(const http::Request& request, const http::Response& response, const Exchange& exchange);

 private:
  struct Entry {
    std::uint64_t seq = 0;
    std::string_view operation = {};
    std::int64_t time = 0;
    std::int64_t duration_us = 0;
    int status = 0;
    std::uint32_t head_bytes = 0;
    std::uint32_t request_bytes = 0;  // as kept
    std::size_t request_size = 0;     // as it was
    std::size_t response_size = 0;
    std::string text = {};  // head, request body, response body, one after the other
    std::string fault = {};
    std::string warning = {};
  };
  void fill(Entry& entry, const http::Request& request, const http::Response& response, const Exchange& exchange) const;
  Json to_json(const Entry& entry) const;

  JournalBounds bounds_;
  std::string sandbox_;
  std::deque<Entry> entries_ = {};
  std::size_t bytes_ = 0;
  std::uint64_t next_seq_ = 1;
  std::uint64_t dropped_ = 0;
};

}  // namespace ws::mock

/// The requests of one run, read from the journal of its sandbox.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "api-client/base/json.hpp"
#include "server-mock/journal/exchange.hpp"

namespace ws::mock::sweep {

/// An exchange, and what the oracles ask of its request.
struct SentRequest : Exchange {
  std::string host = {};
  bool has_key = false;  ///< it had an Authorization field
  std::string idempotency_key = {};
  std::string body = {};  ///< as JSON, in one order; empty: none

  bool is_create() const;  ///< an operation that takes an Idempotency-Key
  bool same_call(const SentRequest& other) const {
    return operation == other.operation && method == other.method && path == other.path && query == other.query;
  }
};

SentRequest sent_request(Exchange exchange);
/// `journal`: the answer of `GET /_mock/requests`.
std::vector<SentRequest> read_journal(const Json& journal);

/// "docs.create#1" for each request, with the hash of method, path, query and body; ids and times do not count.
std::vector<std::pair<std::string, std::string>> request_digests(const std::vector<SentRequest>& sent);

/// "14:03:07.120  201 fault  POST /v1/documents  key note-1": time, status ("---": none), whether the fault was applied
/// (the client may have received another status), request, Idempotency-Key.
std::string line_of(const SentRequest& sent);

/// How many lines a finding shows at most.
inline constexpr std::size_t shown_lines = 3;
std::vector<std::string> lines_of_last(const std::vector<SentRequest>& sent);
/// From the request that the fault hit on, or the last lines.
std::vector<std::string> lines_around(const std::vector<SentRequest>& sent);

}  // namespace ws::mock::sweep

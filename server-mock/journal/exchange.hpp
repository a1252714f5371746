/// One request with its response, as it is written down. The journal, `--journal-file`, the recordings of `record`, and
/// all that reads them (sweeps, reports of coverage, `diff`) have this type and its one JSON form:
///
///     {"seq", "time", "method", "path", "query", "operation", "status", "request_headers", "request_body",
///      "response_body", "duration_ms", "fault", "sandbox"}
///
/// and, where they are known, "response_headers", "request_bytes", "response_bytes", "warning" and "assumed".
///
/// Only a `Redactor` makes one of what passed over the wire, and a line that was read is one already. So no code path
/// can write a secret.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"

namespace ws::mock {

struct Exchange;
/// Fails with `invalid`.
Result<Exchange> read_exchange(const Json& value);

/// Held by what has no secrets in it.
class Redacted {
  friend class Redactor;
  friend Result<Exchange> read_exchange(const Json& value);
  Redacted() = default;
};

struct Exchange {
  Redacted redacted;
  std::uint64_t seq = 0;  ///< from 1
  std::int64_t time_ms = 0;
  std::string method = {};
  std::string path = {};         ///< within the sandbox, still percent-encoded
  std::string query = {};        ///< without the question mark
  std::string operation = {};    ///< id in the operation table, "upload.put", "page.device"; empty: none
  int status = 0;                ///< 0: no response
  JsonBox request_headers = {};  ///< lower-case name -> text
  JsonBox request_body = {};     ///< null: none, or none that is written down
  std::optional<std::uint64_t> request_bytes = {};  ///< empty: not recorded
  JsonBox response_headers = {};                    ///< as those of the request; null: not recorded
  JsonBox response_body = {};
  std::optional<std::uint64_t> response_bytes = {};
  std::int64_t duration_us = 0;
  std::string fault = {};    ///< id of the fault rule that was applied; empty: none
  std::string sandbox = {};  ///< empty: the one at the base URL
  std::string warning = {};  ///< unknown fields that were ignored; empty: none
  std::string assumed = {};  ///< switches that the response rests on: "question_created=200, ..."; empty: none

  /// The value of a header field of the request; empty if there is none.
  std::string request_header(std::string_view name) const { return find_text(*request_headers, name).value_or(""); }
};

Json to_json(Exchange exchange);
/// As a line of a recording, with types instead of values: statuses, header names, and the types of all members.
std::string shape_line(const Exchange& exchange);
/// Reads a line of a recording whose requests can be sent again. Fails with `invalid`.
Result<Exchange> read_recorded(std::string_view line);

}  // namespace ws::mock

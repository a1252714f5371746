/// One request with its response: as sent over the wire, and as it is recorded, with its secrets removed.
///
/// Only a `RedactedExchange` can be written, printed or graded, and only an `ExchangeRedactor` makes one, from a
/// `WireExchange`; a line of a recording is one already. So no code path can write a secret.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "api-client/contract/schema.hpp"
#include "api-client/http/transport.hpp"
#include "server-mock/http/router.hpp"
#include "server-mock/journal/exchange.hpp"

namespace ws::mock::compare {

/// The operation id `upload.put` of a recording: an upload's bytes, which the operation table does not describe.
inline constexpr std::string_view upload_put = "upload.put";

/// Contains secrets; kept in memory only. Bodies that are too large are left out, their sizes are kept.
struct WireExchange {
  std::string method = {};
  std::string path = {};  ///< relative to the base URL, still percent-encoded, without the query
  std::string query = {};
  ws::http::Headers request_headers = {};
  std::string request_body = {};
  std::uint64_t request_bytes = 0;
  int status = 0;
  ws::http::Headers response_headers = {};
  std::string response_body = {};
  std::uint64_t response_bytes = 0;
  std::int64_t time_ms = 0;  ///< time at which the request was sent
  std::int64_t duration_us = 0;
  std::string upload_url = {};  ///< of an upload's PUT: the URL returned by `files.upload_start`; `path` is empty
};

/// An exchange in which secrets and opaque values are replaced by placeholders (`<key:1:47>`: kind, number, length), in
/// its path and in all texts; equal values have equal placeholders. That of the key is the header `authorization`.
class RedactedExchange {
 public:
  /// Reads a line of a recording. Fails with `invalid`.
  static Result<RedactedExchange> read(std::string_view line);

  const Exchange& exchange() const { return exchange_; }
  /// The exchange as a line of a recording.
  std::string line() const;
  /// As `line`, with types instead of values: statuses, header names, and the types of all members.
  std::string shape_line() const;

 private:
  friend class ExchangeRedactor;
  explicit RedactedExchange(Exchange exchange) : exchange_(std::move(exchange)) {}
  Exchange exchange_;
};

/// Finds the operation of a request.
class OperationFinder {
 public:
  OperationFinder();
  /// Null if the table has no such path with this method. `values` receives the path parameters.
  const contract::Operation* find(std::string_view method, std::string_view path, http::Pairs& values) const;

 private:
  http::Router router_ = {};
};

/// Replaces everything that may be secret. Equal values get equal placeholders for the lifetime of the object.
///
/// Kept are members, parameters and headers that the table describes and that are neither secret nor opaque. Of
/// everything else (unknown members, free-form objects, error texts, unknown headers and paths) only names and types
/// are kept.
class ExchangeRedactor {
 public:
  RedactedExchange redact(const WireExchange& exchange);
  /// Returns the placeholder of a text and replaces the text wherever it occurs from now on.
  std::string secret(std::string_view kind, const std::string& text);

 private:
  std::string opaque(std::string_view kind, const std::string& text);
  std::string replace_secrets(std::string text) const;
  std::string redact_name(const std::string& name);
  Json redact_member(const Json& value, std::string_view name, const contract::Type& type);
  Json redact_object(const Json& value, const contract::Schema& schema);
  Json redact_unknown(const Json& value);
  Json redact_under_secret(const Json& value, std::string_view kind);
  Json redact_error(const Json& value);
  std::string redact_path(const contract::Operation& operation, const http::Pairs& values);
  std::string redact_query(const contract::Operation* operation, std::string_view query);
  Json redact_request_headers(const ws::http::Headers& headers);
  Json redact_response_headers(const ws::http::Headers& headers) const;

  OperationFinder finder_ = {};
  std::map<std::string, std::string> placeholders_ = {};             // kind + '\0' + text
  std::map<std::string, std::string, std::greater<>> secrets_ = {};  // text -> placeholder
  std::map<std::string, std::size_t, std::less<>> numbers_ = {};     // the last number used for each kind
  std::uint64_t last_seq_ = 0;
};

/// The length of the placeholder at `at`; 0 if there is none.
std::size_t placeholder_length(std::string_view text, std::size_t at);
/// "key" of "<key:1:47>".
std::string_view kind_of(std::string_view placeholder);
/// Makes a text of the length given in the placeholder, unique for each placeholder if that length allows it.
std::string placeholder_text(std::string_view placeholder);

/// The schema of the response with this status; null: any JSON.
const contract::Schema* response_schema(const contract::Operation& operation, int status);

}  // namespace ws::mock::compare

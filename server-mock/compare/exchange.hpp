/// One exchange with a service: as it went over the wire, and as it may be kept.
///
/// Only a `SealedExchange` can be written, printed or graded, and only a `Sealer` makes one, from a `WireExchange` (or
/// it is read back from a recording, whose values are sealed again). So there is no way to write a secret.
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

namespace ws::mock::compare {

/// The `upload.put` of a recording: the bytes of an upload, which no operation of the table describes.
inline constexpr std::string_view upload_put = "upload.put";

/// With its secrets, in memory only. Bodies may be left out where they are too large; their sizes stay.
struct WireExchange {
  std::string method = {};
  std::string path = {};  ///< below the base URL, still percent-encoded, without the query
  std::string query = {};
  ws::http::Headers request_headers = {};
  std::string request_body = {};
  std::uint64_t request_bytes = 0;
  int status = 0;
  ws::http::Headers response_headers = {};
  std::string response_body = {};
  std::uint64_t response_bytes = 0;
  std::int64_t at_ms = 0;       ///< when the answer was whole, since the first request
  std::string upload_url = {};  ///< of an upload's PUT: the address that `files.upload_start` gave; `path` is empty
};

/// The parts of a sealed exchange. `path` and all texts hold placeholders (`<key:1:47>`: kind, number, length) where
/// secrets and opaque values stood; equal values have equal placeholders.
struct ExchangeParts {
  std::int64_t number = 0;
  std::int64_t at_ms = 0;
  std::string operation = {};  ///< id in the table; `upload.put`; "none" for a path that it does not know
  std::string method = {};
  std::string path = {};
  std::string credential = {};  ///< a placeholder; empty: no `Authorization` was sent
  JsonBox query = {};           ///< name -> text
  JsonBox request_headers = {};
  JsonBox request_body = {};  ///< null: none, or none that is JSON
  std::uint64_t request_bytes = 0;
  int status = 0;
  JsonBox response_headers = {};  ///< lower-case name -> text; null: only the name is kept
  JsonBox response_body = {};     ///< null: none, or none that is JSON
  std::uint64_t response_bytes = 0;
};

class SealedExchange {
 public:
  const ExchangeParts& parts() const { return parts_; }
  /// One line of a recording.
  std::string line() const;
  /// Statuses, header names, and the types of all members; no values.
  std::string shape_line() const;

 private:
  friend class Sealer;
  explicit SealedExchange(ExchangeParts parts) : parts_(std::move(parts)) {}
  ExchangeParts parts_;
};

/// Which operation of the table a request means.
class OperationFinder {
 public:
  OperationFinder();
  /// Null: the table has no such path with this method. `values`: its path parameters.
  const contract::Operation* find(std::string_view method, std::string_view path, http::Pairs& values) const;

 private:
  http::Router router_ = {};
};

/// Replaces what may be secret, and gives equal values equal placeholders for as long as it lives.
///
/// Kept are: members, parameters and headers that the table knows and that are neither secret nor opaque. Of everything
/// else (unknown members, free-form objects, error texts, unknown headers and paths) only names and types stay.
class Sealer {
 public:
  SealedExchange seal(const WireExchange& exchange);
  /// Reads a line of a recording and seals its values once more. Fails with `invalid`.
  Result<SealedExchange> read(std::string_view line);
  /// The placeholder of a text, which is also replaced wherever it occurs from now on.
  std::string secret(std::string_view kind, const std::string& text);

 private:
  struct Known;
  std::string opaque(std::string_view kind, const std::string& text);
  std::string cleaned(std::string text) const;
  Json seal_member(const Json& value, std::string_view name, const contract::Type& type);
  Json seal_object(const Json& value, const contract::Schema& schema);
  Json seal_unknown(const Json& value);
  Json seal_under_secret(const Json& value, std::string_view kind);
  Json seal_error(const Json& value);
  std::string seal_path(const contract::Operation& operation, const http::Pairs& values);
  Json seal_query(const contract::Operation* operation, std::string_view query);
  Json seal_request_headers(const ws::http::Headers& headers);
  Json seal_response_headers(const ws::http::Headers& headers) const;

  OperationFinder finder_ = {};
  std::map<std::string, std::string> placeholders_ = {};             // kind + '\0' + text
  std::map<std::string, std::string, std::greater<>> secrets_ = {};  // text -> placeholder
  std::map<std::string, std::size_t, std::less<>> numbers_ = {};     // of each kind
  std::int64_t next_number_ = 0;
};

/// Whether the text at `at` is a placeholder: its length; 0: it is not.
std::size_t placeholder_length(std::string_view text, std::size_t at);
/// "key" of "<key:1:47>".
std::string_view kind_of(std::string_view placeholder);
/// A text of the length that the placeholder names, different for each placeholder as far as that length allows.
std::string stand_in(std::string_view placeholder);

/// The schema of the answer with this status; null: any JSON.
const contract::Schema* response_schema(const contract::Operation& operation, int status);

}  // namespace ws::mock::compare

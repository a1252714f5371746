/// The one place where a request with its response loses what is secret, before it is kept, written, printed or graded.
///
/// Which members, parameters and headers are secrets is declared in the contract (`contract/secrets.hpp`).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/contract/schema.hpp"
#include "server-mock/http/target.hpp"
#include "server-mock/journal/exchange.hpp"

namespace ws::mock {

/// The operation id of an upload's bytes, which the operation table does not describe.
inline constexpr std::string_view upload_put = "upload.put";

/// Contains secrets; kept in memory only. Bodies that are too large are cut or left out, their sizes are kept.
struct WireExchange {
  std::uint64_t seq = 0;  ///< 0: the next one of the redactor
  std::string method = {};
  std::string path = {};  ///< relative to the base URL, still percent-encoded, without the query
  std::string query = {};
  std::string operation = {};  ///< where the server says it; otherwise that of the method and path
  http::Pairs request_headers = {};
  std::string request_body = {};
  std::uint64_t request_bytes = 0;
  int status = 0;
  http::Pairs response_headers = {};
  std::string response_body = {};
  std::uint64_t response_bytes = 0;
  std::int64_t time_ms = 0;  ///< time at which the request was sent
  std::int64_t duration_us = 0;
  std::string upload_url = {};  ///< of an upload's PUT: the URL returned by `files.upload_start`; `path` is empty
  std::string fault = {};
  std::string sandbox = {};
  std::string warning = {};
  std::string assumed = {};
};

class Redactor {
 public:
  /// What becomes of the values that the contract does not describe: unknown members and headers, free-form objects,
  /// error texts.
  enum class Undescribed {
    shown,  ///< they stay, unless they may be a key. A secret is `[redacted]`. For the journal of our own server
    /// Only names and types stay, and in free-form objects what cannot be a key (a replay sends it again). Secrets and
    /// opaque values become placeholders (`<key:1:47>`: kind, number, length); equal values have equal placeholders for
    /// the lifetime of the object. That of the key is the header `authorization`. For recordings of a service, which
    /// describe somebody's account
    hidden,
  };
  explicit Redactor(Undescribed undescribed) : undescribed_(undescribed) {}

  Exchange redact(const WireExchange& wire);

 private:
  struct At;
  enum class NamesStay { no, yes };
  void redact(Json& value, const At& at);
  void redact_members(Json& object, const At& at);
  std::string redact_text(const std::string& text, const At& at);
  static Json redact_number(const Json& number, const At& at);
  static const contract::Type* member_type(std::string_view name, const contract::Type* object);
  std::string redact_name(const std::string& name);
  Json redact_header(const std::string& name, const std::string& value);
  Json redact_headers(const http::Pairs& fields, NamesStay names_stay);
  std::string redact_path(const contract::Operation& operation, const http::Pairs& values);
  std::string redact_query(const contract::Operation* operation, std::string_view query);
  static Json redact_body(const std::string& text, std::uint64_t size);
  Json redact_body(const std::string& text, const At& at);
  Json redact_answer(const WireExchange& wire, const contract::Operation* operation);
  std::string opaque(std::string_view kind, const std::string& text);
  std::string secret(std::string_view kind, const std::string& text);
  std::string replace_secrets(std::string text) const;

  Undescribed undescribed_;
  std::map<std::string, std::string> placeholders_ = {};             // kind + '\0' + text
  std::map<std::string, std::string, std::greater<>> secrets_ = {};  // text -> placeholder, replaced in every text
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

}  // namespace ws::mock

/// Builds the HTTP request of a call from the operation table and validates it before anything is sent.
///
/// Private to `client*.cpp`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api-client/base/result.hpp"
#include "api-client/client/client.hpp"
#include "api-client/contract/schema.hpp"
#include "api-client/http/transport.hpp"

namespace ws {

struct Prepared {
  const contract::Operation* operation = nullptr;
  http::Request request = {};             ///< without the key
  std::string idempotency_key = {};       ///< empty: the operation takes none
  std::vector<std::string> notices = {};  ///< assumed limits that the call breaks, names that are not in the table
  /// The operation that the request performs, with the values of its path: also for a request of `ws api` if its method
  /// and path are in the table. Otherwise `operation`.
  const contract::Operation* meaning = nullptr;
  std::vector<std::pair<std::string, std::string>> parameters = {};
};

/// `fresh_key` is used if the operation takes a key and the call has none. Fails with `usage`: unknown operation, an
/// unknown or missing parameter, a violation of a published limit (code `validation_error`, with all of them in
/// `details`), text that is not UTF-8, an invalid header or one that only the client may set, plain http to a host for
/// which it is not allowed.
Result<Prepared> prepare_request(const Call& call, const ClientOptions& options, const std::string& fresh_key);

/// The exchange that sends bytes to a URL outside the API, without a key. Fails with `internal` (code
/// `unusable_answer`) if the URL or a header returned by the service is not allowed (`safety.md`, "Network").
Result<Prepared> prepare_put(const BytesPut& put, const ClientOptions& options);

/// A request with any method and path. Fails with `usage`: a method that the API does not use, a path with an origin or
/// invalid characters, an invalid header or one that only the client may set.
Result<Prepared> prepare_any(const AnyCall& call, const ClientOptions& options, const std::string& fresh_key);

/// Adds `Authorization` if the operation needs it: the second key where it is the one that has the scope. Fails with
/// `auth` if there is no key, or it is for another origin.
Result<void> add_credential(Prepared& prepared, const ClientOptions& options);

}  // namespace ws

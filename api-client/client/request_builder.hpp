/// From a call to the HTTP request that the table says it is, checked before anything is sent.
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
  http::Request request = {};             ///< everything but the key
  std::string idempotency_key = {};       ///< empty: the operation takes none
  std::vector<std::string> notices = {};  ///< assumed limits that it breaks, names that the table does not know
  /// The entry of the table that says what the request does, and the values of its path: of any request too, where its
  /// method and path are known. `operation` else.
  const contract::Operation* meaning = nullptr;
  std::vector<std::pair<std::string, std::string>> parameters = {};
};

/// `fresh_key` is used where the operation takes a key and the call has none. Fails with `usage`: no such operation, a
/// parameter that it does not have or that is missing, a published limit broken (code `validation_error`, all of them
/// in `details`), text that is not UTF-8, a header that is ours to set or none, plain http to a host that it may not go
/// to.
Result<Prepared> prepare_request(const Call& call, const ClientOptions& options, const std::string& fresh_key);

/// The exchange that carries bytes to an address outside the API, without any key. Fails with `internal` (code
/// `unusable_answer`) where the address or a header that the service named must not be used (`safety.md`, "Network").
Result<Prepared> prepare_put(const BytesPut& put, const ClientOptions& options);

/// A request of any method and path. Fails with `usage`: a method that the API has none of, a path that names an
/// origin or holds what no path may hold, a header that is ours to set or none.
Result<Prepared> prepare_any(const AnyCall& call, const ClientOptions& options, const std::string& fresh_key);

/// Adds `Authorization` where the operation needs it. Fails with `auth`: no key, or one of another origin.
Result<void> add_credential(http::Request& request, const contract::Operation& operation, const ClientOptions& options);

}  // namespace ws

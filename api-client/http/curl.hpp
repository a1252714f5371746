/// The only real `Transport`: libcurl's multi interface, one thread (the caller's), pooled connections.
///
/// libcurl is opened at run time, so that a program which makes no call does not pay for it. What libcurl would do by
/// itself and a transport must not is switched off: following redirects, repeating a request whose reused connection
/// died, waiting for 100-continue, other protocols than http and https.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "api-client/base/result.hpp"
#include "api-client/http/transport.hpp"

namespace ws::http {

struct CurlOptions {
  std::size_t max_connections = 8;  ///< exchanges at a time; more wait their turn, untimed
  std::chrono::milliseconds connect_timeout{15'000};
  std::size_t max_header_bytes = 64U << 10U;  ///< of one answer, all header blocks together
  std::string ca_file = {};                   ///< PEM; empty: `SSL_CERT_FILE`, else the system's
  std::string library = "libcurl.so.4";       ///< what is opened
};

/// Proxies for https come from the environment as curl reads it (`HTTPS_PROXY`, `NO_PROXY`, ...); plain http and
/// loopback never use one. No child process inherits a connection.
/// Fails with `internal` where libcurl is missing or too old.
Result<std::unique_ptr<Transport>> make_curl_transport(const CurlOptions& options = {});

/// "7.88.1": the version of the libcurl that is opened. Fails as above.
Result<std::string> curl_version(const std::string& library = CurlOptions{}.library);

}  // namespace ws::http

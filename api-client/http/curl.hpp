/// The `Transport` for real networks: libcurl's multi interface in the caller's thread, with pooled connections.
///
/// libcurl is loaded at run time, so that programs that make no call do not pay for it. Its automatic behaviour that a
/// transport must not have is disabled: following redirects, repeating a request whose reused connection broke, waiting
/// for 100-continue, protocols other than http and https.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "api-client/base/result.hpp"
#include "api-client/http/transport.hpp"

namespace ws::http {

struct CurlOptions {
  std::size_t max_connections = 8;  ///< exchanges at a time; others wait, and their timeout has not started
  std::chrono::milliseconds connect_timeout{15'000};
  std::size_t max_header_bytes = 64U << 10U;  ///< of one response, all header blocks together
  std::string ca_file = {};                   ///< PEM; empty: `SSL_CERT_FILE`, otherwise the system's
  std::string library = "libcurl.so.4";       ///< file name of the library
};

/// Proxies for https are taken from the environment as curl does (`HTTPS_PROXY`, `NO_PROXY`, ...); plain http and
/// loopback never use one. Child processes do not inherit connections. Fails with `internal` if libcurl is missing or
/// too old.
Result<std::unique_ptr<Transport>> make_curl_transport(const CurlOptions& options = {});

/// The version of the loaded libcurl, such as "7.88.1". Fails as above.
Result<std::string> curl_version(const std::string& library = CurlOptions{}.library);

}  // namespace ws::http

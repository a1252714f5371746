/// The server's certificate and private key, read from files or generated.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"

namespace ws::mock::http {

struct TlsIdentity {
  std::string certificate_pem = {};  ///< with its chain
  std::string key_pem = {};
};

/// Fails with `disk` or `not_found` if a file cannot be read, with `invalid` if the files hold no PEM certificate and
/// key or do not match.
Result<TlsIdentity> read_tls_identity(const std::string& certificate_file, const std::string& key_file);

/// Generates a self-signed certificate for "localhost", 127.0.0.1, ::1 and `names` (hosts and IP addresses), valid for
/// one year. It is its own CA, so a client trusts it by adding it to its CA file. Writes nothing to disk.
Result<TlsIdentity> make_tls_identity(const std::vector<std::string>& names = {});

/// Sends a request over TLS on a connected socket and reads the first `count` bytes of the answer, whoever gives it:
/// no certificate is checked. Empty if there are none.
std::string ask_over_tls(int socket, const std::string& request, std::size_t count);

}  // namespace ws::mock::http

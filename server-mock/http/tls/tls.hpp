/// The server's certificate and private key, read from files or generated.
#pragma once

#include <string>

#include "api-client/base/result.hpp"

namespace ws::mock::http {

struct TlsIdentity {
  std::string certificate_pem = {};  ///< with its chain
  std::string key_pem = {};
};

/// Fails with `disk` or `not_found` if a file cannot be read, with `invalid` if the files hold no PEM certificate and
/// key or do not match.
Result<TlsIdentity> read_tls_identity(const std::string& certificate_file, const std::string& key_file);

/// Generates a self-signed certificate for "localhost", 127.0.0.1 and ::1, valid for one year. It is its own CA, so a
/// client trusts it by adding it to its CA file. Writes nothing to disk.
Result<TlsIdentity> make_tls_identity();

}  // namespace ws::mock::http

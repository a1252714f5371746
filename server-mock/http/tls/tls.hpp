/// What a server proves itself with: a certificate and its key, read from files or made for this machine.
#pragma once

#include <string>

#include "api-client/base/result.hpp"

namespace ws::mock::http {

struct TlsIdentity {
  std::string certificate_pem = {};  ///< with the chain behind it
  std::string key_pem = {};

  /// The SHA-256 of the certificate as browsers show it: "AB:CD:..."; empty where it is none.
  std::string fingerprint() const;
};

/// Fails with `disk` or `not_found` as the files do, with `invalid` where they are no certificate and key in PEM, or
/// not of each other.
Result<TlsIdentity> read_tls_identity(const std::string& certificate_file, const std::string& key_file);

/// New and signed by itself, good for a year on "localhost", 127.0.0.1 and ::1. A client trusts it as an authority of
/// its own. Nothing is written anywhere.
Result<TlsIdentity> make_tls_identity();

}  // namespace ws::mock::http

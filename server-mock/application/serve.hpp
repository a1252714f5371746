/// Runs the server with its settings, from opening the world to the exit code.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/application/application.hpp"
#include "server-mock/http/address.hpp"
#include "server-mock/http/server/server.hpp"

namespace ws::mock {

/// `with_help`: on a terminal, also where the page of the server is and how to log in.
enum class AnnounceUrl { no, yes, with_help };
/// Whether a generated certificate is written to a file, for clients to trust. A command gets its path in
/// `SSL_CERT_FILE` and similar variables.
enum class TrustFile { none, written };

struct ServeSettings {
  ApplicationOptions application = {};
  http::ServerOptions server = {};
  std::string ready_file = {};  ///< empty: none
  TrustFile trust = TrustFile::none;
  AnnounceUrl announce = AnnounceUrl::yes;
  /// Makes the handler that the server calls instead of the application (it must outlive the call of `serve`). Empty:
  /// the application itself.
  std::function<Result<http::Handler*>(Application&)> handler = {};
  /// Called with the exit code of the command, after it has ended; returns the exit code of the program. May be empty.
  std::function<Result<int>(Application&, int)> after_command = {};
  std::vector<std::string> command = {};  ///< a command to run while the server runs; the server stops when it ends
};

/// Serves until it is stopped. Once the server listens, the base URL is written to standard output, alone on the first
/// line, and the ready file is created; that file and the certificate file that it names as `ca_file` are removed
/// before this returns. Returns the exit code: 0, or the command's (128 + N if signal N ended it, 126 if it cannot be
/// executed, 127 if there is none). While a command runs, signals go to it, and the server stops after it. Fails if the
/// world cannot be opened or the address not be bound.
Result<int> serve(const ServeSettings& settings);
/// The same with an application that is already open: `settings.application` is ignored.
Result<int> serve(const ServeSettings& settings, Application& application);

/// `ws-mock health`, for health checks of containers without curl: requests `/_mock/health` from the server at
/// `address`, over TLS if `scheme` is "https", without a look at its certificate; a wildcard address means this
/// machine. Any response below 500 counts, also 401 if the control token is missing. Fails with `unreachable` if there
/// is no response for 3 s.
Result<void> check_health(const http::Address& address, std::string_view scheme = "http");

}  // namespace ws::mock

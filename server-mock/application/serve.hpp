/// From settings to a server that answers, and back to an exit code.
#pragma once

#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/application/application.hpp"
#include "server-mock/http/server/server.hpp"

namespace ws::mock {

enum class AnnounceUrl { no, yes };
/// Whether the certificate is written beside the ready file, for clients to trust: of one that was made just now. A
/// command is told of it by `SSL_CERT_FILE` and the like.
enum class TrustFile { none, written };

struct ServeSettings {
  ApplicationOptions application = {};
  http::ServerOptions server = {};
  std::string ready_file = {};  ///< empty: none
  TrustFile trust = TrustFile::none;
  AnnounceUrl announce = AnnounceUrl::yes;
  std::vector<std::string> command = {};  ///< not empty: run it beside the server, and end when it ends
};

/// Serves until told to stop. The base URL goes to standard output, alone on the first line, and the ready file is
/// written, once the server listens; the file is gone when this returns, and so is the certificate that it names as
/// `ca_file`. Returns the exit code: 0, or the command's (128 + N when signal N ended it, 127 when it could not be
/// started). Fails as opening the world and listening do.
Result<int> serve(const ServeSettings& settings);

}  // namespace ws::mock

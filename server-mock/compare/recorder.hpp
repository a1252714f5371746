/// `ws-mock record`: a reverse proxy that writes what passes, without secrets.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "api-client/base/result.hpp"

namespace ws::mock::compare {

struct RecordOptions {
  std::string to = {};                 ///< base URL of the service
  std::string listen = "127.0.0.1:0";  ///< an IPv4 address and a port; 0: any free one
  std::string out = {};                ///< JSON lines, appended
  bool shapes_only = false;            ///< types and names in place of values
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const std::string& base_url)> ready = {};  ///< called once it listens
  std::function<void(const std::string& line)> told = {};       ///< what breaks the table, a line each
};

/// Serves until `stop`. Bodies stream in both directions; at most 4 MiB of each is kept to be recorded. Fails with
/// `usage` (address), `disk` (the file) or `unreachable` (the port is taken).
Result<void> record(const RecordOptions& options);

}  // namespace ws::mock::compare

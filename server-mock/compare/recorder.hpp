/// `ws-mock record`: a reverse proxy that records the exchanges without secrets.
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
  bool shapes_only = false;            ///< write types and names instead of values
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const std::string& base_url)> ready = {};  ///< called once it is listening
  std::function<void(const std::string& line)> on_violation =
      {};  ///< receives a line for each violation of the operation table
};

/// Serves until `stop` is set. Bodies are streamed in both directions; at most 4 MiB of each is recorded. Fails with
/// `usage` (address), `disk` (the file) or `unreachable` (the port is in use).
Result<void> record(const RecordOptions& options);

}  // namespace ws::mock::compare

/// A scriptable HTTP server on raw sockets, for faulty responses: truncated, reset, slow or malformed.
///
/// It listens on a free loopback port, with one thread per connection. For every complete request it calls the handler
/// and performs the returned steps; a script without `close_connection` or `reset_connection` keeps the connection open
/// for the next request. All requests are recorded.
///
///     HostileServer server([](const Seen&) { return answer(200, R"({"ok":true})"); });
///     client.get(server.url("/v1/me"));
///     CHECK(server.requests().size() == 1);
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ws::test {

/// One request as it was received.
struct Seen {
  int connection = 0;       ///< number of the connection, from 1
  int on_connection = 0;    ///< number of the request on its connection, from 1
  int number = 0;           ///< number of the request on the server, from 1
  std::string method = {};  ///< "POST"
  std::string target = {};  ///< "/v1/me?x=1"
  std::string head = {};    ///< everything up to the empty line
  std::string body = {};    ///< by Content-Length, or with the chunks joined
  std::optional<std::string> header(std::string_view name) const;
};

struct SendBytes {
  std::string bytes = {};
};
/// Sends bytes in pieces with pauses in between.
struct Dribble {
  std::string bytes = {};
  std::size_t piece = 1;
  std::chrono::milliseconds gap{1};
};
/// Sends repeatedly until the peer disconnects or the server stops.
struct SendForever {
  std::string bytes = {};
  std::chrono::milliseconds gap{0};
};
/// Waits; ends early when the server stops.
struct Pause {
  std::chrono::milliseconds time{0};
};
/// Sends nothing more until the server stops.
struct Hold {};
struct CloseConnection {};
/// Closes with RST instead of FIN.
struct ResetConnection {};

using Step = std::variant<SendBytes, Dribble, SendForever, Pause, Hold, CloseConnection, ResetConnection>;
using Script = std::vector<Step>;
using Headers = std::vector<std::pair<std::string, std::string>>;

/// A well-formed response with Content-Length and `Content-Type: application/json` (unless `headers` override them).
std::string response(int status, std::string_view body, const Headers& headers = {});
/// The same as a script that keeps the connection open.
Script answer(int status, std::string_view body, const Headers& headers = {});

class HostileServer {
 public:
  using Handler = std::function<Script(const Seen&)>;
  /// Called on the connection's thread, one at a time.
  explicit HostileServer(Handler handler);
  /// `on_connect` runs before anything is read; if it returns a script, only that script is run.
  HostileServer(Handler handler, std::function<std::optional<Script>(int connection)> on_connect);
  /// Stops the server and joins its threads.
  ~HostileServer();
  HostileServer(const HostileServer&) = delete;
  HostileServer& operator=(const HostileServer&) = delete;

  std::uint16_t port() const;
  std::string origin() const;  ///< "http://127.0.0.1:PORT"
  std::string url(std::string_view path) const;
  std::vector<Seen> requests() const;
  int connections() const;
  /// Closes every connection and accepts no more; the recorded requests are kept.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A loopback port that nothing listens on.
std::uint16_t closed_port();

}  // namespace ws::test

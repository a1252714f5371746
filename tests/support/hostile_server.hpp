/// A small HTTP server over raw sockets that does whatever a script says: cut answers, resets, dribbles, lies.
///
/// It listens on loopback, on a port of the system's choice, with one thread a connection. For every request that it
/// has read to the end it asks the handler what to do, then does the steps; a script without `close_connection` or
/// `reset_connection` keeps the connection open for the next request. All it saw can be asked for.
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

/// One request as it came.
struct Seen {
  int connection = 0;       ///< which connection, from 1
  int on_connection = 0;    ///< the how-manyeth request of its connection, from 1
  int number = 0;           ///< the how-manyeth request of the server, from 1
  std::string method = {};  ///< "POST"
  std::string target = {};  ///< "/v1/me?x=1"
  std::string head = {};    ///< everything up to the empty line
  std::string body = {};    ///< by Content-Length; chunked: joined
  std::optional<std::string> header(std::string_view name) const;
};

struct SendBytes {
  std::string bytes = {};
};
/// In pieces with pauses between.
struct Dribble {
  std::string bytes = {};
  std::size_t piece = 1;
  std::chrono::milliseconds gap{1};
};
/// Again and again until the peer goes away or the server stops.
struct SendForever {
  std::string bytes = {};
  std::chrono::milliseconds gap{0};
};
/// Ends early when the server stops.
struct Pause {
  std::chrono::milliseconds time{0};
};
/// Nothing more until the server stops.
struct Hold {};
struct CloseConnection {};
/// Closes with RST instead of FIN.
struct ResetConnection {};

using Step = std::variant<SendBytes, Dribble, SendForever, Pause, Hold, CloseConnection, ResetConnection>;
using Script = std::vector<Step>;
using Headers = std::vector<std::pair<std::string, std::string>>;

/// A well-formed answer with Content-Length and `Content-Type: application/json` (unless `headers` say otherwise).
std::string response(int status, std::string_view body, const Headers& headers = {});
/// The same as a script that keeps the connection open.
Script answer(int status, std::string_view body, const Headers& headers = {});

class HostileServer {
 public:
  using Handler = std::function<Script(const Seen&)>;
  /// Called on the connection's thread, one at a time.
  explicit HostileServer(Handler handler);
  /// `on_connect` runs before anything is read; when it returns a script, its steps are all that happens there.
  HostileServer(Handler handler, std::function<std::optional<Script>(int connection)> on_connect);
  /// Stops and joins.
  ~HostileServer();
  HostileServer(const HostileServer&) = delete;
  HostileServer& operator=(const HostileServer&) = delete;

  std::uint16_t port() const;
  std::string origin() const;  ///< "http://127.0.0.1:PORT"
  std::string url(std::string_view path) const;
  std::vector<Seen> requests() const;
  int connections() const;
  /// Closes every connection and takes no more; what it saw stays.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A loopback port that nothing listens on.
std::uint16_t closed_port();

}  // namespace ws::test

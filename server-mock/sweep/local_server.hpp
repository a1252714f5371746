/// A server in this process, on loopback and in its own thread, with a sandbox for each run.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/application/application.hpp"
#include "server-mock/http/server/server.hpp"

namespace ws::mock::sweep {

struct World {
  std::string id = {};
  std::string base_url = {};
  std::string token = {};
};

/// Thread-safe.
class LocalServer {
 public:
  /// Serves until the object is destroyed. Fails as `Application::open` and `Server::listen`.
  static Result<std::unique_ptr<LocalServer>> start(const ApplicationOptions& options);
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;
  ~LocalServer();

  /// "http://127.0.0.1:4711"
  const std::string& base_url() const { return base_url_; }
  /// The same sandboxes at another host and port: "http://localhost:4712".
  std::string other_origin() const;

  /// Opens a sandbox with the server's initial world. Fails with `internal`.
  Result<World> open();
  void close(const World& world);
  /// Makes a control call in a sandbox: `control(world, "GET", "/state")`. `body` null: none. Fails with `internal`
  /// unless the response is 2xx.
  Result<Json> control(const World& world, std::string_view method, std::string_view path, const Json& body);

 private:
  /// Serialises calls: the threads of both servers and the callers of this object share the application. At the second
  /// listener no request may wait: only the first server wakes those that do.
  class SerializedHandler;
  LocalServer();
  Result<Json> call(std::string_view method, const std::string& target, const Json& body);

  std::mutex mutex_;
  std::unique_ptr<Application> application_;
  std::unique_ptr<SerializedHandler> handler_;
  std::unique_ptr<SerializedHandler> other_handler_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::Server> other_server_;
  std::string base_url_;
  std::thread thread_;
  std::thread other_thread_;
};

}  // namespace ws::mock::sweep

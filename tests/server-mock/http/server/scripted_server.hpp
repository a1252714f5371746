/// A server on its own thread whose handler is scripted by the test. Stopped at the end.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "server-mock/http/server/server.hpp"

namespace ws::mock::test {

inline http::Response text_answer(std::string body) {
  http::Response response;
  response.body("text/plain", std::move(body));
  return response;
}

/// What the handler does.
struct Script {
  std::function<http::Response(const http::Request&)> answer = [](const http::Request&) {
    return text_answer("hello");
  };
  std::function<std::unique_ptr<http::BodySink>(const http::Request&)> sink = [](const http::Request&) {
    return std::unique_ptr<http::BodySink>();
  };
  std::function<bool()> work = [] { return false; };
};

class ScriptedServer {
 public:
  explicit ScriptedServer(Script script, const http::ServerOptions& options = {})
      : handler_(std::move(script)),
        server_(http::Server::listen(options, handler_).value()),
        thread_([this] { server_->run(); }) {}
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  ~ScriptedServer() {
    stop();
    if (thread_.joinable()) thread_.join();
  }
  std::uint16_t port() const { return server_->port(); }
  void stop() { server_->stop(); }
  void wait() { thread_.join(); }

 private:
  class Handler final : public http::Handler {
   public:
    explicit Handler(Script script) : script_(std::move(script)) {}
    std::size_t body_limit(const http::Request&) override { return std::size_t{1} << 20U; }
    std::unique_ptr<http::BodySink> open_sink(const http::Request& head) override { return script_.sink(head); }
    http::Response handle(const http::Request& request) override { return script_.answer(request); }
    http::Response refuse(const http::MalformedRequest& why) override {
      http::Response response(why.status);
      response.body("text/plain", std::string(why.reason));
      return response;
    }
    bool work() override { return script_.work(); }

   private:
    Script script_;
  };

  Handler handler_;
  std::unique_ptr<http::Server> server_;
  std::thread thread_;
};

}  // namespace ws::mock::test

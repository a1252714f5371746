#include "server-mock/sweep/local_server.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server-mock/http/address.hpp"
#include "server-mock/http/message.hpp"

namespace ws::mock::sweep {

using http::MayWait;

class LocalServer::SerializedHandler final : public http::Handler {
 public:
  SerializedHandler(std::mutex& mutex, Application& application, MayWait may_wait)
      : mutex_(mutex), application_(application), may_wait_(may_wait) {}

  std::size_t body_limit(const http::Request& head) override { return application_.body_limit(head); }
  std::unique_ptr<http::BodySink> open_sink(const http::Request& head) override {
    const std::lock_guard lock(mutex_);
    return application_.open_sink(head);
  }
  http::Response handle(const http::Request& request) override {
    const std::lock_guard lock(mutex_);
    http::Response response = application_.handle(request);
    const auto ticket = response.ticket();
    return ticket && may_wait_ == MayWait::no ? application_.resume(*ticket, request, may_wait_) : std::move(response);
  }
  http::Response refuse(const http::MalformedRequest& why) override {
    const std::lock_guard lock(mutex_);
    return application_.refuse(why);
  }
  http::Response resume(std::uint64_t ticket, const http::Request& request, MayWait may_wait) override {
    const std::lock_guard lock(mutex_);
    return application_.resume(ticket, request, may_wait);
  }
  void cancel(std::uint64_t ticket) override {
    const std::lock_guard lock(mutex_);
    application_.cancel(ticket);
  }
  std::vector<std::uint64_t> take_ready() override {
    const std::lock_guard lock(mutex_);
    return may_wait_ == MayWait::yes ? application_.take_ready() : std::vector<std::uint64_t>();
  }
  std::optional<std::chrono::milliseconds> next_ready() override {
    const std::lock_guard lock(mutex_);
    return may_wait_ == MayWait::yes ? application_.next_ready() : std::nullopt;
  }

 private:
  std::mutex& mutex_;
  Application& application_;
  MayWait may_wait_;
};

LocalServer::LocalServer() = default;

Result<std::unique_ptr<LocalServer>> LocalServer::start(const ApplicationOptions& options) {
  std::unique_ptr<LocalServer> host(new LocalServer());
  WS_LET(host->application_, Application::open(options));
  host->handler_ = std::make_unique<SerializedHandler>(host->mutex_, *host->application_, MayWait::yes);
  WS_LET(const http::Address address, http::Address::parse("127.0.0.1:0"));
  WS_LET(host->server_, http::Server::listen({.listen = address}, *host->handler_));
  host->other_handler_ = std::make_unique<SerializedHandler>(host->mutex_, *host->application_, MayWait::no);
  WS_LET(host->other_server_, http::Server::listen({.listen = address}, *host->other_handler_));
  host->base_url_ = host->server_->base_url();
  host->application_->set_base_url(host->base_url_);
  host->thread_ = std::thread([server_of = host->server_.get()] { server_of->run(); });
  host->other_thread_ = std::thread([server_of = host->other_server_.get()] { server_of->run(); });
  return host;
}

LocalServer::~LocalServer() {
  for (http::Server* const server : {server_.get(), other_server_.get()}) {
    if (server != nullptr) server->stop();
  }
  for (std::thread* const thread : {&thread_, &other_thread_}) {
    if (thread->joinable()) thread->join();
  }
}

std::string LocalServer::other_origin() const { return fmt::format("http://localhost:{}", other_server_->port()); }

Result<World> LocalServer::open() {
  WS_LET(const Json opened, call("POST", "/_mock/sandboxes", Json::object()));
  return World{.id = find_text(opened, "id").value_or(""),
               .base_url = find_text(opened, "base_url").value_or(""),
               .token = find_text(opened, "token").value_or("")};
}

void LocalServer::close(const World& world) {
  static_cast<void>(call("DELETE", "/_mock/sandboxes/" + world.id, nullptr));
}

Result<Json> LocalServer::control(const World& world,
                                  std::string_view method,
                                  std::string_view path,
                                  const Json& body) {
  return call(method, fmt::format("/_s/{}/_mock{}", world.id, path), body);
}

Result<Json> LocalServer::call(std::string_view method, const std::string& target, const Json& body) {
  const std::string text = body.is_null() ? std::string() : dump(body);
  const std::string host = base_url_.substr(base_url_.find("//") + 2);
  const std::string head = fmt::format("{} {} HTTP/1.1\r\n", method, target);
  http::Request request = {.method = method,
                           .target = target,
                           .head = head,
                           .headers = {{"Host", host}, {"Content-Type", "application/json"}},
                           .body = text};
  http::split_target(request);
  const http::Response response = handler_->handle(request);
  const std::string& answer = response.text();
  if (response.status() < 200 || response.status() > 299) {
    return fail(Failure::Kind::internal,
                fmt::format("{} {} answered {}: {}", method, target, response.status(), answer));
  }
  if (answer.empty()) return Json(nullptr);
  return parse_bounded(answer);
}

}  // namespace ws::mock::sweep

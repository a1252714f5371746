/// The whole server behind its sockets: API, control, pages; each answer numbered, journalled and logged.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "api-client/base/result.hpp"
#include "server-mock/control/control.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/pipeline/pipeline.hpp"
#include "server-mock/sandbox.hpp"

namespace ws::mock {

enum class LogStyle { text, json, off };

struct ApplicationOptions {
  SandboxOptions sandbox = {};
  ControlOptions control = {};
  LogStyle log = LogStyle::off;  ///< to standard error, one line a request
};

class Application final : public http::Handler {
 public:
  /// Fails as `Sandbox::open` does.
  static Result<std::unique_ptr<Application>> open(const ApplicationOptions& options);

  /// Known once the server listens; before the first request.
  void set_base_url(const std::string& url) { sandbox_->base_url = url; }
  /// What `POST /_mock/shutdown` calls.
  void on_shutdown(std::function<void()> stop) { control_.on_shutdown(std::move(stop)); }
  const Sandbox& sandbox() const { return *sandbox_; }

  std::size_t body_limit(const http::Request& head) override;
  http::Response handle(const http::Request& request) override;
  http::Response refuse(const http::Unreadable& why) override;
  http::Response again(std::uint64_t ticket, const http::Request& request, http::Patience patience) override;
  void forget(std::uint64_t ticket) override;
  std::vector<std::uint64_t> take_ready() override;
  std::optional<std::chrono::milliseconds> next_ready() override;

 private:
  Application(const ApplicationOptions& options, std::unique_ptr<Sandbox> sandbox);
  /// A request on its way through.
  struct Begun {
    std::string request_id = {};
    std::int64_t time = 0;
    std::chrono::steady_clock::time_point start = {};
    bool is_over = false;  // it has waited long enough
  };
  Reply answer(const http::Request& request, std::string_view request_id);
  http::Response finish(const http::Request& request, Reply&& reply, const Begun& begun);
  std::string next_request_id(const http::Request* request);
  void log(const http::Request& request, const Reply& reply, std::int64_t duration_us) const;

  std::unique_ptr<Sandbox> sandbox_;
  std::map<std::uint64_t, Begun> waiting_ = {};  // by ticket of the sandbox's waiting room
  Pipeline pipeline_;
  Control control_;
  LogStyle log_;
};

}  // namespace ws::mock

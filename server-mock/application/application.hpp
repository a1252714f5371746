/// All sandboxes of the server: the one at the base URL, and those below it under `/_s/ID`.
///
/// The path of a request selects its sandbox; sandboxes share no state. Those under `/_s` are kept in memory, even if
/// the one at the base URL has a data file, and start with the same options: the same seed gives the same ids and
/// token.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/application/sandbox_endpoint.hpp"
#include "server-mock/application/web_guard.hpp"
#include "server-mock/control/sandboxes.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/http/target.hpp"
#include "server-mock/sandbox/sandbox.hpp"

namespace ws::mock {

struct ApplicationOptions {
  SandboxOptions sandbox = {};
  ControlOptions control = {};
  LogStyle log = LogStyle::off;
  http::AllowedHosts names = {};
  std::string public_url = {};    ///< what URLs in responses begin with; empty: the name by which the client calls
  std::string journal_file = {};  ///< requests are also appended to this file as JSON lines; empty: no file
  /// Called with each request as the journal writes it, in every sandbox; may be empty.
  std::function<void(const Exchange&)> observer = {};
  /// Called when much memory was freed, to return it to the system; empty: freed memory is kept for reuse.
  std::function<void()> release_memory = {};
};

class Application final : public http::Handler, private Sandboxes {
 public:
  /// Fails as `Sandbox::open` does, and with `disk` if the journal file cannot be written.
  static Result<std::unique_ptr<Application>> open(const ApplicationOptions& options);

  /// Call it once the server listens, before the first request.
  void set_base_url(const std::string& url) { root_->sandbox().base_url = base_url_ = url; }
  /// Sets what `POST /_mock/shutdown` calls.
  void on_shutdown(std::function<void()> stop) { shared_.control.on_shutdown(std::move(stop)); }
  /// The sandbox at the base URL.
  const Sandbox& sandbox() const { return root_->sandbox(); }
  Sandbox& sandbox() { return root_->sandbox(); }
  /// The sandbox that serves this request.
  Sandbox& sandbox_of(const http::Request& request) {
    return endpoint_at(http::within_sandbox(request.path)).sandbox();
  }
  bool has_sandboxes() const { return !sandboxes_.empty() || !ending_.empty(); }

  std::size_t body_limit(const http::Request& head) override;
  std::unique_ptr<http::BodySink> open_sink(const http::Request& head) override;
  http::Response handle(const http::Request& request) override;
  http::Response refuse(const http::MalformedRequest& why) override;
  http::Response resume(std::uint64_t ticket, const http::Request& request, http::MayWait may_wait) override;
  void cancel(std::uint64_t ticket) override;
  std::vector<std::uint64_t> take_ready() override;
  std::optional<std::chrono::milliseconds> next_ready() override;

 private:
  Application(const ApplicationOptions& options, std::unique_ptr<Sandbox> sandbox, LineOutput journal_file);
  Result<Json> open(const SandboxRequest& wanted) override;
  bool close(std::string_view id) override;
  Json list() const override;

  Json describe(const Sandbox& sandbox) const;
  SandboxEndpoint& endpoint_at(const http::SandboxPath& inside);
  void use_request_host(const http::Request& request, SandboxEndpoint& endpoint);
  /// Null if the sandbox no longer exists.
  SandboxEndpoint* endpoint_of(std::uint64_t ticket);

  SandboxOptions options_;  // of the sandbox at the base URL; others start from a copy
  WebGuard guard_;
  std::string public_url_;
  std::string base_url_ = {};  // start of URLs in responses, unless the client used another allowed Host
  std::function<void()> release_memory_;
  SharedState shared_;
  std::unique_ptr<SandboxEndpoint> root_;
  SeedWorlds seed_worlds_ = {};
  std::uint64_t next_number_ = 1;
  std::uint64_t closed_ = 0;                                                  // number of closed sandboxes
  std::map<std::uint64_t, std::unique_ptr<SandboxEndpoint>> sandboxes_ = {};  // by number: "s7" is 7
  std::map<std::uint64_t, std::unique_ptr<SandboxEndpoint>> ending_ =
      {};  // closed, with requests that are still pending
};

}  // namespace ws::mock

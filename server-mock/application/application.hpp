/// The whole server behind its sockets: the world at the base URL, and the sandboxes beside it under `/_s/ID`.
///
/// Each request goes to one world, by its path, and none knows another. Sandboxes live in memory, whatever the world at
/// the base URL does, and begin as that one did: the same seed makes the same ids and token in each.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/application/site.hpp"
#include "server-mock/application/web_guard.hpp"
#include "server-mock/control/worlds.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/http/target.hpp"
#include "server-mock/sandbox/seed_worlds.hpp"

namespace ws::mock {

struct ApplicationOptions {
  SandboxOptions sandbox = {};
  ControlOptions control = {};
  LogStyle log = LogStyle::off;
  http::OwnNames names = {};
  std::string journal_file = {};  ///< what is journalled goes there too, as JSON lines; empty: nowhere
  /// Called when much memory was freed, to give it back to the system; empty: it is kept for what comes.
  std::function<void()> give_memory_back = {};
};

class Application final : public http::Handler, private Worlds {
 public:
  /// Fails as `Sandbox::open` does, and with `disk` where the journal's file cannot be written.
  static Result<std::unique_ptr<Application>> open(const ApplicationOptions& options);

  /// Known once the server listens; before the first request.
  void set_base_url(const std::string& url) { root_->sandbox().base_url = base_url_ = url; }
  /// What `POST /_mock/shutdown` calls.
  void on_shutdown(std::function<void()> stop) { household_.control.on_shutdown(std::move(stop)); }
  /// The one at the base URL.
  const Sandbox& sandbox() const { return root_->sandbox(); }

  std::size_t body_limit(const http::Request& head) override;
  std::unique_ptr<http::BodySink> open_sink(const http::Request& head) override;
  http::Response handle(const http::Request& request) override;
  http::Response refuse(const http::Unreadable& why) override;
  http::Response again(std::uint64_t ticket, const http::Request& request, http::Patience patience) override;
  void forget(std::uint64_t ticket) override;
  std::vector<std::uint64_t> take_ready() override;
  std::optional<std::chrono::milliseconds> next_ready() override;

 private:
  Application(const ApplicationOptions& options, std::unique_ptr<Sandbox> sandbox, JournalFile journal_file);
  Result<Json> open(const Wishes& wishes) override;
  bool close(std::string_view id) override;
  Json list() const override;

  Json describe(const Sandbox& sandbox) const;
  Site& site_at(const http::SandboxPath& inside);
  void call_it_as(const http::Request& request, Site& site);
  /// Null: the sandbox is gone.
  Site* site_of(std::uint64_t ticket);

  SandboxOptions options_;  // of the world at the base URL: sandboxes begin alike
  WebGuard guard_;
  std::string base_url_ = {};  // what answers begin their addresses with, unless the client called another name
  std::function<void()> give_memory_back_;
  Household household_;
  std::unique_ptr<Site> root_;
  Seeds seeds_ = {};
  std::uint64_t next_number_ = 1;
  std::uint64_t closed_ = 0;                                       // sandboxes
  std::map<std::uint64_t, std::unique_ptr<Site>> sandboxes_ = {};  // by number: "s7" is 7
  std::map<std::uint64_t, std::unique_ptr<Site>> ending_ = {};     // closed, until who waits there is answered
};

}  // namespace ws::mock

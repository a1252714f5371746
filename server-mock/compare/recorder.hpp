/// `ws-mock record`: a reverse proxy that records the exchanges without secrets.
///
/// It is a handler of the server, with the server's guards and limits, and calls the service from the server's thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "api-client/http/transport.hpp"
#include "server-mock/application/web_guard.hpp"
#include "server-mock/http/message.hpp"

namespace ws::mock::compare {

struct RecordOptions {
  std::string to = {};       ///< base URL of the service
  std::string out = {};      ///< JSON lines, appended
  bool shapes_only = false;  ///< write types and names instead of values
  http::AllowedHosts names = {};
  std::string token = {};  ///< what `Proxy-Authorization` has to carry; empty: nothing is asked for
  /// Receives a line for each violation of the operation table, from another thread.
  std::function<void(const std::string& line)> on_violation = {};
};

class RecordingProxy final : public http::Handler {
 public:
  /// Fails with `usage` (address) or `disk` (the file): what cannot be recorded is not forwarded.
  static Result<std::unique_ptr<RecordingProxy>> open(RecordOptions options);
  ~RecordingProxy() override;

  /// Call it once the server listens.
  void set_base_url(std::string url) { base_url_ = std::move(url); }
  /// Writes everything that was recorded.
  void finish();

  std::size_t body_limit(const http::Request& head) override;
  std::unique_ptr<http::BodySink> open_sink(const http::Request& head) override;
  http::Response handle(const http::Request& request) override;
  http::Response refuse(const http::MalformedRequest& why) override;
  http::Response resume(std::uint64_t ticket, const http::Request& request, http::MayWait may_wait) override;
  void cancel(std::uint64_t ticket) override;
  std::vector<std::uint64_t> take_ready() override;
  std::optional<std::chrono::milliseconds> next_ready() override;

 private:
  class Writer;
  struct Passing;
  RecordingProxy(RecordOptions options, std::unique_ptr<ws::http::Transport> transport, std::unique_ptr<Writer> writer);
  bool is_authorized(const http::Request& request) const;
  void end(Passing& passing, ws::http::Outcome outcome);
  http::Response answer(Passing& passing, const http::Request& request);

  RecordOptions options_;
  WebGuard guard_;
  std::unique_ptr<ws::http::Transport> transport_;
  std::unique_ptr<Writer> writer_;
  std::string base_url_ = {};
  std::map<std::string, std::string, std::less<>> uploads_ = {};  // the service's addresses by ours
  std::map<std::uint64_t, std::shared_ptr<Passing>> passing_ = {};
  std::vector<std::uint64_t> ready_ = {};
  std::uint64_t next_ticket_ = 1;
  std::size_t held_bytes_ = 0;                                             // bodies in memory
  std::optional<std::chrono::steady_clock::time_point> last_moment_ = {};  // of calls under way when the server stops
};

}  // namespace ws::mock::compare

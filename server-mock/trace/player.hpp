/// `ws-mock open FILE`: the page with the slider, and the calls that it makes.
///
///     GET /                 the page
///     GET /_trace           {started_at, command, serve, exit, requests: [{n, time, method, target, operation, status,
///     cut}],
///                            first_failed}
///     GET /_trace/N         {n, status, journal, changes, state, recorded, same, cut, first_difference}
///     GET /_trace/N/state   {tables} after request N
///
/// While idle it replays ahead and keeps copies of the world, so that later jumps are short.
#pragma once

#include <memory>
#include <string>

#include "api-client/base/result.hpp"
#include "server-mock/application/web_guard.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/trace/replay.hpp"

namespace ws::mock::trace {

class Player final : public http::Handler {
 public:
  /// `trace` outlives it. Fails as `Replay::open`.
  static Result<std::unique_ptr<Player>> open(const Trace& trace,
                                              const ApplicationOptions& options,
                                              const std::string& name);

  std::size_t body_limit(const http::Request& head) override;
  http::Response handle(const http::Request& request) override;
  http::Response refuse(const http::MalformedRequest& why) override;
  /// Replays ahead.
  bool work() override;

 private:
  Player(const Trace& trace, const http::AllowedHosts& names, const std::string& name)
      : trace_(trace), guard_(names, AuthMode::off), name_(name) {}
  http::Response list() const;
  Result<http::Response> moment(std::size_t n);
  Result<http::Response> state(std::size_t n);
  Result<http::Response> answer(std::string_view path);

  const Trace& trace_;
  WebGuard guard_;
  std::string name_;
  Checkpoints checkpoints_ = {};
  std::unique_ptr<Replay> replay_ = {};
  std::unique_ptr<Replay> ahead_ = {};  // null once it has replayed everything
};

}  // namespace ws::mock::trace

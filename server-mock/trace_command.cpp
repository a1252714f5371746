#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server-mock/application/stop_on_signal.hpp"
#include "server-mock/commands.hpp"
#include "server-mock/output/print.hpp"
#include "server-mock/trace/player.hpp"
#include "server-mock/trace/recorder.hpp"
#include "server-mock/trace/replay.hpp"
#include "server-mock/trace/trace_file.hpp"

namespace ws::mock {
namespace {

using trace::Trace;

/// The settings of the recorded server that affect its responses, with the address of this one.
Result<ServeSettings> traced_settings(const Trace& recorded, Flags& flags) {
  const std::vector<std::string> allowed = flags.allow_hosts;
  WS_TRY(flags_from_trace(*find(*recorded.start, "flags"), flags));
  flags.allow_hosts.insert(flags.allow_hosts.end(), allowed.begin(), allowed.end());
  WS_LET(ServeSettings settings, settings_of(flags));
  if (!settings.server.listen.is_loopback()) {
    return fail(
        Failure::Kind::usage,
        fmt::format("a trace is not served on {}, because its keys can be computed from the trace", flags.listen),
        "leave --listen out");
  }
  settings.application.log = flags.log.empty() ? LogStyle::off : settings.application.log;
  return settings;
}

void tell_first_difference(const trace::Replay& replay) {
  if (const auto first = replay.first_difference()) {
    tell(
        fmt::format("ws-mock: from request {} on the state differs from the recorded one: the trace is from another "
                    "version of ws-mock, or has a body only in part, or without its secrets",
                    *first));
  }
}

}  // namespace

Result<int> exec_traced(const Flags& flags, ServeSettings settings) {
  WS_LET(Json kept, flags_for_trace(flags));
  Json start = {{"command", settings.command}, {"flags", std::move(kept)}};
  const auto pinned = std::make_shared<PinnedTime>();
  pinned->at = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  SandboxOptions& sandbox = settings.application.sandbox;
  sandbox.clock.pin(pinned);
  const trace::SecretNames secrets(sandbox.world.seed, flags.control_token);
  std::unique_ptr<trace::Recorder> recorder;
  settings.handler = [&](Application& application) -> Result<http::Handler*> {
    WS_LET(recorder, trace::Recorder::open(flags.trace, start, secrets, application, pinned));
    return recorder.get();
  };
  WS_LET(const int code, serve(settings));
  if (recorder) recorder->end(code);
  return code;
}

Result<int> open_trace(Flags flags) {
  WS_LET(const Trace recorded, Trace::read(flags.trace));
  WS_LET(const ServeSettings settings, traced_settings(recorded, flags));
  const std::string name = std::filesystem::path(flags.trace).filename().string();
  WS_LET(const std::unique_ptr<trace::Player> player, trace::Player::open(recorded, settings.application, name));
  WS_LET(const std::unique_ptr<http::Server> server, http::Server::listen(settings.server, *player));
  const StopOnSignal stop(
      server_signals, [&server] { server->stop(); }, server_patience);
  announce(server->base_url());
  server->run();
  return 0;
}

Result<int> serve_trace(Flags flags) {
  WS_LET(const Trace recorded, Trace::read(flags.trace));
  WS_LET(const ServeSettings settings, traced_settings(recorded, flags));
  trace::Checkpoints checkpoints;
  WS_LET(const std::unique_ptr<trace::Replay> replay, trace::Replay::open(recorded, settings.application, checkpoints));
  WS_TRY(replay->go_to(flags.at.value_or(recorded.requests.size())));
  tell_first_difference(*replay);
  replay->resume_clock();
  return serve(settings, replay->application());
}

}  // namespace ws::mock

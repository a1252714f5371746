#include "cli/commands/batch.hpp"

#include <nlohmann/json.hpp>

#include "cli/commands/paging.hpp"
#include "cli/output/failure.hpp"

namespace ws::cli {
namespace {

bool concerns_all(Failure::Kind kind) {
  return kind == Failure::Kind::auth || kind == Failure::Kind::unreachable || kind == Failure::Kind::cancelled;
}

}  // namespace

Result<ExitCode> run_batch(Session& session,
                           Client& client,
                           const contract::Operation& operation,
                           const std::vector<std::string>& ids,
                           std::vector<Call> calls) {
  if (calls.size() == 1) {
    WS_LET(const Reply reply, client.call(std::move(calls.front())));
    print_reply(session, operation, reply);
    return ExitCode::done;
  }
  Json results = Json::array();
  bool failed = false;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    auto reply = client.call(std::move(calls[i]));
    if (reply) {
      results.push_back({{"ok", true}, {"id", ids[i]}, {"result", *reply->json}});
      continue;
    }
    if (concerns_all(reply.error().kind)) return fail(reply.error());
    failed = true;
    const ExitCode exit = exit_code_of(reply.error(), 0);
    results.push_back({{"ok", false}, {"id", ids[i]}, {"error", failure_to_json(reply.error(), exit)}});
    if (!is_json(session.format())) session.note(ids[i] + ": " + reply.error().what);
  }
  Json whole = Json::object();
  whole["data"] = std::move(results);
  session.printer().list("ws.batch", whole, {});
  return failed ? ExitCode::partial : ExitCode::done;
}

}  // namespace ws::cli

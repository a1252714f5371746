#include "cli/commands/shared/batch.hpp"

#include <nlohmann/json.hpp>

#include "cli/commands/shared/build_call.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/output/failure.hpp"

namespace ws::cli {
namespace {

bool concerns_all(Failure::Kind kind) {
  return kind == Failure::Kind::auth || kind == Failure::Kind::unreachable || kind == Failure::Kind::cancelled;
}

Failure not_sent(const Failure& reason, const contract::Operation& operation) {
  return {.kind = reason.kind,
          .what = "not sent: " + reason.what,
          .hint = reason.hint,
          .call = {.operation = std::string(operation.id), .retryable = true}};
}

}  // namespace

Result<std::vector<Call>> batch_calls(Session& session,
                                      const contract::Operation& operation,
                                      const std::vector<std::string>& ids) {
  WS_TRY(check_named_members(session, operation));
  const std::string argument(operation.arguments.front().target);
  std::vector<Call> calls;
  for (const std::string& id : ids) {
    Call call{.operation = operation.id, .parameters = {{argument, id}}};
    WS_TRY(check_call(session, operation, call));
    call.validate = false;
    calls.push_back(std::move(call));
  }
  return calls;
}

namespace {

/// With `--fields`, `--template` or `--jq`: what each call answered, without the envelope; failures are on stderr.
void print_shaped(Session& session, const contract::Operation& operation, const std::vector<BatchItem>& items) {
  Json results = Json::array();
  for (const auto& [id, reply] : items) {
    if (reply) results.push_back(*reply->json);
  }
  session.printer().each(operation.id, results);
}

/// Ids of what the calls answered: an upload is named by its path, and what it made by the answer.
void print_ids(Session& session, const std::vector<BatchItem>& items) {
  for (const auto& [id, reply] : items) {
    if (!reply) continue;
    const std::string made = id_of(*reply->json);
    session.printer().raw((made.empty() ? id : made) + "\n");
  }
}

}  // namespace

ExitCode print_batch(Session& session,
                     const contract::Operation& operation,
                     const std::vector<BatchItem>& items,
                     std::string_view shape) {
  Json whole = {{"data", Json::array()}};
  bool failed = false;
  const bool is_shaped = session.printer().is_shaped() || !session.printer().fields().empty();
  for (const auto& [id, reply] : items) {
    if (reply) {
      whole["data"].push_back({{"ok", true}, {"id", id}, {"result", *reply->json}});
      continue;
    }
    failed = true;
    const ExitCode exit = exit_code_of(reply.error(), 0);
    whole["data"].push_back({{"ok", false}, {"id", id}, {"error", failure_to_json(reply.error(), exit)}});
    if (is_json(session.format())) {
      if (is_shaped) session.print_failure(reply.error(), exit);
    } else {
      session.note(id + ": " + reply.error().what);
    }
  }
  if (is_shaped) {
    print_shaped(session, operation, items);
  } else if (session.format() == Format::ids) {
    print_ids(session, items);
  } else {
    session.printer().list(shape, whole, {});
  }
  return failed ? ExitCode::partial : ExitCode::done;
}

Result<ExitCode> run_batch(Session& session,
                           Client& client,
                           const contract::Operation& operation,
                           const std::vector<std::string>& ids,
                           std::vector<Call> calls) {
  if (calls.size() == 1) {
    WS_LET(const Reply reply, client.call(std::move(calls.front())));
    return print_reply(session, operation, reply);
  }
  std::vector<BatchItem> items;
  bool any_done = false;
  std::optional<Failure> stopped;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (stopped) {
      items.push_back({ids[i], fail(not_sent(*stopped, operation))});
      continue;
    }
    auto reply = client.call(std::move(calls[i]));
    if (!reply && concerns_all(reply.error().kind)) {
      if (!any_done) return fail(reply.error());
      stopped = reply.error();
    }
    any_done = any_done || reply;
    items.push_back({ids[i], std::move(reply)});
  }
  const ExitCode exit = print_batch(session, operation, items);
  if (stopped && stopped->kind == Failure::Kind::cancelled) return fail(*stopped);
  return exit;
}

}  // namespace ws::cli

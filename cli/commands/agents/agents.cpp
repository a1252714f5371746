// Agents: made, paused, revoked; their secrets written where nobody else reads them.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands/shared/batch.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/commands/shared/outcomes.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/commands/shared/values.hpp"

namespace ws::cli {
namespace {

Flag secret_out_flag() {
  return {.name = "secret-out",
          .placeholder = "FILE",
          .help = "write the agent's secret to FILE, readable by you alone, and do not show it"};
}

/// The place of a secret that is shown once.
Result<std::optional<OutputFile>> secret_file(const Session& session) {
  return named_output(session.arguments(), "secret-out", session.has("force") ? Overwrite::yes : Overwrite::no, 0600);
}

/// The secret of an answer: a member of a rotation, or of a new agent's `credential`; else the whole of this free-form
/// object.
Json* find_secret(Json& answer) {
  Json* const credential = answer.contains("credential") ? &answer["credential"] : nullptr;
  for (Json* place : {&answer, credential}) {
    if (place == nullptr || !place->is_object() || !place->contains("secret")) continue;
    if ((*place)["secret"].is_string()) return &(*place)["secret"];
  }
  return credential != nullptr && !credential->empty() ? credential : nullptr;
}

/// All of the answer is kept: it may be the only copy of the new secret.
Failure without_secret(Session& session, const contract::Operation& operation, const Reply& reply) {
  Failure failure = unusable_answer(operation.id, reply, "it has no secret");
  const auto kept = keep_answer(session.paths().state, reply.body);
  if (kept) failure.hint += "; the answer is in " + kept->string() + ", which only you can read";
  return failure;
}

Result<ExitCode> send_for_secret(Session& session, const contract::Operation& operation, Call call) {
  WS_TRY(make_ready(session, operation, call));
  if (session.has("dry-run")) return print_request(session, call);
  WS_LET(Client * client, session.client());
  WS_LET(const auto file, secret_file(session));
  WS_LET(Reply reply, client->call(std::move(call)));
  Json* const secret = find_secret(*reply.json);
  if (secret == nullptr) return fail(without_secret(session, operation, reply));
  if (file) {
    const std::string text = secret->is_string() ? secret->get<std::string>() : dump(*secret);
    const auto written = file->write(session.terminal(), text + "\n");
    if (!written) return fail(session.outcomes().tell(written.error()));
    *secret = nullptr;
    reply.body.clear();
    session.note("the secret is in " + file->path());
  }
  return print_reply(session, operation, reply);
}

Result<ExitCode> create(Session& session) {
  const contract::Operation& operation = operation_of("agents.create");
  WS_LET(Call call, build_call(session, operation, [&](Json& body) -> Result<void> {
           if (!session.arguments().words.empty()) body["handle"] = session.arguments().words.front();
           return {};
         }));
  return send_for_secret(session, operation, std::move(call));
}

Result<ExitCode> rotate(Session& session) {
  const contract::Operation& operation = operation_of("agents.rotate");
  WS_LET(Call call, build_call(session, operation));
  WS_TRY(check_call(session, operation, call));
  if (!session.has("dry-run")) {
    const std::string& id = session.arguments().words.front();
    WS_LET(const bool yes,
           session.confirm("give the agent " + id + " a new secret? the old one is revoked at once", {operation.id}));
    if (!yes) return fail(Failure::Kind::usage, "not confirmed; nothing was changed");
  }
  return send_for_secret(session, operation, std::move(call));
}

/// `pause`, `resume`, `revoke`: the update with one member.
Result<ExitCode> set_status(Session& session, std::string_view status) {
  const contract::Operation& operation = operation_of("agents.update");
  WS_LET(const Call change, build_call(session, operation, [&](Json& body) -> Result<void> {
           body["status"] = status;
           return {};
         }));
  WS_LET(Batch batch, batch_of(session, operation, [&](const std::string& id) {
           Call call = change;
           call.parameters = {{"agent_id", id}};
           return call;
         }));
  if (session.has("dry-run")) return print_requests(session, batch);
  if (status == "revoked" && !batch.ids.empty()) {
    const std::vector<std::string>& ids = batch.ids;
    const std::string whom = ids.size() == 1 ? "the agent " + ids.front() : std::to_string(ids.size()) + " agents";
    WS_LET(const bool yes, session.confirm("revoke " + whom + "? their keys are revoked at once", {operation.id}));
    if (!yes) return fail(Failure::Kind::usage, "not confirmed; nothing was revoked");
  }
  WS_LET(Client * client, session.client());
  return run_batch(session, *client, operation, std::move(batch));
}

Command status_command(std::string words, std::string summary, std::string_view status) {
  std::string example = "ws " + words + " 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b";
  if (status == "revoked") example += " --yes";
  std::vector<Flag> flags = body_flags();
  flags.insert(flags.end(), {stdin_flag(), again_flag()});
  return {.words = std::move(words),
          .summary = std::move(summary),
          .details = status == "revoked" ? "Asks first; --yes confirms." : "",
          .arguments = {{.placeholder = "AGENT",
                         .help = describe(Subject::agent, {}),
                         .count = Count::any,
                         .names = Subject::agent}},
          .flags = std::move(flags),
          .examples = {std::move(example)},
          .operation = &operation_of("agents.update"),
          .run = [status](Session& session) { return set_status(session, status); }};
}

}  // namespace

Command agents_create_command() {
  return operation_command(
      "agents.create",
      {.details = "Prints the secret of the agent, which is shown only this once.",
       .arguments = {{.placeholder = "HANDLE", .help = "1-64 characters", .count = Count::optional}},
       .flags = {{.name = "name",
                  .placeholder = "NAME",
                  .help = "the name that people see",
                  .limits = "1-100 characters",
                  .also = "display-name",
                  .fills = "display_name"},
                 secret_out_flag()},
       .examples = {"ws agents create scribe --name Scribe --permissions read,comment --secret-out scribe.key"},
       .run = create},
      {"handle", "name"});
}

Command agents_rotate_command() {
  Command command = operation_command(
      "agents.rotate",
      {.details = "The old secret is revoked at once. Asks first; --yes confirms.",
       .examples = {"ws agents rotate 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b --yes --secret-out scribe.key"},
       .run = rotate},
      {"stdin"});
  command.arguments.front().count = Count::one;
  command.flags.push_back(secret_out_flag());
  return command;
}

Command agents_pause_command() {
  return status_command("agents pause", "Pause agents: their keys are refused with 403", "paused");
}
Command agents_resume_command() { return status_command("agents resume", "Resume paused agents", "active"); }
Command agents_revoke_command() {
  return status_command("agents revoke", "Revoke agents and their keys for good", "revoked");
}

}  // namespace ws::cli

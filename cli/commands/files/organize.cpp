// Organization runs on a file: started, waited for.
#include <nlohmann/json.hpp>

#include "api-client/base/shell_command.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/commands/shared/waiting.hpp"

namespace ws::cli {
namespace {

Call read_operation(const std::string& id) {
  return {.operation = "files.operation", .parameters = {{"operation_id", id}}, .validate = false};
}

ShellCommand wait_again(const std::string& id) { return {"ws", "files", "operation", id, "--wait"}; }

Result<ExitCode> print_end(Session& session, const Awaited& ended) {
  print_reply(session, operation_of("files.operation"), ended.reply);
  if (ended.phase == Phase::failed && !is_json(session.format())) {
    session.note("the organization run ended with status " + find_text(*ended.reply.json, "status").value_or("failed"));
  }
  return exit_of(ended.phase);
}

Result<ExitCode> organize(Session& session) {
  const contract::Operation& operation = operation_of("files.organize");
  WS_LET(Call call, build_call(session, operation));
  WS_TRY(make_ready(session, operation, call));
  if (session.has("dry-run")) return print_request(session, call);
  WS_LET(Client * client, session.client());
  const auto parameters = call.parameters;
  WS_LET(const Reply reply, client->call(std::move(call)));
  if (waits(session) && phase_of(*reply.json) == Phase::pending) {
    const auto id = find_text(*reply.json, "operation_id");
    if (!id || id->empty()) {
      return fail(unusable_answer(operation.id, reply, "it has no operation_id to wait for", parameters));
    }
    remember_answer(session, operation, *reply.json);
    const Accepted accepted{.noun = "organization run", .id = *id, .again = wait_again(*id)};
    WS_LET(const Awaited ended, await_accepted(session, *client, read_operation(*id), accepted));
    return print_end(session, ended);
  }
  print_reply(session, operation, reply);
  return waits(session) ? exit_of(phase_of(*reply.json)) : ExitCode::done;
}

Result<ExitCode> operation(Session& session) {
  if (!waits(session)) return run_on_ids(session, operation_of("files.operation"));
  if (session.arguments().words.size() != 1) return fail(Failure::Kind::usage, "--wait waits for one operation");
  const std::string& id = session.arguments().words.front();
  WS_TRY(check_call(session, operation_of("files.operation"), read_operation(id)));
  const Call call = read_operation(id);
  if (session.has("dry-run")) return print_request(session, call);
  WS_LET(Client * client, session.client());
  WS_LET(const Awaited ended, await_end(session, *client, call, wait_again(id)));
  return print_end(session, ended);
}

}  // namespace

Command files_organize_command() {
  return operation_command(
      "files.organize",
      {.flags = {{.name = "message",
                  .letter = 'm',
                  .placeholder = "INSTRUCTION",
                  .help = "what to make of the file",
                  .limits = "1-8000 characters",
                  .also = "instruction",
                  .fills = "instruction"},
                 {.name = "into",
                  .placeholder = "NODE",
                  .help = "the node to place the result under",
                  .limits = "an id, or the end of one shown before",
                  .names = Subject::thing,
                  .also = "target-root-node-id",
                  .fills = "target_root_node_id"},
                 wait_flag("wait for its end; with --timeout S no longer than that")},
       .examples = {"ws files organize 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b -m 'A page for each chapter' --wait"},
       .run = organize},
      {"instruction", "target-root-node-id"});
}

Command files_operation_command() {
  Command command = operation_command("files.operation", {.run = operation});
  command.flags.push_back(wait_flag("wait for its end; with --timeout S no longer than that"));
  return command;
}

}  // namespace ws::cli

#include <nlohmann/json.hpp>

#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/commands/workspaces/commands.hpp"

namespace ws::cli {
namespace {

Result<ExitCode> move(Session& session) {
  const contract::Operation& operation = operation_of("nodes.move");
  WS_LET(Call call, build_call(session, operation));
  if (call.body->is_object()) {
    Json& body = *call.body;
    if (const auto to = session.arguments().value("to")) body["parent_node_id"] = *to == "root" ? Json() : Json(*to);
    if (const auto before = session.arguments().value("before")) body["before_node_id"] = *before;
    if (!body.contains("parent_node_id")) {
      return fail(Failure::Kind::usage, "--to is missing: where the node goes", "--to PARENT, or --to root");
    }
  }
  return run_call(session, operation, std::move(call));
}

}  // namespace

Command nodes_move_command() {
  Command command = operation_command(operation_of("nodes.move"));
  command.flags = flags_without(command.flags, {"parent-node-id", "before-node-id"});
  command.flags.insert(command.flags.begin(),
                       {{.name = "to",
                         .takes = Takes::one,
                         .placeholder = "PARENT|root",
                         .help = "the node that it goes under",
                         .limits = "a UUID, or root"},
                        {.name = "before",
                         .takes = Takes::one,
                         .placeholder = "NODE",
                         .help = "the sibling that it is to stand before",
                         .limits = "a UUID"}});
  command.examples = {"ws nodes move 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b --to root"};
  command.run = move;
  return command;
}

}  // namespace ws::cli

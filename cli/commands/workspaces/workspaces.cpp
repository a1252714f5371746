#include <nlohmann/json.hpp>

#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"

namespace ws::cli {
namespace {

Result<ExitCode> move(Session& session) {
  const contract::Operation& operation = operation_of("nodes.move");
  WS_LET(Call call, build_call(session, operation, [&](Json& body) -> Result<void> {
           if (session.arguments().value("to") == "root") body["parent_node_id"] = nullptr;
           return {};
         }));
  if (call.body->is_object() && !call.body->contains("parent_node_id")) {
    return fail(Failure::Kind::usage, "--to is required: the node to move it under, or root");
  }
  return run_call(session, operation, std::move(call));
}

}  // namespace

Command nodes_move_command() {
  return operation_command("nodes.move",
                           {.flags = {{.name = "to",
                                       .placeholder = "PARENT|root",
                                       .help = "the node that it goes under",
                                       .limits = "an id, the end of one shown before, or root",
                                       .names = Subject::thing,
                                       .also = "parent-node-id",
                                       .fills = "parent_node_id"},
                                      {.name = "before",
                                       .placeholder = "NODE",
                                       .help = "the sibling to place it before",
                                       .limits = "an id, or the end of one shown before",
                                       .names = Subject::thing,
                                       .also = "before-node-id",
                                       .fills = "before_node_id"}},
                            .examples = {"ws nodes move 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b --to root"},
                            .run = move},
                           {"parent", "before-node-id"});
}

}  // namespace ws::cli

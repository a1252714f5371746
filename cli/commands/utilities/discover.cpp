// What the server offers, and how that differs from what this build knows.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/contract/operations.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/operation_commands.hpp"

namespace ws::cli {
namespace {

Json row(std::string_view only, const Json& id, const Json& method, const Json& path, const Json& summary) {
  return {{"only", only}, {"id", id}, {"method", method}, {"path", path}, {"summary", summary}};
}

Json text_or_null_at(const Json& object, std::string_view key) {
  const auto text = find_text(object, key);
  return text ? Json(*text) : Json();
}

/// By method and path where the server tells them, else by id.
bool is_same(const Json& theirs, const contract::Operation& ours) {
  const auto method = find_text(theirs, "method");
  const auto path = find_text(theirs, "path");
  if (method && path) return to_upper(*method) == contract::name(ours.method) && *path == ours.path;
  return find_text(theirs, "id") == std::string(ours.id);
}

/// Whether it can be told from others.
bool tells_which(const Json& theirs) {
  return find_text(theirs, "id") || (find_text(theirs, "method") && find_text(theirs, "path"));
}

/// Where the server leaves some without a name, what it lacks cannot be told: any of ours may be among them.
Json differences(const Json& theirs, bool all_named) {
  Json rows = Json::array();
  for (const Json& one : theirs) {
    if (!tells_which(one)) continue;
    const bool known =
        std::ranges::any_of(contract::operations(), [&](const auto* ours) { return is_same(one, *ours); });
    if (known) continue;
    rows.push_back(row("server",
                       text_or_null_at(one, "id"),
                       text_or_null_at(one, "method"),
                       text_or_null_at(one, "path"),
                       text_or_null_at(one, "summary")));
  }
  for (const auto* ours : contract::operations()) {
    if (!all_named) break;
    const bool known = std::ranges::any_of(theirs, [&](const Json& one) { return is_same(one, *ours); });
    if (!known) rows.push_back(row("build", ours->id, contract::name(ours->method), ours->path, ours->summary));
  }
  return rows;
}

Result<ExitCode> discover(Session& session) {
  const contract::Operation& operation = *contract::find_operation("discovery.get");
  Call call{.operation = operation.id};
  if (!session.has("diff")) return run_call(session, operation, std::move(call));
  if (session.has("dry-run")) return print_request(session, call);
  WS_LET(Client * client, session.client());
  WS_LET(const Reply reply, client->call(std::move(call)));
  const Json* theirs = find(*reply.json, "operations");
  if (theirs == nullptr || !theirs->is_array()) {
    return fail(Failure::Kind::internal, "the service does not list its operations");
  }
  const bool all_named = std::ranges::all_of(*theirs, tells_which);
  Json rows = differences(*theirs, all_named);
  if (!all_named) {
    session.note(
        "note: the service lists operations without id, method and path, so it is not known what only this build has");
  } else if (rows.empty()) {
    session.note("the service and this build know the same operations");
  }
  const Json whole = {{"v", 1},
                      {"server_version", text_or_null_at(*reply.json, "version")},
                      {"build_version", contract::api_version},
                      {"data", std::move(rows)},
                      {"next_cursor", nullptr}};
  if (!whole["data"].empty() || session.format() != Format::table) session.printer().list("ws.differences", whole, {});
  return ExitCode::done;
}

}  // namespace

Command discover_command() {
  Command command =
      operation_command("discovery.get", {.examples = {"ws discover", "ws discover --diff"}, .run = discover});
  command.flags.push_back({.name = "diff", .help = "what the service has that this build lacks, and the reverse"});
  return command;
}

}  // namespace ws::cli

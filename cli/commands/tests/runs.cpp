// Test runs: launched, waited for, reported as JUnit.
#include <nlohmann/json.hpp>

#include "api-client/base/shell_command.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/commands/shared/outcomes.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/commands/shared/values.hpp"
#include "cli/commands/shared/waiting.hpp"
#include "cli/commands/tests/junit.hpp"

namespace ws::cli {
namespace {

Flag junit_flag() { return {.name = "junit", .placeholder = "FILE", .help = "write the results as JUnit XML"}; }

Result<Call> launch_call(Session& session) {
  const contract::Operation& operation = operation_of("tests.run_launch");
  WS_LET(Call call, build_call(session, operation, [&](Json& body) -> Result<void> {
           const bool has_suite = session.has("suite");
           const bool has_cases = session.has("case");
           if (has_suite && has_cases) return fail(Failure::Kind::usage, "give --suite or --case, not both");
           if (has_suite || has_cases) body["selection_kind"] = has_suite ? "suite" : "cases";
           return {};
         }));
  if (call.body->is_object() && !call.body->contains("selection_kind")) {
    return fail(Failure::Kind::usage, "--suite or --case is required");
  }
  return call;
}

Result<ExitCode> report(Session& session, const std::optional<OutputFile>& junit, const Reply& reply, Phase phase) {
  print_reply(session, operation_of("tests.run_get"), reply);
  if (junit) {
    const auto written = junit->write(session.terminal(), run_to_junit(*reply.json));
    if (!written) return fail(session.outcomes().tell(written.error()));
  }
  if (phase == Phase::failed && !is_json(session.format())) {
    session.note("the run ended with status " + find_text(*reply.json, "status").value_or("failed"));
  }
  return waits(session) ? exit_of(phase) : ExitCode::done;
}

Call read_run(const std::string& id) {
  return {.operation = "tests.run_get", .parameters = {{"run_id", id}}, .validate = false};
}

ShellCommand wait_again(const std::string& id) { return {"ws", "tests", "runs", "get", id, "--wait"}; }

Result<std::optional<OutputFile>> junit_file(const Session& session) {
  if (session.has("junit") && !waits(session)) {
    return fail(Failure::Kind::usage, "--junit needs the results of the run", "add --wait");
  }
  return named_output(session.arguments(), "junit", Overwrite::yes);
}

Result<ExitCode> launch(Session& session) {
  const contract::Operation& operation = operation_of("tests.run_launch");
  WS_LET(const auto junit, junit_file(session));
  WS_LET(Call call, launch_call(session));
  WS_TRY(make_ready(session, operation, call));
  if (session.has("dry-run")) return print_request(session, call);
  WS_LET(Client * client, session.client());
  WS_LET(Reply reply, client->call(std::move(call)));
  Phase phase = phase_of(*reply.json);
  const auto id = find_text(*reply.json, "id");
  if (waits(session) && phase == Phase::pending) {
    if (!id) return fail(unusable_answer(operation.id, reply, "it has no id to look the run up by"));
    remember_answer(session, operation, *reply.json);
    WS_LET(Awaited ended,
           await_accepted(session, *client, read_run(*id), {.noun = "test run", .id = *id, .again = wait_again(*id)}));
    reply = std::move(ended.reply);
    phase = ended.phase;
  }
  return report(session, junit, reply, phase);
}

Result<ExitCode> get_run(Session& session) {
  const contract::Operation& operation = operation_of("tests.run_get");
  WS_LET(const auto junit, junit_file(session));
  if (!waits(session)) return run_on_ids(session, operation);
  if (session.arguments().words.size() != 1) return fail(Failure::Kind::usage, "--wait waits for one run");
  const std::string& id = session.arguments().words.front();
  Call call{.operation = operation.id, .parameters = {{"run_id", id}}};
  WS_TRY(check_call(session, operation, call));
  if (session.has("dry-run")) return print_request(session, call);
  WS_LET(Client * client, session.client());
  WS_LET(const Awaited ended, await_end(session, *client, read_run(id), wait_again(id)));
  return report(session, junit, ended.reply, ended.phase);
}

}  // namespace

Command tests_runs_launch_command() {
  return operation_command(
      "tests.run_launch",
      {.details = "With --wait it ends with 13 where the run fails or is cancelled, with 8 at --timeout.",
       .flags =
           {{.name = "suite", .placeholder = "ID", .help = "run this suite", .fills = "suite_id"},
            {.name = "case", .placeholder = "ID", .is_repeated = true, .help = "run these cases", .fills = "case_ids"},
            wait_flag("wait for its end"),
            junit_flag()},
       .examples = {"ws tests runs launch --suite smoke --wait --junit report.xml"},
       .run = launch},
      {"selection-kind", "case-ids", "suite-id"});
}

Command tests_runs_get_command() {
  Command command = operation_command("tests.run_get", {.run = get_run});
  command.flags.push_back(wait_flag("wait for its end"));
  command.flags.push_back(junit_flag());
  return command;
}

}  // namespace ws::cli

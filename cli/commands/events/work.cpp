// `ws events work -- CMD...`: a worker that runs a command for each event.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/process.hpp"
#include "cli/commands/events/lease.hpp"
#include "cli/commands/events/worker.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/commands/shared/outcomes.hpp"
#include "cli/output/members.hpp"

namespace ws::cli {
namespace {

Result<WorkerOptions> options_of(Session& session) {
  WorkerOptions options{.worker_id = session.arguments().value("worker").value_or(usual_worker_id()),
                        .command = session.arguments().words,
                        .once = session.has("once")};
  WS_LET(const int jobs, number_flag(session, "jobs", 1, 1, 64));
  WS_LET(const int lease, number_flag(session, "lease-seconds", 60, 30, 900));
  WS_LET(const int wait, number_flag(session, "wait-seconds", options.once ? 0 : 20, 0, 30));
  options.jobs = static_cast<std::size_t>(jobs);
  options.lease = std::chrono::seconds(lease);
  options.wait = std::chrono::seconds(wait);
  WS_LET(options.max_attempts, number_flag(session, "max-attempts", 5, 1, 100));
  for (const std::string& exit : session.arguments().values("no-retry-exit")) {
    WS_LET(const int number, parse_number("no-retry-exit", exit, 1, 255));
    options.no_retry_exits.insert(number);
  }
  const Call claim{.operation = "events.claim", .body = Json{{"worker_id", options.worker_id}}};
  WS_TRY(check_call(session, operation_of("events.claim"), claim));
  if (find_program(options.command.front())) return options;
  return fail(Failure::Kind::usage, "program not found: " + options.command.front(), "nothing was claimed");
}

/// What the worker has told the service; empty: nothing.
std::string_view operation_of_end(WorkDone::Outcome outcome) {
  switch (outcome) {
    case WorkDone::Outcome::completed: return "events.complete";
    case WorkDone::Outcome::failed: return "events.fail";
    case WorkDone::Outcome::handed_back:
    case WorkDone::Outcome::lost: return {};
  }
  return {};
}

constexpr std::string_view shape_of_done = "ws.handled";

std::vector<Column> columns_of_done(const Printer& printer) {
  return columns_of_fields(printer.fields().empty() ? own_members(shape_of_done) : printer.fields());
}

void print_done(Session& session, const WorkDone& done) {
  Printer& printer = session.printer();
  const bool is_plain = !printer.is_shaped() && printer.fields().empty();
  if (is_for_people(session) || (session.format() == Format::table && is_plain)) {
    return session.note(fmt::format("{} {} {}{}",
                                    done.event_id,
                                    done.kind,
                                    name(done.outcome),
                                    done.error.empty() ? "" : ": " + done.error.substr(0, done.error.find('\n'))));
  }
  const Json value = {{"v", 1},
                      {"id", done.event_id},
                      {"kind", done.kind},
                      {"outcome", name(done.outcome)},
                      {"exit", done.exit},
                      {"error", done.error.empty() ? Json() : Json(done.error)}};
  if (printer.is_shaped() || printer.streams() || session.format() == Format::json) return printer.item(value);
  if (session.format() != Format::yaml) return printer.put_rows(columns_of_done(printer), Json::array({value}));
  printer.raw("---\n");
  printer.resource(value);
}

Result<ExitCode> work(Session& session) {
  WS_LET(WorkerOptions options, options_of(session));
  WS_TRY(check_members(session.printer().named_members(), {}, shape_of_done));
  if (session.has("dry-run")) {
    return print_request(session,
                         {.operation = "events.claim",
                          .body = Json{{"worker_id", options.worker_id},
                                       {"lease_seconds", options.lease.count()},
                                       {"wait_seconds", options.wait.count()}}});
  }
  // A signal must not cut the calls that complete events, so it reaches the worker and not the client.
  WS_LET(const Key key, session.key());
  WS_LET(ClientOptions client_options, session.client_options());
  client_options.cancelled = nullptr;
  session.add_keys(client_options, key);
  WS_LET(http::Transport * transport, session.transport(std::max(http::CurlOptions{}.max_connections, options.jobs)));
  Client client(*transport, session.world().clock, session.world().random, std::move(client_options));
  if (!session.printer().is_shaped()) session.printer().put_column_names(columns_of_done(session.printer()));
  bool is_any = false;
  EventWorker worker(client,
                     std::move(options),
                     {.done =
                          [&](const WorkDone& done) {
                            is_any = true;
                            const std::string_view ended_by = operation_of_end(done.outcome);
                            if (!ended_by.empty()) session.outcomes().add(ended_by, done.event_id);
                            print_done(session, done);
                            session.outcomes().forget(ended_by);
                          },
                      .note = [&session](const std::string& text) { session.note(text); },
                      .must_stop = [&session] { return session.world().cancelled.load(); },
                      .must_hurry =
                          [&session] {
                            const auto has_caught_second = session.world().has_caught_second;
                            return has_caught_second != nullptr && has_caught_second();
                          }});
  if (session.world().end_in_own_time != nullptr) session.world().end_in_own_time(SecondSignal::is_told);
  WS_TRY(worker.run());
  if (session.world().cancelled.load()) return fail(Failure::Kind::cancelled, "stopped");
  if (session.has("once") && !is_any) session.note("no event is waiting");
  return session.has("once") && worker.has_failed() ? ExitCode::partial : ExitCode::done;
}

}  // namespace

Command events_work_command() {
  return {.words = "events work",
          .summary = "Run a command for each agent event",
          .details =
              "The command gets the event as JSON on stdin, and WS_EVENT_ID and WS_LEASE_TOKEN. Exit 0 completes "
              "the event with what it printed (a JSON object, else {\"output\": text}); any other exit fails it "
              "with the end of its stderr, and the event is tried again later, up to --max-attempts. Ctrl-C ends it: "
              "events under way are completed within 10 s, or return to the queue when their lease expires, which is "
              "no failure; then, or at a second Ctrl-C, the commands are told to end (SIGTERM). An agent gets events "
              "only for "
              "documents that are shared with it: "
              "`ws docs share DOCUMENT --with @HANDLE`.",
          .arguments = {{.placeholder = "CMD",
                         .help = "the command and its arguments, after --",
                         .count = Count::many,
                         .is_command = true}},
          .flags = {worker_flags().front(),
                    {.name = "jobs",
                     .placeholder = "N",
                     .help = "events processed in parallel",
                     .limits = "1-64",
                     .fallback = "1"},
                    {.name = "lease-seconds",
                     .placeholder = "N",
                     .help = "how long an event is held; renewed when half is left",
                     .limits = "30-900",
                     .fallback = "60"},
                    {.name = "wait-seconds",
                     .placeholder = "N",
                     .help = "how long one claim waits for an event",
                     .limits = "0-30",
                     .fallback = "20; with --once 0"},
                    {.name = "max-attempts",
                     .placeholder = "N",
                     .help = "fail an event for good after N failures of its command",
                     .limits = "1-100",
                     .fallback = "5"},
                    {.name = "no-retry-exit",
                     .placeholder = "N",
                     .is_repeated = true,
                     .help = "an exit code of CMD that fails an event for good",
                     .limits = "1-255"},
                    {.name = "once", .help = "process at most one event, then end; with 13 when CMD failed"}},
          .examples = {"ws events work --worker scribe --jobs 2 -- ./answer.sh"},
          .operation = &operation_of("events.claim"),
          .runs_on = true,
          .run = work};
}

}  // namespace ws::cli

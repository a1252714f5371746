#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/clock.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/text.hpp"
#include "api-client/base/uuid.hpp"
#include "server-mock/application/stop_on_signal.hpp"
#include "server-mock/commands.hpp"
#include "server-mock/compare/caller.hpp"
#include "server-mock/compare/difference_report.hpp"
#include "server-mock/compare/recorder.hpp"
#include "server-mock/compare/replay.hpp"
#include "server-mock/compare/script.hpp"
#include "server-mock/output/print.hpp"

namespace ws::mock {
namespace {

using compare::Access;
using compare::DifferenceReport;
using compare::Exchanges;

constexpr int differs_exit = 1;
constexpr int not_done_exit = 2;
constexpr std::size_t token_bytes = std::size_t{64} << 10U;
/// All of its exchanges are kept; parsed, they take up to ten times as much.
constexpr std::size_t recording_bytes = std::size_t{128} << 20U;

/// Reads `--token-file`, otherwise `WS_TOKEN`.
Result<std::string> read_token(const std::string& path) {
  std::string token;
  if (!path.empty()) {
    WS_LET(token, read_file(path, token_bytes, Source::connected));
  } else if (const char* given = std::getenv("WS_TOKEN"); given != nullptr) {
    token = given;
  }
  trim_end(token, " \r\n");
  if (ws::http::is_credential(token)) return token;
  return fail(Failure::Kind::usage, "no key to call the service is given", "use --token-file FILE, or set WS_TOKEN");
}

Result<void> ask_first(const DiffFlags& flags, Access access) {
  if (access == Access::read_only || flags.yes) return {};
  tell(compare::permanent_effects(access));
  if (::isatty(STDIN_FILENO) == 0) {
    return fail(Failure::Kind::usage, "this changes the service, and there is no terminal to ask on", "add --yes");
  }
  tell_part("Continue? [y/N] ");
  const int answer = std::getchar();
  if (answer == 'y' || answer == 'Y') return {};
  return fail(Failure::Kind::cancelled, "nothing was sent");
}

Result<Access> access_of(const DiffFlags& flags) {
  if (flags.read_only + flags.scratch + !flags.project.empty() > 1) {
    return fail(Failure::Kind::usage, "--read-only, --project and --scratch exclude each other");
  }
  if (!flags.project.empty() && !is_uuid(flags.project)) {
    return fail(Failure::Kind::usage, fmt::format("--project \"{}\" is not an id", flags.project));
  }
  if (flags.scratch) return Access::scratch;
  return flags.project.empty() ? Access::read_only : Access::project;
}

/// A value that no earlier run used. Otherwise idempotency keys of an earlier run would be reused.
std::string fresh_mark() { return fmt::format("{:x}", SystemClock().now().time_since_epoch().count()); }

/// Where every key was refused, both sides answer 401 to all, and are alike.
Result<void> check_key(const Exchanges& exchanges) {
  const auto has_key = [](const Exchange& one) { return !one.request_header("authorization").empty(); };
  const auto is_refused = [&](const Exchange& one) { return !has_key(one) || one.status == 401; };
  if (std::ranges::none_of(exchanges, has_key) || !std::ranges::all_of(exchanges, is_refused)) return {};
  return fail(Failure::Kind::auth, "the service refused the key of every request, so there is nothing to compare");
}

/// `stop`: the first Ctrl-C stops the requests; documents that were created are then archived.
Result<DifferenceReport> compare_live(const DiffFlags& flags,
                                      const ApplicationOptions& options,
                                      std::atomic<bool>& stopped,
                                      std::optional<StopOnSignal>& stop) {
  WS_LET(const Access access, access_of(flags));
  WS_LET(const std::string token, read_token(flags.token_file));
  WS_TRY(ask_first(flags, access));
  stop.emplace(std::array{SIGHUP, SIGINT, SIGTERM}, [&stopped] { stopped = true; });
  WS_LET(compare::Caller caller, compare::Caller::open({.base_url = flags.against, .token = token, .stop = &stopped}));
  Redactor redactor(Redactor::Undescribed::hidden);
  WS_LET(compare::ScriptRun run,
         compare::run_script(caller, redactor, {.access = access, .project_id = flags.project, .mark = fresh_mark()}));
  WS_TRY(check_key(run.exchanges));
  const auto switches = compare::judge_switches(run.exchanges);
  compare::Findings findings;
  WS_TRY(compare::replay(
      run.exchanges,
      {.application = options, .assumptions = compare::assumptions_of(switches), .project_id = flags.project},
      findings));
  DifferenceReport report = compare::make_report(ws::http::origin_of(flags.against), run.exchanges, findings, switches);
  report.requests = run.requests;
  report.stopped = std::move(run.stopped);
  report.left = std::move(run.left);
  return report;
}

Result<DifferenceReport> compare_recording(const DiffFlags& flags, const ApplicationOptions& options) {
  WS_LET(const std::string text, read_file(flags.recording, recording_bytes, Source::connected));
  Exchanges exchanges;
  int line_number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++line_number;
    if (line.empty()) continue;
    auto read = read_recorded(line);
    if (!read) {
      return fail(Failure::Kind::invalid, fmt::format("{}:{}: {}", flags.recording, line_number, read.error().what));
    }
    exchanges.push_back(std::move(*read));
  }
  if (exchanges.empty())
    return fail(Failure::Kind::invalid, fmt::format("{} has no recorded request", flags.recording));
  WS_TRY(check_key(exchanges));
  const auto switches = compare::judge_switches(exchanges);
  compare::Findings findings;
  WS_TRY(
      compare::replay(exchanges, {.application = options, .assumptions = compare::assumptions_of(switches)}, findings));
  return compare::make_report(flags.recording, exchanges, findings, switches);
}

}  // namespace

void add_diff_flags(CLI::App& diff, DiffFlags& flags) {
  CLI::Option* against = diff.add_option("--against", flags.against, "base URL of the service to compare with");
  diff.add_option("--recording", flags.recording, "compare with a file that `ws-mock record` wrote")->excludes(against);
  diff.add_option("--token-file", flags.token_file, "file that holds the key (default: WS_TOKEN)");
  diff.add_flag("--read-only", flags.read_only, "send nothing that changes anything (default)");
  diff.add_option("--project", flags.project, "write in this Project, and archive what was made");
  diff.add_flag("--scratch", flags.scratch, "make a Project, write in it, and archive what was made");
  diff.add_flag("--yes", flags.yes, "do not ask about what cannot be undone");
  diff.add_option("--assumptions", flags.assumptions, "write the switches to this file, for --assume-file");
  diff.add_flag("--json", flags.json, "the report as JSON");
  diff.add_option("--junit", flags.junit, "also write a JUnit file");
  diff.footer(
      "Names the value that the service shows for each switch of --assume, and every answer that differs from the "
      "mock's.\nIt sends at most 1500 requests, one at a time, waits as Retry-After says, and takes at most a minute.\n"
      "Exit code: 0 alike, 1 differences, 2 it could not be done.\n\n"
      "  ws-mock diff --against https://workspace.example.com --token-file key\n"
      "  ws-mock diff --against https://workspace.example.com --scratch --assumptions service.yaml\n"
      "  ws-mock diff --recording session.jsonl --json\n"
      "  ws-mock --assume-file service.yaml");
}

void add_record_flags(CLI::App& record, RecordFlags& flags) {
  record.add_option("--to", flags.to, "base URL of the service to forward requests to");
  record.add_option("--out", flags.out, "the recording: a line of JSON for each request and its answer");
  record.add_flag("--shapes-only", flags.shapes_only, "write types and names of members, and no values");
  record.footer(
      "Forwards requests to a service and records them; the first line on standard output is the address to use "
      "instead.\nKeys, codes, lease tokens and upload addresses are written as placeholders. Standard error says "
      "what "
      "breaks the API's description.\nWhere others can call, it needs --control-token T, which clients send as "
      "Proxy-Authorization: Bearer T, or\n--no-control, which lets everybody through.\n\n"
      "  ws-mock record --to https://workspace.example.com --out session.jsonl\n"
      "  ws-mock diff --recording session.jsonl");
}

Result<int> run_record(const RecordFlags& flags, const ServeSettings& settings) {
  if (flags.to.empty() || flags.out.empty()) return fail(Failure::Kind::usage, "record takes --to URL and --out FILE");
  if (settings.trust != TrustFile::none) {
    return fail(Failure::Kind::usage, "record cannot make a certificate: give one with --tls", "use --tls CERT,KEY");
  }
  WS_LET(const std::unique_ptr<compare::RecordingProxy> proxy,
         compare::RecordingProxy::open({.to = flags.to,
                                        .out = flags.out,
                                        .shapes_only = flags.shapes_only,
                                        .names = settings.application.names,
                                        .token = settings.application.control.token,
                                        .on_violation = [](const std::string& line) { tell(line); }}));
  WS_LET(const std::unique_ptr<http::Server> server, http::Server::listen(settings.server, *proxy));
  proxy->set_base_url(server->base_url());
  const StopOnSignal stop(
      server_signals, [&server] { server->stop(); }, server_patience);
  announce(server->base_url());
  server->run();
  proxy->finish();
  return 0;
}

Result<int> run_diff(const DiffFlags& flags, const ApplicationOptions& options) {
  if (flags.against.empty() == flags.recording.empty()) {
    return fail(Failure::Kind::usage, "diff takes either --against URL or --recording FILE");
  }
  std::atomic<bool> stopped = false;
  std::optional<StopOnSignal> stop;
  WS_LET(const DifferenceReport report,
         flags.recording.empty() ? compare_live(flags, options, stopped, stop) : compare_recording(flags, options));
  if (!flags.assumptions.empty()) WS_TRY(write_named_file(flags.assumptions, compare::assumptions_yaml(report)));
  if (!flags.junit.empty()) WS_TRY(write_named_file(flags.junit, compare::render_junit(report)));
  stop.reset();  // while the report is printed a signal ends the program: its reader may be stuck
  if (flags.json) {
    print(TerminalText::json(dump(compare::to_json(report), 2)) + "\n");
  } else {
    print(compare::render_text(report));
  }
  if (!report.stopped.empty() || !report.left.empty()) return not_done_exit;
  return compare::differs(report) ? differs_exit : 0;
}

}  // namespace ws::mock

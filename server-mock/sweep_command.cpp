#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <regex>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/clock.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/suggestion.hpp"
#include "api-client/base/text.hpp"
#include "server-mock/application/stop_on_signal.hpp"
#include "server-mock/commands.hpp"
#include "server-mock/faults/operation_names.hpp"
#include "server-mock/output/print.hpp"
#include "server-mock/sweep/report.hpp"
#include "server-mock/sweep/sweep.hpp"

namespace ws::mock {
namespace {

using sweep::Accepted;
using sweep::LocalServer;
using sweep::Report;
using sweep::ReportView;
using sweep::Sweep;
using sweep::SweepOptions;

constexpr int found_exit = 1;
constexpr int stopped_exit = 3;
// Longer lines of prose are hard to read; a journal line does not fit into shorter ones.
constexpr std::size_t min_columns = 40;
constexpr std::size_t max_columns = 120;
constexpr std::size_t accept_bytes = std::size_t{1} << 20U;
constexpr std::size_t journal_entries = 20'000;
/// Groups of flags: those that narrow the plan or name the report, which a row that is replayed does not need.
constexpr const char* of_report = "Report";
constexpr const char* of_run = "Run";
/// What common languages print on standard error for an unhandled error.
constexpr const char* usual_traces =
    "Traceback \\(most recent call last\\)|Uncaught|Unhandled|unhandledRejection|^panic: |panicked at|Exception in "
    "thread|"
    "\\n    at .*\\.[cm]?js:[0-9]+|Segmentation fault|core dumped|AddressSanitizer";

Result<std::chrono::milliseconds> read_time(const char* flag, const std::string& text) {
  auto time = parse_duration(text);
  if (time && time->count() > 0 && *time <= std::chrono::hours(1)) return time;
  return fail(
      Failure::Kind::usage, fmt::format("{} \"{}\" is not a time up to an hour", flag, text), "use 10s or 500ms");
}

/// Reads known findings, `WORD:ROW DATE REASON` a line; `#` begins a line of comment.
Result<Accepted> read_accepted(const std::string& path) {
  Accepted known;
  if (path.empty()) return known;
  static const std::regex form("(\\S+)\\s+(\\d{4}-\\d\\d-\\d\\d\\s+\\S.*)");
  WS_LET(const std::string text, read_file(path, accept_bytes, Source::connected));
  std::size_t number = 0;
  for (const std::string_view whole : split_lines(text)) {
    const std::string line(trimmed_end(whole));
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    std::smatch parts;
    if (!std::regex_match(line, parts, form)) {
      return fail(Failure::Kind::invalid,
                  fmt::format("{}:{}: a known finding needs a date and a reason", path, number),
                  "doubled:docs.create#1:reset-after 2026-11-20 the importer has no key yet");
    }
    known.emplace(parts[1].str(), parts[2].str());
  }
  return known;
}

/// Refuses a known finding whose word or row there is not. A row of a request that is no longer sent is only stale.
Result<void> check_accepted(const SweepFlags& flags, const Accepted& accepted, const sweep::Plan& plan) {
  for (const auto& [id, reason] : accepted) {
    const std::string word = id.substr(0, id.find(':'));
    const std::string row = id.substr(std::min(id.size(), word.size() + 1));
    std::string hint;
    const auto words = sweep::finding_words();
    if (std::ranges::find(words, word) == words.end()) {
      hint = nearest_names(word, std::vector<std::string>(words.begin(), words.end()));
    } else if (row != "clean" && !sweep::names_row(row) && std::ranges::find(plan.known, row) == plan.known.end()) {
      hint = nearest_names(row, plan.known);
    } else {
      continue;
    }
    return fail(Failure::Kind::usage, fmt::format("{}: \"{}\" names no finding", flags.accept, id), hint);
  }
  return {};
}

std::size_t terminal_width() {
  const char* const columns = std::getenv("COLUMNS");
  const auto given = columns == nullptr ? Result<Json>(Json()) : parse_bounded(columns);
  if (given && given->is_number_unsigned()) return std::clamp(given->get<std::size_t>(), min_columns, max_columns);
  winsize size{};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? std::clamp<std::size_t>(size.ws_col, min_columns, max_columns) : 80;
}

ReportView view_of(Accepted accepted) {
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
  const char* const no_colour = std::getenv("NO_COLOR");
  return {.accepted = std::move(accepted),
          .width = is_terminal ? terminal_width() : 100,
          .colour = is_terminal && (no_colour == nullptr || *no_colour == '\0')};
}

Result<void> check_pattern(std::string_view flag, const std::string& pattern) {
  try {
    const std::regex tried(pattern);
  } catch (const std::regex_error& error) {
    return fail(Failure::Kind::usage, fmt::format("{} is not a regular expression: {}", flag, error.what()));
  }
  return {};
}

Result<SweepOptions> options_of(const SweepFlags& flags, const std::vector<std::string>& command, std::uint64_t seed) {
  SweepOptions options = {.command = command,
                          .flags = flags.replayed,
                          .max_sends = flags.max_sends,
                          .max_requests = flags.max_requests,
                          .says = flags.says,
                          .output = std::filesystem::path(flags.output).lexically_normal().string()};
  while (options.output.ends_with('/')) options.output.pop_back();
  if (options.output == "." || options.output.starts_with('/') || options.output.starts_with("..")) {
    return fail(Failure::Kind::usage,
                fmt::format("--output {} is not a folder below the one that each run gets", flags.output),
                "name it relative to WS_SWEEP_DIR, where the command writes it");
  }
  options.plan = {.only = flags.only,
                  .skip = flags.skip,
                  .operations = flags.operations,
                  .max_rows = flags.max_rows,
                  .sample = flags.sample,
                  .seed = seed};
  WS_LET(options.plan.patience, read_time("--patience", flags.patience));
  WS_LET(options.limit, read_time("--limit", flags.limit));
  options.jobs = flags.jobs == 0 ? std::max(1U, std::thread::hardware_concurrency()) : flags.jobs;
  options.rerun = flags.rerun ? sweep::Rerun::yes : sweep::Rerun::no;
  options.trace_pattern = flags.trace_pattern.empty() ? usual_traces : flags.trace_pattern;
  WS_TRY(check_pattern("--trace-pattern", options.trace_pattern));
  WS_TRY(check_pattern("--says", options.says));
  return options;
}

/// Progress on one line of a terminal's standard error, overwritten each time.
sweep::Progress progress_line() {
  if (::isatty(STDERR_FILENO) == 0) return {};
  const auto begin = std::chrono::steady_clock::now();
  return [begin](std::size_t done, std::size_t all, std::size_t found) {
    const double so_far = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double left = so_far / static_cast<double>(done) * static_cast<double>(all - done);
    const TerminalText anew = TerminalText::control("\r\x1b[K");
    tell_part(anew + fmt::format("{}/{} rows, {} with findings, about {:.0f} s left", done, all, found, left));
    if (done == all) tell_part(anew);
  };
}

/// A sweep of nothing finds nothing: that must not look like success.
Result<void> check_selection(const sweep::Plan& plan, const SweepFlags& flags) {
  if (!plan.unmatched.empty()) {
    const auto& [flag, pattern, known] = plan.unmatched.front();
    const bool is_sent_never = flag == "--operations" && names_operation(pattern);
    std::string hint = is_sent_never ? fmt::format("it sends {}", fmt::join(known, ", "))
                                     : nearest_names(pattern, flag == "--operations" ? operation_names() : known);
    if (hint.empty()) hint = "`ws-mock sweep --plan -- CMD` lists the rows";
    return fail(Failure::Kind::usage, fmt::format("{} \"{}\" names no row of this command", flag, pattern), hint);
  }
  if (!plan.rows.empty()) return {};
  const bool is_narrowed = !flags.only.empty() || !flags.skip.empty() || !flags.operations.empty();
  return fail(Failure::Kind::usage,
              is_narrowed ? "--only, --skip and --operations together leave no row to run"
                          : "no fault can hit a request of this command, so there is no row to run",
              "`ws-mock sweep --plan -- CMD` lists the rows");
}

Result<int> replay(
    LocalServer& host, Sweep& swept, const std::string& row, const ReportView& view, const std::atomic<bool>& stopped) {
  sweep::World world;
  WS_LET(const sweep::RowResult result, swept.replay(row, world));
  print(sweep::render_row(result, view));
  if (::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) {
    print(fmt::format(
        "\nIts world is open: {}/_mock in a browser, key {}\nCtrl-C ends it.\n", world.base_url, world.token));
    std::fflush(stdout);
    while (!stopped) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  host.close(world);
  return result.findings.empty() ? 0 : found_exit;
}

/// Keeps the rows whose requests differ from those of an earlier report. Returns its date.
Result<std::string> narrow_since(const std::string& path, Sweep& swept) {
  WS_LET(const std::string text, read_file(path));
  const auto earlier = parse_bounded(text);
  const auto kept = earlier ? swept.keep_changed(*earlier) : Result<void>(fail(earlier.error()));
  if (!kept) return fail(Failure::Kind::usage, fmt::format("--since {}: {}", path, kept.error().what));
  return find_text(*earlier, "date").value_or("then");
}

Result<void> write_reports(const SweepFlags& flags, const Report& report, const Accepted& accepted) {
  if (!flags.junit.empty()) WS_TRY(write_named_file(flags.junit, sweep::render_junit(report, accepted)));
  if (!flags.html.empty()) WS_TRY(write_named_file(flags.html, sweep::render_html(report, accepted)));
  return {};
}

}  // namespace

void add_sweep_flags(CLI::App& sweep, SweepFlags& flags) {
  const auto list = [&](const char* name, std::vector<std::string>& into, const char* help) {
    sweep.add_option(name, into, help)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->delimiter(',')
        ->allow_extra_args(false);
  };
  const auto are_of = [&sweep](const char* group) { sweep.option_defaults()->group(group); };
  are_of(of_report);
  sweep.add_flag("--plan", flags.plan, "print the rows that would be run, and run only the two clean ones");
  sweep.add_option("--jobs", flags.jobs, "runs side by side (default: as many as processors)")
      ->check(CLI::Range(1, 256));
  are_of(of_run);
  sweep.add_option("--limit", flags.limit, "stop a run after this long plus ten times the clean run")
      ->capture_default_str();
  sweep.add_option("--patience", flags.patience, "how long a call without an answer stays open")->capture_default_str();
  are_of(of_report);
  sweep.add_flag("--json", flags.json, "the report as JSON");
  sweep.add_option("--junit", flags.junit, "also write a JUnit file, a case a row");
  sweep.add_option("--html", flags.html, "also write one HTML page: requests x faults, each with its journal");
  sweep.add_option("--replay", flags.replay, "run this row alone, print all of it, and keep its world for /_mock");
  sweep.add_option("--accept", flags.accept, "file of known findings, one per line: WORD:ROW DATE REASON");
  sweep.add_option("--since", flags.since, "run only rows of requests that this earlier report (--json) does not have");
  list("--only", flags.only, "faults or rows, * as in a glob: reset-*, switch, docs.create#1:*");
  list("--skip", flags.skip, "faults or rows to leave out");
  list("--operations", flags.operations, "only requests of these operations: docs.*");
  const CLI::Range some(std::size_t{1}, std::size_t{1'000'000});
  sweep.add_option("--max-rows", flags.max_rows, "run at most N rows")->check(some);
  sweep.add_option("--sample", flags.sample, "run N rows, chosen by --seed")->check(some);
  are_of(of_run);
  sweep.add_option(
      "--trace-pattern", flags.trace_pattern, "regular expression: what an unhandled error prints on stderr");
  sweep.add_option("--max-sends", flags.max_sends, "how often a failing call may be sent before it counts as a storm")
      ->check(some)
      ->capture_default_str();
  sweep
      .add_option("--max-requests",
                  flags.max_requests,
                  "requests of one run before they count as a storm (default: 5 x the clean run)")
      ->check(some);
  sweep.add_option("--says", flags.says, "regular expression: a line that reports a refusal (or status, code, id)");
  sweep.add_option("--output", flags.output, "folder below WS_SWEEP_DIR that the command writes, to be compared");
  sweep.add_flag("--rerun,!--no-rerun", flags.rerun, "run a failed command again without the fault (default: yes)");
  sweep.footer(
      "CMD runs in this folder, with WS_BASE_URL, WS_TOKEN and WS_SWEEP_ROW set, and HOME and TMPDIR of its own.\n"
      "It runs twice without faults, where it has to end with 0, then once for each fault of each request.\n"
      "Exit code: 0 nothing found, 1 findings, 2 the clean run failed, or wrong usage, 3 stopped before the "
      "end.\n\n"
      "  ws-mock sweep -- ./publish-notes.sh\n"
      "  ws-mock sweep --html sweep.html --junit sweep.xml --accept known-findings -- python3 publish.py\n"
      "  ws-mock sweep --replay 'docs.create#1:reset-after' -- ./publish-notes.sh");
}

std::vector<std::string> replayed_flags(const CLI::App& sweep, const std::vector<std::string>& words) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    const CLI::Option* const flag = name.starts_with("--") ? sweep.get_option_no_throw(name) : nullptr;
    if (flag == nullptr || flag->get_group() != of_report) {
      if (name != sweep.get_name()) kept.push_back(words[i]);
    } else if (flag->get_items_expected_max() > 0 && name == words[i]) {
      ++i;
    }
  }
  return kept;
}

Result<int> run_sweep(const SweepFlags& flags, const std::vector<std::string>& command, ApplicationOptions options) {
  WS_LET(const Accepted accepted, read_accepted(flags.accept));
  WS_LET(SweepOptions wanted, options_of(flags, command, options.sandbox.world.seed));
  const ReportView view = view_of(accepted);
  std::atomic<bool> stopped = false;
  std::optional<StopOnSignal> stop(std::in_place, std::array{SIGHUP, SIGINT, SIGTERM}, [&stopped] { stopped = true; });
  wanted.stop = &stopped;
  options.sandbox.journal.entries = journal_entries;
  WS_LET(const std::unique_ptr<LocalServer> host, LocalServer::start(options));
  Sweep swept(*host, wanted);
  if (const auto prepared = swept.prepare(); !prepared) {
    if (prepared.error().kind == Failure::Kind::cancelled) return stopped_exit;
    return fail(prepared.error());
  }
  if (!swept.clean().sent.empty()) WS_TRY(check_selection(swept.plan(), flags));
  WS_TRY(check_accepted(flags, accepted, swept.plan()));
  if (!flags.since.empty()) {
    WS_LET(const std::string date, narrow_since(flags.since, swept));
    if (swept.plan().rows.empty()) {
      print(fmt::format("nothing changed since {}\n", date));
      return 0;
    }
  }
  if (flags.plan) {
    print(sweep::render_plan(swept.plan()));
    return 0;
  }
  if (!flags.replay.empty()) return replay(*host, swept, flags.replay, view, stopped);
  if (swept.clean().sent.empty()) {
    return fail(Failure::Kind::invalid,
                "the command sent no request to WS_BASE_URL, so there is nothing to sweep",
                "does it read WS_BASE_URL and WS_TOKEN?");
  }
  WS_LET(const Report report, swept.run(progress_line()));
  WS_TRY(write_reports(flags, report, accepted));
  stop.reset();  // while the report is printed a signal ends the program: its reader may be stuck
  if (flags.json) {
    print(TerminalText::json(dump(sweep::to_json(report, accepted), 2)) + "\n");
  } else {
    print(sweep::render_text(report, view));
  }
  if (report.was_stopped) return stopped_exit;
  return sweep::new_findings(report, accepted) == 0 ? 0 : found_exit;
}

}  // namespace ws::mock

#include "server-mock/sweep/sweep.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clock.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/suggestion.hpp"
#include "api-client/base/text.hpp"
#include "api-client/base/user_environment.hpp"
#include "server-mock/store/assumptions.hpp"

namespace ws::mock::sweep {
namespace {

constexpr int longer_than_clean = 10;
constexpr std::size_t shown_output_bytes = 2000;
constexpr std::size_t most_file_bytes = std::size_t{4} << 20U;
constexpr std::size_t most_read_bytes = std::size_t{32} << 20U;

bool is_stopped(const SweepOptions& options) { return options.stop != nullptr && *options.stop; }

std::string last_bytes(const std::string& text) {
  return text.size() <= shown_output_bytes ? text : text.substr(text.size() - shown_output_bytes);
}

/// Reads what the command left in its folder: the files below `output`, and the names of those that show the key.
Result<void> read_files(const std::filesystem::path& folder, const std::string& output, Run& run) {
  std::error_code error;
  std::size_t read_bytes = 0;
  for (std::filesystem::recursive_directory_iterator one(folder, error), end; !error && one != end;
       one.increment(error)) {
    if (!one->is_regular_file(error) || one->is_symlink(error)) continue;
    const std::string name = one->path().lexically_relative(folder).string();
    const bool is_output = !output.empty() && name.starts_with(output + "/");
    const auto text = read_file(one->path(), most_file_bytes);
    if (!text) continue;
    read_bytes += text->size();
    if (read_bytes > most_read_bytes) break;
    if (shows_key(*text, run.token)) run.leaked_in.push_back(name);
    if (is_output) run.files.emplace(name, *text);
  }
  return {};
}

}  // namespace

/// The temporary folder of one row, removed with the object.
struct Sweep::Scratch {
  std::filesystem::path path = {};

  static Result<Scratch> make() {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / "ws-sweep-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr) {
      return fail(Failure::Kind::disk, "no folder for temporary files can be made");
    }
    Scratch scratch;
    scratch.path = name;
    WS_TRY(make_folders(scratch.path / "home", 0700));
    WS_TRY(make_folders(scratch.path / "tmp", 0700));
    return scratch;
  }
  Scratch() = default;
  Scratch(Scratch&& other) noexcept : path(std::exchange(other.path, {})) {}
  Scratch& operator=(Scratch&& other) noexcept {
    std::swap(path, other.path);
    return *this;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!path.empty()) std::filesystem::remove_all(path, ignored);
  }
};

std::chrono::milliseconds Sweep::limit_of(const Row& row) const {
  return std::max(options_.limit, reference_.clean.end.took * longer_than_clean) + row.extra;
}

std::chrono::milliseconds Sweep::first_limit() const { return options_.limit * longer_than_clean; }

Result<Run> Sweep::run_command(const World& world,
                               const std::string& token,
                               const Scratch& scratch,
                               const Row& row,
                               std::uint64_t since,
                               std::chrono::milliseconds limit) {
  const std::string home = scratch.path / "home";
  ProcessOptions process = {.without = user_environment};
  process.environment = {{"WS_BASE_URL", world.base_url},
                         {"WS_TOKEN", token},
                         {"WS_SWEEP_ROW", row.id.empty() ? "clean" : row.id},
                         {"WS_SWEEP_DIR", scratch.path.string()},
                         {"TMPDIR", scratch.path / "tmp"},
                         {"HOME", home},
                         {"XDG_CONFIG_HOME", home + "/.config"},
                         {"XDG_STATE_HOME", home + "/.local/state"},
                         {"XDG_DATA_HOME", home + "/.local/share"},
                         {"XDG_CACHE_HOME", home + "/.cache"}};
  Run run = {.token = token};
  WS_LET(run.end, run_process(options_.command, process, {.time = limit, .stop = options_.stop}));
  WS_LET(const Json journal, host_.control(world, "GET", fmt::format("/requests?since={}", since), nullptr));
  run.sent = read_journal(journal);
  WS_LET(run.state, host_.control(world, "GET", "/state", nullptr));
  run.own = {{token, "<key>"},
             {scratch.path.string(), "<folder>"},
             {world.base_url, "<base url>"},
             {"/_s/" + world.id, "<sandbox>"}};
  WS_TRY(read_files(scratch.path, options_.output, run));
  return run;
}

Result<void> Sweep::prepare() {
  report_.command = options_.command;
  report_.flags = options_.flags;
  report_.date = to_rfc3339(std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now()));
  std::array<Run, 2> runs;
  for (Run& run : runs) {
    WS_LET(const World world, host_.open());
    WS_LET(const Scratch scratch, Scratch::make());
    if (reference_.first_state.is_null()) {
      WS_LET(const Json clock, host_.control(world, "GET", "/clock", nullptr));
      reference_.has_real_clock = !find_text(clock, "clock").value_or("").starts_with("frozen");
      WS_LET(reference_.first_state, host_.control(world, "GET", "/state", nullptr));
    }
    WS_LET(run, run_command(world, world.token, scratch, {}, 0, first_limit()));
    host_.close(world);
    if (is_stopped(options_)) return fail(Failure::Kind::cancelled, "stopped");
    if (run.end.by != RunEnd::By::itself || run.end.exit != 0) {
      const std::string why = run.end.by == RunEnd::By::limit
                                  ? fmt::format("did not end within {} s", run.end.took.count() / 1000)
                                  : fmt::format("ended with {}", run.end.exit);
      const std::string printed = last_bytes(run.end.out) + last_bytes(run.end.err);
      return fail(Failure::Kind::invalid,
                  fmt::format("without faults the command {}, so there is nothing to compare with{}{}",
                              why,
                              printed.empty() ? "; it printed nothing" : ":\n",
                              printed),
                  "it has to end with 0 by itself; it finds WS_BASE_URL and WS_TOKEN set, and HOME empty");
    }
    std::error_code error;
    if (!options_.output.empty() && !std::filesystem::is_directory(scratch.path / options_.output, error)) {
      return fail(Failure::Kind::usage,
                  fmt::format("--output {} names no folder that the command makes", options_.output),
                  "name it relative to WS_SWEEP_DIR, where the command writes it");
    }
  }
  reference_.clean = runs[0];
  reference_.ids = ids_in(*reference_.first_state);
  reference_.says = options_.says;
  reference_.max_requests = options_.max_requests;
  reference_.is_text_stable = is_same_text(reference_, runs[0], runs[1]);
  reference_.trace_pattern = options_.trace_pattern;
  reference_.max_sends = options_.max_sends;
  report_.clean = runs[0];
  report_.plan = make_plan(runs[0].sent, runs[1].sent, host_.other_origin(), options_.plan);
  if (!compare_states(*reference_.first_state, *runs[0].state, *runs[1].state).empty()) {
    report_.plan.notes.emplace_back(
        "the two clean runs left different data: what `doubled`, `lost` and `wrong` report may be random behaviour of "
        "the command");
  }
  if (!reference_.is_text_stable) {
    report_.plan.notes.emplace_back(
        "the two clean runs printed or wrote different texts: `hidden` and `output` cannot be checked");
  }
  return {};
}

Result<void> Sweep::keep_changed(const Json& earlier) {
  const Json* const clean = find(earlier, "clean");
  const Json* const requests = clean == nullptr ? nullptr : find(*clean, "requests");
  if (requests == nullptr || !requests->is_array()) {
    return fail(Failure::Kind::invalid, "it is not a report of `ws-mock sweep --json`");
  }
  std::set<std::pair<std::string, std::string>> known;
  for (const Json& one : *requests) {
    known.emplace(find_text(one, "request").value_or(""), find_text(one, "sha256").value_or(""));
  }
  std::set<std::string> changed;
  for (const auto& [name, digest] : request_digests(reference_.clean.sent)) {
    if (!known.contains({name, digest})) changed.insert(name);
  }
  const bool is_same = changed.empty() && known.size() == reference_.clean.sent.size();
  std::erase_if(report_.plan.rows, [&](const Row& row) {
    if (row.operation.empty()) return is_same;
    return !changed.contains(fmt::format("{}#{}", row.operation, row.ordinal));
  });
  return {};
}

Result<void> Sweep::prepare_fault(const Row& row, const World& world) {
  if (!row.rule.empty()) {
    WS_LET(const Json rule, parse_bounded(replace_all(row.rule, "SANDBOX", "/_s/" + world.id)));
    WS_LET(const Json added, host_.control(world, "POST", "/faults", rule));
  }
  if (!row.assumption.empty()) {
    const std::size_t equals = row.assumption.find('=');
    const Json change = {{row.assumption.substr(0, equals), row.assumption.substr(equals + 1)}};
    WS_LET(const Json changed, host_.control(world, "PATCH", "/assumptions", change));
  }
  return {};
}

/// Removes the fault. Returns the key for a rerun: another one if the fault was about the key.
Result<std::string> Sweep::remove_fault(const Row& row, const World& world) {
  WS_LET(const Json gone, host_.control(world, "DELETE", "/faults", nullptr));
  if (!row.assumption.empty()) {
    const std::string key = row.assumption.substr(0, row.assumption.find('='));
    for (const AssumptionSwitch& one : assumption_switches()) {
      if (one.key != key) continue;
      WS_LET(const Json changed, host_.control(world, "PATCH", "/assumptions", {{key, one.values.front()}}));
    }
  }
  // A lease held by the failed run has to expire first, after at most 900 s (API document, "Limits").
  const bool has_leases =
      std::ranges::any_of(clean().sent, [](const SentRequest& sent) { return sent.operation == "events.claim"; });
  if (has_leases && reference_.has_real_clock) {
    WS_LET(const Json clock, host_.control(world, "PUT", "/clock", {{"clock", "offset:+901s"}}));
  }
  if (row.fault == "member-removed") {
    WS_LET(Json state, host_.control(world, "GET", "/state", nullptr));
    state["tables"]["members"] = reference_.first_state->at("tables").at("members");
    WS_LET(const Json restored, host_.control(world, "PUT", "/state", state));
  }
  if (!row.fault.starts_with("key-")) return world.token;
  WS_LET(const Json key, host_.control(world, "POST", "/keys", Json::object()));
  return find_text(key, "secret").value_or(world.token);
}

Result<RowResult> Sweep::run_row(const Row& row, const World& world, double slower) {
  RowResult result = {.row = row};
  const std::chrono::milliseconds limit(
      static_cast<std::chrono::milliseconds::rep>(slower * static_cast<double>(limit_of(row).count())));
  WS_LET(const Scratch scratch, Scratch::make());
  WS_TRY(prepare_fault(row, world));
  WS_LET(Run run, run_command(world, world.token, scratch, row, 0, limit));
  std::optional<Run> rerun;
  const bool failed = run.end.by == RunEnd::By::itself && run.end.exit != 0;
  for (const SentRequest& sent : run.sent) result.journal.push_back(line_of(sent));
  const bool leaves_lease = leaves_leases(reference_, run);
  if ((failed || leaves_lease) && options_.rerun == Rerun::yes && !is_stopped(options_)) {
    WS_LET(const std::string token, remove_fault(row, world));
    WS_LET(rerun, run_command(world, token, scratch, row, run.sent.empty() ? 0 : run.sent.back().seq, limit));
    if (failed) result.rerun_exit = rerun->end.exit;
    result.journal.emplace_back(failed ? "-- run again without the fault --" : "-- run again after the lease --");
    for (const SentRequest& sent : rerun->sent) result.journal.push_back(line_of(sent));
  }
  result.met_limit = run.end.by == RunEnd::By::limit || (rerun.has_value() && rerun->end.by == RunEnd::By::limit);
  result.findings = judge(reference_, row, run, rerun);
  result.verdict = !result.findings.empty() ? RowResult::Verdict::found
                   : failed                 ? RowResult::Verdict::recovered
                                            : RowResult::Verdict::passed;
  result.end = std::move(run.end);
  result.sent = std::move(run.sent);
  return result;
}

Result<double> Sweep::slowdown() {
  WS_LET(const World world, host_.open());
  WS_LET(const Scratch scratch, Scratch::make());
  WS_LET(const Run now, run_command(world, world.token, scratch, {}, 0, first_limit()));
  host_.close(world);
  const double before = static_cast<double>(std::max<std::int64_t>(1, clean().end.took.count()));
  return std::max(1.0, static_cast<double>(now.end.took.count()) / before);
}

Result<RowResult> Sweep::run_confirmed(const Row& row, World& world) {
  WS_LET(world, host_.open());
  auto first = run_row(row, world, 1);
  if (!first || !first->met_limit || is_stopped(options_)) return first;
  host_.close(world);
  WS_LET(const double slower, slowdown());
  WS_LET(world, host_.open());
  return run_row(row, world, slower);
}

Result<RowResult> Sweep::run_alone(const Row& row) {
  World world;
  auto result = run_confirmed(row, world);
  if (!world.id.empty()) host_.close(world);
  return result;
}

Result<std::vector<std::optional<RowResult>>> Sweep::run_rows(const Progress& progress) {
  const std::vector<Row>& rows = report_.plan.rows;
  std::vector<std::optional<RowResult>> done(rows.size());
  std::optional<Failure> failure;
  std::mutex mutex;
  std::size_t next = 0;
  std::size_t finished = 0;
  std::size_t found = 0;
  const auto work = [&] {
    while (true) {
      std::size_t mine = 0;
      {
        const std::lock_guard lock(mutex);
        if (next == rows.size() || failure || is_stopped(options_)) return;
        mine = next++;
      }
      auto result = run_alone(rows[mine]);
      const std::lock_guard lock(mutex);
      if (!result) {
        failure = result.error();
        return;
      }
      if (is_stopped(options_)) return;
      if (!result->findings.empty()) ++found;
      done[mine] = std::move(*result);
      if (progress) progress(++finished, rows.size(), found);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, options_.jobs); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  if (failure) return fail(std::move(*failure));
  return done;
}

Result<Report> Sweep::run(const Progress& progress) {
  const auto begin = std::chrono::steady_clock::now();
  WS_LET(auto done, run_rows(progress));
  report_.clean_findings = judge_clean(reference_);
  for (auto& result : done) {
    if (!result) continue;
    report_.command_time += result->end.took;
    report_.rows.push_back(std::move(*result));
  }
  report_.was_stopped = is_stopped(options_);
  report_.took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  return std::move(report_);
}

Result<RowResult> Sweep::replay(const std::string& id, World& world) {
  const auto row = std::ranges::find(report_.plan.rows, id, &Row::id);
  if (row == report_.plan.rows.end()) {
    std::vector<std::string> ids;
    for (const Row& one : report_.plan.rows) ids.push_back(one.id);
    const std::string near = nearest_names(id, ids);
    return fail(Failure::Kind::usage,
                fmt::format("there is no row \"{}\"", id),
                near.empty() ? "`ws-mock sweep --plan -- CMD` lists them" : near);
  }
  return run_confirmed(*row, world);
}

}  // namespace ws::mock::sweep

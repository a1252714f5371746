#include "sync-engine/watch/watch.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace ws::sync {
namespace {

using std::chrono::milliseconds;

/// A tree of 100,000 files is not walked the whole time: a look at the service takes a tenth of the time at most.
constexpr int pause_after_runs = 10;
/// A run begins anew so often where files are removed while it looks at them; then it takes the tree as it is.
constexpr int attempts_at_rest = 20;
/// Another `ws` is mostly through within so many attempts: until then there is nothing to tell.
constexpr int silent_attempts_at_lock = 4;

bool did_something(const Report& report) {
  return std::any_of(report.rows.begin(), report.rows.end(), [](const Row& row) {
    const ActionKind kind = row.action.kind;
    return row.state == Row::State::done && kind != ActionKind::conflict && kind != ActionKind::unchanged;
  });
}

class Watcher {
 public:
  Watcher(FolderEvents& events, const WatchOptions& options, const WatchCallbacks& callbacks)
      : events_(events),
        options_(options),
        callbacks_(callbacks),
        changes_(options.debounce),
        others_(options.debounce),
        next_run_(events.now()) {}

  Result<void> watch() {
    while (!callbacks_.must_stop()) {
      const milliseconds ahead = std::max(milliseconds(0), wake_at() - events_.now());
      WS_LET(const EventBatch batch, events_.wait(ahead));
      take(batch);
      WS_TRY(answer_status_requests());
      // Events that came while it waited may have put the time off.
      if (wake_at() <= events_.now() && !callbacks_.must_stop()) WS_TRY(run());
      if (wants_status_) WS_TRY(make_status());
    }
    return fail(Failure::Kind::cancelled, "stopped");
  }

 private:
  /// While there is trouble the pause alone counts: an edit does not make the network come back.
  Instant wake_at() const {
    const auto due = changes_.due();
    return due && failures_ == 0 ? std::min(*due, next_run_) : next_run_;
  }

  void take(const EventBatch& batch) {
    for (const FileEvent& each : batch.changed) {
      (each.is_other ? others_ : changes_).note(each.path, events_.now(), each.kind);
    }
    if (batch.overflowed) changes_.note("", events_.now());
    if (batch.any || batch.overflowed || !batch.changed.empty()) status_.reset();
    if (batch.incomplete && callbacks_.on_partial_watch) callbacks_.on_partial_watch();
  }

  /// Sends the kept status. If there is none, the other program scans the tree itself, and a status is made for the
  /// next request.
  Result<void> answer_status_requests() {
    if (callbacks_.status_requests == nullptr || !callbacks_.status_requests->is_asked()) return {};
    // What happened before they asked counts.
    WS_LET(const EventBatch batch, events_.wait(milliseconds(0)));
    take(batch);
    if (status_ && callbacks_.status_requests->state_stamp() != status_->state) status_.reset();
    callbacks_.status_requests->answer(status_ ? status_->text : std::string());
    wants_status_ = !status_ && events_.sees_all();
    return {};
  }

  /// Not while a file waits to be synced: then there is something to do.
  Result<void> make_status() {
    WS_LET(const EventBatch batch, events_.wait(milliseconds(0)));
    take(batch);
    if (changes_.due() || failures_ > 0) return {};
    wants_status_ = false;
    status_ = callbacks_.status_requests->make_status();
    return {};
  }

  Result<void> run() {
    std::set<std::string> changing = changes_.take(events_.now());
    changing.merge(others_.take(events_.now()));
    RunOptions options = options_.run;
    if (!changing.empty()) {
      options.busy = [changing = std::move(changing)](const RelativePath& path) {
        return is_changing(changing, path.string());
      };
      options.only = [busy = options.busy](const RelativePath& path) { return !busy(path); };
    }
    // The first walk alone: later ones meet what the run itself removed.
    bool has_walked = attempts_ >= attempts_at_rest;
    options.was_any_removed = [&] { return !std::exchange(has_walked, true) && was_removed_since(); };
    const Instant begun = events_.now();
    const Result<Report> report = callbacks_.run(options);
    took_ = events_.now() - begun;
    if (report) tell(*report);
    if (!report && report.error().code == "removed_meanwhile") {
      ++attempts_;
      next_run_ = events_.now() + options_.debounce.least;
      return {};
    }
    attempts_ = 0;
    std::optional<Failure> failure;
    if (!report) failure = report.error();
    if (report && report->ended_by) failure = report->ended_by;
    if (failure) return after_failure(*failure);
    after_success();
    return {};
  }

  /// Of a file that was removed after the last events were read nothing is known but that it is missing, and its delete
  /// has waited for nobody.
  bool was_removed_since() {
    const Result<EventBatch> batch = events_.wait(milliseconds(0));
    if (!batch) return false;  // the next wait meets it again, and ends the watch
    take(*batch);
    return std::ranges::any_of(batch->changed,
                               [](const FileEvent& each) { return each.kind == FileEventKind::removed; });
  }

  void tell(const Report& report) {
    std::vector<std::string> now = unresolved_lines(report);
    const bool has_changed = did_something(report);
    if (has_changed) active_at_ = events_.now();
    if (has_changed || now != unresolved_) callbacks_.on_report(report);
    unresolved_ = std::move(now);
  }

  void after_success() {
    failures_ = 0;
    next_run_ = events_.now() + interval();
    if (std::exchange(is_told_, false)) callbacks_.on_recovery();
    if (!std::exchange(had_first_sync_, true) && callbacks_.on_first_sync) callbacks_.on_first_sync();
  }

  /// Until the next look at the service. A run that takes long is no reason to do nothing else.
  milliseconds interval() const {
    if (!active_at_) return options_.interval;
    const milliseconds age = events_.now() - *active_at_;
    milliseconds wanted = age < options_.busy_for ? options_.busy_interval : options_.active_interval;
    if (age >= options_.active_for) wanted += (age - options_.active_for) / 2;
    return std::min(std::max(wanted, pause_after_runs * took_), options_.interval);
  }

  Result<void> after_failure(const Failure& failure) {
    if (callbacks_.must_stop()) return {};
    if (!is_transient(failure)) return fail(failure);
    ++failures_;
    const bool is_worth_telling = failure.code != "tree_locked" || failures_ > silent_attempts_at_lock;
    if (!is_told_ && is_worth_telling) {
      is_told_ = true;
      callbacks_.on_error(failure);
    }
    milliseconds pause = options_.first_pause;
    for (int i = 1; i < failures_ && pause < options_.longest_pause; ++i) pause *= 2;
    pause = std::min(pause, options_.longest_pause);
    next_run_ = events_.now() + std::max(pause, failure.call.retry_after.value_or(milliseconds(0)));
    return {};
  }

  FolderEvents& events_;
  const WatchOptions& options_;
  const WatchCallbacks& callbacks_;
  ChangeDebouncer changes_;
  /// Of files that notes may show. They begin no run: most of them are none of the synced ones.
  ChangeDebouncer others_;
  Instant next_run_;
  std::optional<Instant> active_at_;  // when something was last done, here or there
  milliseconds took_{0};              // the last run
  int failures_ = 0;                  // in a row
  int attempts_ = 0;                  // at a run that found the tree at rest
  bool is_told_ = false;              // the trouble under way
  bool had_first_sync_ = false;       // at least one run worked
  std::vector<std::string> unresolved_;
  std::optional<CleanStatus> status_;  // nothing happened in the tree since it was made
  bool wants_status_ = false;          // somebody asked, and it was not known
};

}  // namespace

bool is_transient(const Failure& failure) {
  switch (failure.kind) {
    case Failure::Kind::disk: return failure.code != "marker_missing" && failure.code != "newer_format";
    case Failure::Kind::integrity: return failure.code != "foreign_source";
    case Failure::Kind::invalid:
    case Failure::Kind::conflict:
    case Failure::Kind::pending:
    case Failure::Kind::rate_limited:
    case Failure::Kind::service:
    case Failure::Kind::unreachable:
    case Failure::Kind::unknown_outcome:
    case Failure::Kind::partial: return true;
    case Failure::Kind::internal: return failure.code == "unusable_answer";  // a proxy's page, say
    case Failure::Kind::usage:
    case Failure::Kind::auth:
    case Failure::Kind::forbidden:
    case Failure::Kind::not_found:
    case Failure::Kind::cancelled: return false;
  }
  return false;
}

std::vector<std::string> unresolved_lines(const Report& report) {
  std::vector<std::string> lines;
  for (const Row& row : report.rows) {
    if (row.state != Row::State::failed) continue;
    lines.push_back(fmt::format("failed {} {}", row.action.path.text(), row.error ? row.error->what : ""));
  }
  for (const Conflict& conflict : report.conflicts) {
    lines.push_back(fmt::format("open {} {}", conflict.path.text(), conflict.id));
  }
  for (const Skipped& one : report.skipped) {
    if (one.reason == SkipReason::busy) continue;  // it passes by itself
    lines.push_back(fmt::format("skipped {} {}", one.path, name(one.reason)));
  }
  for (const Detached& one : report.detached) {
    if (one.reason == name(SkipReason::busy)) continue;
    lines.push_back(fmt::format("aside {} {}", one.path.text(), one.reason));
  }
  if (report.guard) lines.emplace_back("guard");
  if (report.held_back) lines.emplace_back("held back");
  if (report.growth) lines.emplace_back("growth");
  std::sort(lines.begin(), lines.end());
  return lines;
}

Result<void> watch(FolderEvents& events, const WatchOptions& options, const WatchCallbacks& callbacks) {
  return Watcher(events, options, callbacks).watch();
}

}  // namespace ws::sync

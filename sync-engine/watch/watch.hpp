/// Keeps in step until it is told to stop: a run when files here have come to rest, and one every interval for what
/// changed on the service. The interval is short while somebody edits, here or there, and grows afterwards.
///
/// One run at a time, each a whole `run` of the engine, so a lost event costs time and nothing else. What a repeat may
/// mend (no network, a busy service, a full disk, another `ws` at work) is told once and tried again, ever more
/// seldom; what it cannot mend (no key, no permission, no tree) ends the watch.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/engine.hpp"
#include "sync-engine/model/report.hpp"
#include "sync-engine/watch/debounce.hpp"

namespace ws::sync {

struct WatchOptions {
  std::chrono::milliseconds interval{30'000};    ///< between two looks at the service while nothing changes
  std::chrono::milliseconds busy_interval{500};  ///< in the first seconds after a change, here or there
  std::chrono::seconds busy_for{10};
  std::chrono::milliseconds active_interval{1'000};  ///< in the first minute after it; from then on it grows
  std::chrono::seconds active_for{60};
  DebounceTimes debounce = {};
  std::chrono::milliseconds first_pause{1'000};  ///< after a failure; doubled with each that follows
  std::chrono::milliseconds longest_pause{60'000};
  RunOptions run = {};
};

/// Other programs that ask for the status. None is answered while a run is under way.
class StatusRequests {
 public:
  StatusRequests() = default;
  StatusRequests(const StatusRequests&) = delete;
  StatusRequests& operator=(const StatusRequests&) = delete;
  virtual ~StatusRequests() = default;

  virtual bool is_asked() = 0;
  /// Empty: it is not known, and they have to look for themselves.
  virtual void answer(std::string_view text) = 0;
  /// What there is to tell; empty: there is something to do.
  virtual std::optional<CleanStatus> make_status() = 0;
  virtual std::string state_stamp() = 0;
};

struct WatchCallbacks {
  /// One run, with a fresh budget of retries.
  std::function<Result<Report>(const RunOptions& options)> run = {};
  std::function<void(const Report& report)> on_report = {};   ///< something was done, or what is open changed
  std::function<void(const Failure& failure)> on_error = {};  ///< once, when it begins
  std::function<void()> on_recovery = {};                     ///< after an error that was reported
  std::function<void()> on_first_sync = {};                   ///< once, after the first run that worked
  std::function<void()> on_partial_watch = {};                ///< once: some folders are looked at every interval only
  std::function<bool()> must_stop = {};
  StatusRequests* status_requests = nullptr;  ///< null: nobody can ask
};

/// Fails always: with `cancelled` once it must stop, or as the run did that no repeat can mend.
Result<void> watch(FolderEvents& events, const WatchOptions& options, const WatchCallbacks& callbacks);

/// Whether running again, later, may do better.
bool is_transient(const Failure& failure);

/// What a report shows of a state that lasts: what failed, is open, skipped, kept aside, or stopped or held back by the
/// guard. Two reports of one state say the same.
std::vector<std::string> unresolved_lines(const Report& report);

}  // namespace ws::sync

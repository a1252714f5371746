/// The loop of `ws events work`: claims events, runs the command, renews the leases, completes or fails the events, and
/// hands back unfinished ones when it is stopped.
///
/// Never more is claimed than there is room for: an event that was claimed ages. One claim waits at a time; while
/// events come, others that do not wait run beside it, twice as many after each round, until one of them comes back
/// empty. A claim without an answer backs off; its lease, if there is one, lapses by itself; so does that of an event
/// which came without id or token. An event whose lease is lost belongs to somebody else: its command is ended and
/// nothing is said about it.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/process.hpp"
#include "api-client/client/client.hpp"
#include "cli/commands/events/lease.hpp"

namespace ws::cli {

/// How a command ended: its exit code, 128 + N where signal N ended it.
struct ChildEnd {
  int exit = 0;
  std::string out = {};  ///< all of it, up to the bound
  std::string err = {};  ///< the end of it
};

/// Runs the user's command with the event on its stdin and captures its output.
///
/// It has a process group of its own, so that Ctrl-C reaches it only through `ask_to_end`. Its streams are unlinked
/// temporary files, so it never blocks on a full pipe; it inherits no other file.
class ChildProcess {
 public:
  /// `environment`: variables beside those of this process. Fails with `usage` where there is no such program, with
  /// `disk`.
  static Result<ChildProcess> start(const std::vector<std::string>& command,
                                    const std::string& input,
                                    const std::vector<std::pair<std::string, std::string>>& environment);
  ChildProcess(ChildProcess&&) = default;
  ChildProcess& operator=(ChildProcess&&) = delete;
  /// Kills what still runs.
  ~ChildProcess();

  /// Empty while it runs; never waits. After an end: that end.
  std::optional<ChildEnd> poll();
  /// SIGTERM to it and its children; `kill` is SIGKILL.
  void ask_to_end() const;
  void kill() const;

 private:
  ChildProcess(const Process& process, Descriptor out, Descriptor err)
      : process_(process), out_(std::move(out)), err_(std::move(err)) {}

  Process process_;
  bool has_ended_ = false;
  Descriptor out_;
  Descriptor err_;
};

struct WorkerOptions {
  std::string worker_id = {};
  std::vector<std::string> command = {};
  std::size_t jobs = 1;
  std::chrono::seconds lease{60};
  std::chrono::seconds wait{20};      ///< of one claim
  int max_attempts = 5;               ///< an event whose command failed so often is failed for good
  std::set<int> no_retry_exits = {};  ///< exits of the command that fail an event at once
  bool once = false;                  ///< end after one event, or after an empty claim
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< for the command
};

/// What became of one event.
struct WorkDone {
  enum class Outcome { completed, failed, handed_back, lost };
  std::string event_id = {};
  std::string kind = {};
  Outcome outcome = Outcome::completed;
  int exit = 0;
  std::string error = {};  ///< the text sent with `events.fail`, or why there is no result
};
std::string_view name(WorkDone::Outcome outcome);

class EventWorker {
 public:
  using Steady = std::chrono::steady_clock;

  struct Callbacks {
    std::function<void(const WorkDone& done)> done = {};
    std::function<void(const std::string& text)> note = {};
    std::function<bool()> must_stop = {};                     ///< a signal was caught
    std::function<bool()> must_hurry = [] { return false; };  ///< a second signal: CMD gets SIGTERM now
  };

  /// The client must not be one that a signal cancels: what ends within its time is still to be completed.
  EventWorker(Client& client, WorkerOptions options, Callbacks callbacks);

  /// Until it must stop, or nothing can be claimed any more (no key, no permission): fails as that claim did.
  Result<void> run();
  /// Of the events so far, whether the command of one failed.
  bool has_failed() const { return has_failed_; }

 private:
  /// A claimed event whose command runs.
  struct Job {
    Claim claim = {};
    std::optional<ChildProcess> child = {};
    Steady::time_point lease_ends = {};
    Steady::time_point renew_at = {};
    bool is_renewing = false;
    bool is_closing = false;
    bool is_lost = false;
    std::optional<Steady::time_point> asked_to_end_at = {};  ///< its command
    bool is_over = false;
  };

  /// Whether a claim waits for an event, or only takes what is there.
  enum class Claiming { waits, takes };
  bool is_claiming() const { return waits_ || takes_ > 0; }
  std::optional<Claiming> next_claim(Steady::time_point now) const;
  void claim(Claiming how, Steady::time_point now);
  void on_claim(Claiming how, Steady::time_point sent_at, Result<Reply> reply);
  void found_none(Claiming how, const Reply& reply);
  /// Claims that were sent before are not told again: they failed of the same.
  void back_off(const Failure& failure, Steady::time_point sent_at);
  void begin(Claim claim, std::chrono::milliseconds lease);
  void set_lease(Job& job, std::chrono::milliseconds length);
  void look_after(Job& job, Steady::time_point now);
  void renew(Job& job);
  void on_renewed(Job& job, Result<Reply> reply);
  void finish(Job& job, ChildEnd end);
  void complete(Job& job, const ChildEnd& end);
  void give_up(Job& job, WorkDone done, bool retryable);
  /// Leaves the event to its lease: a lease that lapses is no attempt, and a failure would be one.
  void leave(Job& job, WorkDone done);
  void close(Job& job, std::string_view operation, Json body, WorkDone done);
  void stop(Steady::time_point now);
  void lose(Job& job, Failure why);
  Call lease_call(const Job& job, std::string_view operation, Json body) const;

  Client& client_;
  WorkerOptions options_;
  Callbacks callbacks_;
  std::list<std::unique_ptr<Job>> jobs_;
  bool waits_ = false;              ///< a claim that waits is under way
  std::size_t takes_ = 0;           ///< so many that do not wait
  std::size_t claims_at_once_ = 1;  ///< grows while events come
  bool has_claimed_ = false;
  bool has_failed_ = false;
  std::map<std::string, int> attempts_ = {};  ///< of events whose service does not count them
  std::map<std::string, int> lapsed_ = {};    ///< the attempts of events whose lease was lost
  Steady::time_point claim_at_ = {};
  Steady::time_point take_at_ = {};  ///< of those beside the one that waits
  Steady::time_point backed_off_at_ = {};
  std::chrono::milliseconds backoff_{0};
  std::optional<Steady::time_point> stopping_since_ = {};
  std::optional<Failure> ended_by_ = {};
  std::optional<Steady::time_point> ending_since_ = {};
};

}  // namespace ws::cli

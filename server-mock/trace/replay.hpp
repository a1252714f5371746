/// Replays a trace to any of its moments, forward and backward.
///
/// Moment N is after request N and everything that followed before the next request; moment 0 is the start. A jump
/// continues from the nearest earlier checkpoint: a snapshot in the trace, or a copy that an earlier replay kept.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/application/application.hpp"
#include "server-mock/trace/changes.hpp"
#include "server-mock/trace/secrets.hpp"
#include "server-mock/trace/trace_file.hpp"

namespace ws::mock::trace {

/// The state of the world at one moment.
struct Checkpoint {
  sqlite::Database rows;
  std::size_t bytes = 0;  ///< of the rows
  MockClock clock = {};
  Assumptions assumptions = {};
  BuiltIn built_in = {};
  std::uint64_t requests = 0;
  std::string state = {};
};

/// Copies of the world in memory, so that a jump has little to replay. If they take too much memory, every second one
/// is dropped, and a jump may take twice as long from then on.
class Checkpoints {
 public:
  static constexpr std::size_t max_bytes = std::size_t{256} << 20U;

  /// The last checkpoint before `moment`; null if there is none.
  const std::pair<const std::size_t, Checkpoint>* before(std::size_t moment) const;
  bool contains(std::size_t moment) const { return kept_.contains(moment); }
  /// The maximum replay time between two checkpoints.
  std::chrono::nanoseconds max_gap() const { return max_gap_; }
  void keep(std::size_t moment, Checkpoint checkpoint);
  /// Up to this moment no gap exceeds that time.
  std::size_t complete_until() const { return complete_until_; }
  /// Records that request `moment` was replayed from the moment before it.
  void passed(std::size_t moment);

 private:
  std::map<std::size_t, Checkpoint> kept_ = {};
  std::size_t bytes_ = 0;
  std::size_t complete_until_ = 0;
  std::chrono::nanoseconds max_gap_ = std::chrono::milliseconds(25);
};

class Replay {
 public:
  /// Opens a replay at moment 0. `trace` and `checkpoints` must outlive it; replays of one trace may share checkpoints.
  /// Fails as `Application::open`.
  static Result<std::unique_ptr<Replay>> open(const Trace& trace,
                                              const ApplicationOptions& options,
                                              Checkpoints& checkpoints);
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  ~Replay();

  /// Goes to a moment by replaying at least request N itself. Fails with `invalid` if the trace does not fit this
  /// program.
  Result<void> go_to(std::size_t moment);
  std::size_t moment() const { return moment_; }

  /// What the last request did until the moment.
  struct Played {
    int status = 0;        ///< 0: no response yet
    JsonBox journal = {};  ///< its entry in the journal, secrets redacted; null for a control call
    JsonBox changes = {};  ///< as recorded by `Changes`
    std::string state = {};
    std::string recorded = {};  ///< the state hash in the trace
  };
  const Played& played() const { return played_; }
  /// The first moment whose state differs from the recorded one; empty: none so far.
  std::optional<std::size_t> first_difference() const { return first_difference_; }

  Application& application() { return *application_; }
  /// Lets the clock run on from the moment.
  void resume_clock();

 private:
  struct RestoredRequest;
  Replay(const Trace& trace, const ApplicationOptions& options, Checkpoints& checkpoints);
  Result<void> restart();
  Result<void> jump_to_checkpoint(std::size_t moment);
  Result<void> restore(const Checkpoint& checkpoint);
  Result<void> restore(const Snapshot& snapshot);
  void forget_calls();
  Result<void> play(const Event& event);
  Result<void> play_request(const Event& event, RestoredRequest& revealed);
  Result<void> compare(const Event& event, Sandbox& sandbox);
  Result<void> keep_checkpoint();
  Result<std::unique_ptr<RestoredRequest>> reveal(const Event& event);
  std::size_t end_of(std::size_t moment) const;

  const Trace& trace_;
  ApplicationOptions options_;
  Checkpoints& checkpoints_;
  std::shared_ptr<PinnedTime> pinned_ = std::make_shared<PinnedTime>();
  SecretNames secrets_;
  std::unique_ptr<Application> application_ = {};
  Changes changes_ = {};
  std::size_t moment_ = 0;
  std::size_t destination_ = 0;
  std::size_t next_event_ = 0;
  std::chrono::nanoseconds replay_time_ = {};  // replay time since the last checkpoint
  bool can_jump_ = true;  // false once there are other sandboxes, whose state no checkpoint contains
  std::map<std::size_t, std::unique_ptr<RestoredRequest>> waiting_;
  Played played_ = {};
  std::optional<std::size_t> first_difference_ = {};
};

}  // namespace ws::mock::trace

/// The clock of one world: real time, real time with an offset, or frozen. Everything that expires uses it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api-client/base/clock.hpp"
#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"

namespace ws::mock {

struct Sandbox;

/// A fixed time that the clocks of a recorded or replayed server use as real time; empty: the system's time.
struct PinnedTime {
  std::optional<Time> at = {};
};

class MockClock final : public Clock {
 public:
  /// "real", "frozen:2026-11-20T10:00:00Z", "offset:+2h", "offset:-90s". Fails with `invalid`, also where it would
  /// stand outside of the years that it has.
  static Result<MockClock> parse(std::string_view text);

  MockClock() = default;
  MockClock(const MockClock& other) : Clock(), offset_(other.offset_), frozen_(other.frozen_), pinned_(other.pinned_) {}
  /// Copies the setting, but not the source of the real time.
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): nothing is given up before it is copied
  MockClock& operator=(const MockClock& other) {
    offset_ = other.offset_;
    frozen_ = other.frozen_;
    return *this;
  }

  /// Whether the clock may show that time: years from 1970 to 9899. What expires up to 100 years later still has a year
  /// of four digits, as RFC 3339 wants it.
  static bool has(Time time);
  static constexpr std::string_view years = "the clock goes from 1970 to 9899";

  Time now() const override;
  bool is_frozen() const { return frozen_.has_value(); }
  /// The real time that this clock is based on, before it is frozen or offset.
  Time real_now() const;
  /// A frozen clock stays frozen, at its new time.
  void advance(std::chrono::milliseconds by);
  /// In the form that `parse` reads; shown by `GET /_mock/clock`.
  std::string text() const;
  /// Uses `pinned` as the source of real time; copies of this clock use it too. Shared, since sandboxes are opened and
  /// closed.
  void pin(std::shared_ptr<const PinnedTime> pinned) { pinned_ = std::move(pinned); }

 private:
  std::chrono::milliseconds offset_{0};
  std::optional<Time> frozen_ = {};
  std::shared_ptr<const PinnedTime> pinned_ = {};
};

/// `POST /_mock/clock:advance`: moves the clock and fires what becomes due.
///
/// The clock does not jump to its goal: it stops at each time at which something is due, so that everything happens in
/// order and at its own time. For example a lease expires, five seconds later the event may be claimed again, and a
/// pending claim gets it at that time. Pending claims may be resumed after each step.
class Advance {
 public:
  static Result<Advance> begin(Sandbox& sandbox, std::chrono::milliseconds by);

  /// Moves the clock to the next due time and fires what is due; false: the goal is reached.
  Result<bool> step();
  /// `{clock, now, fired: [{time, kind, id, ...}]}`
  Json answer() const;

 private:
  Advance(Sandbox& sandbox, const MockClock& goal);
  Result<std::optional<std::int64_t>> next_due() const;
  Result<void> fire(std::int64_t at);
  void note(std::int64_t at, std::string_view kind, std::string_view id, const Json& more);

  Sandbox* sandbox_;
  MockClock goal_;
  std::int64_t reached_;  // everything due until then has fired
  JsonBox fired_;
};

}  // namespace ws::mock

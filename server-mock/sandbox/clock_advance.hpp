/// What falls due as time passes, and the passing of time itself: `POST /_mock/clock:advance`.
///
/// Time does not jump: it goes from one thing that falls due to the next, so that each happens at its own time - a
/// lease lapses, five seconds later the event may be claimed again, and the claim that waited for it has it from then
/// on.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/sandbox/clock.hpp"

namespace ws::mock {

struct Sandbox;

/// One way through time. Whoever waits may look after each step.
class Advance {
 public:
  static Result<Advance> begin(Sandbox& sandbox, std::chrono::milliseconds by);

  /// Moves the clock to the next thing that falls due and lets it happen; false: the end is reached.
  Result<bool> step();
  /// `{clock, now, fired: [{time, kind, id, ...}]}`
  Json answer() const;

 private:
  Advance(Sandbox& sandbox, const MockClock& goal);
  Result<std::optional<std::int64_t>> next_due() const;
  Result<void> fire(std::int64_t at);
  void note(std::int64_t at, std::string_view kind, std::string_view id, Json more);

  Sandbox* sandbox_;
  MockClock goal_;
  std::int64_t reached_;  // all that was due by then has happened
  JsonBox fired_;
};

}  // namespace ws::mock

/// `POST /_mock/clock:advance`: moves the clock and fires what becomes due.
///
/// The clock does not jump to its goal: it stops at each time at which something is due, so that everything happens in
/// order and at its own time. For example a lease expires, five seconds later the event may be claimed again, and a
/// pending claim gets it at that time.
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

/// One advance of the clock. Pending claims may be resumed after each step.
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

/// The clock of one world: real time, real time with an offset, or frozen. Everything that expires uses it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"

namespace ws::mock {

class MockClock final : public Clock {
 public:
  /// "real", "frozen:2026-11-20T10:00:00Z", "offset:+2h", "offset:-90s". Fails with `invalid`.
  static Result<MockClock> parse(std::string_view text);

  MockClock() = default;
  MockClock(const MockClock& other) : Clock(), offset_(other.offset_), frozen_(other.frozen_) {}
  MockClock& operator=(const MockClock& other) {
    offset_ = other.offset_;
    frozen_ = other.frozen_;
    return *this;
  }

  Time now() const override;
  bool is_frozen() const { return frozen_.has_value(); }
  /// A frozen clock stays frozen, at its new time.
  void advance(std::chrono::milliseconds by);
  /// In the form that `parse` reads; shown by `GET /_mock/clock`.
  std::string text() const;

 private:
  std::chrono::milliseconds offset_{0};
  std::optional<Time> frozen_ = {};
};

}  // namespace ws::mock

/// Randomness as a port: the system's, or a seeded one that says the same twice.
#pragma once

#include <cstdint>
#include <span>

namespace ws {

class Random {
 public:
  Random() = default;
  Random(const Random&) = delete;
  Random& operator=(const Random&) = delete;
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;
  /// Evenly from [0, 1).
  double unit() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }
  /// Evenly from [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  void fill(std::span<std::uint8_t> bytes);
};

/// getrandom(2): fit for keys and ids.
class SystemRandom final : public Random {
 public:
  std::uint64_t next() override;
};

/// SplitMix64: fast, reproducible, not for secrets outside tests.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() override;

 private:
  std::uint64_t state_;
};

}  // namespace ws

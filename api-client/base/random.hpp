/// The random number interface: the system's generator, or a seeded one that repeats its sequence.
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
  /// Uniformly distributed in [0, 1).
  double unit() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }
  /// Uniformly distributed in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  void fill(std::span<std::uint8_t> bytes);
};

/// Reads getrandom(2): suitable for keys and ids.
class SystemRandom final : public Random {
 public:
  std::uint64_t next() override;
};

/// SplitMix64: fast and reproducible. Not for secrets outside tests.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() override;

 private:
  std::uint64_t state_;
};

}  // namespace ws

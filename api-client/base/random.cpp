#include "api-client/base/random.hpp"

#include <cstdlib>
#include <cstring>

#include <sys/random.h>

namespace ws {

void Random::fill(std::span<std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const std::uint64_t value = next();
    const std::size_t count = bytes.size() < sizeof value ? bytes.size() : sizeof value;
    std::memcpy(bytes.data(), &value, count);
    bytes = bytes.subspan(count);
  }
}

std::uint64_t SystemRandom::next() {
  std::uint64_t value = 0;
  // Up to 256 bytes, getrandom(2) neither fails nor returns less once the pool is initialised. Abort rather than make a
  // key without randomness.
  if (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) std::abort();
  return value;
}

std::uint64_t SeededRandom::next() {
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

}  // namespace ws

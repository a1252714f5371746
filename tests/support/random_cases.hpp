/// Shared by tests with random cases: number, seed, and shrinking of failing cases.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace ws::test {

/// A number from the environment: `WS_CASES` for a soak, `WS_SEED` for other cases.
inline std::uint64_t number_from_environment(const char* name, std::uint64_t fallback) {
  const char* const text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

/// Removes every part that the failure does not need: halves first, then quarters, down to single parts. Calls `fails`
/// at most `tries` times.
template <class Part, class Fails>
std::vector<Part> smallest(std::vector<Part> parts, const Fails& fails, std::size_t tries = 400) {
  for (std::size_t size = parts.size() / 2; size > 0;) {
    bool smaller = false;
    for (std::size_t first = parts.size(); first > 0 && tries > 0;) {
      first = first > size ? first - size : 0;
      std::vector<Part> without = parts;
      const auto begin = without.begin() + static_cast<std::ptrdiff_t>(first);
      without.erase(begin, without.begin() + static_cast<std::ptrdiff_t>(std::min(first + size, without.size())));
      --tries;
      if (!fails(without)) continue;
      parts = std::move(without);
      smaller = true;
    }
    if (tries == 0) break;
    if (!smaller) size /= 2;
    size = std::min(size, parts.size());
  }
  return parts;
}

}  // namespace ws::test

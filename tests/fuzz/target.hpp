/// What every fuzz target shares: `ws_fuzz_one` is asked, and its time is watched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

/// Reads the bytes of one input; aborts where a law is broken.
void ws_fuzz_one(std::string_view bytes);

/// Of processor time, under the sanitizers: a reader that is about linear stays far below, one that takes the square of
/// 32 KiB does not.
constexpr double max_seconds = 2;
constexpr double max_seconds_per_byte = 200e-6;

inline int ws_fuzz_timed(void (*one)(std::string_view bytes), std::string_view bytes) {
  const std::clock_t before = std::clock();
  one(bytes);
  const double taken = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  if (taken <= max_seconds + max_seconds_per_byte * static_cast<double>(bytes.size())) return 0;
  std::fprintf(stderr, "ERROR: %zu bytes took %.1f s of processor time\n", bytes.size(), taken);
  std::abort();
}

#ifdef __clang__
extern "C" inline int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) __attribute__((used));
extern "C" inline int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return ws_fuzz_timed(&ws_fuzz_one, {reinterpret_cast<const char*>(data), size});
}
#endif

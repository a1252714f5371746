// The fuzz targets without a fuzzer: the texts that freeze a careless reader, and inputs made of them by chance, the
// same each time. A broken law aborts. `WS_CASES` more of them, `WS_SEED` others.
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/bounds/freezing_texts.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/random_cases.hpp"

#define WS_FUZZ_TARGET(name) void name(std::string_view bytes);
#include "fuzz_targets.inc"
#undef WS_FUZZ_TARGET

namespace {

constexpr std::size_t frozen_bytes = 4'000;
constexpr std::size_t max_bytes = 2'000;

using Chance = std::mt19937_64;

std::size_t below(Chance& chance, std::size_t end) { return end == 0 ? 0 : chance() % end; }

/// Pieces of the texts behind each other, with some bytes changed, taken out or said again.
std::string text_by_chance(const std::vector<std::string>& seeds, Chance& chance) {
  std::string text;
  for (std::size_t pieces = 1 + below(chance, 6); pieces > 0; --pieces) {
    const std::string& seed = seeds[below(chance, seeds.size())];
    text += std::string_view(seed).substr(below(chance, seed.size()), 1 + below(chance, 400));
  }
  for (std::size_t changes = below(chance, 12); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = below(chance, text.size());
    switch (below(chance, 3)) {
      case 0: text[at] = static_cast<char>(chance()); break;
      case 1: text.erase(at, 1 + below(chance, 8)); break;
      default: text.insert(at, text.substr(below(chance, text.size()), 1 + below(chance, 40)));
    }
  }
  return text.substr(0, max_bytes);
}

void try_all(void (*target)(std::string_view bytes)) {
  std::vector<std::string> seeds;
  for (const ws::test::FreezingText& text : ws::test::freezing_texts()) {
    seeds.push_back(text.make(frozen_bytes));
    CHECK(ws_fuzz_timed(target, seeds.back()) == 0);
  }
  CHECK(ws_fuzz_timed(target, "") == 0);
  Chance chance(ws::test::number_from_environment("WS_SEED", 1));
  for (std::uint64_t left = ws::test::number_from_environment("WS_CASES", 300); left > 0; --left)
    ws_fuzz_timed(target, text_by_chance(seeds, chance));
}

}  // namespace

#define WS_FUZZ_TARGET(name) \
  TEST_CASE("fuzz: " #name ", texts that freeze and what comes of them by chance", "[fuzz]") { try_all(&name); }
#include "fuzz_targets.inc"

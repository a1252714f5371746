// Whole engines on real folders against the real server, in one process: random stories, each law asked after each
// order. `WS_SEED` begins elsewhere, `WS_CASES` plays more of them; what fails is shrunk and told step by step.
#include <cstdint>
#include <exception>
#include <string>

#include <catch2/catch.hpp>

#include "tests/property/script.hpp"
#include "tests/property/story.hpp"
#include "tests/support/random_cases.hpp"

namespace ws::property {
namespace {

using ws::test::number_from_environment;

std::string play(const Stage& stage, std::uint64_t seed, const Script& script, std::string* told = nullptr) {
  Story story(stage, seed);
  std::string wrong;
  try {
    wrong = story.play(script);
  } catch (const std::exception& error) {
    wrong = std::string("exception: ") + error.what();
  }
  if (told != nullptr) *told = story.told();
  return wrong;
}

std::uint64_t first_seed() { return number_from_environment("WS_SEED", 20261121); }

/// Of the stories of a soak, or of CI, this test's share in percent.
std::uint64_t share(std::uint64_t percent) { return number_from_environment("WS_CASES", 2000) * percent / 100 + 1; }

void tell_failure(const Stage& stage, std::uint64_t seed, const Script& script) {
  const Script small =
      ws::test::smallest(script, [&](const Script& fewer) { return !play(stage, seed, fewer).empty(); });
  std::string told;
  const std::string wrong = play(stage, seed, small, &told);
  FAIL("WS_SEED=" << seed << " WS_CASES=1: " << wrong << "\n" << told);
}

void play_all(const Stage& stage, std::uint64_t percent, std::size_t most_steps) {
  const std::uint64_t first = first_seed();
  const std::uint64_t last = first + share(percent);
  for (std::uint64_t seed = first; seed < last; ++seed) {
    const Script script = make_script(seed, most_steps);
    if (!play(stage, seed, script).empty()) tell_failure(stage, seed, script);
  }
}

}  // namespace

TEST_CASE("engines: two folders and the service come to agree", "[sync-model]") { play_all({.places = 2}, 34, 11); }

TEST_CASE("engines: strangers in the folder are left alone", "[sync-model]") {
  play_all({.places = 1, .strangers = true}, 8, 10);
}

TEST_CASE("engines: a service that always answers with all it has", "[sync-model]") {
  play_all({.places = 2, .ignores_filter = true}, 6, 10);
}

TEST_CASE("engines: a bad network loses, repeats, delays and refuses", "[sync-model]") {
  play_all({.places = 2, .mishaps_one_in = 4}, 20, 11);
}

TEST_CASE("engines: people go on working while the engine does", "[sync-model]") {
  play_all({.places = 2, .races = true}, 16, 11);
}

TEST_CASE("engines: killed at any step and started again", "[sync-model]") {
  play_all({.places = 2, .kill = Stage::Kill::at_random}, 10, 10);
}

}  // namespace ws::property

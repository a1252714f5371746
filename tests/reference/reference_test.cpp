#include <cstdlib>

#include <catch2/catch.hpp>

#include "tests/reference/run.hpp"

using namespace ws::mock::test;

namespace {

std::uint64_t from_outside(const char* name, std::uint64_t usual) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? usual : std::strtoull(text, nullptr, 10);
}

}  // namespace

// One world for every thousand calls: small enough that calls often refer to the same objects.
TEST_CASE("reference: over random calls the server answers as the model does", "[server-mock][property]") {
  const std::uint64_t calls = from_outside("WS_CASES", 20'000);
  const std::uint64_t first_seed = from_outside("WS_SEED", 20'261'120);
  constexpr std::uint64_t calls_a_world = 1000;
  std::uint64_t made = 0;
  for (std::uint64_t seed = first_seed; made < calls; ++seed) {
    Run run(seed);
    while (run.calls() < calls_a_world) run.step();
    run.compare_all();
    made += run.calls();
  }
  CHECK(made >= calls);
}

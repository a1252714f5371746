// Which switch an exchange shows: every switch of the mock has a probe, and every probe every value.
#include "server-mock/compare/probes.hpp"

#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::compare;

TEST_CASE("probes: every value of every switch has a pattern, and nothing else has one", "[compare]") {
  std::set<std::string> switched;
  for (const AssumptionSwitch& one : assumption_switches()) {
    for (const std::string_view value : one.values) switched.insert(std::string(one.key) + "=" + std::string(value));
  }
  std::set<std::string> looked;
  for (const Probe& probe : probes()) {
    for (const Pattern& pattern : probe.patterns)
      looked.insert(std::string(probe.key) + "=" + std::string(pattern.value));
  }
  CHECK(looked == switched);
}

// How often the disk is waited for: a batch costs barriers, not one for each document.
#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "tests/faults/fault_world.hpp"

using namespace ws;
using namespace ws::test;

namespace {

/// Flushes of the run that records so many conflicts.
std::ptrdiff_t flushes_to_record(int conflicts) {
  FaultWorld world;
  world.tie();
  const auto write_all = [&](const std::filesystem::path& tree, const std::string& text) {
    for (int i = 0; i < conflicts; ++i) write_text(tree / ("n" + std::to_string(i) + ".md"), text + std::to_string(i));
  };
  write_all(world.tree, "base ");
  REQUIRE(world.ws({"sync"}).exit == 0);
  REQUIRE(world.ws_there({"sync"}).exit == 0);
  write_all(world.tree, "here ");
  write_all(world.other, "there ");
  REQUIRE(world.ws_there({"sync"}).exit == 0);
  const Faulted run = world.ws({"sync"}, Fault{});
  REQUIRE(run.ended.exit == 7);
  return std::count_if(run.calls.begin(), run.calls.end(), [](const std::string& call) {
    return call.starts_with("fsync") || call.starts_with("fdatasync") || call.starts_with("syncfs");
  });
}

}  // namespace

TEST_CASE("barriers: recording many conflicts waits for the disk as often as recording some", "[faults]") {
  if (!shim_works()) {
    WARN("skipped: no seccomp here");
    return;
  }
  const std::ptrdiff_t some = flushes_to_record(10);
  const std::ptrdiff_t many = flushes_to_record(60);
  CAPTURE(some, many);
  CHECK(many <= some + 10);
}

// Counts disk flushes: a batch of documents costs a fixed number of flushes, not some for each document.
#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "tests/faults/fault_world.hpp"

using namespace ws;
using namespace ws::test;

namespace {

bool waits_for_the_disk(const std::string& call) {
  return call.starts_with("fsync") || call.starts_with("fdatasync") || call.starts_with("syncfs");
}

std::ptrdiff_t flushes_of(const Faulted& run) { return std::ranges::count_if(run.calls, waits_for_the_disk); }

std::string name_of(int number) { return "n" + std::to_string(number) + ".md"; }

/// Makes this many documents edited on both sides, and as many renamed on both sides.
void make_conflicts(FaultWorld& world, int texts, int names) {
  world.bind_trees();
  const auto write_all = [&](const std::filesystem::path& tree, const std::string& text) {
    for (int i = 0; i < texts; ++i) write_text(tree / name_of(i), text + std::to_string(i));
  };
  const auto rename_all = [&](const std::filesystem::path& tree, const std::string& word) {
    for (int i = 0; i < names; ++i)
      std::filesystem::rename(tree / ("m" + std::to_string(i) + ".md"), tree / (word + std::to_string(i) + ".md"));
  };
  write_all(world.tree, "base ");
  for (int i = 0; i < names; ++i) write_text(world.tree / ("m" + std::to_string(i) + ".md"), "m " + std::to_string(i));
  REQUIRE(world.ws({"sync"}).exit == 0);
  REQUIRE(world.ws_there({"sync"}).exit == 0);
  write_all(world.tree, "here ");
  write_all(world.other, "there ");
  rename_all(world.tree, "here");
  rename_all(world.other, "there");
  REQUIRE(world.ws_there({"sync"}).exit == 0);
}

/// Flushes of the run that records this many conflicts.
std::ptrdiff_t flushes_to_record(int conflicts) {
  FaultWorld world;
  make_conflicts(world, conflicts, 0);
  const Faulted run = world.ws({"sync"}, Fault{});
  REQUIRE(run.ended.exit == 7);
  return flushes_of(run);
}

/// Flushes of the command that resolves this many text conflicts and as many path conflicts.
std::ptrdiff_t flushes_to_decide(int conflicts, const Words& command) {
  FaultWorld world;
  make_conflicts(world, conflicts, conflicts);
  REQUIRE(world.ws({"sync"}).exit == 7);
  const Faulted decided = world.ws(command, Fault{});
  CAPTURE(decided.ended.out, decided.ended.err);
  REQUIRE(decided.ended.exit == 0);
  CHECK(world.ws({"sync"}).exit == 0);
  CHECK(world.ws({"sync", "conflicts", "--format", "ids"}).out.empty());
  return flushes_of(decided);
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

TEST_CASE("barriers: deciding many conflicts waits for the disk as often as deciding some", "[faults]") {
  if (!shim_works()) {
    WARN("skipped: no seccomp here");
    return;
  }
  const auto [command, max_more] =
      GENERATE(table<Words, std::ptrdiff_t>({{{"sync", "resolve", "--all", "--keep", "local"}, 10},
                                             {{"sync", "resolve", "--all", "--keep", "remote"}, 10},
                                             {{"sync", "run", "--on-conflict", "remote"}, 10}}));
  const std::ptrdiff_t some = flushes_to_decide(8, command);
  const std::ptrdiff_t many = flushes_to_decide(40, command);
  CAPTURE(command, some, many);
  CHECK(many <= some + max_more);
}

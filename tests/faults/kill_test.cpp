// SIGKILL before and after every call that changes something: nothing is lost or duplicated, and the same command
// completes the work.
#include <algorithm>
#include <iostream>
#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/faults/scenarios.hpp"

using namespace ws::test;

namespace {

/// Number of killed runs per scenario in CI; WS_FAULTS=all tries every point.
constexpr long kills_in_ci = 4;

/// A sample: odd numbers are before a call, even numbers after it. It always includes the points where a reference of
/// the history is locked, and the one where the first text has just come into its place.
std::set<long> places_of_kills(const Words& calls, long count) {
  const auto renames = [&](const std::string& part) {
    return std::ranges::find_if(calls, [&](const std::string& call) {
      return call.starts_with("rename") && call.find(part) != std::string::npos;
    });
  };
  const auto places_text = renames("/.ws/tmp/");
  const auto unlocks = renames("/refs/heads/main.lock");
  const bool places_any = places_text != calls.end();
  const std::vector<long> sample =
      spread(2 * static_cast<long>(calls.size()), std::max(1L, count - (places_any ? 1 : 0)), fault_seed());
  std::set<long> places(sample.begin(), sample.end());
  if (places_any) places.insert(2 * (places_text - calls.begin()) + 2);
  if (unlocks != calls.end()) places.insert(2 * (unlocks - calls.begin()) + 1);
  return places;
}

/// After the kill, run the same command again; or first edit the files once more. There is no other writer.
enum class AfterKill { again, edits };

void kill_everywhere(const std::string& name, AfterKill then = AfterKill::again) {
  if (!shim_works()) {
    WARN("skipped: this machine has no seccomp, or is no x86-64");
    return;
  }
  const Scenario& scenario = scenario_named(name);
  FaultWorld world;
  const Undisturbed undisturbed = run_undisturbed(world, scenario);
  long points = 0;
  long kills = 0;
  for (std::size_t step = 0; step < scenario.steps.size(); ++step) {
    const long last = static_cast<long>(undisturbed.calls[step].size());
    points += last;
    const long count = std::max(1L, kills_in_ci / static_cast<long>(scenario.steps.size()));
    for (const long place : places_of_kills(undisturbed.calls[step], count)) {
      const Fault fault{.point = (place + 1) / 2, .mode = place % 2 == 1 ? "kill-before" : "kill-after"};
      CAPTURE(name, step, fault.point, fault.mode, fault_seed());
      CAPTURE(undisturbed.calls[step][static_cast<std::size_t>(fault.point) - 1]);
      const Faulted killed = run_disturbed(world, scenario, step, fault);
      // A run makes one call less if a folder of the history already exists.
      if (static_cast<long>(killed.calls.size()) < fault.point) continue;
      CHECK(killed.ended.exit == 128 + 9);
      CHECK(wrong_at_once(world, undisturbed) == Words{});
      if (then == AfterKill::again) CHECK(wrong_after_rerun(world, scenario, undisturbed, step) == Words{});
      if (then == AfterKill::edits) CHECK(wrong_after_edits(world) == Words{});
      ++kills;
    }
  }
  CHECK(kills > 0);
  std::cout << name << ": " << points << " points, " << kills << " kills\n";
}

}  // namespace

TEST_CASE("killed anywhere in init, the tree is tied once", "[faults][kill]") { kill_everywhere("init"); }
TEST_CASE("killed anywhere in a pull", "[faults][kill]") { kill_everywhere("pull"); }
TEST_CASE("killed anywhere in a push and its commit", "[faults][kill]") { kill_everywhere("push"); }
TEST_CASE("killed anywhere in a run with everything, a conflict too", "[faults][kill]") { kill_everywhere("run"); }
TEST_CASE("killed anywhere while a conflict ends for the local text", "[faults][kill]") {
  kill_everywhere("resolve local");
}
TEST_CASE("killed anywhere while a conflict ends for the remote text", "[faults][kill]") {
  kill_everywhere("resolve remote");
}
TEST_CASE("killed anywhere while a conflict ends with both texts", "[faults][kill]") {
  kill_everywhere("resolve both");
}
TEST_CASE("killed anywhere while several conflicts end for the local side", "[faults][kill]") {
  kill_everywhere("resolve several local");
}
TEST_CASE("killed anywhere while several conflicts end for the remote side", "[faults][kill]") {
  kill_everywhere("resolve several remote");
}
TEST_CASE("killed anywhere in a restore", "[faults][kill]") { kill_everywhere("restore"); }
TEST_CASE("killed anywhere while texts are written into renamed notes", "[faults][kill]") {
  kill_everywhere("texts of renamed notes");
}
TEST_CASE("killed anywhere in an undo", "[faults][kill]") { kill_everywhere("undo"); }
TEST_CASE("killed anywhere in the undo of a decision, the conflicts are open again", "[faults][kill]") {
  kill_everywhere("undo of a decision");
  kill_everywhere("undo of both");
}
TEST_CASE("killed anywhere in a pull of many files, and in an undo that makes many", "[faults][kill]") {
  kill_everywhere("pull of many");
  kill_everywhere("undo of many");
}
TEST_CASE("killed anywhere while the history is cleaned up: what stays is whole", "[faults][kill]") {
  kill_everywhere("gc");
}
TEST_CASE("killed anywhere while the history is packed", "[faults][kill]") { kill_everywhere("gc of nothing"); }
TEST_CASE("killed anywhere in a run, then edited again: nobody collides with themselves", "[faults][kill]") {
  kill_everywhere("alone", AfterKill::edits);
}

TEST_CASE("killed anywhere in the first run with pictures", "[faults][kill][pictures]") {
  kill_everywhere("pictures first");
}
TEST_CASE("killed anywhere while pictures go up and the list of them is written", "[faults][kill][pictures]") {
  kill_everywhere("pictures up");
}
TEST_CASE("killed anywhere while pictures come down", "[faults][kill][pictures]") { kill_everywhere("pictures down"); }
TEST_CASE("killed anywhere while pictures go both ways and two collide", "[faults][kill][pictures]") {
  kill_everywhere("pictures both ways");
}
TEST_CASE("killed anywhere in a mv that edits links", "[faults][kill][pictures]") {
  kill_everywhere("mv of a note");
  kill_everywhere("mv of a picture");
  kill_everywhere("mv of a folder");
}
TEST_CASE("killed anywhere while files are left out here and taken again", "[faults][kill][pictures]") {
  kill_everywhere("leave and take");
}
TEST_CASE("killed anywhere in an undo of a run with pictures", "[faults][kill][pictures]") {
  kill_everywhere("undo of pictures");
}
TEST_CASE("killed anywhere in an undo of the first run", "[faults][kill][pictures]") {
  kill_everywhere("undo of the first run");
}
TEST_CASE("killed anywhere while old bytes of pictures are dropped", "[faults][kill][pictures]") {
  kill_everywhere("pictures gc");
}
TEST_CASE("killed anywhere while a conflict of two pictures ends", "[faults][kill][pictures]") {
  kill_everywhere("pictures resolve local");
  kill_everywhere("pictures resolve remote");
  kill_everywhere("pictures resolve both");
}

TEST_CASE("killed anywhere in an upload: the same command again makes no second asset, unless the first was told",
          "[faults][kill]") {
  if (!shim_works()) {
    WARN("skipped: this machine has no seccomp, or is no x86-64");
    return;
  }
  FaultWorld world;
  // The record of an upload must be in a folder that the shim watches.
  world.person.environment["XDG_STATE_HOME"] = (world.tree / "state").string();
  const Words upload = {"files", "upload", "a.md", "--format", "ids"};
  write_text(world.tree / "a.md", "text\n");
  const auto assets = [&] {
    return nlohmann::json::parse(world.control("GET", "state")).at("tables").at("assets").size();
  };
  const Words calls = world.ws(upload, Fault{}).calls;
  REQUIRE_FALSE(calls.empty());
  for (const long place : spread(2 * static_cast<long>(calls.size()), 3 * kills_in_ci, fault_seed())) {
    std::filesystem::remove_all(world.tree / "state");
    const Fault fault{.point = (place + 1) / 2, .mode = place % 2 == 1 ? "kill-before" : "kill-after"};
    CAPTURE(fault.point, fault.mode, calls[static_cast<std::size_t>(fault.point) - 1]);
    const std::size_t before = assets();
    const Faulted killed = world.ws(upload, fault);
    CHECK(killed.ended.exit == 128 + 9);
    const Ended again = world.ws(upload);
    CHECK(again.exit == 0);
    // A reported duplicate may be found again as long as its record exists.
    const std::size_t made = assets() - before;
    CHECK(made >= 1);
    CHECK(made <= (killed.ended.out.empty() ? 1U : 2U));
  }
}

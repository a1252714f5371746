// I18 with real processes: two `ws` on one tree. The first is stopped at a call that changes the disk; the second
// either fails with 14 (`tree_locked`), naming the other process, or does all of the work. Then the first is killed,
// which frees its lock, or continues to its end.
#include <csignal>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "api-client/base/random.hpp"
#include "tests/faults/scenarios.hpp"
#include "tests/faults/stopped.hpp"
#include "tests/support/random_cases.hpp"

using namespace ws::test;

namespace {

constexpr std::uint64_t stops_in_ci = 16;

/// Whether the lock is held, according to the kernel.
bool lock_is_held(const FaultWorld& world) {
  const int file = ::open((world.tree / ".ws" / "lock").c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  const bool held = ::flock(file, LOCK_EX | LOCK_NB) != 0;
  ::close(file);
  return held;
}

}  // namespace

TEST_CASE("two ws on one tree: one works, the other is told, and a dead one's lock is worth nothing", "[processes]") {
  if (!shim_works()) {
    WARN("skipped: this machine has no seccomp, or is no x86-64");
    return;
  }
  const Scenario& scenario = scenario_named("run");
  REQUIRE(scenario.steps.size() == 1);
  FaultWorld world;
  const Undisturbed undisturbed = run_undisturbed(world, scenario);
  ws::SeededRandom random(number_from_environment("WS_SEED", 20261121));
  unsigned stopped = 0;
  unsigned locked_out = 0;
  for (std::uint64_t stop = 0; stop < stops_in_ci; ++stop) {
    const auto point = static_cast<long>(1 + random.below(undisturbed.calls[0].size()));
    const bool dies = random.below(2) == 0;
    CAPTURE(point, dies, undisturbed.calls[0][static_cast<std::size_t>(point) - 1]);
    world.reset();
    const TemporaryFolder logs;
    const Words arguments = arguments_of(world, scenario.steps[0]);
    Running first(world.command(arguments, {.point = point, .mode = "stop-before"}, logs / "log"));
    if (!is_stopped(first.pid())) {
      // On a busy machine a run needs a few calls fewer: one of the last points is then never reached.
      CHECK(first.wait().exit == scenario.steps[0].exit);
      continue;
    }
    ++stopped;
    const bool held = lock_is_held(world);
    const Texts before = texts_of(world.tree);
    const Texts there = world.served();
    Words with_json = arguments;
    with_json.push_back("--json");
    const Ended second = world.ws(with_json);
    CAPTURE(held, second.exit, second.out, second.err);
    if (held) {
      CHECK(second.exit == 14);
      CHECK_THAT(second.out + second.err, Catch::Matchers::Contains("tree_locked"));
      CHECK(texts_of(world.tree) == before);
      CHECK(world.served() == there);
      ++locked_out;
    } else {
      CHECK((second.exit == scenario.steps[0].exit || second.exit == 14));
    }
    first.signal(dies ? SIGKILL : SIGCONT);
    const Ended ended = first.wait();
    CAPTURE(ended.exit, ended.err);
    if (dies) CHECK(ended.exit == 128 + SIGKILL);
    CHECK(wrong_after_rerun(world, scenario, undisturbed, 0) == Words{});
  }
  CHECK(stopped > stops_in_ci / 2);
  CHECK(locked_out > 0);
}

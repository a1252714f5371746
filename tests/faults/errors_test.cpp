// Each call that changes the disk fails with each kind of disk error: the run reports it and loses nothing, and the
// same command completes the work once the disk is available.
#include <algorithm>
#include <array>
#include <cerrno>
#include <iostream>

#include <catch2/catch.hpp>

#include "tests/faults/scenarios.hpp"

using namespace ws::test;

namespace {

/// Number of failing runs per scenario in CI; WS_FAULTS=all tries every error at every point.
constexpr long errors_in_ci = 5;
/// And of the texts of a step, those whose writing ends half-way.
constexpr long half_texts_in_ci = 3;

std::vector<std::string> every_error() {
  std::vector<std::string> modes;
  for (const int error : {EIO, ENOSPC, EDQUOT, EACCES, EROFS, EMFILE, EINTR}) {
    modes.push_back("fail:" + std::to_string(error));
  }
  modes.push_back("fail-from:" + std::to_string(ENOSPC));
  modes.emplace_back("short");
  return modes;
}

/// The exit codes allowed: 14 (disk), 13 (partial), or the usual one, if the run can do without that call or retries
/// it.
bool is_honest(const Ended& ended, int undisturbed) {
  if (ended.exit == undisturbed) return true;
  return (ended.exit == 14 || ended.exit == 13) && (ended.err + ended.out).find("cannot ") != std::string::npos;
}

void try_error(
    FaultWorld& world, const Scenario& scenario, const Undisturbed& undisturbed, std::size_t step, const Fault& fault) {
  CAPTURE(scenario.name, step, fault.point, fault.mode, fault_seed());
  CAPTURE(undisturbed.calls[step][static_cast<std::size_t>(fault.point) - 1]);
  const Ended broken = run_disturbed(world, scenario, step, fault).ended;
  CAPTURE(broken.exit, broken.out, broken.err);
  CHECK(is_honest(broken, scenario.steps[step].exit));
  CHECK(wrong_at_once(world, undisturbed) == Words{});
  CHECK(wrong_after_rerun(world, scenario, undisturbed, step) == Words{});
}

/// The writes of users' texts to disk: the sample must include some of them.
std::vector<Fault> half_texts(const Words& calls) {
  std::vector<long> points;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const bool writes_text = calls[i].starts_with("write ") && calls[i].find("/.ws/tmp/") != std::string::npos;
    if (writes_text) points.push_back(static_cast<long>(i) + 1);
  }
  std::vector<Fault> faults;
  for (const long place : spread(static_cast<long>(points.size()), half_texts_in_ci, fault_seed())) {
    faults.push_back({.point = points[static_cast<std::size_t>(place) - 1], .mode = "short"});
  }
  return faults;
}

void fail_everywhere(const std::string& name) {
  if (!shim_works()) {
    WARN("skipped: this machine has no seccomp, or is no x86-64");
    return;
  }
  const Scenario& scenario = scenario_named(name);
  const std::vector<std::string> modes = every_error();
  const long kinds = static_cast<long>(modes.size());
  FaultWorld world;
  const Undisturbed undisturbed = run_undisturbed(world, scenario);
  long points = 0;
  long errors = 0;
  for (std::size_t step = 0; step < scenario.steps.size(); ++step) {
    const long last = static_cast<long>(undisturbed.calls[step].size());
    points += last;
    for (const long place :
         spread(kinds * last, std::max(1L, errors_in_ci / static_cast<long>(scenario.steps.size())), fault_seed())) {
      // One step of the sample moves on by one point and one kind, so that all points and all kinds occur.
      const long point = (place - 1) / kinds + 1;
      const Fault fault{.point = point, .mode = modes[static_cast<std::size_t>(place % kinds)]};
      try_error(world, scenario, undisturbed, step, fault);
      ++errors;
    }
    for (const Fault& fault : half_texts(undisturbed.calls[step])) {
      try_error(world, scenario, undisturbed, step, fault);
      ++errors;
    }
  }
  std::cout << name << ": " << points << " points, " << errors << " errors of " << kinds << " kinds\n";
}

}  // namespace

TEST_CASE("an error anywhere in init", "[faults][errors]") { fail_everywhere("init"); }
TEST_CASE("an error anywhere in a pull", "[faults][errors]") { fail_everywhere("pull"); }
TEST_CASE("an error anywhere in a push and its commit", "[faults][errors]") { fail_everywhere("push"); }
TEST_CASE("an error anywhere in a run with everything, a conflict too", "[faults][errors]") { fail_everywhere("run"); }
TEST_CASE("an error anywhere while a conflict ends for the remote text", "[faults][errors]") {
  fail_everywhere("resolve remote");
}
TEST_CASE("an error anywhere while a conflict ends with both texts", "[faults][errors]") {
  fail_everywhere("resolve both");
}
TEST_CASE("an error anywhere in a restore", "[faults][errors]") { fail_everywhere("restore"); }
TEST_CASE("an error anywhere in an undo that makes many files", "[faults][errors]") { fail_everywhere("undo of many"); }
TEST_CASE("an error anywhere while pictures go up and come down", "[faults][errors][pictures]") {
  fail_everywhere("pictures up");
  fail_everywhere("pictures down");
}
TEST_CASE("an error anywhere while pictures go both ways and two collide", "[faults][errors][pictures]") {
  fail_everywhere("pictures both ways");
}
TEST_CASE("an error anywhere while the history is cleaned up", "[faults][errors]") { fail_everywhere("gc"); }

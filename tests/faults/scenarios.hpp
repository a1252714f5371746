/// What a person does when the lights go out: commands, the state they start from, and what must be true afterwards.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/faults/fault_world.hpp"

namespace ws::test {

struct ScenarioStep {
  Words arguments = {};
  int exit = 0;
  /// What the same command may end with when it had done its work before it was cut off: that is an answer too.
  std::set<int> again = {};
};

struct Scenario {
  std::string name = {};
  std::function<void(FaultWorld&)> prepare = {};
  std::vector<ScenarioStep> steps = {};
  int last_exit = 0;     ///< of the `ws sync` that brings both sides together in the end; 7 where a conflict stays open
  bool forgets = false;  ///< texts are dropped on purpose: what stays undisturbed is what must stay
  std::set<std::string> promised = {};  ///< must be among what stays
  bool has_files = false;  ///< a file that does not come or go is a row of its own (13), and the rest goes on
};

/// init, pull, push, run, resolve, restore and gc, in states where each has everything to do that it can.
std::vector<Scenario> all_scenarios();
/// The same with files that notes show, and links to them.
std::vector<Scenario> picture_scenarios();
const Scenario& scenario_named(const std::string& name);

inline const Words sync_command = {"sync", "run"};

/// Throws with what the command said if it did not end so.
void must_end(const Ended& ended, int exit);

/// A scenario without any fault: what a broken one must come to.
struct Undisturbed {
  std::vector<Words> calls = {};       ///< of each step
  std::set<std::string> before = {};   ///< every text there was; of a scenario that forgets, what stays of them
  std::set<std::string> kept = {};     ///< every text there is in the end
  std::set<std::string> written = {};  ///< every text that a file may hold at any time: before, or in the end
  Texts tree = {};
  Texts served = {};
  std::size_t objects = 0;
  std::map<std::string, std::size_t> assets = {};
  Words calls_of_nothing = {};  ///< of a `ws sync` that has nothing to do
  bool forgets = false;
};
/// Prepares the world (once for each world), saves it, runs the scenario.
Undisturbed run_undisturbed(FaultWorld& world, const Scenario& scenario);

/// The step's own, with the state to restore filled in.
Words arguments_of(const FaultWorld& world, const ScenarioStep& step);
/// From the saved state: the steps before `step`, then `step` with the fault.
Faulted run_disturbed(const FaultWorld& world, const Scenario& scenario, std::size_t step, const Fault& fault);
/// What is wrong between the fault and the next run; empty: nothing.
Words wrong_at_once(const FaultWorld& world, const Undisturbed& undisturbed);
/// Runs from `step` on again, then `ws sync`, then `ws sync` once more; what is wrong after that. Empty: nothing.
Words wrong_after_rerun(FaultWorld& world, const Scenario& scenario, const Undisturbed& undisturbed, std::size_t step);
/// Every file gets another text, all of it, then `ws sync`. Nobody else was at work, so nothing may collide. What is
/// wrong after that; empty: nothing.
Words wrong_after_edits(FaultWorld& world);

}  // namespace ws::test

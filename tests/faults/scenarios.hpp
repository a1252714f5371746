/// The scenarios of the fault tests: commands, their initial state, and the expected result.
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
  /// Exit codes allowed for a repeated command that had completed before it was interrupted.
  std::set<int> again = {};
};

struct Scenario {
  std::string name = {};
  std::function<void(FaultWorld&)> prepare = {};
  std::vector<ScenarioStep> steps = {};
  int last_exit = 0;     ///< of the final `ws sync` that syncs both sides; 7 if a conflict stays open
  bool forgets = false;  ///< texts are removed on purpose: the texts expected are those left by the undisturbed run
  std::set<std::string> promised = {};  ///< must be among the texts that are kept
  bool undoes = false;                  ///< its runs are taken back at the end
  bool parts = false;                   ///< it parts the two sides: the `ws sync` after it writes files
  bool has_files = false;               ///< a failed file transfer is a row of its own (13), and the rest continues
};

/// init, pull, push, run, resolve, restore and gc, each in a state where it has as much as possible to do.
std::vector<Scenario> all_scenarios();
/// The same with attachments and links to them.
std::vector<Scenario> attachment_scenarios();
const Scenario& scenario_named(const std::string& name);

inline const Words sync_command = {"sync", "run"};

/// Throws with the command's output unless it ended with this exit code.
void must_end(const Ended& ended, int exit);

/// The result of a scenario without faults, which a disturbed run must reach.
struct Undisturbed {
  std::vector<Words> calls = {};       ///< by step
  std::set<std::string> before = {};   ///< all texts before; if the scenario removes texts, those that are kept
  std::set<std::string> kept = {};     ///< all texts at the end
  std::set<std::string> written = {};  ///< every text that a file may contain at any time: the initial or the final one
  Texts tree = {};
  Texts served = {};
  std::size_t objects = 0;
  std::map<std::string, std::size_t> assets = {};
  Words calls_of_nothing = {};      ///< of a `ws sync` with nothing to do
  long last_run = 0;                ///< before the scenario: the runs after it are the scenario's
  std::set<std::string> rows = {};  ///< what its runs recorded: "changed img/a.png"
  Texts undone_tree = {};           ///< after its runs were taken back
  Texts undone_served = {};
  std::set<int> undo_exits = {};
  long undo_calls = 0;
  bool forgets = false;
};
/// Prepares the world (once per world), saves it, and runs the scenario.
Undisturbed run_undisturbed(FaultWorld& world, const Scenario& scenario);

/// The arguments of the step, with the commit to restore filled in.
Words arguments_of(const FaultWorld& world, const ScenarioStep& step);
/// Starts from the saved state, runs the steps before `step`, then `step` with the fault.
Faulted run_disturbed(const FaultWorld& world, const Scenario& scenario, std::size_t step, const Fault& fault);
/// Errors in the state between the fault and the next run; empty: none.
Words wrong_at_once(const FaultWorld& world, const Undisturbed& undisturbed);
/// Repeats the steps from `step` on, then runs `ws sync` twice, then takes the runs back, every other time with a kill
/// in between; returns the errors in the states that this leads to. Empty: none.
Words wrong_after_rerun(FaultWorld& world, const Scenario& scenario, const Undisturbed& undisturbed, std::size_t step);
/// Replaces the whole text of every file, then runs `ws sync`. There is no other writer, so there must be no conflict.
/// Returns errors; empty: none.
Words wrong_after_edits(FaultWorld& world);

}  // namespace ws::test

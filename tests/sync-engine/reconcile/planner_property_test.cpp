// The laws of `sync.md`, "Invariants", on random worlds: what the planner plans is simulated, and asked about.
// `WS_CASES` plays more of them, `WS_SEED` others, `WS_THREADS` several at once; what fails is shrunk and drawn.
#include <algorithm>
#include <cstdint>
#include <exception>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include "sync-engine/reconcile/guard.hpp"
#include "sync-engine/reconcile/reconcile.hpp"
#include "tests/support/random_cases.hpp"
#include "tests/sync-engine/reconcile/planner_cases.hpp"
#include "tests/sync-engine/reconcile/planner_simulation.hpp"

namespace ws::sync {
namespace {

using test::local_of;
using test::remote_of;
using test::script_of;
using test::simulate;
using test::Simulated;
using test::tree_here;
using test::tree_there;
using test::World;
using test::WorldScript;
using ws::test::number_from_environment;

constexpr std::size_t max_bytes = 60;

Plan plan_of(const World& world) {
  return reconcile(world.base, local_of(world), remote_of(world), {.allow_deletes = true});
}

bool changed_here(const World& world) {
  std::map<std::string, Sha256> agreed;
  for (const auto& [id, entry] : world.base.documents) agreed[entry.path.string()] = entry.hash;
  return !world.ignored.empty() || tree_here(world) != agreed;
}

bool changed_there(const World& world) {
  const RemoteTree remote = remote_of(world);
  return !remote.changed.empty() || !remote.gone.empty() || !remote.refused.empty();
}

std::string no_text_is_lost(const World& before, const World& after, const Simulated& done) {
  std::set<Sha256> kept = texts_of(after);
  kept.insert(done.history.begin(), done.history.end());
  for (const Sha256& hash : texts_of(before)) {
    if (!kept.contains(hash)) return "I1: a text is lost";
  }
  return {};
}

/// Files saved anew as they were, documents with a new revision of the same text: nothing that a row could say.
std::string a_touch_is_no_change(const World& world, const Plan& plan) {
  if (changed_here(world)) return {};
  for (const auto& [id, document] : world.remote) {
    const auto base = world.base.documents.find(id);
    if (base == world.base.documents.end() && document.gone) continue;
    if (base == world.base.documents.end() || document.gone) return {};
    if (base->second.path.text() != document.path || base->second.hash != document.hash) return {};
  }
  return plan.actions.empty() && plan.conflicts.empty() ? "" : "a touch is taken for a change";
}

/// A second look at the same world, before the guard is confirmed: the same is foreseen, and the guard counts it.
std::string foreseen_is_done(const World& world, const Plan& plan) {
  Plan foreseen = reconcile(world.base, local_of(world), remote_of(world));
  if (foreseen.guard != guard_of(plan, world.base.documents.size(), 0))
    return "I11: the guard is not what the plan says";
  foreseen.guard = plan.guard;
  return foreseen == plan ? "" : "I10: what is done is not what was foreseen";
}

/// Three rounds, the first of which was done.
std::string comes_to_rest(World& world) {
  for (int round = 0; round < 2; ++round) {
    const Simulated again = simulate(world, plan_of(world));
    if (!again.wrong.empty()) return "a later plan cannot be done: " + again.wrong;
  }
  return plan_of(world).actions.empty() ? "" : "I4: three rounds do not come to rest";
}

std::string one_side_does_not_conflict(const World& world, const Plan& plan) {
  if (!changed_here(world) && !plan.conflicts.empty()) return "I5: only the service changed, and it is a conflict";
  // What is hidden may be in the way of what is made here, and is somebody's to choose.
  if (changed_there(world) || !plan.detached.empty() || plan.conflicts.empty()) return {};
  return "I5: only the folder changed, and it is a conflict";
}

/// What is hidden here, known or not, is neither written nor taken for deleted.
std::string hidden_is_untouched(const World& world, const Plan& plan) {
  for (const auto& [document, skip_reason] : local_of(world).unsyncable) {
    for (const Action& action : plan.actions) {
      if (action.document == document) return "I12: a document that is hidden here is touched";
    }
  }
  for (const Action& action : plan.actions) {
    if (world.ignored.contains(action.path.string()) && world.local.contains(action.path.string()))
      return "I12: a hidden file is touched: " + action.path.string();
  }
  return {};
}

/// A conflict has the sides of its case, and what a commit is to refuse can be pushed.
std::string sides_fit_the_case(const Plan& plan) {
  for (const Conflict& conflict : plan.conflicts) {
    const ConflictCaseRow& row = conflict.row();
    const bool local = conflict.local.has_value();
    const bool remote = conflict.remote.has_value();
    const bool fits = row.sides == ConflictSides::either || (row.sides == ConflictSides::both && local && remote) ||
                      (row.sides == ConflictSides::local && local && !remote) ||
                      (row.sides == ConflictSides::remote && !local && remote);
    const bool can_be_pushed = !row.pushed_as || (local && (conflict.base || row.pushed_as == ActionKind::push_create));
    if (!fits || !can_be_pushed) return "a conflict has other sides than its case: " + std::string(row.word);
  }
  return {};
}

/// An action has the members of its kind.
std::string members_fit_the_kind(const Plan& plan) {
  const auto fits = [](Presence expected, bool is_there) {
    return expected == Presence::maybe || is_there == (expected == Presence::always);
  };
  for (const Action& action : plan.actions) {
    const ActionKindRow& row = row_of(action.kind);
    if (!fits(row.document, !action.document.empty()) || !fits(row.previous_path, action.previous_path.has_value()) ||
        !fits(row.service_path, action.service_path.has_value()) || !fits(row.seen, action.seen.has_value()) ||
        !fits(row.result, action.result.has_value())) {
      return "an action has other members than its kind: " + std::string(row.word);
    }
  }
  return {};
}

/// The same plan in another order leads to the same world.
std::string order_is_free(const World& before, const Plan& plan, const World& after) {
  Plan turned = plan;
  std::reverse(turned.actions.begin(), turned.actions.end());
  // The rows of one document stay in their order: its move comes before its edit.
  std::stable_sort(turned.actions.begin(), turned.actions.end(), [](const Action& a, const Action& b) {
    return a.document == b.document && a.kind == ActionKind::pull_move && b.kind != ActionKind::pull_move;
  });
  World other = before;
  const Simulated done = simulate(other, turned);
  if (!done.wrong.empty()) return "I8: in another order it cannot be done: " + done.wrong;
  const bool same = tree_here(other) == tree_here(after) && tree_there(other) == tree_there(after);
  return same ? "" : "I8: in another order it ends otherwise";
}

std::string broken_law(const WorldScript& script) {
  const World before = test::make_world(script);
  const Plan plan = plan_of(before);
  World world = before;
  const Simulated done = simulate(world, plan);
  if (!done.wrong.empty()) return "the plan cannot be done: " + done.wrong;
  for (std::string wrong : {no_text_is_lost(before, world, done),
                            one_side_does_not_conflict(before, plan),
                            hidden_is_untouched(before, plan),
                            sides_fit_the_case(plan),
                            members_fit_the_kind(plan),
                            a_touch_is_no_change(before, plan),
                            foreseen_is_done(before, plan),
                            order_is_free(before, plan, world)}) {
    if (!wrong.empty()) return wrong;
  }
  const bool open =
      !plan.conflicts.empty() || !plan.skipped.empty() || !plan.detached.empty() || !before.ignored.empty();
  if (!open && tree_here(world) != tree_there(world)) return "I2: the sides differ and no conflict says so";
  if (!open && !plan_of(world).empty()) return "I3: a second run has something to do";
  return comes_to_rest(world);
}

/// Empty: every law held.
std::string violation(const WorldScript& script) {
  try {
    return broken_law(script);
  } catch (const std::exception& error) {
    return std::string("exception: ") + error.what();
  }
}

/// The script with every byte left out, or made 0, that the violation does not need.
WorldScript smallest_world(WorldScript script) {
  const auto fails = [](const WorldScript& fewer) { return !violation(fewer).empty(); };
  script = ws::test::smallest(std::move(script), fails);
  for (std::uint8_t& byte : script) {
    const std::uint8_t was = std::exchange(byte, std::uint8_t{0});
    if (!fails(script)) byte = was;
  }
  return script;
}

void tell_violation(std::uint64_t seed) {
  const WorldScript script = smallest_world(script_of(seed, max_bytes));
  const World world = test::make_world(script);
  FAIL("WS_SEED=" << seed << " WS_CASES=1: " << violation(script) << "\n" << render(world, plan_of(world)));
}

}  // namespace

TEST_CASE("planner: random worlds converge, lose nothing and stay in step", "[sync-engine][property]") {
  const auto broken =
      test::first_failure(number_from_environment("WS_SEED", 20261120),
                          number_from_environment("WS_CASES", 200'000),
                          [](std::uint64_t seed) { return !violation(script_of(seed, max_bytes)).empty(); });
  if (broken) tell_violation(*broken);
}

TEST_CASE("planner: RapidCheck finds no world that breaks a law", "[sync-engine][property]") {
  CHECK(rc::check([](const WorldScript& script) {
    const std::string broken = violation(script);
    if (!broken.empty()) RC_LOG() << broken;
    RC_ASSERT(broken.empty());
  }));
}

TEST_CASE("planner: the guard counts as promised", "[sync-engine]") {
  const auto deletes = [](std::size_t tracked, std::size_t deleted) {
    Plan plan;
    for (std::size_t i = 0; i < deleted; ++i) {
      plan.actions.push_back({.kind = ActionKind::push_delete, .path = *RelativePath::parse("n" + std::to_string(i))});
    }
    return guard_of(plan, tracked, 0).has_value();
  };
  CHECK_FALSE(deletes(1, 1));
  CHECK(deletes(2, 2));
  CHECK_FALSE(deletes(3, 2));
  CHECK(deletes(3, 3));
  CHECK_FALSE(deletes(4, 2));  // half is not more than half
  CHECK(deletes(4, 3));
  CHECK(deletes(12, 9));
  CHECK_FALSE(deletes(20, 10));
  CHECK(deletes(20, 11));
  CHECK_FALSE(deletes(44, 11));  // a quarter is not more than a quarter
  CHECK(deletes(43, 11));
  CHECK_FALSE(deletes(1000, 250));
  CHECK(deletes(1000, 251));
}

}  // namespace ws::sync

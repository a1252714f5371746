// The guards against mass deletion and against growth.
#include "sync-engine/reconcile/guard.hpp"

#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "tests/support/random_cases.hpp"

using namespace ws;
using namespace ws::sync;

namespace {

Action action_of(ActionKind kind, bool is_file, const std::string& text = "text") {
  const bool is_delete = kind == ActionKind::pull_delete || kind == ActionKind::push_delete;
  Action action{.kind = kind, .path = *RelativePath::parse("a"), .attachment = is_file};
  if (!is_delete) action.result = Sha256::of(text);
  return action;
}

Guard lost(ActionKind kind, bool is_file, std::size_t count, std::size_t notes, std::size_t files) {
  Guard guard{.tracked = notes, .files_tracked = files};
  for (std::size_t i = 0; i < count; ++i) count_loss(action_of(kind, is_file, ""), guard);
  return guard;
}

}  // namespace

TEST_CASE("guard: files beside the notes are weighed by themselves, by every clause, on either side", "[sync-engine]") {
  const ActionKind kind = GENERATE(ActionKind::pull_delete, ActionKind::push_delete);
  const auto stops = [&](std::size_t count, std::size_t files, std::size_t notes = 1'000) {
    return needs_confirmation(lost(kind, true, count, notes, files));
  };
  CHECK(stops(10, 10));
  CHECK(stops(4, 4));
  CHECK(stops(3, 4));
  CHECK_FALSE(stops(2, 4));
  CHECK_FALSE(stops(3, 3));  // of less than four
  CHECK_FALSE(stops(1, 1));
  CHECK(stops(11, 40));
  CHECK_FALSE(stops(11, 44));
  CHECK_FALSE(stops(10, 20));
  CHECK(stops(3, 3, 1));  // most of all that there is
  CHECK(stops(2, 2, 0));
}

TEST_CASE("guard: notes are weighed by themselves, however many files there are", "[sync-engine]") {
  const ActionKind kind =
      GENERATE(ActionKind::pull_delete, ActionKind::push_delete, ActionKind::pull_update, ActionKind::push_update);
  const auto stops = [&](std::size_t count, std::size_t notes) {
    return needs_confirmation(lost(kind, false, count, notes, 1'000));
  };
  CHECK(stops(2, 2));
  CHECK_FALSE(stops(2, 3));
  CHECK(stops(3, 4));
  CHECK(stops(11, 43));
  CHECK_FALSE(stops(11, 44));
}

TEST_CASE("guard: what neither notes nor files lose by themselves is weighed together", "[sync-engine]") {
  Guard guard{.deletes_here = 6, .tracked = 23, .files_deleted_here = 6, .files_tracked = 24};
  CHECK(needs_confirmation(guard));
  guard.files_tracked = 26;
  CHECK_FALSE(needs_confirmation(guard));
  // One side's losses are no other side's.
  CHECK_FALSE(needs_confirmation({.deletes_here = 6, .tracked = 23, .files_deleted_there = 6, .files_tracked = 24}));
}

TEST_CASE("guard: a file that went with its last link is weighed with the notes only", "[sync-engine]") {
  Guard guard{.tracked = 30, .files_deleted_there = 4, .files_unlinked_there = 4, .files_tracked = 4};
  CHECK_FALSE(needs_confirmation(guard));
  guard.files_unlinked_there = 0;
  CHECK(needs_confirmation(guard));
  CHECK(needs_confirmation(
      {.deletes_there = 8, .tracked = 30, .files_deleted_there = 4, .files_unlinked_there = 4, .files_tracked = 4}));
}

TEST_CASE("guard: what only comes here is weighed by what it takes away here", "[sync-engine]") {
  Plan plan;
  for (int i = 0; i < 5; ++i) plan.actions.push_back(action_of(ActionKind::push_delete, false));
  plan.actions.push_back(action_of(ActionKind::pull_delete, false));
  CHECK(guard_of(plan, 6, 0));
  CHECK_FALSE(guard_of(plan, 6, 0, Half::here));
  CHECK(guard_of(plan, 6, 6, Half::here));
}

TEST_CASE("guard: an empty listing, another source and missing documents need a confirmation", "[sync-engine]") {
  CHECK(needs_confirmation({.tracked = 100, .empty_listing = true}));
  CHECK(needs_confirmation({.tracked = 100, .foreign_source = true}));
  CHECK(needs_confirmation({.absent = 3, .tracked = 4}));
  CHECK_FALSE(needs_confirmation(Guard{.tracked = 4}));
}

TEST_CASE("guard: files are never treated more lightly than notes, but where there are fewer than four",
          "[sync-engine]") {
  std::mt19937_64 random(test::number_from_environment("WS_SEED", 7));
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t tracked = random() % 60 + 4;
    const std::size_t count = random() % (tracked + 1);
    const bool of_files = needs_confirmation(lost(ActionKind::push_delete, true, count, 100'000, tracked));
    const bool of_notes = needs_confirmation(lost(ActionKind::push_delete, false, count, tracked, 100'000));
    CAPTURE(tracked, count);
    REQUIRE(of_files == of_notes);
    const bool more = needs_confirmation(lost(ActionKind::push_delete, true, count + 1, 100'000, tracked));
    REQUIRE((!of_files || more));  // losing more is never less of a loss
  }
}

TEST_CASE("guard: files that would be received are weighed by number, size, copies and the disk", "[sync-engine]") {
  constexpr std::uint64_t mib = 1U << 20U;
  const auto stops = [](Arrivals arrivals) { return needs_confirmation(arrivals); };
  const Arrivals few{.files = 3, .bytes = 3 * mib, .distinct_bytes = mib, .free_bytes = 10'000 * mib};
  CHECK_FALSE(stops(few));
  Arrivals copies{.files = 150, .bytes = 300 * mib, .distinct_bytes = 2 * mib, .free_bytes = 10'000 * mib};
  CHECK(stops(copies));
  copies.distinct_bytes = 3 * mib;
  CHECK_FALSE(stops(copies));
  CHECK_FALSE(stops({.files = 256, .bytes = 256 * mib, .distinct_bytes = mib, .free_bytes = 10'000 * mib}));
  Arrivals large{.files = 30, .bytes = 2049 * mib, .distinct_bytes = 2049 * mib, .free_bytes = 100'000 * mib};
  CHECK(stops(large));
  Arrivals many{.files = 10'001, .bytes = mib, .distinct_bytes = mib, .free_bytes = 10'000 * mib};
  CHECK(stops(many));
  Arrivals tight{.files = 3, .bytes = 51 * mib, .distinct_bytes = 51 * mib, .free_bytes = 100 * mib};
  CHECK(stops(tight));
  for (Arrivals* arrivals : {&copies, &large, &many, &tight}) arrivals->is_first = true;
  CHECK_FALSE(stops(large));
  CHECK_FALSE(stops(many));
  CHECK(stops(tight));
}

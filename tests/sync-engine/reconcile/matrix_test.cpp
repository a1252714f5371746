#include "tests/sync-engine/reconcile/matrix.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "sync-engine/reconcile/reconcile.hpp"
#include "tests/sync-engine/support/paths.hpp"

namespace ws::sync::test {
namespace {

/// The ids of the table in `sync.md`; ours may add variants of a row after a space or with `=`.
const std::set<std::string> ids_of_the_table = {"UU", "UE", "UD",  "UM",   "UC", "UT", "EU", "EE=", "EE",  "ED",
                                                "EM", "EC", "ET",  "DU",   "DE", "DD", "DM", "DC",  "DT",  "MU",
                                                "ME", "MD", "MM=", "MM=E", "MM", "MC", "MT", "CU",  "CC=", "CC",
                                                "CM", "CT", "TU",  "TL",   "TE", "TD", "TM", "TT"};

/// Reasons are for people; one document cannot be "all of two or more", so the guard has no part in it.
Plan comparable(Plan plan) {
  for (Action& action : plan.actions) action.reason = {};
  plan.guard.reset();
  return plan;
}

std::string render(const Plan& plan) {
  std::string out;
  const auto add = [&](auto... words) { ((out += std::string(words) + " "), ...); };
  for (const Action& action : plan.actions) {
    add(name(action.kind), action.path.text(), action.document.text(), std::to_string(action.revision.number));
    add(action.seen ? action.seen->hex().substr(0, 6) : "-", action.result ? action.result->hex().substr(0, 6) : "-");
    add(action.previous_path ? action.previous_path->text() : "", "\n");
  }
  for (const Conflict& conflict : plan.conflicts) {
    add("conflict", conflict.row().word, conflict.path.text(), conflict.document.text());
    add(conflict.base ? "base" : "-", conflict.local ? "local" : "-", conflict.remote ? "remote" : "-", "\n");
  }
  for (const Settled& settled : plan.settled)
    add("settled", settled.document.text(), settled.base ? "base" : "-", "\n");
  for (const Detached& each : plan.detached) add("detached", each.path.text(), each.reason, "\n");
  for (const Skipped& each : plan.skipped) add("skipped", each.path, name(each.reason), "\n");
  return out;
}

}  // namespace

TEST_CASE("matrix: every row of the table follows, and no pending row has been done in silence", "[sync-engine]") {
  for (const MatrixRow& row : matrix()) {
    const Plan plan = comparable(reconcile(row.base, row.local, row.remote, row.options));
    const Plan expected = comparable(row.expected);
    INFO(row.id << ": " << row.here << " | " << row.there);
    INFO("planned\n" << render(plan) << "expected\n" << render(expected));
    if (row.status == Status::done) {
      CHECK(plan == expected);
    } else {
      INFO("this row is marked pending and passes: mark it done");
      CHECK_FALSE(plan == expected);
    }
  }
}

TEST_CASE("matrix: every row of the table is there", "[sync-engine]") {
  std::set<std::string> seen;
  for (const MatrixRow& row : matrix()) {
    CHECK(seen.insert(std::string(row.id)).second);
  }
  for (const std::string& id : ids_of_the_table) {
    INFO(id);
    CHECK(seen.contains(id));
  }
}

TEST_CASE("matrix: a pending row loses nothing meanwhile: it is a conflict, and no file is touched", "[sync-engine]") {
  for (const MatrixRow& row : matrix()) {
    if (row.status == Status::done) continue;
    const Plan plan = reconcile(row.base, row.local, row.remote, row.options);
    INFO(row.id << "\n" << render(plan));
    CHECK_FALSE(plan.conflicts.empty());
    for (const Action& action : plan.actions) {
      CHECK(action.kind != ActionKind::pull_delete);
      CHECK(action.kind != ActionKind::push_delete);
      // Nothing is written where a file stands.
      if (is_pull(action.kind)) CHECK_FALSE(action.seen);
    }
  }
}

TEST_CASE("reconcile: below a folder that cannot be read a new document is no conflict, in the place of a file it is",
          "[sync-engine]") {
  const RemoteTree remote{
      .changed = {{DocumentId{"1"}, {.path = path("d/new.md"), .hash = Sha256::of("new"), .revision = {1}}}}};
  const auto planned = [&](const std::string& skipped, SkipReason reason) {
    const LocalTree local{.skipped = {{.path = skipped, .reason = reason}}};
    return reconcile({}, local, remote, {});
  };
  const Plan plan = planned("d", SkipReason::unreadable);
  CHECK(plan.conflicts.empty());
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].kind == ActionKind::pull_create);
  CHECK(plan.actions[0].path == path("d/new.md"));
  CHECK(planned("d", SkipReason::symlink).conflicts.size() == 1);
  CHECK(planned("d/new.md", SkipReason::unreadable).conflicts.size() == 1);
}

TEST_CASE("reconcile: a known document that comes to the twin of a new file's name is a path clash, not left out",
          "[sync-engine]") {
  const auto at = [](std::string_view place, std::string_view text, std::uint64_t revision) {
    return Entry{.path = path(place), .hash = Sha256::of(text), .revision = {revision}};
  };
  const DocumentId n{"n"};
  const DocumentId k{"k"};
  const BaseTree base{.documents = {{n, at("n.md", "n", 1)}, {k, at("k.md", "k", 1)}}};
  // Renamed in case here; archived there, where the other took its name.
  const LocalTree local{.tracked = {{n, at("N.md", "n", 0)}, {k, at("k.md", "k", 0)}}};
  const RemoteTree remote{.changed = {{k, at("n.md", "k", 2)}}, .gone = {{n, DocumentRevision{2}}}};
  const Plan plan = reconcile(base, local, remote, {});
  CHECK(plan.skipped.empty());
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].kind == ActionKind::pull_move);
  CHECK(plan.actions[0].path == path("n (remote).md"));
  CHECK(plan.actions[0].service_path == path("n.md"));
  REQUIRE(plan.conflicts.size() == 1);
  CHECK(plan.conflicts[0].kind() == ConflictKind::path);
  CHECK(plan.conflicts[0].path == path("N.md"));
}

TEST_CASE("reconcile: a file that lay beside its place and went there by itself is no rename", "[sync-engine]") {
  const DocumentId n{"n"};
  const Entry known{.path = path("n.md"), .hash = Sha256::of("n"), .revision = {1}};
  const BaseTree base{.documents = {{n, known}}, .displaced_to = {{n, path("n (remote).md")}}};
  const Plan plan = reconcile(base, {.tracked = {{n, {.path = path("n.md"), .hash = Sha256::of("n")}}}}, {}, {});
  CHECK(plan.actions.empty());
  CHECK(plan.settled == std::vector{Settled{.document = n, .base = known}});
  const Plan edited = reconcile(base, {.tracked = {{n, {.path = path("n.md"), .hash = Sha256::of("e")}}}}, {}, {});
  REQUIRE(edited.actions.size() == 1);
  CHECK(edited.actions[0].kind == ActionKind::push_update);
}

}  // namespace ws::sync::test

// Every kind of conflict, each way to decide it: the tree converges, and the text that loses is in the history.
#include <algorithm>
#include <filesystem>
#include <functional>

#include <catch2/catch.hpp>

#include "sync-engine/engine.hpp"
#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

using test::FakeRemote;
using test::lines;
using test::Lines;
using test::SyncedFolder;
using test::Tree;

void rename_here(const SyncedFolder& folder, const std::string& from, const std::string& to) {
  std::filesystem::rename(folder.path() / from, folder.path() / to);
}

/// A folder in step, with `a.md` ("old") and a second document, so that no guard is met.
struct SyncedPair {
  FakeRemote remote;
  SyncedFolder here{remote};
  SyncedPair() {
    here.write("a.md", "old\n");
    here.write("other.md", "other\n");
    here.run();
  }
};

bool is_kept(const SyncedFolder& folder, const std::string& text) {
  auto history = git::Repository::open(folder.path() / ".ws" / "history.git");
  REQUIRE(history);
  return history->read_blob(git::object_id(git::ObjectType::blob, text)).has_value();
}

struct Decided {
  const char* row;
  std::function<void(SyncedPair&)> both_change;
  ConflictKind kind;
  bool here_only;
  Keep keep;
  Tree expected;  ///< on both sides, `other.md` left out
};

void edit_both(SyncedPair& pair) {
  pair.here.write("a.md", "mine\n");
  pair.remote.edit("a.md", "theirs\n");
}
void create_both(SyncedPair& pair) {
  pair.here.write("p.md", "mine\n");
  pair.remote.create("p.md", "theirs\n");
}
void edit_archived(SyncedPair& pair) {
  pair.here.write("a.md", "mine\n");
  pair.remote.archive("a.md");
}
void rename_edit_archived(SyncedPair& pair) {
  rename_here(pair.here, "a.md", "q.md");
  pair.here.write("q.md", "mine\n");
  pair.remote.archive("a.md");
}
void edit_replaced(SyncedPair& pair) {
  edit_archived(pair);
  pair.remote.create("a.md", "theirs\n");
}
void rename_onto_new(SyncedPair& pair) {
  rename_here(pair.here, "a.md", "q.md");
  pair.remote.create("q.md", "theirs\n");
}
void create_where_moved(SyncedPair& pair) {
  pair.here.write("p.md", "mine\n");
  pair.remote.move("a.md", "p.md");
}
void create_where_folder(SyncedPair& pair) {
  pair.here.write("p.md", "mine\n");
  pair.remote.create("p.md/x.md", "x\n");
  pair.remote.create("p.md/y.md", "y\n");
}
void rename_and_folder(SyncedPair& pair) {
  rename_here(pair.here, "a.md", "q.md");
  pair.remote.archive("a.md");
  pair.remote.create("a.md/x.md", "x\n");
}
void rename_both(SyncedPair& pair) {
  rename_here(pair.here, "a.md", "q.md");
  pair.remote.move("a.md", "r.md");
}
void rename_both_edit_there(SyncedPair& pair) {
  rename_both(pair);
  pair.remote.edit("r.md", "theirs\n");
}
void folder_and_edit(SyncedPair& pair) {
  pair.here.remove("a.md");
  pair.here.write("a.md/x.md", "x\n");
  pair.remote.edit("a.md", "theirs\n");
}

std::vector<Decided> text_rows() {
  using enum ConflictKind;
  return {
      {"EE", edit_both, revision, false, Keep::local, {{"a.md", "mine\n"}}},
      {"EE", edit_both, revision, false, Keep::remote, {{"a.md", "theirs\n"}}},
      {"EE", edit_both, revision, false, Keep::both, {{"a.md", "theirs\n"}, {"a (local).md", "mine\n"}}},
      {"CC", create_both, hash, false, Keep::local, {{"a.md", "old\n"}, {"p.md", "mine\n"}}},
      {"CC", create_both, hash, false, Keep::remote, {{"a.md", "old\n"}, {"p.md", "theirs\n"}}},
      {"CC",
       create_both,
       hash,
       false,
       Keep::both,
       {{"a.md", "old\n"}, {"p.md", "theirs\n"}, {"p (local).md", "mine\n"}}},
      {"ED", edit_archived, edit_delete, false, Keep::local, {{"a.md", "mine\n"}}},
      {"ED", edit_archived, edit_delete, false, Keep::remote, {}},
      {"MD", rename_edit_archived, edit_delete, false, Keep::local, {{"q.md", "mine\n"}}},
      {"MD", rename_edit_archived, edit_delete, false, Keep::remote, {}},
  };
}

std::vector<Decided> place_rows() {
  using enum ConflictKind;
  const Tree ec_there = {{"a.md", "theirs\n"}, {"a (local).md", "mine\n"}};
  const Tree mc_there = {{"q.md", "theirs\n"}, {"q (local).md", "old\n"}};
  const Tree cm_there = {{"p.md", "old\n"}, {"p (local).md", "mine\n"}};
  const Tree ct_there = {{"a.md", "old\n"}, {"p.md/x.md", "x\n"}, {"p.md/y.md", "y\n"}, {"p (local).md", "mine\n"}};
  return {
      {"EC", edit_replaced, path, false, Keep::local, {{"a.md", "mine\n"}, {"a (remote).md", "theirs\n"}}},
      {"EC", edit_replaced, path, false, Keep::remote, ec_there},
      {"EC", edit_replaced, path, false, Keep::both, ec_there},
      {"MC", rename_onto_new, path, false, Keep::local, {{"q.md", "old\n"}, {"q (remote).md", "theirs\n"}}},
      {"MC", rename_onto_new, path, false, Keep::remote, mc_there},
      {"MC", rename_onto_new, path, false, Keep::both, mc_there},
      {"CM", create_where_moved, path, false, Keep::local, {{"p.md", "mine\n"}, {"p (remote).md", "old\n"}}},
      {"CM", create_where_moved, path, false, Keep::remote, cm_there},
      {"CM", create_where_moved, path, false, Keep::both, cm_there},
      {"CT",
       create_where_folder,
       path,
       true,
       Keep::local,
       {{"a.md", "old\n"}, {"p.md", "mine\n"}, {"p (remote).md/x.md", "x\n"}, {"p (remote).md/y.md", "y\n"}}},
      {"CT", create_where_folder, path, true, Keep::remote, ct_there},
      {"CT", create_where_folder, path, true, Keep::both, ct_there},
      {"MT", rename_and_folder, path, true, Keep::local, {{"q.md", "old\n"}, {"a.md/x.md", "x\n"}}},
      {"MT", rename_and_folder, path, true, Keep::remote, {{"a.md/x.md", "x\n"}}},
      {"MM", rename_both, path, false, Keep::local, {{"q.md", "old\n"}}},
      {"MM", rename_both, path, false, Keep::remote, {{"r.md", "old\n"}}},
      {"MM E", rename_both_edit_there, path, false, Keep::local, {{"q.md", "theirs\n"}}},
      {"MM E", rename_both_edit_there, path, false, Keep::remote, {{"r.md", "theirs\n"}}},
      {"TE", folder_and_edit, revision, true, Keep::local, {{"a.md/x.md", "x\n"}}},
      {"TE", folder_and_edit, revision, true, Keep::remote, {{"a.md/x.md", "x\n"}, {"a (remote).md", "theirs\n"}}},
      {"TE", folder_and_edit, revision, true, Keep::both, {{"a.md/x.md", "x\n"}, {"a (remote).md", "theirs\n"}}},
  };
}

std::vector<Decided> all_rows() {
  std::vector<Decided> rows = text_rows();
  for (Decided& row : place_rows()) rows.push_back(std::move(row));
  return rows;
}

Conflict only_conflict(SyncedPair& pair) {
  const auto open = pair.here.engine().conflicts();
  REQUIRE(open);
  REQUIRE(open->size() == 1);
  return open->front();
}

void check_in_step(SyncedPair& pair, Tree expected) {
  expected.emplace("other.md", "other\n");
  CHECK(pair.here.tree() == expected);
  CHECK(pair.remote.tree() == expected);
  const Report again = pair.here.run();
  CAPTURE(lines(again));
  CHECK(again.rows.empty());
  CHECK(again.conflicts.empty());
}

}  // namespace

TEST_CASE("conflicts: every kind, kept either way, converges and loses no text", "[sync-engine]") {
  for (const Decided& row : all_rows()) {
    INFO(row.row << " keep " << static_cast<int>(row.keep));
    SyncedPair pair;
    row.both_change(pair);
    const Tree disk = pair.here.tree();
    const Report met = pair.here.run();
    CAPTURE(lines(met));
    CHECK_FALSE(met.clean);
    const auto open = pair.here.engine().conflicts();
    REQUIRE(open);
    REQUIRE_FALSE(open->empty());
    for (const Conflict& conflict : *open) {
      // Files beneath a place that is in dispute may wait as conflicts of their own.
      const bool waits = conflict.path.text().find('/') != std::string_view::npos;
      CHECK((conflict.kind() == row.kind || waits));
      CHECK(conflict.is_here_only() == row.here_only);
      CHECK_FALSE(conflict.id.empty());
      CHECK(std::filesystem::is_directory(pair.here.path() / ".ws" / "conflicts" / conflict.id));
    }
    // What stays open is the same conflict in the next run.
    const Report again = pair.here.run();
    CAPTURE(lines(again));
    CHECK(pair.here.engine().conflicts() == *open);
    for (const Conflict& conflict : *open) {
      const auto decided = pair.here.engine().resolve(conflict, row.keep);
      if (!decided) FAIL(decided.error().what);
    }
    const Report after = pair.here.run();
    CAPTURE(lines(after));
    CHECK(after.clean);
    check_in_step(pair, row.expected);
    for (const auto& [path, text] : disk) {
      CAPTURE(path);
      CHECK(is_kept(pair.here, text));
    }
  }
}

TEST_CASE("conflicts: --on-conflict decides names too, in the same run", "[sync-engine]") {
  for (const Decided& row : all_rows()) {
    if (row.keep == Keep::merged) continue;
    INFO(row.row << " on-conflict " << static_cast<int>(row.keep));
    SyncedPair pair;
    row.both_change(pair);
    const Report met = pair.here.run({.on_conflict = row.keep});
    CAPTURE(lines(met));
    CHECK(met.conflicts.empty());
    check_in_step(pair, row.expected);
  }
}

TEST_CASE("conflicts: --on-conflict says what became of each file, and what would", "[sync-engine]") {
  const auto [how, expected] =
      GENERATE(table<Keep, Lines>({{Keep::local, {"push_update a.md", "push_create gone.md", "push_update new.md"}},
                                   {Keep::remote, {"pull_update a.md", "pull_delete gone.md", "pull_update new.md"}}}));
  SyncedPair pair;
  pair.here.write("gone.md", "old\n");
  pair.here.run();
  edit_both(pair);
  pair.here.write("gone.md", "mine\n");
  pair.remote.archive("gone.md");
  pair.here.write("new.md", "mine\n");
  pair.remote.create("new.md", "theirs\n");
  SECTION("texts alone") {
    CHECK(lines(pair.here.status({.on_conflict = how})) == expected);
    const Report report = pair.here.run({.on_conflict = how});
    CHECK(lines(report) == expected);
    CHECK(report.clean);
  }
  SECTION("and a name, which takes a second plan") {
    pair.here.write("two.md", "two\n");
    pair.here.run();
    rename_here(pair.here, "two.md", "mine.md");
    pair.remote.move("two.md", "theirs.md");
    const Report report = pair.here.run({.on_conflict = how});
    Lines all = expected;
    all.emplace_back(how == Keep::local ? "push_move mine.md" : "pull_move theirs.md");
    Lines met = lines(report);
    std::sort(met.begin(), met.end());
    std::sort(all.begin(), all.end());
    CHECK(report.clean);
    CHECK(met == all);
  }
}

TEST_CASE("conflicts: what --on-conflict cannot settle stays open, and is told", "[sync-engine]") {
  const Keep how = GENERATE(Keep::local, Keep::remote, Keep::both);
  CAPTURE(how);
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("X.md", "one\ntwo\nthree\n");
  here.write("d/z.md", "zzz\n");
  here.run();
  std::filesystem::rename(here.path() / "d/z.md", here.path() / "X.md");
  remote.move("X.md", "x.md");
  remote.edit("x.md", "one\ntwo\nthree, there\n");
  for (int run = 0; run < 3; ++run) {
    const Report report = here.run({.on_conflict = how});
    CAPTURE(run, lines(report));
    CHECK(report.clean == here.status().clean);
    CHECK(report.clean == report.conflicts.empty());
  }
}

TEST_CASE("conflicts: a new document at the place that a conflicting file left is nobody else's", "[sync-engine]") {
  SyncedPair pair;
  auto& [remote, here] = pair;
  const std::string text = "one\ntwo\nthree\nfour\n";
  here.write("d/a.md", text);
  here.run();
  remote.archive("d/a.md");
  std::filesystem::rename(here.path() / "d/a.md", here.path() / "d.md");
  here.write("d.md", text + "five\n");
  REQUIRE(lines(here.run()) == Lines{"conflict d.md"});
  remote.create("d/a.md", "alpha\nbeta\n");
  CHECK(lines(here.run()) == Lines{"conflict d.md", "pull_create d/a.md"});
  for (int round = 0; round < 2; ++round) CHECK(lines(here.run()) == Lines{"conflict d.md"});
  here.write("d/a.md", "alpha\nbeta\ngamma\n");
  CHECK(lines(here.run()) == Lines{"conflict d.md", "push_update d/a.md"});
  CHECK(remote.text_at("d/a.md") == "alpha\nbeta\ngamma\n");
  CHECK(here.read("d.md") == text + "five\n");
}

TEST_CASE("conflicts: a new note waits for the place that one in conflict left, until its text is decided",
          "[sync-engine]") {
  const Keep keep = GENERATE(Keep::local, Keep::remote);
  CAPTURE(keep == Keep::local);
  SyncedPair pair;
  SyncedFolder& here = pair.here;
  edit_both(pair);
  REQUIRE(lines(here.run()) == Lines{"conflict a.md"});
  rename_here(here, "a.md", "b.md");
  here.write("a.md", "another\n");
  here.run();
  const Conflict open = only_conflict(pair);
  CHECK(open.path.text() == "b.md");
  const std::filesystem::path base = here.path() / ".ws" / "conflicts" / open.id / "base.md";
  const auto told = [&] { return std::pair(std::filesystem::last_write_time(base), here.read(".ws/state.db")); };
  const auto before = told();
  for (int run = 0; run < 2; ++run) {
    CHECK(lines(here.run()) == Lines{"conflict b.md"});
    CHECK(told() == before);
  }
  CHECK(here.read("a.md") == "another\n");
  REQUIRE(here.engine().resolve(open, keep));
  CHECK(here.run().clean);
  check_in_step(pair, {{"a.md", "another\n"}, {"b.md", keep == Keep::local ? "mine\n" : "theirs\n"}});
}

TEST_CASE("conflicts: one document with two names cannot keep both, and a name is not merged", "[sync-engine]") {
  SyncedPair pair;
  rename_both(pair);
  pair.here.run();
  const Conflict conflict = only_conflict(pair);
  const auto both = pair.here.engine().resolve(conflict, Keep::both);
  REQUIRE_FALSE(both);
  CHECK(both.error().kind == Failure::Kind::usage);
  const auto merged = pair.here.engine().resolve(conflict, Keep::merged, "text\n");
  REQUIRE_FALSE(merged);
  CHECK(merged.error().kind == Failure::Kind::usage);
  CHECK(pair.here.engine().conflicts()->size() == 1);
}

TEST_CASE("conflicts: a decision that finds its place taken holds, and the two that meet there are told",
          "[sync-engine]") {
  SyncedPair pair;
  rename_both(pair);
  pair.here.run();
  pair.here.write("r.md", "in the way\n");
  REQUIRE(pair.here.engine().resolve(only_conflict(pair), Keep::remote));
  CHECK(pair.here.read("q.md") == "old\n");
  CHECK(pair.here.read("r.md") == "in the way\n");
  pair.here.run();
  CHECK(pair.here.read("r.md") == "in the way\n");
  const auto open = pair.here.engine().conflicts();
  REQUIRE(open->size() == 1);
  CHECK(open->front().path.text() == "r.md");
}

TEST_CASE("conflicts: resolved elsewhere, an unchanged text is replaced and a changed one merged", "[sync-engine]") {
  const bool changed_since = GENERATE(false, true);
  CAPTURE(changed_since);
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "1\n2\n3\n4\n5\n6\n7\n");
  here.write("other.md", "other\n");
  here.run();
  here.write("a.md", "mine\n2\n3\n4\n5\n6\n7\n");
  remote.edit("a.md", "theirs\n2\n3\n4\n5\n6\n7\n");
  REQUIRE(here.run().conflicts.size() == 1);
  const auto elsewhere = remote.resolve({.conflict_id = remote.conflicts()[0].id,
                                         .keep = Keep::merged,
                                         .content = "mine and theirs\n2\n3\n4\n5\n6\n7\n",
                                         .expected_revision = {2}});
  REQUIRE(elsewhere);
  if (changed_since) here.write("a.md", "mine\n2\n3\n4\n5\n6\n7, later\n");
  const std::string expected =
      changed_since ? "mine and theirs\n2\n3\n4\n5\n6\n7, later\n" : "mine and theirs\n2\n3\n4\n5\n6\n7\n";
  CHECK(lines(here.status()) == Lines{changed_since ? "merge a.md" : "pull_update a.md"});
  const Report report = here.run();
  CAPTURE(lines(report));
  CHECK(report.clean);
  CHECK(here.read("a.md") == expected);
  CHECK(remote.text_at("a.md") == expected);
  CHECK(is_kept(here, "mine\n2\n3\n4\n5\n6\n7\n"));
  CHECK(here.engine().conflicts()->empty());
  CHECK(here.run().rows.empty());
}

TEST_CASE("conflicts: created on both sides and resolved elsewhere", "[sync-engine]") {
  SyncedPair pair;
  create_both(pair);
  pair.here.run();
  const Keep keep = GENERATE(Keep::local, Keep::remote);
  REQUIRE(pair.remote.resolve({.conflict_id = pair.remote.conflicts()[0].id, .keep = keep, .expected_revision = {1}}));
  CHECK(pair.here.run().clean);
  check_in_step(pair, {{"a.md", "old\n"}, {"p.md", keep == Keep::local ? "mine\n" : "theirs\n"}});
}

TEST_CASE("conflicts: a service that went back changes nothing until one side is chosen", "[sync-engine]") {
  const Keep keep = GENERATE(Keep::local, Keep::remote);
  CAPTURE(static_cast<int>(keep));
  SyncedPair pair;
  const auto backup = pair.remote.backup();
  pair.here.write("a.md", "newer\n");
  pair.here.write("later.md", "later\n");
  pair.here.run();
  pair.remote.restore(backup);
  pair.here.write("b.md", "not sent yet\n");
  const Tree disk = pair.here.tree();
  const Tree service = pair.remote.tree();
  for (int round = 0; round < 2; ++round) {
    const Report met = pair.here.run();
    CHECK(lines(met) == Lines{"conflict rewound"});
    CHECK(pair.here.tree() == disk);
    CHECK(pair.remote.tree() == service);
  }
  CHECK(lines(pair.here.status()) == Lines{"conflict rewound"});
  const Conflict conflict = only_conflict(pair);
  CHECK(conflict.kind() == ConflictKind::rewound);
  const auto both = pair.here.engine().resolve(conflict, Keep::both);
  CHECK_FALSE(both);
  const auto decided = pair.here.engine().resolve(conflict, keep);
  if (!decided) FAIL(decided.error().what);
  const Report after = pair.here.run();
  CAPTURE(lines(after));
  CHECK(after.clean);
  Tree expected = {{"a.md", "newer\n"}, {"later.md", "later\n"}, {"b.md", "not sent yet\n"}};
  if (keep == Keep::remote) expected = {{"a.md", "old\n"}, {"b.md", "not sent yet\n"}};
  check_in_step(pair, expected);
  for (const auto& [path, text] : disk) CHECK(is_kept(pair.here, text));
}

TEST_CASE("conflicts: a wrong answer that a service went back ends by itself with the right ones", "[sync-engine]") {
  SyncedPair pair;
  pair.here.write("a.md", "newer\n");
  pair.here.run();
  const auto right = pair.remote.backup();
  pair.remote.restore({});
  REQUIRE(lines(pair.here.run()) == Lines{"conflict rewound"});
  pair.remote.restore(right);
  pair.remote.edit("other.md", "theirs\n");
  pair.here.write("a.md", "mine\n");
  const Report met = pair.here.run();
  CAPTURE(lines(met));
  CHECK(met.clean);
  CHECK(pair.here.engine().conflicts()->empty());
  check_in_step(pair, {{"a.md", "mine\n"}, {"other.md", "theirs\n"}});
}

TEST_CASE("conflicts: a service that went back and is written on stays a conflict", "[sync-engine]") {
  SyncedPair pair;
  const auto backup = pair.remote.backup();
  const bool is_missing = GENERATE(true, false);
  pair.here.write(is_missing ? "later.md" : "a.md", "newer\n");
  pair.here.run();
  pair.remote.restore(backup);
  REQUIRE(lines(pair.here.run()) == Lines{"conflict rewound"});
  for (int i = 0; i < 5; ++i) pair.remote.edit("other.md", std::to_string(i));
  const Tree disk = pair.here.tree();
  CHECK(lines(pair.here.run()) == Lines{"conflict rewound"});
  CHECK(pair.here.tree() == disk);
}

TEST_CASE("conflicts: one document that went back is decided alone", "[sync-engine]") {
  const Keep keep = GENERATE(Keep::local, Keep::remote);
  CAPTURE(static_cast<int>(keep));
  SyncedPair pair;
  const auto backup = pair.remote.backup();
  pair.here.write("a.md", "newer\n");
  pair.here.run();
  pair.remote.restore(backup);
  // Others wrote since: the counter of the whole says nothing any more.
  for (int i = 0; i < 5; ++i) pair.remote.edit("other.md", std::to_string(i));
  pair.remote.edit("other.md", "other\n");
  pair.remote.ignores_filter = true;
  const Report met = pair.here.run();
  CAPTURE(lines(met));
  const Conflict conflict = only_conflict(pair);
  CHECK(conflict.kind() == ConflictKind::rewound);
  CHECK(conflict.path.text() == "a.md");
  CHECK(pair.here.read("a.md") == "newer\n");
  CHECK(pair.remote.text_at("a.md") == "old\n");
  REQUIRE(pair.here.engine().resolve(conflict, keep));
  CHECK(pair.here.run().clean);
  check_in_step(pair, {{"a.md", keep == Keep::local ? "newer\n" : "old\n"}});
  CHECK(is_kept(pair.here, "newer\n"));
}

}  // namespace ws::sync

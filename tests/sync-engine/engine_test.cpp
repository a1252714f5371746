#include "sync-engine/engine.hpp"

#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

using test::FakeRemote;
using test::lines;
using test::Lines;
using test::SyncedFolder;
using test::Tree;

}  // namespace

TEST_CASE("engine: a first run pushes what is here and a second folder gets it byte for byte", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote, 1);
  here.write("a.md", "# A\r\nno newline at the end");
  here.write("deep/er/b.md", "b\n");
  here.write("not-markdown.txt", "left alone");
  const Report first = here.run();
  CHECK(lines(first) == Lines{"push_create a.md", "push_create deep/er/b.md"});
  CHECK(first.clean);
  CHECK(remote.tree() == Tree{{"a.md", "# A\r\nno newline at the end"}, {"deep/er/b.md", "b\n"}});

  SyncedFolder there(remote, 2);
  const Report joined = there.run();
  CHECK(lines(joined) == Lines{"pull_create a.md", "pull_create deep/er/b.md"});
  CHECK(there.tree() == remote.tree());
}

TEST_CASE("engine: many files come whole, and none in the place of one that is here", "[sync-engine]") {
  FakeRemote remote;
  for (int i = 0; i < 100; ++i) {
    remote.create("f" + std::to_string(i % 7) + "/" + std::to_string(i) + ".md", "text " + std::to_string(i) + "\n");
  }
  SyncedFolder here(remote);
  here.write("f5/68.md", "text 68\n");
  here.write("f6/69.md", "mine\n");
  remote.fault = [&](const std::string& request, bool after) -> std::optional<Failure> {
    if (request == "pull" && after) here.write("f0/70.md", "late\n");
    return std::nullopt;
  };
  const Report report = here.run();
  remote.fault = {};
  Tree expected = remote.tree();
  expected["f6/69.md"] = "mine\n";
  expected["f0/70.md"] = "late\n";
  CHECK(here.tree() == expected);
  CHECK(report.conflicts.size() == 1);
  CHECK(std::filesystem::is_empty(here.path() / ".ws/tmp"));
  const auto failed = std::ranges::find(report.rows, Row::State::failed, &Row::state);
  REQUIRE(failed != report.rows.end());
  CHECK(failed->action.path.text() == "f0/70.md");
}

TEST_CASE("engine: with nothing changed a run is one pull and changes nothing", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  here.write("b.md", "b\n");
  here.run();
  here.status();  // files written within the clock tick are read once more
  for (int round = 0; round < 2; ++round) {
    remote.requests.clear();
    const Report again = here.run();
    CHECK(remote.requests == Lines{"pull"});
    CHECK(again.rows.empty());
    CHECK(again.clean);
  }
}

TEST_CASE("engine: edits and deletes of one side arrive on the other", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  for (const char* name : {"a.md", "b.md", "c.md", "d.md", "e.md"}) here.write(name, std::string(name) + "\n");
  here.run();
  here.write("a.md", "edited here\n");
  here.remove("b.md");
  remote.edit("c.md", "edited there\n");
  remote.archive("d.md");
  CHECK(lines(here.status()) == Lines{"push_update a.md", "push_delete b.md", "pull_update c.md", "pull_delete d.md"});
  const Report report = here.run();
  CHECK(lines(report) == Lines{"push_update a.md", "push_delete b.md", "pull_update c.md", "pull_delete d.md"});
  CHECK(report.clean);
  const Tree expected = {{"a.md", "edited here\n"}, {"c.md", "edited there\n"}, {"e.md", "e.md\n"}};
  CHECK(here.tree() == expected);
  CHECK(remote.tree() == expected);
  CHECK(here.run().rows.empty());
}

TEST_CASE("engine: distant edits of both sides merge, and both texts are parents in the history", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "one\ntwo\nthree\nfour\nfive\n");
  here.run();
  here.write("a.md", "ONE\ntwo\nthree\nfour\nfive\n");
  remote.edit("a.md", "one\ntwo\nthree\nfour\nFIVE\n");
  CHECK(lines(here.status()) == Lines{"merge a.md"});
  const Report report = here.run();
  CHECK(lines(report) == Lines{"merge a.md"});
  CHECK(report.clean);
  CHECK(here.read("a.md") == "ONE\ntwo\nthree\nfour\nFIVE\n");
  CHECK(remote.text_at("a.md") == "ONE\ntwo\nthree\nfour\nFIVE\n");
  CHECK(here.run().rows.empty());
}

TEST_CASE("engine: a merge that would be too large to send is a conflict, and the file stays as it is",
          "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  const std::string big(600'000, 'x');
  here.write("a.md", "one\n\ntwo\n\nthree\n");
  here.run();
  const std::string mine = "one\n\ntwo\n\nthree\n\n" + big + "\n";
  here.write("a.md", mine);
  remote.edit("a.md", big + "\n\none\n\ntwo\n\nthree\n");
  CHECK(lines(here.run()) == Lines{"conflict a.md"});
  CHECK(here.read("a.md") == mine);
}

TEST_CASE("engine: colliding edits are one conflict with both texts, and the rest goes on", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "base\n");
  here.write("b.md", "b\n");
  here.run();
  here.write("a.md", "mine\n");
  here.write("b.md", "b too\n");
  remote.edit("a.md", "theirs\n");
  const Report report = here.run();
  CHECK(lines(report) == Lines{"conflict a.md", "push_update b.md"});
  CHECK_FALSE(report.clean);
  REQUIRE(report.conflicts.size() == 1);
  CHECK(report.conflicts[0].kind() == ConflictKind::revision);
  CHECK_FALSE(report.conflicts[0].id.empty());
  CHECK(here.read("a.md") == "mine\n");
  CHECK(remote.text_at("a.md") == "theirs\n");
  CHECK(remote.text_at("b.md") == "b too\n");
  REQUIRE(remote.conflicts().size() == 1);
  CHECK(remote.conflicts()[0].local == "mine\n");

  const auto texts = here.engine().texts(report.conflicts[0]);
  REQUIRE(texts);
  CHECK(texts->base == "base\n");
  CHECK(texts->local == "mine\n");
  CHECK(texts->remote == "theirs\n");

  // Asked again it is the same conflict, and nothing is sent a second time: only whether it is still open is asked.
  remote.requests.clear();
  const Report again = here.run();
  CHECK(again.conflicts.size() == 1);
  CHECK(remote.requests == Lines{"pull", "find_source"});
}

TEST_CASE("engine: a conflict is resolved by keeping local, remote, both or a merged text", "[sync-engine]") {
  const Keep keep = GENERATE(Keep::local, Keep::remote, Keep::both, Keep::merged);
  CAPTURE(static_cast<int>(keep));
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("n/a.md", "base\n");
  here.run();
  here.write("n/a.md", "mine\n");
  remote.edit("n/a.md", "theirs\n");
  const Report report = here.run();
  REQUIRE(report.conflicts.size() == 1);
  const auto merged = keep == Keep::merged ? std::optional<std::string>("together\n") : std::nullopt;
  const auto resolved = here.engine().resolve(report.conflicts[0], keep, merged);
  if (!resolved) FAIL(resolved.error().what);
  Tree expected;
  if (keep == Keep::local) expected = {{"n/a.md", "mine\n"}};
  if (keep == Keep::remote) expected = {{"n/a.md", "theirs\n"}};
  if (keep == Keep::both) expected = {{"n/a.md", "theirs\n"}, {"n/a (local).md", "mine\n"}};
  if (keep == Keep::merged) expected = {{"n/a.md", "together\n"}};
  CHECK(here.tree() == expected);
  const Report after = here.run();
  CHECK(after.conflicts.empty());
  CHECK(after.clean);
  CHECK(here.tree() == expected);
  CHECK(remote.tree() == expected);
  CHECK(here.run().rows.empty());
}

TEST_CASE("engine: edited here and archived there is a conflict, and either side can win", "[sync-engine]") {
  const Keep keep = GENERATE(Keep::local, Keep::remote);
  CAPTURE(static_cast<int>(keep));
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "base\n");
  here.write("b.md", "b\n");
  here.run();
  here.write("a.md", "mine\n");
  remote.archive("a.md");
  const Report report = here.run();
  REQUIRE(report.conflicts.size() == 1);
  CHECK(report.conflicts[0].kind() == ConflictKind::edit_delete);
  CHECK(here.read("a.md") == "mine\n");
  const auto resolved = here.engine().resolve(report.conflicts[0], keep);
  if (!resolved) FAIL(resolved.error().what);
  const Report after = here.run();
  CHECK(after.clean);
  const Tree expected = keep == Keep::local ? Tree{{"a.md", "mine\n"}, {"b.md", "b\n"}} : Tree{{"b.md", "b\n"}};
  CHECK(here.tree() == expected);
  CHECK(remote.tree() == expected);
}

TEST_CASE("engine: --on-conflict settles what a run meets", "[sync-engine]") {
  const auto [choice, expected] =
      GENERATE(table<Keep, std::string>({{Keep::local, "mine\n"}, {Keep::remote, "theirs\n"}}));
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "base\n");
  here.run();
  here.write("a.md", "mine\n");
  remote.edit("a.md", "theirs\n");
  const Report report = here.run({.on_conflict = choice});
  CHECK(report.clean);
  CHECK(here.read("a.md") == expected);
  CHECK(remote.text_at("a.md") == expected);
}

TEST_CASE("engine: two filled sides: equal texts are adopted, different ones conflict, nothing is deleted",
          "[sync-engine]") {
  FakeRemote remote;
  remote.create("same.md", "same\n");
  remote.create("differs.md", "theirs\n");
  remote.create("there.md", "there\n");
  SyncedFolder here(remote);
  here.write("same.md", "same\n");
  here.write("differs.md", "mine\n");
  here.write("here.md", "here\n");
  const Report report = here.run();
  CHECK(lines(report) == Lines{"conflict differs.md", "push_create here.md", "adopt same.md", "pull_create there.md"});
  REQUIRE(report.conflicts.size() == 1);
  CHECK(report.conflicts[0].kind() == ConflictKind::hash);
  CHECK(here.read("differs.md") == "mine\n");
  CHECK(remote.text_at("differs.md") == "theirs\n");
  const auto resolved = here.engine().resolve(report.conflicts[0], Keep::local);
  if (!resolved) FAIL(resolved.error().what);
  CHECK(here.run().clean);
  CHECK(here.tree() == remote.tree());
}

TEST_CASE("engine: moves on the service arrive, edits here ride along, swaps and circles too", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  for (const char* name : {"a.md", "b.md", "c.md", "d.md"}) here.write(name, std::string(name) + "\n");
  here.run();
  here.write("d.md", "edited here\n");
  remote.move("d.md", "sub/folder/d.md");
  remote.move("a.md", "x.md");
  remote.move("b.md", "a.md");
  remote.move("c.md", "b.md");
  remote.move("x.md", "c.md");  // a -> c -> b -> a
  const Report report = here.run();
  CAPTURE(lines(report));
  CHECK(report.clean);
  const Tree expected = {
      {"a.md", "b.md\n"}, {"b.md", "c.md\n"}, {"c.md", "a.md\n"}, {"sub/folder/d.md", "edited here\n"}};
  CHECK(here.tree() == expected);
  CHECK(remote.tree() == expected);
  CHECK(here.run().rows.empty());
}

TEST_CASE("engine: a document replaced by another at its path is replaced here, and that is no delete",
          "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "old\n");
  here.write("b.md", "b\n");
  here.run();
  remote.archive("a.md");
  remote.create("a.md", "new\n");
  remote.archive("b.md");
  remote.create("b.md", "b\n");
  const Report report = here.run();
  CHECK(lines(report) == Lines{"pull_create a.md", "adopt b.md"});
  CHECK(report.clean);
  CHECK(here.tree() == Tree{{"a.md", "new\n"}, {"b.md", "b\n"}});
  CHECK(here.run().rows.empty());
}

TEST_CASE("engine: the guard stops a mass delete on either side before anything changes", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  for (int i = 0; i < 20; ++i) here.write("n" + std::to_string(i) + ".md", std::to_string(i));
  here.run();
  here.write(".wsignore", "n19.md\n");
  SECTION("there") {
    for (int i = 0; i < 12; ++i) remote.archive("n" + std::to_string(i) + ".md");
  }
  SECTION("here") {
    for (int i = 0; i < 12; ++i) here.remove("n" + std::to_string(i) + ".md");
  }
  const Tree disk = here.tree();
  const Tree service = remote.tree();
  const auto state = here.read(".ws/state.db");
  const Report stopped = here.run();
  REQUIRE(stopped.guard);
  CHECK_FALSE(stopped.clean);
  CHECK(here.tree() == disk);
  CHECK(here.read(".ws/state.db") == state);
  CHECK(remote.tree() == service);
  const Report confirmed = here.run({.allow_deletes = true});
  CHECK(confirmed.clean);
  CHECK(here.tree().size() == 8);
  CHECK(remote.tree() == here.tree());
}

TEST_CASE("engine: texts that became empty count as deleted, on either side", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  const auto name = [](int number) { return "n" + std::to_string(number) + ".md"; };
  for (int i = 0; i < 12; ++i) here.write(name(i), std::to_string(i));
  here.run();
  const bool is_here = GENERATE(true, false);
  const auto set_text = [&](int number, const char* text) {
    is_here ? here.write(name(number), text) : remote.edit(name(number), text);
  };
  for (int i = 0; i < 6; ++i) set_text(i, "");
  const Report half = here.run();
  CAPTURE(lines(half), half.guard.has_value());
  CHECK(half.clean);  // half of them is not more than half
  here.write(name(6), "");
  for (int i = 0; i < 6; ++i) set_text(i, "back\n");
  CHECK(here.run().clean);
  for (int i = 0; i < 5; ++i) set_text(i, "");
  is_here ? here.remove(name(7)) : remote.archive(name(7));
  is_here ? here.remove(name(8)) : remote.archive(name(8));
  const Tree disk = here.tree();
  const Tree service = remote.tree();
  const Report stopped = here.run();
  REQUIRE(stopped.guard);
  CHECK(stopped.guard->emptied_there == (is_here ? 5 : 0));
  CHECK(stopped.guard->emptied_here == (is_here ? 0 : 5));
  CHECK(here.tree() == disk);
  CHECK(remote.tree() == service);
  CHECK(here.run({.allow_deletes = true}).clean);
  CHECK(here.tree() == remote.tree());
}

TEST_CASE("engine: most of a small tree is not deleted without a word", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  for (int i = 0; i < 12; ++i) here.write(std::to_string(i) + ".md", std::to_string(i));
  here.run();
  for (int i = 0; i < 9; ++i) here.remove(std::to_string(i) + ".md");
  CHECK(here.run().guard);
  CHECK(remote.document_count() == 12);
  for (int i = 0; i < 3; ++i) here.write(std::to_string(i) + ".md", std::to_string(i));
  CHECK(here.run().clean);
  CHECK(remote.document_count() == 6);
}

TEST_CASE("engine: the guard counts what is asked for, and the rest is not taken for done", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  for (int i = 0; i < 20; ++i) here.write(std::to_string(i) + ".md", std::to_string(i));
  here.run();
  for (int i = 0; i < 20; ++i) here.remove(std::to_string(i) + ".md");
  CHECK(here.run().guard);
  const Report one = here.run({.only = [](const RelativePath& path) { return path.text() == "2.md"; }});
  CHECK_FALSE(one.guard);
  CHECK(lines(one) == Lines{"push_delete 2.md"});
  CHECK_FALSE(one.clean);
  CHECK(remote.document_count() == 19);
  const Report none = here.run({.only = [](const RelativePath&) { return false; }});
  CHECK(none.rows.empty());
  CHECK_FALSE(none.clean);
  CHECK(here.run().guard);
}

TEST_CASE("engine: what is merely absent from a complete listing is detached, never deleted", "[sync-engine]") {
  FakeRemote remote;
  remote.ignores_filter = true;
  SyncedFolder here(remote);
  for (const char* name : {"a.md", "b.md", "c.md"}) here.write(name, name);
  here.run();
  remote.hidden = {"b.md"};
  const Report report = here.run();
  REQUIRE(report.detached.size() == 1);
  CHECK(report.detached[0].reason == "absent");
  CHECK(here.tree().size() == 3);
  CHECK(remote.document_count() == 3);
  remote.hidden = {"a.md", "b.md", "c.md"};
  CHECK(here.run().guard);  // an empty listing is a reason to stop
  CHECK(here.tree().size() == 3);
}

TEST_CASE("engine: a file turned into a symlink is detached on both sides", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  here.write("b.md", "b\n");
  here.run();
  here.remove("a.md");
  std::filesystem::create_symlink("b.md", here.path() / "a.md");
  const Report report = here.run();
  REQUIRE(report.detached.size() == 1);
  CHECK(report.detached[0].reason == "symlink");
  CHECK(remote.text_at("a.md") == "a\n");
}

TEST_CASE("engine: a service that leaves texts out of a pull is asked for them", "[sync-engine]") {
  FakeRemote remote;
  remote.leaves_out_content = true;
  remote.create("a.md", "a\n");
  SyncedFolder here(remote);
  CHECK(here.run().clean);
  CHECK(here.tree() == Tree{{"a.md", "a\n"}});
}

TEST_CASE("engine: names that are dangerous are listed and never written", "[sync-engine]") {
  FakeRemote remote;
  remote.create("../outside.md", "x");
  remote.create(".git/hooks/x.md", "x");
  remote.create("good.md", "good");
  SyncedFolder here(remote);
  const Report report = here.run();
  CHECK(here.tree() == Tree{{"good.md", "good"}});
  CHECK(report.skipped.size() == 2);
  CHECK_FALSE(std::filesystem::exists(here.path() / ".git"));
}

TEST_CASE("engine: pull, push and commit are the steps of a run", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  remote.create("b.md", "b\n");
  const auto pulled = here.engine().pull();
  REQUIRE(pulled);
  CHECK(lines(*pulled) == Lines{"pull_create b.md"});
  CHECK(remote.document_count() == 1);
  const auto pushed = here.engine().push();
  REQUIRE(pushed);
  CHECK(lines(*pushed) == Lines{"push_create a.md"});
  CHECK(remote.document_count() == 1);  // staged: nobody sees it
  const auto committed = here.engine().commit({.message = "mine"});
  REQUIRE(committed);
  CHECK(lines(*committed) == Lines{"push_create a.md"});
  CHECK(remote.tree() == here.tree());
  const auto nothing = here.engine().commit();
  REQUIRE(nothing);
  CHECK(nothing->rows.empty());
}

TEST_CASE("engine: status writes nothing but the stat cache", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  here.run();
  remote.edit("a.md", "there\n");
  here.write("b.md", "b\n");
  const auto before = here.tree();
  CHECK(lines(here.status()) == Lines{"pull_update a.md", "push_create b.md"});
  CHECK(lines(here.status()) == Lines{"pull_update a.md", "push_create b.md"});
  CHECK(here.tree() == before);
  CHECK(remote.document_count() == 1);
}

TEST_CASE("engine: a key that may only read goes on pulling, and its edits are listed", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  here.run();
  here.write("a.md", "mine\n");
  remote.create("b.md", "b\n");
  remote.fault = [](const std::string& request, bool) -> std::optional<Failure> {
    if (request == "push") return Failure{.kind = Failure::Kind::forbidden, .what = "read only"};
    return std::nullopt;
  };
  const Report report = here.run();
  CHECK(here.read("b.md") == "b\n");
  REQUIRE(report.rows.size() == 2);
  CHECK(report.rows[0].state == Row::State::failed);
  CHECK(report.rows[0].error->code == "cannot_push");
  CHECK_FALSE(report.ended_by);
}

TEST_CASE("engine: a second process is told who is at work", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  std::optional<Failure> second;
  remote.fault = [&](const std::string& request, bool) -> std::optional<Failure> {
    if (request == "plan") {
      const auto other = here.engine().run();
      if (!other) second = other.error();
    }
    return std::nullopt;
  };
  CHECK(here.run().clean);
  REQUIRE(second);
  CHECK(second->code == "tree_locked");
  CHECK(second->call.retryable);
}

TEST_CASE("engine: a tree that is tied, or lies in one, is not tied again", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  std::filesystem::create_directories(here.path() / "sub");
  test::FixedClock clock;
  SeededRandom random(9);
  for (const auto& folder : {here.path(), here.path() / "sub"}) {
    const auto again = init({.folder = folder}, remote, clock, random);
    REQUIRE_FALSE(again);
    CHECK(again.error().code == "already_tied");
  }
}

TEST_CASE("engine: the report as JSON has the promised shape", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  const Json value = to_json(here.run());
  CHECK(value.at("v") == 1);
  for (const char* key : {"source_id", "base_revision", "revision", "conflicts", "skipped", "detached", "clean"}) {
    CHECK(value.contains(key));
  }
  CHECK(value.at("actions").at(0).at("action") == "push_create");
  CHECK(value.at("actions").at(0).at("state") == "done");
  CHECK(value.at("counts").at("push_create") == 1);
}

}  // namespace ws::sync

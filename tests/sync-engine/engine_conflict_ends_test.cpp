// How a conflict ends, and how it does not: nobody's edit is lost on the way.
#include <filesystem>
#include <utility>

#include <catch2/catch.hpp>

#include "api-client/base/files.hpp"
#include "sync-engine/conflict_store/renew_client.hpp"
#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

namespace fs = std::filesystem;
using test::FakeRemote;
using test::lines;
using test::Lines;
using test::SyncedFolder;
using test::Tree;

/// A conflict about the first line of `a.md`, recorded on the service.
struct OpenConflict {
  FakeRemote remote;
  SyncedFolder here{remote};
  std::string id;
  OpenConflict() {
    here.write("a.md", "1\n2\n3\n4\n5\n6\n7\n");
    here.write("other.md", "other\n");
    here.run();
    here.write("a.md", "mine\n2\n3\n4\n5\n6\n7\n");
    remote.edit("a.md", "theirs\n2\n3\n4\n5\n6\n7\n");
    REQUIRE(here.run().conflicts.size() == 1);
    id = known().at(0).id;
    REQUIRE(remote.conflicts().at(0).id == id);
  }
  std::vector<Conflict> known() {
    auto open = here.engine().conflicts();
    REQUIRE(open);
    return std::move(*open);
  }
};

}  // namespace

TEST_CASE("conflict ends: a copy beside that is renamed decides it, whichever commands send it", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("n.md", "note\n");
  here.write("other.md", "other\n");
  here.run();
  here.remove("n.md");
  here.write("n.md/in.md", "in\n");
  remote.edit("n.md", "edited there\n");
  REQUIRE(here.run().conflicts.size() == 1);
  fs::rename(here.path() / "n (remote).md", here.path() / "mine.md");
  if (GENERATE(true, false)) {
    REQUIRE(here.engine().push());
    const auto committed = here.engine().commit();
    REQUIRE(committed);
    CHECK(committed->conflicts.empty());
  } else {
    CHECK(here.run().conflicts.empty());
  }
  CHECK(remote.text_at("mine.md") == "edited there\n");
  CHECK(here.run().rows.empty());
}

TEST_CASE("conflict ends: a push leaves open what only a pull would merge", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("n.md", "one\n\ntwo\n\nthree\n");
  here.run();
  here.write("n.md", "mine\n\ntwo\n\nthree\n");
  remote.edit("n.md", "one\n\ntwo\n\ntheirs\n");
  REQUIRE(here.run({.merge = false}).conflicts.size() == 1);
  REQUIRE(here.engine().push());
  CHECK(here.engine().conflicts()->size() == 1);
}

TEST_CASE("conflict ends: an edit that is settled survives a run that ends before it says so", "[sync-engine]") {
  OpenConflict open;
  auto& [remote, here, id] = open;
  remote.edit("a.md", "1\n2\n3\n4\n5\n6\ntheirs, elsewhere\n");  // the line is ours alone again
  remote.fault = [](const std::string& request, bool after) -> std::optional<Failure> {
    if (request != "resolve" || !after) return std::nullopt;
    return Failure{.kind = Failure::Kind::unreachable, .what = "the answer is lost"};
  };
  const auto cut = here.engine().run({});
  CHECK((!cut || cut->ended_by));
  CHECK_FALSE(remote.conflicts()[0].open);
  remote.fault = {};
  CHECK(lines(here.status()) == Lines{"merge a.md"});
  CHECK(here.run().clean);
  const std::string both = "mine\n2\n3\n4\n5\n6\ntheirs, elsewhere\n";
  CHECK(here.read("a.md") == both);
  CHECK(remote.text_at("a.md") == both);
  CHECK(open.known().empty());
}

TEST_CASE("conflict ends: not while its file is out of sight", "[sync-engine]") {
  OpenConflict open;
  auto& [remote, here, id] = open;
  const fs::path file = here.path() / "a.md";
  const std::string mine = here.read("a.md").value();
  SECTION("a link stands there") {
    fs::remove(file);
    fs::create_symlink("other.md", file);
  }
  SECTION("it is ignored") { here.write(".wsignore", "a.md\n"); }
  CHECK(here.run().detached.size() == 1);
  REQUIRE(open.known().size() == 1);
  CHECK(remote.conflicts()[0].open);
  // It is open all the same, and told.
  for (const Report& report : {here.run(), here.status(), here.engine().pull().value()}) {
    CHECK(report.conflicts.size() == 1);
    CHECK_FALSE(report.clean);
  }
  fs::remove(here.path() / ".wsignore");
  fs::remove(file);
  here.write("a.md", mine);
  CHECK(lines(here.run()) == Lines{"conflict a.md"});
  REQUIRE(open.known().size() == 1);
  CHECK(open.known()[0].id == id);
  CHECK(remote.conflicts().size() == 1);
}

TEST_CASE("conflict ends: a copy of the tree leaves the original's conflict alone", "[sync-engine]") {
  OpenConflict open;
  auto& [remote, here, id] = open;
  const ws::test::TemporaryFolder copies;
  const fs::path copy = copies / "copy";
  fs::copy(here.path(), copy, fs::copy_options::recursive);
  const test::FixedClock clock;
  SeededRandom random(7);
  REQUIRE(renew_client(copy, clock, random));
  auto engine = SyncEngine::open(copy, &remote, clock);
  REQUIRE(engine);
  CHECK(engine->conflicts()->empty());
  CHECK(open.known().size() == 1);
  // What the copy edits settles nothing of it.
  REQUIRE(write_file(copy / "a.md", "theirs\n2\n3\n4\n5\n6\n7\n"));
  CHECK(engine->run({})->clean);
  CHECK(remote.conflicts()[0].open);
  CHECK(lines(here.run()) == Lines{"conflict a.md"});
  CHECK(here.read("a.md") == "mine\n2\n3\n4\n5\n6\n7\n");
}

TEST_CASE("conflict ends: a name that was given there stays, whoever's text wins", "[sync-engine]") {
  const Keep keep = GENERATE(Keep::local, Keep::remote, Keep::both);
  const bool at_once = GENERATE(false, true);
  const bool before = GENERATE(false, true);
  CAPTURE(keep, at_once, before);
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("d/x.md", "old\n");
  here.write("z.md", "z\n");
  here.run();
  here.write("d/x.md", "mine\n");
  remote.edit("d/x.md", "theirs\n");
  if (before) remote.move("d/x.md", "e/new.md");
  if (at_once) {
    if (!before) REQUIRE(here.run().conflicts.size() == 1);
    if (!before) remote.move("d/x.md", "e/new.md");
    CHECK(here.run({.on_conflict = keep}).conflicts.empty());
  } else {
    REQUIRE(here.run().conflicts.size() == 1);
    if (!before) remote.move("d/x.md", "e/new.md");
    if (!before) REQUIRE(here.run().conflicts.size() == 1);
    REQUIRE(here.engine().resolve(here.engine().conflicts()->at(0), keep));
    CHECK(here.run().conflicts.empty());
  }
  CHECK(remote.text_at("e/new.md") == (keep == Keep::local ? "mine\n" : "theirs\n"));
  CHECK_FALSE(remote.text_at("d/x.md"));
  for (const auto& [file, text] : here.tree()) CHECK(remote.text_at(file) == text);
  CHECK(here.tree().size() == (keep == Keep::both ? 3 : 2));
  CHECK(here.run().rows.empty());
}

TEST_CASE("conflict ends: another document at the old place of one that was edited on both sides", "[sync-engine]") {
  const bool conflict_first = GENERATE(false, true);
  const bool created = GENERATE(false, true);
  CAPTURE(conflict_first, created);
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("x.md", "old\n");
  here.write("y.md", "yyy\n");
  here.write("z.md", "z\n");
  here.run();
  here.write("x.md", "mine\n");
  remote.edit("x.md", "theirs\n");
  if (conflict_first) REQUIRE(here.run().conflicts.size() == 1);
  remote.move("x.md", "n.md");
  if (created) {
    static_cast<void>(remote.create("x.md", "yyy, new\n"));
  } else {
    remote.move("y.md", "x.md");
  }
  const Lines planned = lines(here.status());
  const Report met = here.run();
  CHECK(lines(met) == planned);
  REQUIRE(met.conflicts.size() == 1);
  CHECK(met.conflicts[0].kind() == ConflictKind::revision);
  CAPTURE(lines(met));
  for (const Row& row : met.rows) {
    CAPTURE(row.error ? row.error->what : "");
    CHECK(row.state == Row::State::done);
  }
  CHECK(here.read("x.md") == "mine\n");
  CHECK(here.read("x (remote).md") == (created ? "yyy, new\n" : "yyy\n"));
  CHECK(lines(here.run()) == Lines{"conflict x.md"});
  REQUIRE(here.engine().resolve(here.engine().conflicts()->at(0), Keep::remote));
  CHECK(here.run().conflicts.empty());
  for (const auto& [file, text] : here.tree()) CHECK(remote.text_at(file) == text);
  CHECK(remote.text_at("n.md") == "theirs\n");
}

TEST_CASE("conflict ends: a new document that the service does not name comes with the next pull", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "old\n");
  here.write("b.md", "b\n");
  here.run();
  here.write("a.md", "mine\n");
  remote.archive("a.md");
  REQUIRE(here.run().conflicts.size() == 1);
  remote.leaves_out_result = GENERATE(false, true);
  REQUIRE(here.engine().resolve(here.engine().conflicts()->at(0), Keep::local));
  for (int run = 0; run < 2; ++run) {
    CHECK(here.run().conflicts.empty());
    CHECK(here.tree() == Tree{{"a.md", "mine\n"}, {"b.md", "b\n"}});
    CHECK(remote.tree() == here.tree());
  }
  CHECK(here.run().rows.empty());
}

TEST_CASE("conflict ends: one whose document moved on shows it as it is, and can then be decided", "[sync-engine]") {
  OpenConflict open;
  auto& [remote, here, id] = open;
  const Keep keep = GENERATE(Keep::local, Keep::remote, Keep::both);
  const bool syncs_between = GENERATE(false, true);
  CAPTURE(static_cast<int>(keep), syncs_between);
  remote.edit("a.md", "theirs again\n2\n3\n4\n5\n6\n7\n");
  if (syncs_between) {
    // A service whose counter ran ahead of its answer never says so.
    remote.hidden = {"a.md"};
    here.run();
  }
  const auto refused = here.engine().resolve(open.known()[0], keep);
  if (keep == Keep::both) {  // nothing is chosen: the same decision holds
    CHECK(refused);
    remote.hidden = {};
    here.run();
    CHECK(here.read("a.md") == "theirs again\n2\n3\n4\n5\n6\n7\n");
    CHECK(here.read("a (local).md") == "mine\n2\n3\n4\n5\n6\n7\n");
    return;
  }
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == Failure::Kind::conflict);
  CHECK(refused.error().what == "a.md changed on the service: the conflict shows it as it is now");
  CHECK(here.read("a.md") == "mine\n2\n3\n4\n5\n6\n7\n");
  if (syncs_between) here.run();
  REQUIRE(open.known().size() == 1);
  CHECK(here.engine().texts(open.known()[0])->remote == "theirs again\n2\n3\n4\n5\n6\n7\n");
  REQUIRE(here.engine().resolve(open.known()[0], keep));
  remote.hidden = {};
  here.run();
  CHECK(here.run().clean);
  CHECK(here.tree() == remote.tree());
  CHECK(here.tree().at("a.md") ==
        (keep == Keep::local ? "mine\n" : "theirs again\n") + std::string("2\n3\n4\n5\n6\n7\n"));
}

TEST_CASE("conflict ends: one that no pull ever told of can be decided", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "old\n");
  here.write("b.md", "b\n");
  here.run();
  here.write("a.md", "mine\n");
  remote.edit("a.md", "theirs\n");
  remote.hidden = {"a.md"};  // and yet the counter of the source rises
  REQUIRE(here.run().conflicts.size() == 1);
  const Keep keep = GENERATE(Keep::local, Keep::remote);
  const auto open = here.engine().conflicts();
  REQUIRE(open->size() == 1);
  CHECK(here.engine().texts(open->at(0))->remote == "theirs\n");
  REQUIRE(here.engine().resolve(open->at(0), keep));
  CHECK(here.run().clean);
  CHECK(here.tree() == remote.tree());
  CHECK(here.read("a.md") == (keep == Keep::local ? "mine\n" : "theirs\n"));
}

TEST_CASE("conflict ends: one that was recorded under no id is recorded anew, and stops nothing", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "old\n");
  here.write("b.md", "b\n");
  here.run();
  here.write("a.md", "mine\n");
  remote.edit("a.md", "theirs\n");
  remote.before_conflict_ids = "conf-";
  REQUIRE(here.run().conflicts.size() == 1);
  CHECK(here.engine().resolve(here.engine().conflicts()->at(0), Keep::local).error().kind == Failure::Kind::conflict);
  here.write("new.md", "new\n");
  here.run();
  CHECK(remote.text_at("new.md") == "new\n");
  CHECK(here.status().conflicts.size() == 1);
  remote.before_conflict_ids = {};
  here.run();
  REQUIRE(here.engine().conflicts()->size() == 1);
  CHECK(here.engine().conflicts()->at(0).id == remote.conflicts().at(0).id);
  REQUIRE(here.engine().resolve(here.engine().conflicts()->at(0), Keep::local));
  CHECK(here.run().clean);
  CHECK(remote.text_at("a.md") == "mine\n");
}

TEST_CASE("conflict ends: one that the service will not show stops no other document", "[sync-engine]") {
  OpenConflict open;
  auto& [remote, here, id] = open;
  REQUIRE(remote.resolve({.conflict_id = id, .keep = Keep::remote, .expected_revision = {2}}));
  const auto kind = GENERATE(Failure::Kind::forbidden, Failure::Kind::service, Failure::Kind::integrity);
  remote.fault = [kind](const std::string& request, bool) -> std::optional<Failure> {
    return request == "find_conflict" ? std::optional(Failure{.kind = kind, .what = "not to you"}) : std::nullopt;
  };
  here.write("other.md", "goes on\n");
  here.run();
  CHECK(remote.text_at("other.md") == "goes on\n");
  CHECK(open.known().size() == 1);
  remote.fault = {};
  CHECK(here.run().clean);
  CHECK(open.known().empty());
}

TEST_CASE("conflict ends: a commit that was applied is taken in, though a conflict of it cannot be seen",
          "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "old\n");
  here.write("b.md", "b\n");
  here.run();
  here.write("a.md", "mine\n");
  here.write("b.md", "b, and more\n");
  remote.fault = [&, done = false](const std::string& request, bool) mutable -> std::optional<Failure> {
    if (request == "commit" && !std::exchange(done, true)) remote.edit("a.md", "quicker\n");
    return request == "find_conflict" ? std::optional(Failure{.kind = Failure::Kind::forbidden, .what = "not to you"})
                                      : std::nullopt;
  };
  const Report met = here.run();
  CHECK_FALSE(met.ended_by);
  CHECK(met.conflicts.size() == 1);
  here.write("new.md", "new\n");
  here.run();
  CHECK(remote.text_at("new.md") == "new\n");
  CHECK(remote.text_at("a.md") == "quicker\n");
  remote.fault = {};
  here.run();
  REQUIRE(here.engine().resolve(here.engine().conflicts()->at(0), Keep::local));
  CHECK(here.run().clean);
  CHECK(remote.text_at("a.md") == "mine\n");
}

TEST_CASE("conflict ends: markers that nobody took out are no text of anybody", "[sync-engine]") {
  OpenConflict open;
  auto& [remote, here, id] = open;
  const std::string mine = here.read("a.md").value();
  REQUIRE(here.engine().write_markers(open.known().at(0)));
  REQUIRE(here.read("a.md")->find("<<<<<<<") != std::string::npos);
  SECTION("the local text is the one that was recorded") {
    REQUIRE(here.engine().resolve(open.known().at(0), Keep::local));
    CHECK(here.run().clean);
    CHECK(here.read("a.md") == mine);
    CHECK(remote.text_at("a.md") == mine);
  }
  SECTION("a service that lost the conflict does not get them") {
    remote.forget_conflicts();
    CHECK(here.run().conflicts.size() == 1);
    CHECK(remote.conflicts().empty());
    CHECK(open.known().size() == 1);
    here.write("a.md", mine);
    CHECK(here.run().conflicts.size() == 1);
    CHECK(remote.conflicts().size() == 1);
  }
}

TEST_CASE("conflict ends: a service that has another text under our number is told nothing that it would take",
          "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "old\n");
  here.write("b.md", "b\n");
  here.run();
  const auto backup = remote.backup();
  here.write("a.md", "ours\n");
  here.run();
  remote.restore(backup);
  for (const char* const text : {"b2\n", "b3\n"}) remote.edit("b.md", text);  // the counter passes ours
  remote.edit("a.md", "theirs\n");
  here.write("a.md", "ours, once more\n");
  const Report met = here.run();
  REQUIRE(met.conflicts.size() == 1);
  CHECK(met.conflicts[0].is_here_only());
  CHECK(remote.text_at("a.md") == "theirs\n");
  const Keep keep = GENERATE(Keep::local, Keep::remote, Keep::both);
  REQUIRE(here.engine().resolve(met.conflicts[0], keep));
  here.run();
  CHECK(here.run().clean);
  CHECK(here.tree() == remote.tree());
  CHECK(remote.text_at("a.md") == (keep == Keep::local ? "ours, once more\n" : "theirs\n"));
  CHECK(remote.text_at("a (local).md").has_value() == (keep == Keep::both));
}

}  // namespace ws::sync

// What was renamed here, and two documents that want one place.
#include <filesystem>
#include <utility>

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

void rename(const SyncedFolder& folder, const std::string& from, const std::string& to) {
  const auto target = folder.path() / to;
  std::filesystem::create_directories(target.parent_path());
  std::filesystem::rename(folder.path() / from, target);
}

/// Everything agreed, nothing left to do, and not a byte uploaded for a move.
void check_in_step(SyncedFolder& here, const FakeRemote& remote, const Tree& expected) {
  CHECK(here.tree() == expected);
  CHECK(remote.tree() == expected);
  const Report again = here.run();
  CAPTURE(lines(again));
  CHECK(again.rows.empty());
}

const std::string ten_lines = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";

}  // namespace

TEST_CASE("engine: a file renamed here is a move there, also when its stat cache is lost", "[sync-engine]") {
  for (const bool cache_lost : {false, true}) {
    CAPTURE(cache_lost);
    FakeRemote remote;
    SyncedFolder here(remote);
    here.write("a.md", "a\n");
    here.write("b.md", "b\n");
    here.run();
    rename(here, "a.md", "sub/renamed.md");
    if (cache_lost) std::filesystem::remove(here.path() / ".ws" / "stat.cache");
    CHECK(lines(here.status()) == Lines{"push_move sub/renamed.md"});
    CHECK(lines(here.run()) == Lines{"push_move sub/renamed.md"});
    CHECK(remote.document_count() == 2);
    check_in_step(here, remote, {{"b.md", "b\n"}, {"sub/renamed.md", "a\n"}});
  }
}

TEST_CASE("engine: a name in its other Unicode form is the same place, whatever happens to the text beside it",
          "[sync-engine]") {
  const std::string composed = "caf\xC3\xA9.md";
  const std::string decomposed = "cafe\xCC\x81.md";
  const auto [from, to] = GENERATE_COPY(std::pair(composed, decomposed), std::pair(decomposed, composed));
  const bool apart = GENERATE(false, true);  // pushed and committed by commands of their own
  CAPTURE(from, to, apart);
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write(from, ten_lines);
  here.run();
  const auto check_rest = [&](const std::string& text) {
    CHECK(here.tree() == Tree{{to, text}});
    CHECK(remote.tree() == Tree{{composed, text}});
    CHECK(lines(here.status()).empty());
    const Report again = here.run();
    CHECK(lines(again).empty());
    CHECK(again.clean);
  };
  rename(here, from, to);
  SECTION("edited here") {
    here.write(to, ten_lines + "mine\n");
    if (apart) {
      REQUIRE(here.engine().push());
      REQUIRE(here.engine().commit());
    } else {
      CHECK(lines(here.run()) == Lines{"push_update " + to});
    }
    check_rest(ten_lines + "mine\n");
  }
  SECTION("edited there") {
    remote.edit(composed, ten_lines + "theirs\n");
    CHECK(lines(here.run()) == Lines{"pull_update " + to});
    check_rest(ten_lines + "theirs\n");
  }
  SECTION("edited on both sides, merged") {
    here.write(to, "mine\n" + ten_lines);
    remote.edit(composed, ten_lines + "theirs\n");
    CHECK(lines(here.run()) == Lines{"merge " + to});
    check_rest("mine\n" + ten_lines + "theirs\n");
  }
  SECTION("edited on both sides, decided") {
    const Keep keep = GENERATE(Keep::local, Keep::remote);
    here.write(to, "mine\n");
    remote.edit(composed, "theirs\n");
    const Report report = here.run();
    REQUIRE(report.conflicts.size() == 1);
    REQUIRE(here.engine().resolve(report.conflicts[0], keep));
    check_rest(keep == Keep::local ? "mine\n" : "theirs\n");
  }
  SECTION("edited alike on both sides") {
    here.write(to, "alike\n");
    remote.edit(composed, "alike\n");
    here.run();
    check_rest("alike\n");
  }
}

TEST_CASE("engine: names that differ in case, or change places, go with their edits in one run", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", ten_lines);
  here.write("b.md", "b\n" + ten_lines);
  here.run();
  SECTION("another case") {
    rename(here, "a.md", "A.md");
    here.write("A.md", ten_lines + "mine\n");
    here.run();
    check_in_step(here, remote, {{"A.md", ten_lines + "mine\n"}, {"b.md", "b\n" + ten_lines}});
  }
  SECTION("changed places") {
    rename(here, "a.md", "t.tmp");
    rename(here, "b.md", "a.md");
    rename(here, "t.tmp", "b.md");
    here.write("a.md", "b\n" + ten_lines + "mine\n");
    here.write("b.md", ten_lines + "mine too\n");
    here.run();
    check_in_step(here, remote, {{"b.md", ten_lines + "mine too\n"}, {"a.md", "b\n" + ten_lines + "mine\n"}});
    CHECK(remote.document_count() == 2);
  }
}

TEST_CASE("engine: renamed and edited here is still the same document, where most lines are", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", ten_lines);
  here.write("other.md", "nothing\nalike\nat\nall\n");
  here.run();
  here.remove("a.md");
  here.write("z.md", ten_lines + "eleven\n");
  CHECK(lines(here.run()) == Lines{"push_move z.md", "push_update z.md"});
  CHECK(remote.document_count() == 2);
  check_in_step(here, remote, {{"other.md", "nothing\nalike\nat\nall\n"}, {"z.md", ten_lines + "eleven\n"}});
}

TEST_CASE("engine: a short note renamed and edited alike or otherwise on both sides stays one document",
          "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote, 1);
  SyncedFolder there(remote, 2);
  here.write("d/x.md", "a line\n");
  here.write("a.md", "alpha\n");
  here.write("b.md", "beta\n");
  here.run();
  there.run();
  SECTION("a file, edited by the second to sync") {
    rename(here, "d/x.md", "d/y.md");
    rename(there, "d/x.md", "d/y.md");
    there.write("d/y.md", "another line\n");
  }
  SECTION("a folder") {
    rename(here, "d", "e");
    rename(there, "d", "e");
    there.write("e/x.md", "another line\n");
  }
  SECTION("names that change places, and a text") {
    for (SyncedFolder* each : {&here, &there}) {
      rename(*each, "a.md", "t.tmp");
      rename(*each, "b.md", "a.md");
      rename(*each, "t.tmp", "b.md");
    }
    there.write("a.md", "another line\n");
  }
  SECTION("a log that is rotated") {
    for (SyncedFolder* each : {&here, &there}) {
      rename(*each, "b.md", "c.md");
      rename(*each, "a.md", "b.md");
      each->write("a.md", "a new day\n");
    }
    there.write("b.md", "another line\n");
  }
  const std::size_t documents = remote.document_count() + (here.tree().size() > 3 ? 1 : 0);
  const Tree expected = there.tree();
  CHECK(here.run().clean);
  const Report second = there.run();
  CAPTURE(lines(second));
  CHECK(second.clean);
  CHECK(here.run().clean);
  CHECK(remote.document_count() == documents);
  check_in_step(here, remote, expected);
  check_in_step(there, remote, expected);
}

TEST_CASE("engine: pushed and committed apart, a name given alike on both sides is taken over", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("x.md", "a line\n");
  here.run();
  rename(here, "x.md", "y.md");
  here.write("y.md", "another line\n");
  remote.move("x.md", "y.md");
  REQUIRE(here.engine().push({}));
  REQUIRE(here.engine().commit({}));
  check_in_step(here, remote, {{"y.md", "another line\n"}});
}

TEST_CASE("engine: a twin whose place is freed by a run is pushed by that run", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  here.write("b.md", "b\n");
  here.run();
  here.write("A.md", "new\n");
  const bool moved = GENERATE(false, true);
  if (moved) {
    remote.move("a.md", "c.md");
  } else {
    remote.archive("a.md");
  }
  CHECK(here.run().clean);
  Tree expected = {{"A.md", "new\n"}, {"b.md", "b\n"}};
  if (moved) expected.emplace("c.md", "a\n");
  check_in_step(here, remote, expected);
}

TEST_CASE("engine: another text at the same revision is told as a fault of the service", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  here.run();
  remote.edit("a.md", "other\n");
  remote.tell_otherwise = [](PulledItem& item) { item.revision = {1}; };
  const bool edited = GENERATE(false, true);
  if (edited) here.write("a.md", "mine\n");
  const Report report = here.run();
  CHECK(report.remarks == std::vector<Remark>{{.word = Remark::Word::same_revision, .path = "a.md"}});
  CHECK(lines(report) == Lines{edited ? "conflict a.md" : "pull_update a.md"});
  CHECK(here.read("a.md") == (edited ? "mine\n" : "other\n"));
}

TEST_CASE("engine: what is not alike, or like two, is no move", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", ten_lines);
  here.write("b.md", "x\n");
  here.write("c.md", "c\n");
  here.run();
  // Written anew, so that no file's number tells anything.
  here.remove("a.md");
  here.write("p.md", ten_lines + "p\n");
  here.write("q.md", ten_lines + "q\n");
  const Report report = here.run();
  CHECK(lines(report) == Lines{"push_delete a.md", "push_create p.md", "push_create q.md"});
}

TEST_CASE("engine: a renamed folder with two equal files, and files that change places, are moves", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("f/a.md", "same\n");
  here.write("f/b.md", "same\n");
  here.write("x.md", "x\n");
  here.write("y.md", "y\n");
  here.run();
  rename(here, "f", "g");
  rename(here, "x.md", "tmp.txt");
  rename(here, "y.md", "x.md");
  rename(here, "tmp.txt", "y.md");
  CHECK(lines(here.run()) == Lines{"push_move g/a.md", "push_move g/b.md", "push_move x.md", "push_move y.md"});
  CHECK(remote.document_count() == 4);
  check_in_step(here, remote, {{"g/a.md", "same\n"}, {"g/b.md", "same\n"}, {"x.md", "y\n"}, {"y.md", "x\n"}});
}

TEST_CASE("engine: a file set aside, and another text in its place, is a move and a new document", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", ten_lines);
  here.run();
  rename(here, "a.md", "old.md");
  SECTION("another text") {
    here.write("a.md", "something else\n");
    CHECK(lines(here.run()) == Lines{"push_create a.md", "push_move old.md"});
    check_in_step(here, remote, {{"a.md", "something else\n"}, {"old.md", ten_lines}});
  }
  SECTION("an edit of its text: the one set aside is a copy") {
    here.write("a.md", ten_lines + "eleven\n");
    CHECK(lines(here.run()) == Lines{"push_update a.md", "push_create old.md"});
    check_in_step(here, remote, {{"a.md", ten_lines + "eleven\n"}, {"old.md", ten_lines}});
  }
}

TEST_CASE("engine: a copy is a new document, and a name with two files is no evidence", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  here.run();
  std::filesystem::create_hard_link(here.path() / "a.md", here.path() / "b.md");
  CHECK(lines(here.run()) == Lines{"push_create b.md"});
  check_in_step(here, remote, {{"a.md", "a\n"}, {"b.md", "a\n"}});
}

TEST_CASE("engine: renamed here and edited there is both", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  here.write("b.md", "b\n");
  here.run();
  rename(here, "a.md", "z.md");
  remote.edit("a.md", "theirs\n");
  const Report report = here.run();
  CAPTURE(lines(report));
  CHECK(report.clean);
  check_in_step(here, remote, {{"b.md", "b\n"}, {"z.md", "theirs\n"}});
}

TEST_CASE("engine: renamed otherwise on both sides stays where it is on both, as a conflict", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  here.write("b.md", "b\n");
  here.run();
  rename(here, "a.md", "mine.md");
  remote.move("a.md", "theirs.md");
  const Report report = here.run();
  CHECK(lines(report) == Lines{"conflict mine.md"});
  CHECK(here.tree() == Tree{{"b.md", "b\n"}, {"mine.md", "a\n"}});
  CHECK(remote.tree() == Tree{{"b.md", "b\n"}, {"theirs.md", "a\n"}});
  REQUIRE(remote.conflicts().size() == 1);
  CHECK(remote.conflicts()[0].path == "mine.md");
  CHECK(here.run().conflicts.size() == 1);
  CHECK(remote.conflicts().size() == 1);
  const bool local = GENERATE(true, false);
  CAPTURE(local);
  REQUIRE(here.engine().resolve(here.engine().conflicts()->front(), local ? Keep::local : Keep::remote));
  here.run();
  check_in_step(here, remote, {{"b.md", "b\n"}, {local ? "mine.md" : "theirs.md", "a\n"}});
  CHECK_FALSE(remote.conflicts()[0].open);
}

TEST_CASE("engine: a file renamed to the place of a document whose name is open waits for that decision",
          "[sync-engine]") {
  const Keep keep = GENERATE(Keep::local, Keep::remote);
  FakeRemote remote;
  SyncedFolder folder(remote);
  folder.write("a.md", "the first note\n");
  folder.write("b.md", "another one\n");
  folder.run();
  remote.move("a.md", "d/a.md");
  std::filesystem::rename(folder.path() / "a.md", folder.path() / "c.md");
  std::filesystem::create_directory(folder.path() / "d");
  std::filesystem::rename(folder.path() / "b.md", folder.path() / "d/a.md");
  CHECK(folder.run().conflicts.size() == 1);
  // It rests: the record is not written anew each time.
  CHECK(folder.run().conflicts == folder.run().conflicts);
  for (int i = 0; i < 3; ++i) {
    auto engine = folder.engine();
    const auto open = engine.conflicts();
    REQUIRE(open);
    CHECK(open->size() <= 1);
    for (const Conflict& conflict : *open) {
      const auto decided = engine.resolve(conflict, keep);
      INFO((decided ? "" : decided.error().what));
      CHECK(decided);
    }
    folder.run();
  }
  CHECK(folder.status().clean);
  CHECK(folder.tree() == remote.tree());
  std::set<std::string> texts;
  for (const auto& [path, text] : folder.tree()) texts.insert(text);
  CHECK(texts == std::set<std::string>{"the first note\n", "another one\n"});
}

TEST_CASE("engine: a document moved onto a new file lies beside it, and comes home when the place is free",
          "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("q.md", "document\n");
  here.write("z.md", "z\n");
  here.run();
  here.write("p.md", "mine\n");
  remote.move("q.md", "p.md");
  const Report first = here.run();
  CAPTURE(lines(first));
  CHECK_FALSE(first.clean);
  CHECK(here.tree() == Tree{{"p.md", "mine\n"}, {"p (remote).md", "document\n"}, {"z.md", "z\n"}});
  CHECK(remote.tree() == Tree{{"p.md", "document\n"}, {"z.md", "z\n"}});

  SECTION("it is a document like any other meanwhile: edits go both ways, and nothing else happens") {
    here.write("p (remote).md", "document, edited here\n");
    here.run();
    CHECK(remote.text_at("p.md") == "document, edited here\n");
    remote.edit("p.md", "document, edited there\n");
    here.run();
    CHECK(here.read("p (remote).md") == "document, edited there\n");
    CHECK(here.read("p.md") == "mine\n");
    CHECK(remote.document_count() == 2);
    CHECK_FALSE(here.run().conflicts.empty());
  }
  SECTION("the file here takes another name: both have their own") {
    rename(here, "p.md", "own.md");
    here.run();
    check_in_step(here, remote, {{"own.md", "mine\n"}, {"p.md", "document\n"}, {"z.md", "z\n"}});
    CHECK(here.run().conflicts.empty());
  }
  SECTION("the copy is deleted: the document goes, and the file here gets the place") {
    here.remove("p (remote).md");
    here.run();
    here.run();
    check_in_step(here, remote, {{"p.md", "mine\n"}, {"z.md", "z\n"}});
  }
  SECTION("the copy is renamed: so is the document, and the file here gets the place") {
    rename(here, "p (remote).md", "theirs.md");
    here.run();
    here.run();
    check_in_step(here, remote, {{"p.md", "mine\n"}, {"theirs.md", "document\n"}, {"z.md", "z\n"}});
  }
  SECTION("the service's side is kept: its document takes the place, the file here lies beside it") {
    REQUIRE(first.conflicts.size() == 1);
    const auto resolved = here.engine().resolve(first.conflicts[0], Keep::remote);
    if (!resolved) FAIL(resolved.error().what);
    here.run();
    check_in_step(here, remote, {{"p.md", "document\n"}, {"p (local).md", "mine\n"}, {"z.md", "z\n"}});
  }
}

TEST_CASE("engine: edited here while another document took its place lies apart from it", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("p.md", "old\n");
  here.write("z.md", "z\n");
  here.run();
  here.write("p.md", "mine\n");
  remote.archive("p.md");
  remote.create("p.md", "new\n");
  const Report report = here.run();
  CAPTURE(lines(report));
  CHECK(report.conflicts.size() == 1);
  CHECK(here.tree() == Tree{{"p.md", "mine\n"}, {"p (remote).md", "new\n"}, {"z.md", "z\n"}});
  CHECK(remote.tree() == Tree{{"p.md", "new\n"}, {"z.md", "z\n"}});
  here.run();
  CHECK(here.tree() == Tree{{"p.md", "mine\n"}, {"p (remote).md", "new\n"}, {"z.md", "z\n"}});
}

TEST_CASE("engine: edited here while its place became a folder steps aside as a new document", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("p.md", "old\n");
  here.write("z.md", "z\n");
  here.run();
  here.write("p.md", "mine\n");
  remote.archive("p.md");
  remote.create("p.md/x.md", "child\n");
  const Report report = here.run();
  CAPTURE(lines(report));
  CHECK(report.clean);
  check_in_step(here, remote, {{"p (local).md", "mine\n"}, {"p.md/x.md", "child\n"}, {"z.md", "z\n"}});
}

TEST_CASE("engine: a file became a folder here while it was edited there: its text lies beside the folder",
          "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("p.md", "old\n");
  here.write("z.md", "z\n");
  here.run();
  here.remove("p.md");
  here.write("p.md/x.md", "child\n");
  remote.edit("p.md", "theirs\n");
  const Report report = here.run();
  CAPTURE(lines(report));
  CHECK(here.tree() == Tree{{"p.md/x.md", "child\n"}, {"p (remote).md", "theirs\n"}, {"z.md", "z\n"}});
  CHECK(remote.tree() == Tree{{"p.md", "theirs\n"}, {"p.md/x.md", "child\n"}, {"z.md", "z\n"}});
  REQUIRE(report.conflicts.size() == 1);
  CHECK(report.conflicts[0].kind() == ConflictKind::revision);
  CHECK(here.run().conflicts.size() == 1);
  SECTION("another folder has room for one of the two, and nothing to choose") {
    SyncedFolder there(remote);
    const Report joined = there.run();
    CHECK(joined.conflicts.empty());
    REQUIRE(joined.skipped.size() == 1);
    CHECK(joined.skipped[0] == Skipped{.path = "p.md/x.md", .reason = SkipReason::twin});
    CHECK(there.tree() == Tree{{"p.md", "theirs\n"}, {"z.md", "z\n"}});
    REQUIRE(here.engine().resolve(report.conflicts[0], Keep::remote));
    here.run();
    there.run();
    CHECK(there.tree() == Tree{{"p.md/x.md", "child\n"}, {"p (remote).md", "theirs\n"}, {"z.md", "z\n"}});
  }
  SECTION("kept here: the folder alone is left") {
    REQUIRE(here.engine().resolve(report.conflicts[0], Keep::local));
    here.run();
    check_in_step(here, remote, {{"p.md/x.md", "child\n"}, {"z.md", "z\n"}});
  }
}

TEST_CASE("moves: a push alone does not take a text for known that was edited there", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  here.run();
  remote.edit("a.md", "theirs\n");
  std::filesystem::rename(here.path() / "a.md", here.path() / "b.md");
  REQUIRE(here.engine().push());
  REQUIRE(here.engine().commit());
  CHECK(here.read("b.md") == "a\n");
  CHECK(here.run().clean);
  CHECK(here.tree() == Tree{{"b.md", "theirs\n"}});
  CHECK(remote.tree() == here.tree());
}

}  // namespace ws::sync

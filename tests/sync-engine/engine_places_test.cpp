// Names that something stands on: whatever it is, nothing is a dead end, and both sides end up with one tree.
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "api-client/base/files.hpp"
#include "sync-engine/engine.hpp"
#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

namespace fs = std::filesystem;
using test::FakeRemote;
using test::lines;
using test::Lines;
using test::SyncedFolder;
using test::Tree;

struct Pair {
  FakeRemote remote;
  SyncedFolder here{remote};
  Pair() {
    here.write("f.md", "1\n2\n3\n4\n5\n6\n7\n");
    here.write("g.md", "g\n");
    here.run();
  }
  void rename(const std::string& from, const std::string& to) const {
    fs::create_directories((here.path() / to).parent_path());
    fs::rename(here.path() / from, here.path() / to);
  }
  Conflict only_conflict() {
    const auto open = here.engine().conflicts();
    REQUIRE(open);
    REQUIRE(open->size() == 1);
    return open->front();
  }
  void decide(Keep keep) {
    const auto decided = here.engine().resolve(only_conflict(), keep);
    if (!decided) FAIL(decided.error().what);
  }
  /// As many runs as it takes; then both sides are the same.
  Tree settle() {
    for (int run = 0; run < 3; ++run) here.run();
    CHECK(here.run().clean);
    CHECK(here.engine().conflicts()->empty());
    CHECK(here.tree() == remote.tree());
    return here.tree();
  }
};

/// Not for the sync: a note of the file manager.
void leave_a_trace(const fs::path& folder) {
  fs::create_directories(folder);
  REQUIRE(write_file(folder / ".DS_Store", "x"));
}

}  // namespace

TEST_CASE("places: a file that waits for its name keeps its text waiting too", "[sync-engine]") {
  Pair pair;
  auto& [remote, here] = pair;
  pair.rename("f.md", "q.md");
  const bool edited_here = GENERATE(true, false);
  if (edited_here) here.write("q.md", "mine\n2\n3\n4\n5\n6\n7\n");
  remote.edit("f.md", "1\n2\n3\n4\n5\n6\ntheirs\n");
  remote.create("q.md", "another\n");
  const Report met = here.run();
  CHECK(lines(met) == Lines{"pull_create q (remote).md", "conflict q.md"});
  CHECK(met.rows.back().state == Row::State::done);
  const std::string text = edited_here ? "mine\n2\n3\n4\n5\n6\ntheirs\n" : "1\n2\n3\n4\n5\n6\ntheirs\n";
  SECTION("it is the name's") {
    pair.decide(Keep::local);
    CHECK(pair.settle() == Tree{{"g.md", "g\n"}, {"q (remote).md", "another\n"}, {"q.md", text}});
  }
  SECTION("the newcomer is") {
    pair.decide(Keep::remote);
    CHECK(pair.settle() == Tree{{"g.md", "g\n"}, {"q (local).md", text}, {"q.md", "another\n"}});
  }
}

TEST_CASE("places: of two with one text and one new name neither is taken for the other", "[sync-engine]") {
  Pair pair;
  auto& [remote, here] = pair;
  pair.rename("g.md", "d/p.md");
  remote.create("d/p.md", "g\n");
  CHECK(lines(here.run()) == Lines{"pull_create d/p (remote).md", "conflict d/p.md"});
  CHECK(lines(here.run()) == Lines{"conflict d/p.md"});
  CHECK(remote.conflicts().empty());
  pair.decide(GENERATE(Keep::local, Keep::remote));
  const Tree tree = pair.settle();
  CHECK(tree.size() == 3);
  CHECK(tree.at("d/p.md") == "g\n");
}

TEST_CASE("places: a name that differs in case is another document's, not a new name of this one", "[sync-engine]") {
  Pair pair;
  auto& [remote, here] = pair;
  here.remove("g.md");
  remote.edit("g.md", "g, and more\n");
  pair.rename("f.md", "G.md");
  CHECK(lines(here.run()) == Lines{"conflict G.md"});
  CHECK(pair.only_conflict().which == ConflictCase::two_documents_kept_here);
  SECTION("ours") {
    pair.decide(Keep::local);
    CHECK(pair.settle() == Tree{{"G (remote).md", "g, and more\n"}, {"G.md", "1\n2\n3\n4\n5\n6\n7\n"}});
  }
  SECTION("theirs") {
    pair.decide(Keep::remote);
    CHECK(pair.settle() == Tree{{"G (local).md", "1\n2\n3\n4\n5\n6\n7\n"}, {"g.md", "g, and more\n"}});
  }
}

TEST_CASE("places: empty folders give way, however deep", "[sync-engine]") {
  Pair pair;
  auto& [remote, here] = pair;
  fs::create_directories(here.path() / "n.md" / "deep" / "er");
  fs::create_directories(here.path() / "m.md" / "deep");
  remote.create("n.md", "new\n");
  remote.move("g.md", "m.md");
  CHECK(lines(here.status()) == Lines{"pull_move m.md", "pull_create n.md"});
  CHECK(here.run().clean);
  CHECK(pair.settle() == Tree{{"f.md", "1\n2\n3\n4\n5\n6\n7\n"}, {"m.md", "g\n"}, {"n.md", "new\n"}});
}

TEST_CASE("places: what is not synced keeps its name, and the document lies beside it", "[sync-engine]") {
  Pair pair;
  auto& [remote, here] = pair;
  const fs::path place = here.path() / "n.md";
  const std::string what = GENERATE("a folder with a file of another kind", "a link", "no text");
  CAPTURE(what);
  if (what == "a link") fs::create_symlink("g.md", place);
  if (what == "no text") here.write("n.md", std::string("a\0b", 3));
  if (what != "a link" && what != "no text") leave_a_trace(place / "sub");
  remote.create("n.md", "new\n");
  const Lines expected = {"pull_create n (remote).md", "conflict n.md"};
  CHECK(lines(here.status()) == expected);
  CHECK(lines(here.run()) == expected);
  CHECK(here.read("n (remote).md") == "new\n");
  CHECK(lines(here.run()) == Lines{"conflict n.md"});
  CHECK(pair.only_conflict().which == ConflictCase::not_synced);
  CHECK(here.status().conflicts.size() == 1);
  const auto taken = here.engine().resolve(pair.only_conflict(), Keep::remote);
  REQUIRE_FALSE(taken);
  CHECK(taken.error().kind == Failure::Kind::conflict);
  SECTION("it stays") {
    pair.decide(Keep::local);
    CHECK(lines(here.run()) == Lines{"push_move n (remote).md"});
    CHECK(remote.text_at("n (remote).md") == "new\n");
  }
  SECTION("the document goes") {
    remote.archive("n.md");
    CHECK(lines(here.run()) == Lines{"pull_delete n (remote).md"});
  }
  SECTION("its owner moves it") {
    fs::rename(place, here.path() / "elsewhere.txt");
    CHECK(lines(here.run()) == Lines{"pull_move n.md"});
    CHECK(here.read("n.md") == "new\n");
  }
  CHECK(fs::exists(place));
  CHECK(here.run().clean);
  CHECK(here.engine().conflicts()->empty());
}

TEST_CASE("places: a file of another kind where the service has a folder", "[sync-engine]") {
  Pair pair;
  auto& [remote, here] = pair;
  REQUIRE(write_file(here.path() / "notes", "plain"));
  remote.create("notes/x.md", "x\n");
  remote.move("g.md", "notes/g.md");
  const Lines expected = {"conflict notes", "conflict notes"};
  CHECK(lines(here.status()) == expected);
  CHECK(lines(here.run()) == expected);
  CHECK(here.read("g.md") == "g\n");
  SECTION("it stays") {
    const auto open = here.engine().conflicts();
    REQUIRE(open);
    for (const Conflict& conflict : *open) REQUIRE(here.engine().resolve(conflict, Keep::local));
    here.run();
    CHECK(here.run().clean);
    CHECK(remote.tree() == Tree{{"f.md", "1\n2\n3\n4\n5\n6\n7\n"}, {"g.md", "g\n"}, {"notes (remote)/x.md", "x\n"}});
  }
  SECTION("its owner moves it") {
    fs::remove(here.path() / "notes");
    CHECK(lines(here.run()) == Lines{"pull_move notes/g.md", "pull_create notes/x.md"});
  }
  CHECK(here.read("f.md").has_value());
  CHECK(here.run().clean);
  CHECK(here.engine().conflicts()->empty());
}

TEST_CASE("places: a file in a folder here where the service has a document", "[sync-engine]") {
  Pair pair;
  auto& [remote, here] = pair;
  const bool renamed = GENERATE(true, false);
  const Keep keep = GENERATE(Keep::local, Keep::remote);
  CAPTURE(renamed, keep);
  if (renamed) pair.rename("g.md", "n.md/g.md");
  if (!renamed) here.write("n.md/g.md", "mine\n");
  remote.create("n.md", "new\n");
  CHECK(lines(here.run()) == Lines{"conflict n.md/g.md"});
  CHECK(pair.only_conflict().which == ConflictCase::document_there);
  pair.decide(keep);
  const Tree tree = pair.settle();
  CHECK(tree.size() == (renamed ? 3 : 4));
  CHECK(tree.at(keep == Keep::local ? "n (remote).md" : "n.md") == "new\n");
  CHECK(tree.at(keep == Keep::local ? "n.md/g.md" : "n (local).md/g.md") == (renamed ? "g\n" : "mine\n"));
}

TEST_CASE("places: one document renamed to a name here and into a folder of that name there", "[sync-engine]") {
  Pair pair;
  auto& [remote, here] = pair;
  const bool deeper_there = GENERATE(true, false);
  const Keep keep = GENERATE(Keep::local, Keep::remote);
  CAPTURE(deeper_there, keep);
  const std::string mine = deeper_there ? "q.md" : "q.md/in.md";
  const std::string theirs = deeper_there ? "q.md/in.md" : "q.md";
  pair.rename("g.md", mine);
  remote.move("g.md", theirs);
  CHECK(lines(here.run()) == Lines{"conflict " + mine});
  pair.decide(keep);
  const Tree tree = pair.settle();
  CHECK(tree.size() == 2);
  CHECK(tree.at(keep == Keep::local ? mine : theirs) == "g\n");
}

TEST_CASE("places: a known document that moves beneath a file here", "[sync-engine]") {
  Pair pair;
  auto& [remote, here] = pair;
  here.write("n.md", "mine\n");
  remote.move("g.md", "n.md/g.md");
  const Keep keep = GENERATE(Keep::local, Keep::remote);
  CHECK(lines(here.run()) == Lines{"conflict n.md"});
  CHECK(here.read("g.md") == "g\n");
  pair.decide(keep);
  const Tree tree = pair.settle();
  CHECK(tree.size() == 3);
  CHECK(tree.at(keep == Keep::local ? "g.md" : "n.md/g.md") == "g\n");
  CHECK(tree.at(keep == Keep::local ? "n.md" : "n (local).md") == "mine\n");
}

TEST_CASE("places: a renamed file that the service refuses is in nobody's way unseen", "[sync-engine]") {
  Pair pair;
  auto& [remote, here] = pair;
  pair.rename("g.md", "n.md");
  remote.refused["n.md"] = "forbidden";
  here.run();
  remote.refused.clear();
  remote.create("n.md", "another\n");
  CHECK(lines(here.run()) == Lines{"pull_create n (remote).md", "conflict n.md"});
  CHECK(lines(here.run()) == Lines{"conflict n.md"});
  CHECK(here.read("n.md") == "g\n");
  CHECK(here.read("n (remote).md") == "another\n");
}

TEST_CASE("places: an open conflict whose file became a folder is about that from the next run on", "[sync-engine]") {
  Pair pair;
  auto& [remote, here] = pair;
  here.write("g.md", "mine\n");
  remote.edit("g.md", "theirs\n");
  here.run();
  REQUIRE(remote.conflicts().size() == 1);
  here.remove("g.md");
  here.write("g.md/in.md", "in\n");
  const auto early = here.engine().resolve(pair.only_conflict(), Keep::remote);
  REQUIRE_FALSE(early);
  CHECK(early.error().kind == Failure::Kind::conflict);
  CHECK(lines(here.run()) == Lines{"pull_create g (remote).md", "conflict g.md", "push_create g.md/in.md"});
  CHECK(pair.only_conflict().id == remote.conflicts()[0].id);
  SECTION("both stay") {
    pair.decide(Keep::remote);
    CHECK(pair.settle().at("g (remote).md") == "theirs\n");
  }
  SECTION("the folder alone") {
    pair.decide(Keep::local);
    CHECK(pair.settle() == Tree{{"f.md", "1\n2\n3\n4\n5\n6\n7\n"}, {"g.md/in.md", "in\n"}});
  }
  CHECK_FALSE(remote.conflicts()[0].open);
}

TEST_CASE("places: two conflicts about one name, met in one run, are decided one after the other", "[sync-engine]") {
  const Keep first = GENERATE(Keep::local, Keep::remote);
  const Keep second = GENERATE(Keep::local, Keep::remote);
  CAPTURE(first == Keep::local, second == Keep::local);
  Pair pair;
  // `f.md` has two new names, and one of them is where `g.md` went there.
  pair.rename("f.md", "n.md");
  pair.remote.move("f.md", "m.md");
  pair.remote.move("g.md", "n.md");
  const Report met = pair.here.run();
  CAPTURE(lines(met));
  REQUIRE_FALSE(met.conflicts.empty());
  for (const Keep keep : {first, second, first, second}) {
    const auto open = pair.here.engine().conflicts();
    REQUIRE(open);
    if (open->empty()) break;
    const auto decided = pair.here.engine().resolve(open->front(), keep);
    if (!decided) FAIL(decided.error().what);
    pair.here.run();
  }
  const Tree tree = pair.settle();
  CHECK(tree.size() == 2);
}

TEST_CASE("places: several conflicts about names and texts are decided in one call", "[sync-engine]") {
  const Keep keep = GENERATE(Keep::local, Keep::remote);
  CAPTURE(keep == Keep::local);
  Pair pair;
  pair.here.write("t.md", "t\n");
  pair.here.write("u.md", "u\n");
  pair.here.run();
  pair.rename("f.md", "here.md");
  pair.remote.move("f.md", "there.md");
  pair.rename("g.md", "g here.md");
  pair.remote.move("g.md", "g there.md");
  for (const char* name : {"t.md", "u.md"}) {
    pair.here.write(name, std::string("mine ") + name);
    pair.remote.edit(name, std::string("theirs ") + name);
  }
  REQUIRE(pair.here.run().conflicts.size() == 4);
  const auto open = pair.here.engine().conflicts();
  std::vector<Choice> choices;
  for (const Conflict& conflict : *open) choices.push_back({.conflict = conflict, .keep = keep});
  choices.push_back(choices.front());  // said twice
  const auto decided = pair.here.engine().resolve(choices);
  REQUIRE(decided);
  REQUIRE(decided->size() == 5);
  for (std::size_t i = 0; i < 4; ++i) CHECK((*decided)[i]);
  CHECK((*decided)[4].error().kind == Failure::Kind::not_found);
  const std::string whose = keep == Keep::local ? "mine " : "theirs ";
  const std::string names = keep == Keep::local ? "here.md" : "there.md";
  const Tree tree = pair.settle();
  CHECK(tree.at("t.md") == whose + "t.md");
  CHECK(tree.at("u.md") == whose + "u.md");
  CHECK(tree.contains(names));
  CHECK(tree.contains("g " + names));
  CHECK(tree.size() == 4);
}

TEST_CASE("places: a file that waits for its name and gets it in another case is a twin, and goes once it has another",
          "[sync-engine]") {
  Pair pair;
  pair.here.write("n.md", "new here\n");
  pair.remote.move("f.md", "n.md");
  REQUIRE(pair.here.run().conflicts.size() == 1);
  pair.rename("n.md", "N.md");
  const Report twin = pair.here.run();
  CAPTURE(lines(twin));
  CHECK(pair.here.read("N.md") == "new here\n");
  // Nothing hangs: it is told by every run, and nothing else happens.
  const Report again = pair.here.run();
  const bool is_told = !again.skipped.empty() || !again.conflicts.empty();
  CHECK(is_told);
  for (const Row& row : again.rows) CHECK(row.action.kind == ActionKind::conflict);
  pair.rename("N.md", "o.md");
  const Tree tree = pair.settle();
  CHECK(tree.at("o.md") == "new here\n");
  CHECK(tree.contains("n.md"));
  CHECK(tree.size() == 3);
}

TEST_CASE("places: a text kept where the service has a twin of its name is told what to do, and is no dead end",
          "[sync-engine]") {
  Pair pair;
  pair.here.write("g.md", "mine\n");
  pair.remote.archive("g.md");
  REQUIRE(pair.here.run().conflicts.size() == 1);
  pair.remote.create("G.md", "their twin\n");
  const auto refused = pair.here.engine().resolve(pair.only_conflict(), Keep::local);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == Failure::Kind::conflict);
  CAPTURE(refused.error().what, refused.error().hint);
  CHECK(refused.error().hint.find("rename the file here") != std::string::npos);
  SECTION("renamed, as it says") {
    pair.here.run();
    pair.rename("g.md", "h.md");
    pair.here.run();
    pair.decide(Keep::local);
    const Tree tree = pair.settle();
    CHECK(tree.at("h.md") == "mine\n");
    CHECK(tree.at("G.md") == "their twin\n");
  }
  SECTION("both") {
    pair.decide(Keep::both);
    const Tree tree = pair.settle();
    CHECK(tree.at("g (local).md") == "mine\n");
    CHECK(tree.at("G.md") == "their twin\n");
  }
}

}  // namespace ws::sync

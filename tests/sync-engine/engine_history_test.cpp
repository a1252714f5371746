// Every text that was ever synced or overwritten can be seen and brought back.
#include <catch2/catch.hpp>

#include "sync-engine/engine.hpp"
#include "tests/sync-engine/support/paths.hpp"
#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

using test::FakeRemote;
using test::path;
using test::SyncedFolder;

std::vector<std::string> messages(const std::vector<HistoryState>& states) {
  std::vector<std::string> out;
  for (const HistoryState& state : states) out.push_back(state.message);
  return out;
}

}  // namespace

TEST_CASE("history: the log names each state and what it changed, the newest first", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  CHECK(here.engine().log()->empty());
  here.write("a.md", "one\n");
  here.write("deep/b.md", "b\n");
  here.run();
  here.write("a.md", "two\n");
  here.run();
  const auto all = here.engine().log();
  REQUIRE(all);
  REQUIRE(all->size() == 2);
  CHECK(messages(*all) == std::vector<std::string>{"Pushed to the service", "Pushed to the service"});
  REQUIRE(all->at(0).changes.size() == 1);
  CHECK(all->at(0).changes[0].path == "a.md");
  REQUIRE(all->at(1).changes.size() == 2);
  CHECK(all->at(1).changes[1].path == "deep/b.md");
  CHECK(here.engine().log({.path = path("deep/b.md")})->size() == 1);
  CHECK(here.engine().log({.limit = 1})->size() == 1);
}

TEST_CASE("history: a clock that was set back neither reorders the log nor makes gc forget the newest runs",
          "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  const Time today = folder.clock().time;
  for (const char* text : {"first\n", "second\n", "third\n"}) {
    // The second run is made by a machine that has just started and does not know the date.
    folder.clock().time = std::string_view(text) == "first\n" ? today : Time(std::chrono::seconds(5));
    folder.write("a.md", text);
    REQUIRE(folder.run().operation);
  }
  auto engine = folder.engine();
  const auto states = engine.log({.path = path("a.md")});
  REQUIRE(states);
  REQUIRE(states->size() == 3);
  CHECK(*engine.text_in((*states)[0].id, path("a.md")) == "third\n");
  CHECK(*engine.text_in((*states)[2].id, path("a.md")) == "first\n");

  REQUIRE(engine.gc({.keep_from = today - std::chrono::hours(24)}));
  const auto runs = engine.operations(0);
  REQUIRE(runs);
  CHECK(runs->size() == 3);
  REQUIRE(engine.gc({.keep_from = today + std::chrono::hours(24)}));
  CHECK(engine.operations(0)->empty());
}

TEST_CASE("history: restore brings back the last other text, and a second one undoes the first", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "one\n");
  here.run();
  here.write("a.md", "two\n");
  here.run();
  const auto restored = here.engine().restore(path("a.md"));
  if (!restored) FAIL(restored.error().what);
  CHECK(restored->changed);
  CHECK(here.read("a.md") == "one\n");
  CHECK(here.run().clean);
  CHECK(remote.text_at("a.md") == "one\n");
  REQUIRE(here.engine().restore(path("a.md")));
  CHECK(here.read("a.md") == "two\n");
}

TEST_CASE("history: a deleted file, a text never synced and a state by its name come back", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "one\n");
  here.write("b.md", "b\n");
  here.run();
  here.remove("a.md");
  here.run();
  REQUIRE(here.engine().restore(path("a.md")));
  CHECK(here.read("a.md") == "one\n");
  here.write("b.md", "never synced\n");
  const std::string first = here.engine().log({.path = path("b.md")})->back().id;
  REQUIRE(here.engine().restore(path("b.md"), first.substr(0, 8)));
  CHECK(here.read("b.md") == "b\n");
  REQUIRE(here.engine().restore(path("b.md")));
  CHECK(here.read("b.md") == "never synced\n");
  const auto none = here.engine().restore(path("c.md"));
  REQUIRE_FALSE(none);
  CHECK(none.error().kind == Failure::Kind::not_found);
  CHECK_FALSE(here.engine().restore(path("b.md"), "zzzz"));
  CHECK_FALSE(here.engine().restore(path("b.md"), "0000000"));
}

TEST_CASE("history: diff shows what each side changed, without changing anything", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "one\ntwo\nthree\n");
  here.write("gone.md", "g\n");
  here.run();
  here.write("a.md", "one\n2\nthree\n");
  here.write("new.md", "n\n");
  here.remove("gone.md");
  remote.edit("a.md", "one\ntwo\nthree\nfour\n");
  const auto found = here.engine().diff();
  if (!found) FAIL(found.error().what);
  REQUIRE(found->size() == 4);
  CHECK(found->at(0).side == Side::here);
  CHECK(found->at(0).hunks == "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
  CHECK(found->at(1).side == Side::there);
  CHECK(found->at(1).hunks == "@@ -1,3 +1,4 @@\n one\n two\n three\n+four\n");
  CHECK_FALSE(found->at(2).after);
  CHECK(found->at(2).hunks == "@@ -1 +0,0 @@\n-g\n");
  CHECK_FALSE(found->at(3).before);
  CHECK(found->at(3).hunks == "@@ -0,0 +1 @@\n+n\n");
  CHECK(here.engine().diff({.only = [](const RelativePath& p) { return p.text() == "new.md"; }})->size() == 1);
}

}  // namespace ws::sync

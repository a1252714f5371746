#include <filesystem>

#include <catch2/catch.hpp>

#include "tests/cli/workflow/two_folders.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

TEST_CASE("sync log, restore: a text comes back from the history, and the next run sends it", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "a.md", "rewritten\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  const Ended log = two.ws(two.here, {"sync", "log", "a.md", "--json"});
  REQUIRE(log.exit == 0);
  const Json states = parse(log.out)["data"];
  REQUIRE(states.size() == 2);
  const std::string first = text_at(states[1], "state");

  CHECK(two.ws(two.here, {"sync", "restore", "a.md", "--at", first}).exit == 0);
  CHECK(read_text(two.here / "a.md") == "one\ntwo\nthree\n");
  CHECK_THAT(two.ws(two.here, {"sync"}).out, Contains("push_update\ta.md"));
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());

  std::filesystem::remove(two.here / "deep/b.md");
  CHECK(two.ws(two.here / "deep", {"sync", "restore", "b.md"}).exit == 0);
  CHECK(read_text(two.here / "deep/b.md") == "# B\n");
  const Ended none = two.ws(two.here, {"sync", "restore", "never.md"});
  CHECK(none.exit == 6);
  CHECK_THAT(none.err, Contains("no other text of never.md"));
  CHECK(two.ws(two.here, {"sync", "restore", "../outside.md"}).exit == 2);
}

TEST_CASE("sync mv: a name that would not be synced is refused", "[cli]") {
  const TwoFolders two;
  for (const char* const name : {"a.txt", ".a.md"}) {
    const Ended refused = two.ws(two.here, {"sync", "mv", "a.md", name});
    CHECK(refused.exit == 2);
    CHECK_THAT(refused.err, Contains("would be archived"));
  }
  write_text(two.here / "picture.png", std::string("\x89PNG\0", 5));
  write_text(two.here / "text.txt", "text\n");
  CHECK_THAT(two.ws(two.here, {"sync", "mv", "picture.png", "picture.md"}).err,
             Contains("no text that a note may have"));
  CHECK(two.ws(two.here, {"sync", "mv", "text.txt", "text.md"}).exit == 0);
  write_text(two.here / "b.md", "another\n");
  const Ended twin = two.ws(two.here, {"sync", "mv", "a.md", "B.md"});
  CHECK(twin.exit == 2);
  CHECK_THAT(twin.err, Contains("one name on other machines"));
  CHECK(two.ws(two.here, {"sync", "mv", "a.md", "A.md"}).exit == 0);
  CHECK(two.ws(two.here, {"sync", "mv", "A.md", "c.md"}).exit == 0);
}

TEST_CASE("sync restore, untie, watch: a dry run changes nothing", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "a.md", "rewritten\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  const auto before = texts_of(two.here);
  const Ended restored = two.ws(two.here, {"sync", "restore", "a.md", "-n", "--format", "table"});
  CHECK(restored.exit == 0);
  CHECK_THAT(restored.out, Contains("would restore a.md as in state "));
  CHECK(texts_of(two.here) == before);
  CHECK(parse(two.ws(two.here, {"sync", "restore", "a.md", "-n", "--json"}).out)["dry_run"] == true);

  const Ended untied = two.ws(two.here, {"sync", "untie", "-n", "-y", "--format", "table"});
  CHECK(untied.exit == 0);
  CHECK_THAT(untied.out, Contains("would stop syncing"));
  CHECK(parse(two.ws(two.here, {"sync", "untie", "-n", "-y", "--json"}).out)["tied"] == true);
  CHECK(std::filesystem::exists(two.here / ".ws/history.git"));
  CHECK(two.ws(two.here, {"sync", "status", "--exit-code"}).exit == 0);
  CHECK(two.ws(two.here, {"sync", "watch", "-n"}).exit == 2);
}

TEST_CASE("sync diff: what each side changed, as a patch and as JSON", "[cli]") {
  const TwoFolders two;
  write_text(two.there / "deep/b.md", "# B\n\nmore\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  write_text(two.here / "a.md", "one\n2\nthree\n");
  const Ended patch = two.ws(two.here, {"sync", "diff"});
  CHECK(patch.exit == 0);
  CHECK(patch.out ==
        "--- base/a.md\n+++ local/a.md\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
        "--- base/deep/b.md\n+++ remote/deep/b.md\n@@ -1 +1,3 @@\n # B\n+\n+more\n");
  CHECK(read_text(two.here / "deep/b.md") == "# B\n");
  const Ended one = two.ws(two.here, {"sync", "diff", "a.md", "--offline", "--json", "--exit-code"});
  CHECK(one.exit == 13);
  CHECK(parse(one.out)["data"].size() == 1);
  CHECK(two.ws(two.there, {"sync", "diff", "--exit-code"}).exit == 0);
}

TEST_CASE("sync diff --exit-code: 7 where the two sides collide, now or in an open conflict", "[cli]") {
  const TwoFolders two;
  two.collide();
  CHECK(two.ws(two.there, {"sync", "diff", "--exit-code"}).exit == 7);
  CHECK(two.ws(two.there, {"sync", "diff", "deep", "--exit-code"}).exit == 0);
  CHECK(two.ws(two.there, {"sync", "diff", "--exit-code", "--offline"}).exit == 13);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  CHECK(two.ws(two.there, {"sync", "diff", "a.md", "--exit-code", "--json"}).exit == 7);
  CHECK(two.ws(two.there, {"sync", "diff"}).exit == 0);
}

TEST_CASE("sync roots: every tied folder of this user, and whether it is still there", "[cli]") {
  const TwoFolders two;
  std::filesystem::remove_all(two.there);
  const Ended listed = two.ws(two.here, {"sync", "roots", "--json"});
  REQUIRE(listed.exit == 0);
  const Json trees = parse(listed.out)["data"];
  REQUIRE(trees.size() == 2);
  CHECK(trees[0]["folder"] == two.here.string());
  CHECK(trees[0]["state"] == "tied");
  CHECK(trees[1]["state"] == "missing");
}

TEST_CASE("sync gc: shows what would go, drops it, and what is left is there to see and to bring back", "[cli]") {
  const TwoFolders two;
  for (const char* text : {"second\n", "third\n"}) {
    write_text(two.here / "a.md", text);
    REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  }
  const Ended none = two.ws(two.here, {"sync", "gc", "--json"});
  REQUIRE(none.exit == 0);
  CHECK(text_at(parse(none.out), "states_dropped") == "0");  // all of it is younger than 90 days
  CHECK(text_at(parse(none.out), "states_kept") == "3");

  const Ended plan = two.ws(two.here, {"sync", "gc", "-n", "--keep", "0", "--json"});
  CHECK(text_at(parse(plan.out), "states_dropped") == "2");
  CHECK(text_at(parse(plan.out), "texts_dropped") == "2");
  CHECK(parse(two.ws(two.here, {"sync", "log", "--json"}).out)["data"].size() == 3);

  const Ended asked = two.ws(two.here, {"sync", "gc", "--keep", "0"});
  CHECK(asked.exit == 2);
  CHECK_THAT(asked.err, Contains("can no longer be undone") && Contains("--yes"));
  const Ended done = two.ws(two.here / "deep", {"sync", "gc", "--keep", "0", "--yes", "--json"});
  REQUIRE(done.exit == 0);
  CHECK(text_at(parse(done.out), "states_dropped") == "2");
  CHECK(parse(two.ws(two.here, {"sync", "log", "--json"}).out)["data"].size() == 1);
  CHECK(two.ws(two.here, {"sync", "restore", "a.md"}).exit == 6);
  write_text(two.here / "a.md", "spoiled\n");
  CHECK(two.ws(two.here, {"sync", "restore", "a.md"}).exit == 0);
  CHECK(read_text(two.here / "a.md") == "third\n");
  CHECK(two.ws(two.here, {"sync", "status", "--exit-code"}).exit == 0);
  CHECK(two.ws(two.here, {"sync", "gc", "--keep", "soon"}).exit == 2);
}

TEST_CASE("sync blame: who wrote each line, the revision and the time, git tells the same", "[cli]") {
  const TwoFolders two;
  write_text(two.there / "a.md", "one\ntwo\nthree\nfour\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  write_text(two.here / "a.md", "ONE\ntwo\nthree\nfour\nfive\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  write_text(two.here / "a.md", "ONE\ntwo\nthree\nfour\nfive\nsix\n");
  const Ended told = two.ws(two.here, {"sync", "blame", "a.md", "--json"});
  REQUIRE(told.exit == 0);
  const Json answer = parse(told.out);
  CHECK(answer["path"] == "a.md");
  const Json& lines = answer["data"];
  REQUIRE(lines.size() == 6);
  CHECK(lines[0]["text"] == "ONE");
  CHECK(text_at(lines[0], "revision") == "3");
  CHECK(text_at(lines[1], "revision") == "1");
  CHECK(text_at(lines[3], "revision") == "2");
  // One person on two machines: what came from the service is signed as what was edited here.
  CHECK(lines[3]["author"] == lines[0]["author"]);
  CHECK(lines[3]["author"].is_string());
  CHECK(lines[5]["revision"].is_null());
  CHECK(lines[5]["author"].is_null());
  const Ended git = run_command(
      {.arguments = {"git", "-C", (two.here / ".ws/history.git").string(), "blame", "-p", "main", "--", "a.md"}});
  CHECK(git.exit == 0);
  CHECK_THAT(git.out, Contains("author " + text_at(lines[3], "author") + "\n"));
  const Ended shown = two.ws(two.here, {"sync", "blame", "a.md"});
  CHECK(shown.exit == 0);
  // A rename that was not sent yet takes nobody's lines away.
  REQUIRE(two.ws(two.here, {"sync", "mv", "a.md", "renamed.md"}).exit == 0);
  CHECK(parse(two.ws(two.here, {"sync", "blame", "renamed.md", "--json"}).out)["data"] == lines);
  CHECK(two.ws(two.here, {"sync", "blame", "none.md"}).exit == 6);
  CHECK(two.ws(two.here, {"sync", "blame", "/etc/passwd"}).exit == 2);
}

TEST_CASE("sync show, diff --state: a file in a state of the history", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "a.md", "rewritten\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  const Json states = parse(two.ws(two.here, {"sync", "log", "a.md", "--json"}).out)["data"];
  const std::string first = text_at(states[states.size() - 1], "state");
  CHECK(two.ws(two.here, {"sync", "show", first, "a.md"}).out == "one\ntwo\nthree\n");
  CHECK(parse(two.ws(two.here, {"sync", "show", first, "a.md", "--json"}).out)["content"] == "one\ntwo\nthree\n");
  CHECK(two.ws(two.here, {"sync", "show", first, "none.md"}).exit == 6);
  CHECK(two.ws(two.here, {"sync", "diff", "a.md", "--state", first}).out ==
        "--- " + first + "/a.md\n+++ local/a.md\n@@ -1,3 +1 @@\n-one\n-two\n-three\n+rewritten\n");
  CHECK(two.ws(two.here, {"sync", "diff", "a.md", "--state", first, "--exit-code"}).exit == 13);
  CHECK(two.ws(two.here, {"sync", "diff", "deep/b.md", "--state", first, "--exit-code"}).exit == 0);
  CHECK(two.ws(two.here, {"sync", "diff", "--state", first}).exit == 2);
}

TEST_CASE("sync untie: the files stay, the folder does not sync any more, and can be tied again", "[cli]") {
  const TwoFolders two;
  const std::string source = text_at(parse(two.ws(two.here, {"sync", "status", "--json"}).out), "source_id");
  const auto before = texts_of(two.here);
  CHECK(two.ws(two.here, {"sync", "untie"}).exit == 2);  // nobody is there to be asked
  CHECK(std::filesystem::exists(two.here / ".ws"));
  CHECK(two.ws(two.here / "deep", {"sync", "untie", ".", "--yes"}).exit == 2);
  REQUIRE(two.ws(two.here / "deep", {"sync", "untie", "--yes"}).exit == 0);
  CHECK(texts_of(two.here) == before);
  CHECK_FALSE(std::filesystem::exists(two.here / ".ws"));
  CHECK_FALSE(std::filesystem::exists(two.here / ".ws.removed"));
  CHECK(two.ws(two.here, {"sync"}).exit == 2);
  CHECK(parse(two.ws(two.there, {"sync", "roots", "--json"}).out)["data"].size() == 1);
  REQUIRE(two.ws(two.here, {"sync", "init", "--source", source}).exit == 0);
  CHECK(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(two.same());
}

TEST_CASE("sync restore, log: a folder may be given with its slash, as shells complete it", "[cli]") {
  const TwoFolders two;
  std::filesystem::remove_all(two.here / "deep");
  const Ended restored = two.ws(two.here, {"sync", "restore", "deep/"});
  INFO(restored.err);
  CHECK(restored.exit == 0);
  CHECK(read_text(two.here / "deep/b.md") == "# B\n");
  const Ended log = two.ws(two.here, {"sync", "log", "deep/", "--json"});
  CHECK(log.exit == 0);
  CHECK(log.out == two.ws(two.here, {"sync", "log", "deep", "--json"}).out);
}

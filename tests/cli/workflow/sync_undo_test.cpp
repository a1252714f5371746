// Runs are listed, shown, and taken back on both sides, by the real programs.
#include <filesystem>
#include <set>

#include <catch2/catch.hpp>

#include "tests/cli/workflow/two_folders.hpp"
#include "tests/support/on_terminal.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace fs = std::filesystem;

namespace {

namespace fs = std::filesystem;

/// Run 2 edits deep/b.md, run 3 a.md, which is edited once more since.
void edit_since_two_runs(const TwoFolders& two) {
  write_text(two.here / "deep/b.md", "# B\nmore\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  write_text(two.here / "a.md", "one\nin the run\nthree\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  write_text(two.here / "a.md", "one\nsince\nthree\n");
}

}  // namespace

TEST_CASE("sync log --runs, show: what each run changed, for people and as JSON", "[cli][undo]") {
  const TwoFolders two;
  write_text(two.here / "a.md", "one\n2\nthree\n");
  std::filesystem::remove(two.here / "deep/b.md");
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  const Ended listed = two.ws(two.here, {"sync", "log", "--runs", "--json"});
  REQUIRE(listed.exit == 0);
  const Json runs = parse(listed.out)["data"];
  REQUIRE(runs.size() == 2);
  CHECK(runs[0]["run"] == 2);
  CHECK(runs[0]["command"] == "ws sync --allow-deletes");
  CHECK(runs[0]["counts"] == Json{{"sent", 2}});
  CHECK(runs[0]["taken_back"] == false);
  CHECK(runs[0]["finished"] == true);
  CHECK(parse(two.ws(two.here, {"sync", "log", "--runs", "--max-items", "1", "--json"}).out)["data"].size() == 1);
  CHECK(parse(two.ws(two.here, {"sync", "log", "--runs", "-n", "1", "--json"}).out)["data"].size() == 1);

  const Json shown = parse(two.ws(two.here, {"sync", "show", "2", "--diff", "--json"}).out);
  CHECK(shown["run"] == 2);
  REQUIRE(shown["rows"].size() == 2);
  CHECK(shown["rows"][0]["action"] == "changed");
  CHECK(shown["rows"][0]["hunks"] == "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
  CHECK(shown["rows"][1]["action"] == "deleted");
  CHECK(shown["rows"][1]["after"].is_null());
  CHECK_THAT(two.ws(two.here, {"sync", "show", "2", "--diff"}).out, Contains("--- before/deep/b.md\n+++ /dev/null\n"));
  CHECK(two.ws(two.here, {"sync", "show", "9"}).exit == 6);
  CHECK(two.ws(two.here, {"sync", "show", "x"}).exit == 2);
}

TEST_CASE("sync log --runs: a person reads what became of the documents", "[cli][undo]") {
  const TwoFolders two;
  write_text(two.here / "a.md", "one\n2\nthree\n");
  write_text(two.here / "c.md", "# C\n");
  std::filesystem::rename(two.here / "deep/b.md", two.here / "deep/d.md");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  CHECK_THAT(two.ws(two.here, {"sync", "log", "--runs"}).out,
             Contains("\t1 sent, 1 sent new, 1 moved on the service\t"));
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  std::filesystem::remove(two.here / "c.md");
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
  CHECK_THAT(two.ws(two.here, {"sync", "log", "--runs"}).out, Contains("\t1 archived on the service\t"));
  CHECK_THAT(two.ws(two.there, {"sync", "log", "--runs"}).out, Contains("\t1 removed here\t"));
}

TEST_CASE("sync undo: the way further back leads past a run that was taken back by hand", "[cli][undo]") {
  const TwoFolders two;
  edit_since_two_runs(two);
  write_text(two.here / "deep/b.md", "# B\n");
  CHECK(parse(two.ws(two.here, {"sync", "undo", "--json"}).out)["further_back"] == 2);
  CHECK(two.ws(two.here, {"sync", "undo", "2"}).exit == 0);
  CHECK(parse(two.ws(two.here, {"sync", "undo", "--json"}).out)["further_back"] == 1);
}

TEST_CASE("sync undo: what was made and is gone here only is named, and its run is not taken for taken back",
          "[cli][undo]") {
  const TwoFolders two;
  write_text(two.here / "new.md", "new\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  std::filesystem::remove(two.here / "new.md");
  const Ended undone = two.ws(two.here, {"sync", "undo"});
  INFO(undone.out << undone.err);
  CHECK(undone.exit == 13);
  CHECK_THAT(undone.out + undone.err, Contains("new.md, deleted here since"));
  CHECK(parse(two.ws(two.here, {"sync", "log", "--runs", "--json"}).out)["data"][0]["taken_back"] == false);
}

TEST_CASE("sync undo, redo: both sides, and another person's edit since stays", "[cli][undo]") {
  const TwoFolders two;
  write_text(two.here / "a.md", "rewritten\n");
  std::filesystem::remove(two.here / "deep/b.md");
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
  write_text(two.there / "a.md", "another person's\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);

  const Ended planned = two.ws(two.here, {"sync", "undo", "-n", "--json"});
  CHECK(planned.exit == 0);
  CHECK(parse(planned.out)["undoes"] == 2);
  CHECK(parse(planned.out)["anew"].size() == 1);
  CHECK(parse(planned.out)["left"][0]["path"] == "a.md");
  CHECK(parse(planned.out)["clean"] == false);
  CHECK_FALSE(std::filesystem::exists(two.here / "deep/b.md"));
  const Ended told = two.ws(two.here, {"sync", "undo", "-n"});
  CHECK_THAT(told.err, StartsWith("Undoing run 2 (ws sync --allow-deletes, "));
  CHECK_THAT(told.err, EndsWith("nothing was changed\n"));
  CHECK_THAT(told.err, Contains("not undone: a.md, "));
  CHECK_THAT(told.err, Contains("comes back with a new id"));
  const Ended only_left = two.ws(two.here, {"sync", "undo", "-n", "--only", "a.md"});
  CHECK_THAT(only_left.err, Contains("nothing of it can be undone"));
  CHECK(only_left.err.find("both sides are the same") == std::string::npos);

  const Ended undone = two.ws(two.here, {"sync", "undo", "--json"});
  CHECK(undone.exit == 13);  // a.md was left
  CHECK(parse(undone.out)["operation"] == 3);
  CHECK(read_text(two.here / "deep/b.md") == "# B\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(two.same());
  CHECK(read_text(two.here / "a.md") == "another person's\n");

  const Ended stopped = two.ws(two.here, {"sync", "redo"});
  CHECK(stopped.exit == 0);
  CHECK_THAT(stopped.err, StartsWith("Redoing run 2 (") && Contains("), which run 3 undid\n"));
  CHECK_FALSE(std::filesystem::exists(two.here / "deep/b.md"));
  CHECK(two.ws(two.here, {"sync", "undo", "99"}).exit == 6);
}

TEST_CASE("sync undo, redo: swapped names with edits are taken back, and each document keeps its id", "[cli][undo]") {
  const TwoFolders two;
  write_text(two.here / "c.md", "sea\nrock\nfoam\ntide\nwind\n");
  write_text(two.here / "d.md", "oak\nfern\nmoss\nbirch\nelm\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  std::filesystem::rename(two.here / "c.md", two.here / "x.md");
  std::filesystem::rename(two.here / "d.md", two.here / "c.md");
  std::filesystem::rename(two.here / "x.md", two.here / "d.md");
  write_text(two.there / "c.md", "sea\nrock\nfoam\ntide\nwind, edited\n");
  write_text(two.there / "d.md", "oak\nfern\nmoss\nbirch\nelm, edited\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  const auto after = texts_of(two.there);
  for (const std::string verb : {"undo", "redo"}) {
    const Ended ended = two.ws(two.there, {"sync", verb, "--json"});
    INFO(ended.out << ended.err);
    CHECK(ended.exit == 0);
    std::multiset<std::string> actions;
    const Json report = parse(ended.out);
    for (const Json& row : report["actions"]) actions.insert(text_at(row, "action"));
    CHECK(actions == std::multiset<std::string>{"push_move", "push_move", "push_update", "push_update"});
    if (verb == "undo") CHECK(read_text(two.there / "c.md") == "sea\nrock\nfoam\ntide\nwind\n");
  }
  CHECK(texts_of(two.there) == after);
}

TEST_CASE("sync redo: what another person changed while it was undone stays", "[cli][undo]") {
  const TwoFolders two;
  const auto name = GENERATE(as<std::string>{}, "kept", "moved");
  write_text(two.here / "a.md", "one\n\ntwo\n\nthree\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  if (name == "moved") {
    std::filesystem::rename(two.here / "a.md", two.here / "c.md");
  } else {
    write_text(two.here / "a.md", "ONE\n\ntwo\n\nthree\n");
  }
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  // The one that was edited here is moved there; the one that was moved here is edited there.
  if (name == "moved") {
    write_text(two.there / "c.md", "one\n\ntwo\n\nthree of another\n");
  } else {
    std::filesystem::rename(two.there / "a.md", two.there / "d.md");
  }
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);

  REQUIRE(two.ws(two.here, {"sync", "undo"}).exit == 0);
  const auto undone = name == "moved" ? two.here / "a.md" : two.here / "d.md";
  CHECK(read_text(undone) == (name == "moved" ? "one\n\ntwo\n\nthree of another\n" : "one\n\ntwo\n\nthree\n"));
  REQUIRE(two.ws(two.here, {"sync", "redo"}).exit == 0);
  const auto redone = name == "moved" ? two.here / "c.md" : two.here / "d.md";
  CHECK(read_text(redone) == (name == "moved" ? "one\n\ntwo\n\nthree of another\n" : "ONE\n\ntwo\n\nthree\n"));
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
}

TEST_CASE("sync undo: a decision that replaced nothing is told as what it is", "[cli][undo]") {
  const TwoFolders two;
  fs::rename(two.here / "a.md", two.here / "y.md");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  fs::rename(two.there / "a.md", two.there / "z.md");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  REQUIRE(two.ws(two.there, {"sync", "resolve", "z.md", "--path", "mine"}).exit == 0);
  const Ended told = two.ws(two.there, {"sync", "undo", "-n"});
  CHECK_THAT(told.err, Contains("not undone: z.md, the decision replaced nothing here\n"));
  CHECK_THAT(told.err, Contains("nothing of it can be undone"));
  const Json planned = parse(two.ws(two.there, {"sync", "undo", "-n", "--json"}).out);
  CHECK(planned["left"] == Json::parse(R"([{"path":"z.md","reason":"the decision replaced nothing here"}])"));
  CHECK(two.ws(two.there, {"sync", "undo"}).exit == 13);
  CHECK(parse(two.ws(two.there, {"sync", "undo", "-n", "--json"}).out)["undoes"] < planned["undoes"]);  // goes on
}

TEST_CASE("sync undo: a run of which nothing can be taken back names the one before it", "[cli][undo]") {
  const TwoFolders two;
  edit_since_two_runs(two);
  const Ended stuck = two.ws(two.here, {"sync", "undo"});
  CHECK(stuck.exit == 13);
  CHECK_THAT(stuck.err, Contains("not undone: a.md, ") && Contains("to go further back: `ws sync undo 2`"));
  CHECK(two.ws(two.here, {"sync", "undo", "2"}).exit == 0);
  CHECK(read_text(two.here / "deep/b.md") == "# B\n");
  const Json again = parse(two.ws(two.here, {"sync", "undo", "--json"}).out);
  CHECK(again["undoes"] == 3);
  CHECK(again["further_back"] == 1);
  write_text(two.here / "a.md", "one\nin the run\nthree\n");
  CHECK(two.ws(two.here, {"sync", "undo"}).exit == 0);
  CHECK(read_text(two.here / "a.md") == "one\ntwo\nthree\n");
}

TEST_CASE("sync undo: what is ignored by now is left, and told as that", "[cli][undo]") {
  const TwoFolders two;
  write_text(two.here / "a.md", "one\nedited\nthree\n");
  write_text(two.here / "new.md", "new\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  write_text(two.here / ".wsignore", "a.md\nnew.md\n");
  const Ended left = two.ws(two.here, {"sync", "undo"});
  INFO(left.err);
  CHECK(left.exit == 13);
  for (const std::string name : {"a.md", "new.md"})
    CHECK_THAT(left.err, Contains("not undone: " + name + ", its path is ignored now"));
  CHECK(read_text(two.here / "a.md") == "one\nedited\nthree\n");
  CHECK(read_text(two.here / "new.md") == "new\n");
}

TEST_CASE("sync undo: many files that are left for one reason are told in one line", "[cli][undo]") {
  const TwoFolders two;
  for (const char* name : {"n1.md", "n2.md", "n3.md", "n4.md"}) write_text(two.here / name, name);
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  write_text(two.here / ".wsignore", "n*.md\n");
  CHECK_THAT(two.ws(two.here, {"sync", "undo"}).err,
             Contains("not undone: n1.md and 3 more, each: its path is ignored now"));
}

TEST_CASE("sync undo: a note that somebody made again is matched, and gets no new id", "[cli][undo]") {
  const TwoFolders two;
  fs::remove(two.here / "a.md");
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
  write_text(two.there / "a.md", "one\ntwo\nthree\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  for (const bool is_done : {false, true}) {
    const Ended ended = two.ws(two.here, {"sync", "undo", "--json", is_done ? "--allow-deletes" : "-n"});
    const Json report = parse(ended.out);
    INFO(ended.out);
    REQUIRE(report["actions"].size() == 1);
    CHECK(report["actions"][0]["action"] == "adopt");
    CHECK(report["anew"].empty());
  }
}

TEST_CASE("sync undo: of what was never sent nothing is sent, with or without the service", "[cli][undo]") {
  const TwoFolders two;
  write_text(two.here / "n.md", "[b](deep/b.md)\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  write_text(two.here / "n.md", "[b](deep/b.md)\nby hand\n");
  const auto revision = [&two] { return parse(two.ws(two.here, {"sync", "status", "--json"}).out)["revision"]; };
  const Json before = revision();
  REQUIRE(two.ws(two.here, {"sync", "mv", "deep/b.md", "c.md"}).exit == 0);
  REQUIRE(read_text(two.here / "n.md") == "[b](c.md)\nby hand\n");
  const auto rows_of = [](const Ended& ended) {
    std::vector<std::string> rows;
    const Json report = parse(ended.out);
    for (const Json& row : report["actions"]) rows.push_back(text_at(row, "action") + " " + text_at(row, "path"));
    return rows;
  };
  const std::vector<std::string> back = {"pull_move deep/b.md", "pull_update n.md"};
  CHECK(rows_of(two.ws(two.here, {"sync", "undo", "-n", "--json"})) == back);
  if (GENERATE(false, true)) {
    control(two.server, "POST", "/faults", R"({"operation": "sync.pull", "times": 100, "effect": {"status": 503}})");
  }
  const Ended undone = two.ws(two.here, {"sync", "undo", "--no-retry", "--json"});
  INFO(undone.out << undone.err);
  CHECK(undone.exit == 0);
  CHECK(rows_of(undone) == back);
  CHECK(read_text(two.here / "n.md") == "[b](deep/b.md)\nby hand\n");
  CHECK(read_text(two.here / "deep/b.md") == "# B\n");
  control(two.server, "DELETE", "/faults", "");
  CHECK(revision() == before);
  CHECK(rows_of(two.ws(two.here, {"sync", "--json"})) == std::vector<std::string>{"push_update n.md"});
}

TEST_CASE("sync undo: a restore that was not sent is taken back here alone", "[cli][undo]") {
  const TwoFolders two;
  const auto ids = [&two] { return two.ws(two.here, {"docs", "list", "--all", "--format", "ids"}).out; };
  const std::string before = ids();
  const bool was_removed = GENERATE(true, false);
  was_removed ? static_cast<void>(fs::remove(two.here / "a.md")) : write_text(two.here / "a.md", "never sent\n");
  REQUIRE(two.ws(two.here, {"sync", "restore", "a.md"}).exit == 0);
  const Ended undone = two.ws(two.here, {"sync", "undo"});
  INFO(undone.out << undone.err);
  CHECK(undone.exit == 0);
  CHECK_THAT(undone.out, Contains(was_removed ? "pull_delete\ta.md" : "pull_update\ta.md") && !Contains("push"));
  CHECK(fs::exists(two.here / "a.md") != was_removed);
  CHECK(ids() == before);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(read_text(two.there / "a.md") == "one\ntwo\nthree\n");
}

TEST_CASE("sync undo: a pull that merged is named, and no other run is taken back", "[cli][undo]") {
  const TwoFolders two;
  write_text(two.here / "deep/b.md", "# B\nimportant\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  write_text(two.there / "a.md", "theirs\none\ntwo\nthree\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  write_text(two.here / "a.md", "one\ntwo\nthree\nours\n");
  REQUIRE(two.ws(two.here, {"sync", "pull"}).exit == 0);
  REQUIRE(read_text(two.here / "a.md") == "theirs\none\ntwo\nthree\nours\n");
  const Ended undone = two.ws(two.here, {"sync", "undo"});
  INFO(undone.out << undone.err);
  CHECK(undone.exit == 13);
  CHECK_THAT(undone.err, Contains("not undone: a.md, text from the service was merged into it"));
  CHECK(read_text(two.here / "deep/b.md") == "# B\nimportant\n");
  // No later call can take it back: the next one goes further.
  CHECK(parse(two.ws(two.here, {"sync", "undo", "--json"}).out)["undoes"] == 2);
}

TEST_CASE("sync undo: what a first call had to leave is taken back by the next, and no other run", "[cli][undo]") {
  const TwoFolders two;
  write_text(two.here / "deep/b.md", "# B\nfirst\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  write_text(two.here / "a.md", "second\n");
  write_text(two.here / "deep/b.md", "# B\nsecond\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  write_text(two.here / ".wsignore", "deep/\n");
  CHECK(two.ws(two.here, {"sync", "undo"}).exit == 13);
  CHECK(read_text(two.here / "a.md") == "one\ntwo\nthree\n");
  CHECK(parse(two.ws(two.here, {"sync", "log", "--runs", "--json"}).out)["data"][1]["taken_back"] == false);
  fs::remove(two.here / ".wsignore");
  if (GENERATE(false, true)) REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  for (const auto& [run, text] : {std::pair(3, "# B\nfirst\n"), std::pair(2, "# B\n")}) {
    const Ended undone = two.ws(two.here, {"sync", "undo", "--json"});
    INFO(undone.out << undone.err);
    CHECK(undone.exit == 0);
    CHECK(parse(undone.out)["undoes"] == run);
    CHECK(read_text(two.here / "deep/b.md") == text);
  }
}

TEST_CASE("sync redo: a redo in part brings its run into effect again", "[cli][undo]") {
  const TwoFolders two;
  write_text(two.here / "a.md", "edited\n");
  write_text(two.here / "deep/b.md", "# B\nedited\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "undo"}).exit == 0);
  write_text(two.here / ".wsignore", "a.md\n");
  CHECK(two.ws(two.here, {"sync", "redo"}).exit == 13);
  fs::remove(two.here / ".wsignore");
  CHECK(read_text(two.here / "deep/b.md") == "# B\nedited\n");
  const bool goes_on = GENERATE(false, true);
  const Ended ended = two.ws(two.here, {"sync", goes_on ? "redo" : "undo", "--json"});
  INFO(ended.out << ended.err);
  CHECK(ended.exit == 0);
  CHECK(parse(ended.out)["undoes"] == (goes_on ? 3 : 2));
  CHECK(read_text(two.here / "deep/b.md") == (goes_on ? "# B\nedited\n" : "# B\n"));
  CHECK(read_text(two.here / "a.md") == (goes_on ? "edited\n" : "one\ntwo\nthree\n"));
}

TEST_CASE("sync undo: renames that one run sent are passed over when that run was taken back", "[cli][undo]") {
  const TwoFolders two;
  write_text(two.here / "n.md", "[b](deep/b.md)\n");
  write_text(two.here / "a.md", "one\nimportant\nthree\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "mv", "deep/b.md", "x.md"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "mv", "x.md", "y.md"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "undo"}).exit == 0);
  REQUIRE(read_text(two.here / "n.md") == "[b](deep/b.md)\n");
  const Ended further = two.ws(two.here, {"sync", "undo", "--allow-deletes"});
  INFO(further.out << further.err);
  CHECK(further.exit == 0);
  CHECK(read_text(two.here / "a.md") == "one\ntwo\nthree\n");
}

TEST_CASE("sync undo: the rename of a note that was never sent is taken back, and no other run", "[cli][undo]") {
  const TwoFolders two;
  write_text(two.here / "a.md", "one\nimportant\nthree\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  const bool is_folder = GENERATE(true, false);
  const std::string from = is_folder ? "new" : "new.md";
  const std::string to = is_folder ? "other" : "other.md";
  if (is_folder) fs::create_directory(two.here / from);
  write_text(two.here / (is_folder ? "new/n.md" : from), "new\n");
  write_text(two.here / "m.md", is_folder ? "[n](new/n.md)\n" : "[n](new.md)\n");
  REQUIRE(two.ws(two.here, {"sync", "mv", from, to}).exit == 0);
  if (GENERATE(true, false)) write_text(two.here / (is_folder ? "other/n.md" : to), "new\nedited since\n");
  const Ended undone = two.ws(two.here, {"sync", "undo"});
  INFO(undone.out << undone.err);
  CHECK(undone.exit == 0);
  CHECK(fs::exists(two.here / from));
  CHECK_FALSE(fs::exists(two.here / (is_folder ? "other/n.md" : to)));
  CHECK(read_text(two.here / "m.md") == (is_folder ? "[n](new/n.md)\n" : "[n](new.md)\n"));
  CHECK(read_text(two.here / "a.md") == "one\nimportant\nthree\n");
}

TEST_CASE("sync: a run that replaced more than ten files ends with the command that undoes it", "[cli][undo]") {
  const TwoFolders two;
  for (int i = 0; i < 11; ++i) write_text(two.here / ("n" + std::to_string(i) + ".md"), "text\n");
  const Ended made = two.ws(two.here, {"sync", "--format", "table"});
  CHECK(made.out.find("to undo this") == std::string::npos);
  for (int i = 0; i < 11; ++i) write_text(two.here / ("n" + std::to_string(i) + ".md"), "other\n");
  const Ended piped = two.ws(two.here, {"sync"});
  CHECK_THAT(piped.err, EndsWith("to undo this run, here and on the service: `ws sync undo 3`\n"));
  CHECK(two.ws(two.here, {"sync", "undo", "--json"}).err.empty());
  for (int i = 0; i < 11; ++i) std::filesystem::remove(two.here / ("n" + std::to_string(i) + ".md"));
  const Ended deleted = two.ws(two.here, {"sync", "--allow-deletes", "--format", "table"});
  CHECK_THAT(deleted.out, Contains("to undo this run, here and on the service: `ws sync undo 5`\n"));
  REQUIRE(two.ws(two.here, {"sync", "undo", "5"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
  CHECK(texts_of(two.there).size() == 13);
  const Ended guarded = two.ws(two.here, {"sync", "redo", "--format", "table"});
  CHECK(guarded.exit == 7);
  CHECK_THAT(guarded.out, Contains("`ws sync redo --allow-deletes`"));
  CHECK(texts_of(two.here).size() == 13);
}

TEST_CASE("sync undo: a person is asked before the edits of others go for everybody", "[cli][undo]") {
  const TwoFolders two;
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  write_text(two.here / "a.md", "one\ntheirs\nthree\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  Command asked = two.person.command({"sync", "undo"}, two.there);
  asked.input = "n\n";
  const Screen refused = run_on_terminal(asked, 100);
  INFO(refused.text);
  CHECK(refused.exit == 2);
  CHECK_THAT(refused.text, Contains("It received 1 change") && Contains("undo it? [y/N]"));
  CHECK(read_text(two.there / "a.md") == "one\ntheirs\nthree\n");
  asked.input = "y\n";
  CHECK(run_on_terminal(asked, 100).exit == 0);
  CHECK(read_text(two.there / "a.md") != "one\ntheirs\nthree\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(read_text(two.here / "a.md") == read_text(two.there / "a.md"));
}

namespace {

/// The rows of an undo in the folder, which are those that `-n` gave.
std::multiset<std::string> undo_as_shown(const TwoFolders& two, const fs::path& folder) {
  std::multiset<std::string> rows[2];
  for (const bool is_done : {false, true}) {
    std::vector<std::string> arguments{"sync", "undo", "--allow-deletes", "--json"};
    if (!is_done) arguments.push_back("-n");
    const Ended ended = two.ws(folder, arguments);
    const Json report = parse(ended.out);
    INFO(ended.out << ended.err);
    for (const Json& row : report.at("actions")) {
      rows[is_done ? 1 : 0].insert(text_at(row, "action") + " " + text_at(row, "path"));
    }
  }
  CHECK(rows[0] == rows[1]);
  return rows[1];
}

}  // namespace

TEST_CASE("sync undo -n: shows what is done here alone, as the service has it so already", "[cli][undo]") {
  const TwoFolders two;
  write_text(two.here / "a.md", "one\n2\nthree\n");
  fs::remove(two.here / "deep/b.md");
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "undo"}).exit == 0);
  CHECK(undo_as_shown(two, two.there).count("pull_update a.md") == 1);
  CHECK(read_text(two.there / "a.md") == "one\ntwo\nthree\n");
}

TEST_CASE("sync undo: a name in another case that somebody gave on the service since is left", "[cli][undo]") {
  const TwoFolders two;
  const bool is_renamed = GENERATE(false, true);
  CAPTURE(is_renamed);
  if (is_renamed) {
    fs::rename(two.here / "a.md", two.here / "z.md");
  } else {
    fs::remove(two.here / "a.md");
  }
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
  write_text(two.there / "A.md", "another\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(undo_as_shown(two, two.here).empty());
  CHECK_THAT(two.ws(two.here, {"sync", "undo", "-n"}).err, Contains("not undone: a.md, "));
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(two.same());
}

TEST_CASE("sync undo: what waits on the service for a note that was renamed since is left here too", "[cli][undo]") {
  const TwoFolders two;
  for (const std::string name : {"d", "e", "x"}) write_text(two.here / (name + ".md"), "text " + name + "\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  fs::rename(two.here / "d.md", two.here / "x.md");
  fs::rename(two.here / "e.md", two.here / "d.md");
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  fs::rename(two.here / "d.md", two.here / "g.md");
  const auto before = texts_of(two.here);
  CHECK(undo_as_shown(two, two.here).empty());
  CHECK(texts_of(two.here) == before);
}

TEST_CASE("sync undo: a note that comes back is no renamed copy of somebody else", "[cli][undo]") {
  const TwoFolders two;
  fs::copy_file(two.there / "a.md", two.there / "c.md");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  fs::remove(two.here / "a.md");
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  CHECK(undo_as_shown(two, two.here) == std::multiset<std::string>{"push_create a.md", "push_delete c.md"});
}

TEST_CASE("sync undo: of a decision for my text, my file stays and the conflict is open again", "[cli][undo]") {
  const TwoFolders two;
  const bool is_archived = GENERATE(false, true);
  const bool is_edited_since = GENERATE(false, true);
  CAPTURE(is_archived, is_edited_since);
  if (is_archived) {
    fs::remove(two.there / "a.md");
  } else {
    write_text(two.there / "a.md", "one\nthere\nthree\n");
  }
  REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
  write_text(two.here / "a.md", "one\nhere\nthree\n");
  const Json open = parse(two.ws(two.here, {"sync", "--json"}).out)["conflicts"];
  REQUIRE(two.ws(two.here, {"sync", "resolve", "a.md", "--keep", "mine"}).exit == 0);
  const std::string mine = is_edited_since ? "one\nhere, and since\nthree\n" : "one\nhere\nthree\n";
  write_text(two.here / "a.md", mine);
  const std::string told = std::string(is_archived ? "push_delete" : "push_update") + " a.md";
  CHECK(undo_as_shown(two, two.here) == std::multiset<std::string>{told, "conflict a.md"});
  CHECK(read_text(two.here / "a.md") == mine);
  const Json again = parse(two.ws(two.here, {"sync", "conflicts", "--json"}).out)["data"];
  REQUIRE(again.size() == 1);
  CHECK(again[0]["kind"] == open[0]["kind"]);
  CHECK(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(fs::exists(two.there / "a.md") != is_archived);
  if (!is_archived) CHECK(read_text(two.there / "a.md") == "one\nthere\nthree\n");
}

TEST_CASE("sync undo: of a decision for a third text, my file has mine again", "[cli][undo]") {
  const TwoFolders two;
  two.collide();
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  const std::string file = (two.stage / "third").string();
  write_text(file, "one\nboth\nthree\n");
  REQUIRE(two.ws(two.there, {"sync", "resolve", "a.md", "--file", file}).exit == 0);
  CHECK(two.ws(two.there, {"sync", "undo"}).exit == 7);
  CHECK(read_text(two.there / "a.md") == "one\nthere\nthree\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(read_text(two.here / "a.md") == "one\nhere\nthree\n");
}

TEST_CASE("sync undo: of a decision for both, the copy goes and the conflict is open again", "[cli][undo]") {
  const TwoFolders two;
  const std::string kind = GENERATE("revision", "hash", "edit_delete");
  const bool is_matched = GENERATE(false, true);
  CAPTURE(kind, is_matched);
  const std::string name = kind == "hash" ? "new.md" : "a.md";
  if (kind == "edit_delete") {
    fs::remove(two.there / name);
  } else {
    write_text(two.there / name, "one\nthere\nthree\n");
  }
  REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
  const auto others = texts_of(two.there);
  write_text(two.here / name, "one\nhere\nthree\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 7);
  const auto before = texts_of(two.here);
  REQUIRE(two.ws(two.here, {"sync", "resolve", name, "--keep", "both"}).exit == 0);
  CHECK(texts_of(two.here) != before);
  if (is_matched) REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  const auto rows = undo_as_shown(two, two.here);
  CHECK(rows.count("conflict " + name) == 1);
  CHECK(texts_of(two.here) == before);
  const Json again = parse(two.ws(two.here, {"sync", "conflicts", "--json"}).out)["data"];
  REQUIRE(again.size() == 1);
  CHECK(again[0]["kind"] == kind);
  REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
  CHECK(texts_of(two.there) == others);
}

TEST_CASE("sync undo: of a decision for both, what was edited since stays, and no text goes for it", "[cli][undo]") {
  const TwoFolders two;
  two.collide();
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  REQUIRE(two.ws(two.there, {"sync", "resolve", "a.md", "--keep", "both"}).exit == 0);
  const bool is_copy = GENERATE(false, true);
  CAPTURE(is_copy);
  const std::string edited = is_copy ? "a (local).md" : "a.md";
  write_text(two.there / edited, read_text(two.there / edited) + "since\n");
  const auto before = texts_of(two.there);
  const Ended undone = two.ws(two.there, {"sync", "undo"});
  CHECK_THAT(undone.err, Contains("not undone: " + edited + ", edited since"));
  CHECK(texts_of(two.there).at(edited) == before.at(edited));
  CHECK(texts_of(two.there).at("a.md") == (is_copy ? "one\nthere\nthree\n" : before.at("a.md")));
  CHECK(fs::exists(two.there / "a (local).md"));
}

TEST_CASE("sync undo: of a decision for their name, my file has its name again", "[cli][undo]") {
  const TwoFolders two;
  fs::rename(two.there / "a.md", two.there / "new.md");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  const bool is_note = GENERATE(false, true);
  CAPTURE(is_note);
  if (is_note) {
    fs::rename(two.here / "deep/b.md", two.here / "new.md");
  } else {
    write_text(two.here / "new.md", "mine\n");
  }
  REQUIRE(two.ws(two.here, {"sync"}).exit == 7);
  const auto before = texts_of(two.here);
  REQUIRE(two.ws(two.here, {"sync", "resolve", "new.md", "--path", "theirs"}).exit == 0);
  CHECK(fs::exists(two.here / "new (local).md"));
  CHECK(undo_as_shown(two, two.here) == std::multiset<std::string>{"pull_move new.md"});
  CHECK(texts_of(two.here) == before);
  CHECK(two.ws(two.here, {"sync"}).exit == 7);
}

TEST_CASE("sync undo: of a decision for the name that others gave, they keep it and the conflict is open again",
          "[cli][undo]") {
  const TwoFolders two;
  write_text(two.here / "shows.md", "![p](p.png)\n");
  write_text(two.here / "p.png", "picture");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  fs::rename(two.there / "a.md", two.there / "theirs.md");
  fs::rename(two.there / "p.png", two.there / "theirs.png");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  const auto others = texts_of(two.there);
  fs::rename(two.here / "a.md", two.here / "mine.md");
  fs::rename(two.here / "p.png", two.here / "mine.png");
  const bool is_edited = GENERATE(false, true);
  CAPTURE(is_edited);
  if (is_edited) write_text(two.here / "mine.md", "one\ntwo\nthree\nfour\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 7);
  const auto before = texts_of(two.here);
  REQUIRE(two.ws(two.here, {"sync", "resolve", "--all", "--path", "theirs"}).exit == 0);
  CHECK(fs::exists(two.here / "theirs.md"));
  CHECK(fs::exists(two.here / "theirs.png"));
  CHECK(undo_as_shown(two, two.here).count("conflict mine.md") == 1);
  CHECK(texts_of(two.here) == before);
  CHECK(parse(two.ws(two.here, {"sync", "conflicts", "--json"}).out)["data"].size() == 2);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(texts_of(two.there) == others);
}

TEST_CASE("sync undo: a decision about a name without a file here is a run too", "[cli][undo]") {
  const TwoFolders two;
  write_text(two.there / "new.md", "theirs\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  fs::create_directory_symlink("deep", two.here / "new.md");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 7);
  REQUIRE(two.ws(two.here, {"sync", "resolve", "new.md", "--path", "mine"}).exit == 0);
  CHECK_THAT(two.ws(two.here, {"sync", "undo"}).err,
             Contains("ws sync resolve --path=mine new.md") && Contains("the decision replaced nothing here"));
}

TEST_CASE("sync undo: a run after the folder was emptied is not its first", "[cli][undo]") {
  const TwoFolders two;
  fs::remove(two.here / "a.md");
  fs::remove(two.here / "deep/b.md");
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  write_text(two.here / "new.md", "new\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  const Ended undone = two.ws(two.here, {"sync", "undo", "--allow-deletes"});
  CHECK(undone.exit == 0);
  CHECK_THAT(undone.err, !Contains("nothing was synced here before"));
  CHECK_FALSE(fs::exists(two.here / "new.md"));
}

TEST_CASE("sync log --runs: a run of which nothing can be taken back is not listed as undone", "[cli][undo]") {
  const TwoFolders two;
  const bool is_decision = GENERATE(false, true);
  CAPTURE(is_decision);
  if (is_decision) {
    fs::rename(two.there / "a.md", two.there / "y.md");
    REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
    fs::rename(two.here / "a.md", two.here / "z.md");
    REQUIRE(two.ws(two.here, {"sync"}).exit == 7);
    REQUIRE(two.ws(two.here, {"sync", "resolve", "z.md", "--path", "mine"}).exit == 0);
  } else {
    REQUIRE(two.ws(two.here, {"sync", "leave", "a.md"}).exit == 0);
    REQUIRE(two.ws(two.here, {"sync", "take", "a.md"}).exit == 0);
  }
  const Json undone = parse(two.ws(two.here, {"sync", "undo", "--json"}).out);
  const Json newest = parse(two.ws(two.here, {"sync", "log", "--runs", "-n", "1", "--json"}).out)["data"][0];
  CHECK(newest["run"] == undone["undoes"]);
  CHECK(newest["taken_back"] == false);
  CHECK(parse(two.ws(two.here, {"sync", "undo", "-n", "--json"}).out)["undoes"] < undone["undoes"]);  // goes on
}

TEST_CASE("sync undo: of a decision for their text, the service keeps it and the conflict is open again",
          "[cli][undo]") {
  const TwoFolders two;
  const std::string kind = GENERATE("revision", "hash", "edit_delete");
  const bool by_run = GENERATE(false, true);
  CAPTURE(kind, by_run);
  const std::string name = kind == "hash" ? "new.md" : "a.md";
  if (kind == "edit_delete") {
    fs::remove(two.there / name);
  } else {
    write_text(two.there / name, "one\nthere\nthree\n");
  }
  REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
  const auto others = texts_of(two.there);
  write_text(two.here / name, "one\nhere\nthree\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 7);
  const auto before = texts_of(two.here);
  if (by_run) {
    REQUIRE(two.ws(two.here, {"sync", "--on-conflict", "theirs"}).exit == 0);
  } else {
    REQUIRE(two.ws(two.here, {"sync", "resolve", name, "--keep", "theirs"}).exit == 0);
  }
  if (GENERATE(false, true)) REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  const auto rows = undo_as_shown(two, two.here);
  CHECK(rows.count("conflict " + name) == 1);
  CHECK(texts_of(two.here) == before);
  const Json again = parse(two.ws(two.here, {"sync", "conflicts", "--json"}).out)["data"];
  REQUIRE(again.size() == 1);
  CHECK(again[0]["kind"] == kind);
  REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
  CHECK(texts_of(two.there) == others);
}

TEST_CASE("sync undo: of the run that receives a decision for their text, the service keeps it", "[cli][undo]") {
  const TwoFolders two;
  two.collide();
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  const auto before = texts_of(two.there);
  const auto others = texts_of(two.here);
  // As a command that was killed after the service had its decision leaves it, and as another folder decides.
  const std::string id = text_at(parse(two.ws(two.there, {"sync", "conflicts", "--json"}).out)["data"].at(0), "id");
  const bool is_both = GENERATE(false, true);
  CAPTURE(is_both);
  const std::string body =
      is_both ? R"({"resolution": "keep_both", "path_for_local_copy": "a (local).md", "expected_content_revision": 2})"
              : R"({"resolution": "keep_remote", "expected_content_revision": 2})";
  const Ended decided = two.ws(two.here, {"call", "sync.conflict_resolve", "--conflict-id", id, "--body", body});
  INFO(decided.out << decided.err);
  REQUIRE(decided.exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(texts_of(two.there).at("a.md") == others.at("a.md"));
  undo_as_shown(two, two.there);
  CHECK(texts_of(two.there) == before);
  CHECK(parse(two.ws(two.there, {"sync", "conflicts", "--json"}).out)["data"].size() == 1);
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  CHECK(texts_of(two.here) == others);
}

TEST_CASE("sync undo: of a decision that merged both texts, the conflict is open again", "[cli][undo]") {
  const TwoFolders two;
  write_text(two.there / "a.md", "one\ntwo\nthree\nfour\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  write_text(two.here / "a.md", "zero\none\ntwo\nthree\n");
  REQUIRE(two.ws(two.here, {"sync", "--no-merge"}).exit == 7);
  REQUIRE(two.ws(two.here, {"sync", "resolve", "a.md", "--keep", "merged"}).exit == 0);
  CHECK(undo_as_shown(two, two.here) == std::multiset<std::string>{"conflict a.md", "push_update a.md"});
  CHECK(read_text(two.here / "a.md") == "zero\none\ntwo\nthree\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(read_text(two.there / "a.md") == "one\ntwo\nthree\nfour\n");
}

TEST_CASE("sync undo: a note whose delete won over an edit there comes back with that edit", "[cli][undo]") {
  const TwoFolders two;
  write_text(two.there / "a.md", "one\nthere\nthree\n");
  fs::rename(two.there / "deep/b.md", two.there / "deep/theirs.md");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  const auto others = texts_of(two.there);
  fs::remove(two.here / "a.md");
  fs::remove(two.here / "deep/b.md");
  REQUIRE(two.ws(two.here, {"sync", "--accept-deletes", "--allow-deletes"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
  CHECK(texts_of(two.there).empty());
  REQUIRE(two.ws(two.here, {"sync", "undo"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(texts_of(two.there) == others);
}

TEST_CASE("sync undo: says that it takes the edits of others also of a note that was renamed here", "[cli][undo]") {
  const TwoFolders two;
  write_text(two.there / "a.md", "one\nthere\nthree\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  fs::rename(two.here / "a.md", two.here / "k.md");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  CHECK_THAT(two.ws(two.here, {"sync", "undo", "-n"}).err, Contains("It received 1 change: undoing it takes that"));
}

TEST_CASE("sync undo: what is too large for the folder by now is left, and nothing else is promised", "[cli][undo]") {
  const TwoFolders two;
  fs::remove(two.here / "a.md");
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  write_text(two.here / ".ws/config.yaml", "max_file_bytes: 10\n");
  const Ended planned = two.ws(two.here, {"sync", "undo", "-n"});
  CHECK_THAT(planned.err, Contains("max_file_bytes") && !Contains("new id"));
  const Ended undone = two.ws(two.here, {"sync", "undo"});
  CHECK(undone.exit == 13);
  CHECK_FALSE(fs::exists(two.here / "a.md"));
}

TEST_CASE("sync undo: a run that was cut off is finished first, under its own name", "[cli][undo]") {
  const TwoFolders two;
  write_text(two.here / "deep/b.md", "# B, before\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  write_text(two.here / "a.md", "one\ncut off\nthree\n");
  const std::string phase = GENERATE("before", "after");
  CAPTURE(phase);
  control(two.server,
          "POST",
          "/faults",
          R"({"operation": "sync.commit", "nth": 1, "times": 1, "phase": ")" + phase +
              R"(", "effect": {"close_without_answer": true}})");
  REQUIRE(two.ws(two.here, {"sync", "--no-retry"}).exit == 12);
  CHECK_THAT(two.ws(two.here, {"sync", "-n"}).err, Contains("an earlier command was interrupted"));
  const Ended looked = two.ws(two.here, {"sync", "undo", "-n"});
  CHECK(looked.exit == 7);
  CHECK_THAT(looked.err, Contains("an earlier command was interrupted"));
  REQUIRE(two.ws(two.here, {"sync", "undo"}).exit == 0);
  CHECK(read_text(two.here / "a.md") == "one\ntwo\nthree\n");
  CHECK(read_text(two.here / "deep/b.md") == "# B, before\n");
  const Json runs = parse(two.ws(two.here, {"sync", "log", "--runs", "--json"}).out).at("data");
  CHECK(text_at(runs.at(1), "command") == "ws sync");
  CHECK_THAT(two.ws(two.here, {"sync", "log", "--runs"}).out, !Contains("interrupted"));
}

TEST_CASE("sync push: a push of a part adds to what is staged", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "a.md", "one\nhere\nthree\n");
  write_text(two.here / "deep/b.md", "# B, here\n");
  REQUIRE(two.ws(two.here, {"sync", "push", "--only", "a.md"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "push", "--only", "deep/b.md"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "commit"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
}

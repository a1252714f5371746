#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/two_folders.hpp"
#include "tests/support/on_terminal.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

TEST_CASE("sync: a folder arrives elsewhere byte for byte, and edits on both sides meet", "[cli]") {
  const TwoFolders two;
  CHECK(two.same());
  write_text(two.here / "a.md", "one\ntwo\nthree\nfour\n");
  write_text(two.there / "deep/b.md", "# B\n\nmore\n");
  CHECK(two.ws(two.here, {"sync"}).out == "done\tpush_update\ta.md\t\tedited here\n");
  CHECK(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(two.same());
  const Ended idle = two.ws(two.here, {"sync"});
  CHECK(idle.out.empty());
  CHECK(idle.err == "nothing to do: both sides are the same\n");
}

TEST_CASE("sync: an edit of the same line is a conflict that is listed and can be decided", "[cli]") {
  const TwoFolders two;
  two.collide();
  const Ended stopped = two.ws(two.there, {"sync", "--json"});
  CHECK(stopped.exit == 7);
  CHECK(parse(stopped.out)["conflicts"][0]["path"] == "a.md");
  CHECK(read_text(two.there / "a.md") == "one\nthere\nthree\n");

  const Ended listed = two.ws(two.there, {"sync", "conflicts", "--json", "--content"});
  CHECK(listed.exit == 0);
  const Json conflict = parse(listed.out)["data"][0];
  CHECK(conflict["kind"] == "revision");
  CHECK(conflict["content"]["base"] == "one\ntwo\nthree\n");
  CHECK(conflict["content"]["local"] == "one\nthere\nthree\n");
  CHECK(conflict["content"]["remote"] == "one\nhere\nthree\n");

  CHECK(two.ws(two.there, {"sync", "resolve", "a.md"}).exit == 2);
  CHECK(two.ws(two.there, {"sync", "resolve", "deep/b.md", "--keep", "local"}).exit == 6);
  // PATH is relative to the working directory.
  CHECK(two.ws(two.there / "deep", {"sync", "resolve", "../a.md", "--keep", "local"}).exit == 0);
  CHECK(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(read_text(two.here / "a.md") == "one\nthere\nthree\n");
  CHECK(two.same());
}

TEST_CASE("sync: a conflict can go to the other side, or both texts stay", "[cli]") {
  const TwoFolders two;
  two.collide();
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  const std::string keep = GENERATE("remote", "both");
  CHECK(two.ws(two.there, {"sync", "resolve", "--all", "--keep", keep}).exit == 0);
  CHECK(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(two.same());
  CHECK(read_text(two.there / "a.md") == "one\nhere\nthree\n");
  CHECK(texts_of(two.there).size() == (keep == "both" ? 3 : 2));
}

TEST_CASE("sync: a merged text decides too, but not with markers in it", "[cli]") {
  const TwoFolders two;
  two.collide();
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  write_text(two.stage / "merged", "one\n<<<<<<< here\nx\n");
  const std::string file = (two.stage / "merged").string();
  CHECK(two.ws(two.there, {"sync", "resolve", "a.md", "--keep", "merged", "--file", file}).exit == 2);
  write_text(two.stage / "merged", "one\nhere and there\nthree\n");
  CHECK(two.ws(two.there, {"sync", "resolve", "a.md", "--keep", "merged", "--file", file}).exit == 0);
  CHECK(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(read_text(two.here / "a.md") == "one\nhere and there\nthree\n");
  CHECK(two.same());
}

TEST_CASE("sync: status changes nothing and says what is pending", "[cli]") {
  const TwoFolders two;
  CHECK(two.ws(two.here, {"sync", "status", "--exit-code"}).exit == 0);
  write_text(two.here / "new.md", "x\n");
  CHECK(two.ws(two.here, {"sync", "status"}).exit == 0);
  CHECK(two.ws(two.here, {"sync", "status", "--exit-code", "--offline"}).exit == 13);
  const Json status = parse(two.ws(two.here, {"sync", "status", "--json"}).out);
  CHECK(status["v"] == 1);
  CHECK(status["clean"] == false);
  CHECK(status["actions"][0]["action"] == "push_create");
  CHECK(status["actions"][0]["path"] == "new.md");
  CHECK(status["actions"][0]["state"] == "planned");
  CHECK(two.ws(two.here, {"sync", "-n"}).out == "planned\tpush_create\tnew.md\t\tcreated here\n");
  CHECK(two.ws(two.there, {"sync", "status"}).out.empty());
}

TEST_CASE("sync: a conflict that is to come shows in the status", "[cli]") {
  const TwoFolders two;
  two.collide();
  CHECK(two.ws(two.there, {"sync", "status", "--exit-code"}).exit == 7);
}

TEST_CASE("sync: the steps one by one", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "new.md", "x\n");
  CHECK(two.ws(two.here, {"sync", "push"}).out == "staged\tpush_create\tnew.md\t\tcreated here\n");
  CHECK(two.ws(two.there, {"sync", "pull"}).out.empty());
  write_text(two.here / "later.md", "y\n");
  const Json status = parse(two.ws(two.here, {"sync", "status", "--json"}).out);
  REQUIRE(status["actions"].size() == 2);
  CHECK(status["actions"][0]["state"] == "planned");
  CHECK(status["actions"][1]["state"] == "staged");
  CHECK(two.ws(two.here, {"sync", "commit", "-n"}).out == "staged\tpush_create\tnew.md\t\tpushed earlier\n");
  std::filesystem::remove(two.here / "later.md");
  CHECK(two.ws(two.here, {"sync", "commit", "-m", "A new one"}).exit == 0);
  CHECK(two.ws(two.there, {"sync", "pull"}).out == "done\tpull_create\tnew.md\t\tcreated on the service\n");
  CHECK(two.ws(two.here, {"sync", "commit"}).exit == 0);
  CHECK(two.same());
}

TEST_CASE("sync: deleting everything stops until it is confirmed", "[cli]") {
  const TwoFolders two;
  std::filesystem::remove(two.here / "a.md");
  std::filesystem::remove_all(two.here / "deep");
  const Ended stopped = two.ws(two.here, {"sync", "--yes"});
  CHECK(stopped.exit == 7);
  CHECK(stopped.err.find("--allow-deletes") != std::string::npos);
  CHECK(two.ws(two.there, {"sync"}).out.empty());
  CHECK(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
}

TEST_CASE("sync: the tree is found upward, named by -C or as the argument", "[cli]") {
  const TwoFolders two;
  CHECK(two.ws(two.here / "deep", {"sync", "status"}).exit == 0);
  CHECK(two.ws(two.stage.path(), {"sync", "here"}).exit == 0);
  CHECK(two.ws(two.stage.path(), {"-C", "here", "sync"}).exit == 0);
  CHECK(two.ws(two.stage.path(), {"sync"}).exit == 2);
  const Ended unknown = two.ws(two.here, {"sync", "statsu"});
  CHECK(unknown.exit == 2);
  CHECK(unknown.err.find("did you mean `ws sync status`?") != std::string::npos);
}

TEST_CASE("sync: a tree that is tied is not tied again, nor one inside it", "[cli]") {
  const TwoFolders two;
  CHECK(two.ws(two.here, {"sync", "init"}).exit == 2);
  CHECK(two.ws(two.here / "deep", {"sync", "init"}).exit == 2);
}

TEST_CASE("sync: another server than the tree's is refused, and nothing goes there", "[cli]") {
  const TwoFolders two;
  const MockProcess foreign;
  Person stranger(foreign);
  write_text(two.here / "new.md", "x\n");
  const Ended refused = stranger.ws({"sync"}, two.here);
  CHECK(refused.exit == 2);
  CHECK(refused.err.find(two.server.base_url()) != std::string::npos);
  CHECK(control(foreign, "GET", "/requests", "").find("sync") == std::string::npos);
}

TEST_CASE("sync: a stored login finds the server of the tree", "[cli]") {
  const MockProcess server({"--device", "auto", "--device-interval", "1"});
  const Person person;
  REQUIRE(person.ws({"login", "--base-url", server.base_url(), "--for", "sync", "--store", "file"}).exit == 0);
  const TemporaryFolder folder;
  write_text(folder / "a.md", "x\n");
  CHECK(person.ws({"sync", "init"}, folder.path()).exit == 0);
  CHECK(person.ws({"sync"}, folder.path()).exit == 0);
  CHECK(person.ws({"logout"}).exit == 0);
  CHECK(person.ws({"sync"}, folder.path()).exit == 4);
  CHECK(person.ws({"sync", "status", "--offline"}, folder.path()).exit == 0);
}

TEST_CASE("sync: what is found is told in the format that was asked for", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "a.md", "edited, here\n");
  write_text(two.here / "new, and odd.md", "new\n");
  CHECK(two.ws(two.here, {"sync", "status", "--format", "csv"}).out ==
        "state,action,path,previous_path,reason\n"
        "planned,push_update,a.md,,edited here\n"
        "planned,push_create,\"new, and odd.md\",,created here\n");
  CHECK(two.ws(two.here, {"sync", "status", "--format", "tsv", "--fields", "path,action"}).out ==
        "a.md\tpush_update\nnew, and odd.md\tpush_create\n");
  const std::string ids = two.ws(two.here, {"sync", "--format", "ids"}).out;
  CHECK(std::count(ids.begin(), ids.end(), '\n') == 2);
}

TEST_CASE("sync: what is left alone is told where there is no table, too", "[cli]") {
  const TwoFolders two;
  std::filesystem::create_symlink("a.md", two.here / "link.md");
  CHECK(two.ws(two.here, {"sync"}).err == "nothing to do; 1 skipped\n");
}

TEST_CASE("sync: a person sees in the status which files are left alone", "[cli]") {
  const TwoFolders two;
  for (int i = 0; i < 12; ++i) write_text(two.here / ("x" + std::to_string(i) + ".txt"), "x\n");
  const Screen status = run_on_terminal(two.person.command({"sync", "status"}, two.here), 80);
  CHECK_THAT(status.text, Contains("  not synced  x0.txt\n"));
  CHECK_THAT(status.text, Contains("  and 2 more not synced (--verbose shows all)\n"));
  CHECK(status.text.find("x9.txt") == std::string::npos);
  const Screen all = run_on_terminal(two.person.command({"sync", "status", "--verbose"}, two.here), 80);
  CHECK_THAT(all.text, Contains("  not synced  x9.txt\n"));
  CHECK(run_on_terminal(two.person.command({"sync"}, two.here), 80).text.find("x0.txt") == std::string::npos);
}

TEST_CASE("sync: a folder that is not there is no tree, and a damaged state says what to do", "[cli]") {
  const TwoFolders two;
  CHECK(two.ws(two.here, {"sync", "status", "nowhere/deeper"}).exit == 2);
  write_text(two.here / ".ws/state.db", std::string(4096, 'x'));
  const Ended damaged = two.ws(two.here, {"sync"});
  CHECK(damaged.exit == 14);
  CHECK(damaged.err.find("move it away") != std::string::npos);
  std::filesystem::remove(two.here / ".ws/state.db");
  CHECK(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(two.same());
  write_text(two.here / ".ws/source.json", "{");
  const Ended unmarked = two.ws(two.here, {"sync"});
  CHECK(unmarked.exit == 14);
  CHECK(unmarked.err.find("source.json is damaged") != std::string::npos);
}

TEST_CASE("sync: --only holds for every step, and what a commit would publish is what it publishes", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "draft.md", "draft\n");
  write_text(two.here / "public.md", "public\n");
  REQUIRE(two.ws(two.here, {"sync", "push"}).exit == 0);
  write_text(two.here / "later.md", "later\n");
  const std::string public_row = "push_create\tpublic.md\t\tpushed earlier\n";
  CHECK(two.ws(two.here, {"sync", "commit", "-n", "--only", "public.md"}).out == "staged\t" + public_row);
  CHECK(two.ws(two.here, {"sync", "commit", "--only", "public.md"}).out == "done\t" + public_row);
  CHECK(two.ws(two.here, {"sync", "commit", "-n"}).out == "staged\tpush_create\tdraft.md\t\tpushed earlier\n");
  CHECK(two.ws(two.here, {"sync", "commit"}).out == "done\tpush_create\tdraft.md\t\tpushed earlier\n");
  const Ended nothing = two.ws(two.here, {"sync", "commit"});
  CHECK(nothing.exit == 0);
  CHECK(nothing.err == "nothing is staged\n");
  CHECK_FALSE(parse(two.ws(two.here, {"sync", "pull", "--json"}).out)["clean"].get<bool>());
  CHECK_FALSE(parse(two.ws(two.here, {"sync", "--only", "x", "--json"}).out)["clean"].get<bool>());
}

TEST_CASE("sync: the hint of a conflict decides it, whatever its name holds", "[cli]") {
  const TwoFolders two;
  const std::string name = GENERATE("it's a $(touch pwned).md", "-x.md");
  write_text(two.here / name, "text\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  write_text(two.here / name, "here\n");
  write_text(two.there / name, "there\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  const std::string told = two.ws(two.there, {"sync"}).err;
  const std::size_t begin = told.find("`ws sync resolve ") + 1;
  const std::string hint = told.substr(begin, told.find("|theirs") - begin);
  Command pasted = two.person.command({}, two.there);
  pasted.arguments = {"-c", "ws() { " + program("ws") + " \"$@\"; }; " + hint};
  pasted.program = "/bin/sh";
  CHECK(run_command(pasted).exit == 0);
  CHECK_FALSE(std::filesystem::exists(two.there / "pwned"));
  CHECK(two.ws(two.there, {"sync"}).exit == 0);
}

TEST_CASE("sync diff: of a file, of a folder, and of nothing that lies elsewhere", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "a.md", "edited\n");
  write_text(two.here / "deep/b.md", "edited\n");
  const auto differs = [&](const std::string& path) {
    return two.ws(two.here, {"sync", "diff", path, "--exit-code"}).exit;
  };
  for (const char* const path : {"a.md", "deep", "deep/", "deep/b.md", "."}) CHECK(differs(path) == 13);
  CHECK(differs("other.md") == 6);
  CHECK(differs("../elsewhere.md") == 2);
  CHECK(differs("/etc") == 2);
}

#include <filesystem>

#include <catch2/catch.hpp>

#include "tests/cli/workflow/two_folders.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

TEST_CASE("sync: a renamed file, a renamed folder and a renamed and edited file are moves, and arrive", "[cli]") {
  const TwoFolders two;
  const std::string long_text = "1\n2\n3\n4\n5\n6\n7\n8\n";
  write_text(two.here / "c.md", long_text);
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);

  std::filesystem::rename(two.here / "a.md", two.here / "z.md");
  std::filesystem::rename(two.here / "deep", two.here / "deeper");
  std::filesystem::remove(two.here / "c.md");
  write_text(two.here / "d.md", long_text + "9\n");
  const Ended pushed = two.ws(two.here, {"sync"});
  CAPTURE(pushed.out, pushed.err);
  CHECK(pushed.exit == 0);
  CHECK_THAT(pushed.out,
             Contains("push_move\tz.md\ta.md") && Contains("push_move\tdeeper/b.md\tdeep/b.md") &&
                 Contains("push_move\td.md\tc.md") && Contains("push_update\td.md"));
  CHECK_THAT(pushed.out, !Contains("create") && !Contains("delete"));

  const Ended pulled = two.ws(two.there, {"sync"});
  CAPTURE(pulled.out, pulled.err);
  CHECK(pulled.exit == 0);
  CHECK(two.same());
  CHECK(two.ws(two.here, {"sync"}).out.empty());
}

TEST_CASE("sync: a renamed folder is one line for a person, and a row for each document in JSON", "[cli]") {
  const TwoFolders two;
  for (const char* name : {"c.md", "d.md", "sub/e.md"}) write_text(two.here / "deep" / name, std::string(name) + "\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  std::filesystem::rename(two.here / "deep", two.here / "low");
  const auto told = [&two](const std::filesystem::path& folder, std::vector<std::string> words) {
    words.insert(words.begin(), {"sync"});
    words.insert(words.end(), {"--format", "table"});
    return two.ws(folder, std::move(words)).out;
  };
  CHECK(parse(two.ws(two.here, {"sync", "status", "--json"}).out)["actions"].size() == 4);
  CHECK_THAT(told(two.here, {"status"}),
             Contains("  rename folder deep/ to low/ (4 files)\n4 to move on the service\n"));
  CHECK_THAT(told(two.here, {"run"}), Contains("  renamed folder deep/ to low/ (4 files)\n4 moved on the service\n"));
  CHECK_THAT(told(two.there, {"run"}), Contains("  renamed folder deep/ to low/ (4 files)\n4 moved here\n"));
  CHECK(two.same());
  // A part of a folder is not the folder.
  std::filesystem::create_directory(two.here / "part");
  for (const char* name : {"c.md", "d.md"}) std::filesystem::rename(two.here / "low" / name, two.here / "part" / name);
  const std::string part = told(two.here, {"run"});
  CHECK(part.find("renamed folder") == std::string::npos);
  CHECK_THAT(part, Contains("part/c.md"));
}

TEST_CASE("sync: renamed here and edited there, edited here and renamed there: both are applied", "[cli]") {
  const TwoFolders two;
  std::filesystem::rename(two.here / "a.md", two.here / "renamed.md");
  write_text(two.here / "deep/b.md", "# B, here\n");
  write_text(two.there / "a.md", "one\ntwo\nthree, there\n");
  std::filesystem::rename(two.there / "deep/b.md", two.there / "b.md");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  const Ended met = two.ws(two.here, {"sync"});
  CAPTURE(met.out, met.err);
  CHECK(met.exit == 0);
  CHECK(read_text(two.here / "renamed.md") == "one\ntwo\nthree, there\n");
  CHECK(read_text(two.here / "b.md") == "# B, here\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
}

TEST_CASE("sync: a document that moves onto a new file lies beside it, and goes home when the place is free", "[cli]") {
  const TwoFolders two;
  std::filesystem::rename(two.there / "a.md", two.there / "p.md");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  write_text(two.here / "p.md", "mine\n");
  const Ended clash = two.ws(two.here, {"sync"});
  CAPTURE(clash.out, clash.err);
  CHECK(clash.exit == 7);
  CHECK(read_text(two.here / "p.md") == "mine\n");
  CHECK(read_text(two.here / "p (remote).md") == "one\ntwo\nthree\n");
  const Ended again = two.ws(two.here, {"sync"});
  CAPTURE(again.out, again.err);
  CHECK(again.exit == 7);

  std::filesystem::rename(two.here / "p.md", two.here / "own.md");
  const Ended settled = two.ws(two.here, {"sync"});
  CAPTURE(settled.out, settled.err);
  CHECK(settled.exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
  CHECK(read_text(two.here / "p.md") == "one\ntwo\nthree\n");
  CHECK(read_text(two.there / "own.md") == "mine\n");
}

TEST_CASE("sync: a file that was edited while its place became a folder is a document of its own", "[cli]") {
  const TwoFolders two;
  std::filesystem::remove(two.there / "a.md");
  write_text(two.there / "a.md/child.md", "child\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  write_text(two.here / "a.md", "one\ntwo, here\nthree\n");
  const Ended met = two.ws(two.here, {"sync"});
  CAPTURE(met.out, met.err);
  CHECK(met.exit == 0);
  CHECK(read_text(two.here / "a (local).md") == "one\ntwo, here\nthree\n");
  CHECK(read_text(two.here / "a.md/child.md") == "child\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
}

TEST_CASE("sync: a file renamed to what is not synced keeps its document, until it is synced again", "[cli]") {
  const TwoFolders two;
  std::filesystem::rename(two.here / "a.md", two.here / "w.md");
  write_text(two.here / "w.md", "one\ntwo\nthree\n\xff\n");
  const Ended skipped = two.ws(two.here, {"sync", "run", "--json"});
  CAPTURE(skipped.out, skipped.err);
  const Json report = parse(skipped.out);
  CHECK(report["actions"].empty());
  CHECK(report["skipped"][0]["path"] == "w.md");
  CHECK(report["detached"][0]["path"] == "a.md");
  CHECK(report["detached"][0]["reason"] == "not_utf8");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(read_text(two.there / "a.md") == "one\ntwo\nthree\n");

  write_text(two.here / "w.md", "one\ntwo\nthree\nfour\n");
  CHECK_THAT(two.ws(two.here, {"sync"}).out, Contains("push_move\tw.md\ta.md") && !Contains("delete"));
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
}

TEST_CASE("sync: a rename onto the twin of another file is skipped, and pushed when that goes", "[cli]") {
  const TwoFolders two;
  std::filesystem::rename(two.here / "a.md", two.here / "deep/B.md");
  const Ended skipped = two.ws(two.here, {"sync", "run", "--json"});
  CAPTURE(skipped.out, skipped.err);
  CHECK(skipped.exit == 0);
  const Json report = parse(skipped.out);
  CHECK(report["actions"].empty());
  CHECK(report["conflicts"].empty());
  CHECK(report["skipped"][0]["path"] == "deep/B.md");
  CHECK(report["skipped"][0]["reason"] == "twin");
  CHECK(report["detached"][0]["path"] == "a.md");

  std::filesystem::remove(two.here / "deep/b.md");
  CHECK_THAT(two.ws(two.here, {"sync"}).out,
             Contains("push_move\tdeep/B.md\ta.md") && Contains("push_delete\tdeep/b.md"));
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
}

TEST_CASE("sync: `--only` does no half of a swap, wherever it was made", "[cli]") {
  const TwoFolders two;
  const bool made_here = GENERATE(true, false);
  CAPTURE(made_here);
  const auto& folder = made_here ? two.here : two.there;
  std::filesystem::rename(folder / "a.md", folder / "tmp.txt");
  std::filesystem::rename(folder / "deep/b.md", folder / "a.md");
  std::filesystem::rename(folder / "tmp.txt", folder / "deep/b.md");
  if (!made_here) REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  for (int round = 0; round < 2; ++round) {
    const Ended part = two.ws(two.here, {"sync", "--only", "deep/*"});
    CAPTURE(part.out, part.err);
    CHECK(part.exit == 0);
    CHECK(part.out.empty());
  }
  const Ended whole = two.ws(two.here, {"sync"});
  CHECK(whole.exit == 0);
  CHECK_THAT(whole.out, Contains("move\ta.md\tdeep/b.md") && Contains("move\tdeep/b.md\ta.md"));
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
}

// `ws sync leave` and `ws sync take`: what is not here on purpose stays on the service.
#include <algorithm>
#include <filesystem>
#include <functional>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/two_folders.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

namespace fs = std::filesystem;
using Texts = std::map<std::string, std::string>;

/// Notes and pictures in two folders, in step in both trees.
struct Archive : TwoFolders {
  Texts before = {};

  Archive() {
    write_text(here / "old/1.md", "# One\n\n![q](q.png)\n");
    write_text(here / "old/deep/2.md", "# Two\n");
    write_text(here / "old/q.png", "picture q");
    write_text(here / "n/big.md", "# Big\n\n[one](../old/1.md) [[2]] ![q](../old/q.png) ![p](p.png)\n");
    write_text(here / "n/p.png", "picture p");
    REQUIRE(ws(here, {"sync"}).exit == 0);
    REQUIRE(ws(there, {"sync"}).exit == 0);
    before = texts_of(here);
  }

  void check(const fs::path& folder, std::vector<std::string> words, int exit = 0) const {
    const Ended ended = ws(folder, words);
    INFO(ended.out << ended.err);
    CHECK(ended.exit == exit);
  }
  void sync_both() const {
    check(there, {"sync"});
    check(here, {"sync"});
    check(there, {"sync"});
  }
  Texts without(const std::vector<std::string>& gone) const {
    Texts left = before;
    std::erase_if(left, [&](const auto& file) {
      return std::ranges::any_of(gone, [&](const std::string& name) { return file.first.starts_with(name); });
    });
    return left;
  }
  /// The names that are left out, as they are shown.
  std::string left_out() const {
    std::string names;
    const Json listed = parse(ws(here, {"sync", "leave", "--json"}).out);
    for (const Json& each : listed.at("left_out")) names += (names.empty() ? "" : ", ") + text_at(each, "path");
    return names;
  }
};

}  // namespace

TEST_CASE("leave: a folder, a note and a file go here alone, and stay gone", "[cli]") {
  const Archive two;
  const std::string config = read_text(two.here / ".ws/config.yaml");
  two.check(two.here, {"sync", "leave", "old", "-n"});
  CHECK(texts_of(two.here) == two.before);
  CHECK(two.left_out().empty());

  control(two.server, "DELETE", "/requests", "");
  two.check(two.here, {"sync", "leave", "old", "n/big.md", "n/*.png"});
  CHECK(parse(control(two.server, "GET", "/requests", ""))["data"].empty());
  CHECK(texts_of(two.here) == two.without({"old/", "n/"}));
  CHECK(two.left_out() == "n/p.png, old, n/big.md");
  CHECK(read_text(two.here / ".ws/config.yaml").starts_with(config));

  for (int run = 0; run < 2; ++run) {
    const Ended ran = two.ws(two.here, {"sync", "--json"});
    CHECK(ran.exit == 0);
    CHECK(parse(ran.out).at("actions").empty());
    CHECK(parse(ran.out).at("detached").empty());
  }
  two.check(two.there, {"sync"});
  CHECK(texts_of(two.there) == two.before);
  CHECK(two.ws(two.here, {"sync", "status", "--exit-code"}).exit == 0);
  // Its restore and reset do not bring it back either.
  two.check(two.here, {"sync", "restore", "--deleted"});
  two.check(two.here, {"sync", "reset", "--all", "--yes"});
  CHECK(texts_of(two.here) == two.without({"old/", "n/"}));

  SECTION("until all of it is taken") {
    two.check(two.here, {"sync", "take", "--all"});
    CHECK(texts_of(two.here) == two.before);
    CHECK(two.left_out().empty());
    CHECK(read_text(two.here / ".ws/config.yaml") == config);
    two.sync_both();
    CHECK(texts_of(two.there) == two.before);
    // From now on a delete is a wish again.
    fs::remove(two.here / "n/big.md");
    fs::remove(two.here / "old/q.png");
    two.check(two.here, {"sync"});
    two.check(two.there, {"sync"});
    CHECK(texts_of(two.there) == two.without({"n/big.md", "old/q.png"}));
  }
  SECTION("until a pattern takes it") {
    two.check(two.here, {"sync", "take", "n/*"});
    CHECK(texts_of(two.here) == two.without({"old/"}));
    CHECK(two.left_out() == "old");
  }
  SECTION("until one of it is taken") {
    two.check(two.here, {"sync", "take", "n/big.md"});
    CHECK(texts_of(two.here) == two.without({"old/", "n/p.png"}));
    CHECK(two.left_out() == "n/p.png, old");
    // Its links lead to what is on the service.
    CHECK(two.ws(two.here, {"links", "check"}).exit == 0);
  }
}

TEST_CASE("leave: what others do with it meanwhile comes with take, as it is then", "[cli]") {
  const Archive two;
  two.check(two.here, {"sync", "leave", "old", "n/big.md"});
  Texts wanted = two.before;
  SECTION("edited, made, archived") {
    write_text(two.there / "old/1.md", "# One, edited\n\n![q](q.png)\n");
    write_text(two.there / "old/q.png", "another picture");
    write_text(two.there / "old/3.md", "# Three\n");
    write_text(two.there / "n/big.md", "# Big, edited\n");
    fs::remove(two.there / "old/deep/2.md");
    two.sync_both();
    wanted = texts_of(two.there);
    CHECK(texts_of(two.here) == two.without({"old/", "n/big.md"}));
  }
  SECTION("a note that is moved stays out, and comes at its new place") {
    fs::rename(two.there / "n/big.md", two.there / "n/huge.md");
    two.sync_both();
    CHECK_FALSE(fs::exists(two.here / "n/huge.md"));
    wanted = texts_of(two.there);
  }
  SECTION("what is moved out of the folder arrives, what is moved into it is kept here and told") {
    fs::rename(two.there / "old/deep/2.md", two.there / "n/2.md");
    fs::rename(two.there / "old/q.png", two.there / "n/q.png");
    fs::rename(two.there / "a.md", two.there / "old/a.md");
    two.sync_both();
    CHECK(read_text(two.here / "n/2.md") == "# Two\n");
    CHECK(read_text(two.here / "n/q.png") == "picture q");
    CHECK(fs::exists(two.here / "a.md"));
    const Json detached = parse(two.ws(two.here, {"sync", "--json"}).out)["detached"];
    REQUIRE(detached.size() == 1);
    CHECK(text_at(detached[0], "path") == "a.md");
    CHECK(text_at(detached[0], "reason") == "left_out");
    wanted = texts_of(two.there);
  }
  two.check(two.here, {"sync", "take", "old", "n/big.md"});
  two.check(two.here, {"sync"});
  CHECK(texts_of(two.here) == wanted);
  two.check(two.there, {"sync"});
  CHECK(texts_of(two.there) == wanted);
}

TEST_CASE("leave: take brings a note whose place there was another's, whose own move has not come yet", "[cli]") {
  const Archive two;
  two.check(two.here, {"sync", "leave", "n/big.md"});
  fs::rename(two.there / "n/big.md", two.there / "swapped.md");
  fs::rename(two.there / "a.md", two.there / "n/big.md");
  fs::rename(two.there / "swapped.md", two.there / "a.md");
  two.check(two.there, {"sync"});
  two.check(two.here, {"sync", "take", "--all"});
  CHECK(texts_of(two.here) == texts_of(two.there));
}

TEST_CASE("leave: what only this folder has is refused, and nothing is changed", "[cli]") {
  const Archive two;
  const std::function<void()> change = GENERATE_REF(values<std::function<void()>>({
      [&] { write_text(two.here / "old/1.md", "unsent\n"); },
      [&] { write_text(two.here / "old/q.png", "unsent\n"); },
      [&] { write_text(two.here / "old/new.md", "never sent\n"); },
      [&] { fs::remove(two.here / "old/deep/2.md"); },
      [&] { fs::rename(two.here / "old/1.md", two.here / "old/other.md"); },
  }));
  change();
  const Texts now = texts_of(two.here);
  const Ended refused = two.ws(two.here, {"sync", "leave", "old"});
  CHECK(refused.exit == 7);
  CHECK_THAT(refused.err, Contains("not in sync with the service: old/") && Contains("nothing was changed"));
  CHECK(texts_of(two.here) == now);
  CHECK(two.left_out().empty());
}

TEST_CASE("leave: an undo says of what is left out by now that it is", "[cli]") {
  const Archive two;
  write_text(two.here / "n/p.png", "picture p, edited");
  write_text(two.here / "n/big.md", "edited\n");
  two.check(two.here, {"sync"});
  two.check(two.here, {"sync", "leave", "n/p.png", "n/big.md", "--yes"});
  const Json undone = parse(two.ws(two.here, {"sync", "undo", "3", "-n", "--json"}).out);
  REQUIRE(undone["left"].size() == 2);
  for (const Json& each : undone["left"]) CHECK_THAT(text_at(each, "reason"), Contains("it is left out here"));
}

TEST_CASE("leave: an open conflict is refused", "[cli]") {
  const Archive two;
  two.collide();
  two.check(two.there, {"sync"}, 7);
  CHECK(two.ws(two.there, {"sync", "leave", "a.md"}).exit == 7);
  CHECK(fs::exists(two.there / "a.md"));
}

TEST_CASE("leave: bad words are told", "[cli]") {
  const Archive two;
  CHECK(two.ws(two.here, {"sync", "leave", "nowhere"}).exit == 6);
  CHECK(two.ws(two.here, {"sync", "leave", "*.pdf"}).exit == 6);
  CHECK(two.ws(two.here, {"sync", "leave", "."}).exit == 2);
  CHECK(two.ws(two.here, {"sync", "leave", "../x"}).exit == 2);
  CHECK(two.ws(two.here, {"sync", "take"}).exit == 2);
  CHECK(two.ws(two.here, {"sync", "take", "old"}).exit == 6);
  for (const std::string verb : {"take", "restore", "reset"}) {
    const Ended nothing = two.ws(two.here, {"sync", verb, "zz*"});
    CHECK(nothing.exit == 6);
    CHECK_THAT(nothing.err, Contains("matches the pattern"));
  }
  CHECK(two.ws(two.here, {"sync", "restore", "*.md"}).exit == 0);
  CHECK(two.ws(two.here, {"sync", "reset", "*.md"}).exit == 0);
  two.check(two.here, {"sync", "leave", "old"});
  const Ended within = two.ws(two.here, {"sync", "take", "old/1.md"});
  CHECK(within.exit == 2);
  CHECK_THAT(within.err, Contains("left out with its folder old"));
  write_text(two.here / ".ws/config.yaml", "leave_out: [../x]\n");
  const Ended bad = two.ws(two.here, {"sync"});
  CHECK(bad.exit == 2);
  CHECK_THAT(bad.err, Contains(".ws/config.yaml:1:13"));
}

TEST_CASE("leave: a file of this folder in such a place is never replaced, nor sent", "[cli]") {
  const Archive two;
  two.check(two.here, {"sync", "leave", "old"});
  write_text(two.here / "old/1.md", "# mine\n");
  write_text(two.here / "old/fresh.md", "# fresh\n");
  write_text(two.here / "old/q.png", "my picture");
  two.check(two.here, {"sync"});
  two.check(two.there, {"sync"});
  CHECK(texts_of(two.there) == two.before);
  CHECK(two.ws(two.here, {"sync", "take", "old"}).exit == 7);
  CHECK(read_text(two.here / "old/1.md") == "# mine\n");
  CHECK(read_text(two.here / "old/q.png") == "my picture");
  CHECK(two.ws(two.here, {"sync"}).exit == 7);
  two.check(two.there, {"sync"});
  Texts wanted = two.before;
  wanted.emplace("old/fresh.md", "# fresh\n");
  CHECK(texts_of(two.there) == wanted);
}

TEST_CASE("leave: undo brings it back, and the undo of that leaves it out again", "[cli]") {
  const Archive two;
  two.check(two.here, {"sync", "leave", "old", "n/big.md"});
  two.check(two.here, {"sync"});
  two.check(two.here, {"sync", "undo"});
  CHECK(texts_of(two.here) == two.before);
  CHECK(two.left_out().empty());
  two.sync_both();
  CHECK(texts_of(two.there) == two.before);

  two.check(two.here, {"sync", "redo"});
  CHECK(texts_of(two.here) == two.without({"old/", "n/big.md"}));
  two.sync_both();
  CHECK(texts_of(two.there) == two.before);
  two.check(two.here, {"sync", "take", "--all"});
  CHECK(texts_of(two.here) == two.before);

  SECTION("what was taken is taken back by leave alone: an undo would take it from the service") {
    write_text(two.there / "old/1.md", "edited\n");
    two.check(two.here, {"sync", "leave", "old"});
    two.check(two.there, {"sync"});
    two.check(two.here, {"sync"});
    two.check(two.here, {"sync", "take", "old"});
    const Ended undone = two.ws(two.here, {"sync", "undo"});
    CHECK(undone.exit == 13);
    CHECK_THAT(undone.out + undone.err, Contains("ws sync leave"));
    two.sync_both();
    CHECK(read_text(two.there / "old/1.md") == "edited\n");
  }
}

TEST_CASE("leave: what is left out does not count for the guard", "[cli]") {
  const Archive two;
  for (int i = 0; i < 40; ++i) write_text(two.there / "old" / (std::to_string(i) + ".md"), std::to_string(i) + "\n");
  two.sync_both();
  two.check(two.here, {"sync", "leave", "old"});
  // All three notes that are here.
  for (const char* name : {"a.md", "deep/b.md", "n/big.md"}) fs::remove(two.here / name);
  CHECK(two.ws(two.here, {"sync"}).exit == 7);
}

TEST_CASE("sync: a path that names nothing is followed by the nearest one, in every command that takes it", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "archive.md", "# A\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  const std::vector<std::vector<std::string>> commands = {{"sync", "log"},
                                                          {"sync", "blame"},
                                                          {"sync", "diff"},
                                                          {"sync", "restore"},
                                                          {"sync", "reset", "--yes"},
                                                          {"sync", "mv", "--dry-run"},
                                                          {"sync", "leave"},
                                                          {"links", "check"}};
  for (std::vector<std::string> command : commands) {
    CAPTURE(command);
    const bool moves = command[1] == "mv";
    command.emplace_back("achive.md");
    if (moves) command.emplace_back("to.md");
    const Ended ended = two.ws(two.here, command);
    CHECK(ended.exit == 6);
    CHECK_THAT(ended.err, Contains("did you mean `archive.md`?"));
  }
  REQUIRE(two.ws(two.here, {"sync", "leave", "archive.md"}).exit == 0);
  const Ended taken = two.ws(two.here, {"sync", "take", "achive.md"});
  CHECK(taken.exit == 6);
  CHECK_THAT(taken.err, Contains("did you mean `archive.md`?"));
}

TEST_CASE("sync leave: a file whose name differs only in case is a twin of what is left out, and no edit of it",
          "[cli][leave]") {
  const Archive two;
  const bool is_ignored = GENERATE(true, false);
  CAPTURE(is_ignored);
  if (is_ignored) {
    write_text(two.here / ".wsignore", "/n/p.png\n/n/big.md\n");
    two.check(two.here, {"sync"});
    fs::remove(two.here / "n/p.png");
    fs::remove(two.here / "n/big.md");
  } else {
    two.check(two.here, {"sync", "leave", "n/p.png", "n/big.md"});
  }
  if (GENERATE(true, false)) two.check(two.here, {"sync"});
  write_text(two.here / "n/P.png", "another picture");
  write_text(two.here / "n/Big.md", "another note, [p](P.png)\n");
  two.check(two.here, {"sync"});
  two.check(two.there, {"sync"});
  CHECK(texts_of(two.there) == two.before);
  if (is_ignored) {
    fs::remove(two.here / ".wsignore");
  } else {
    two.ws(two.here, {"sync", "take", "n/p.png", "n/big.md"});
  }
  two.ws(two.here, {"sync"});
  two.ws(two.here, {"sync"});
  two.check(two.there, {"sync"});
  Texts there = texts_of(two.there);
  CHECK(there["n/p.png"] == two.before.at("n/p.png"));
  CHECK(there["n/big.md"] == two.before.at("n/big.md"));
  CHECK(read_text(two.here / "n/P.png") == "another picture");
  CHECK(read_text(two.here / "n/Big.md") == "another note, [p](P.png)\n");
}

TEST_CASE("sync leave: a name is the same in either Unicode form", "[cli][leave]") {
  const TwoFolders two;
  const std::string composed = "\xC3\xA9";
  const std::string decomposed = "e\xCC\x81";
  write_text(two.here / (composed + ".md"), "![](" + composed + ".png)\n");
  write_text(two.here / (composed + ".png"), "a picture");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "leave", composed + ".md", composed + ".png"}).exit == 0);
  write_text(two.here / (decomposed + ".md"), "mine\n");
  const Ended run = two.ws(two.here, {"sync"});
  INFO(run.out << run.err);
  CHECK(run.exit == 0);
  const std::string name = GENERATE(as<std::string>(), "\xC3\xA9", "e\xCC\x81");
  const Ended taken = two.ws(two.here, {"sync", "take", name + ".png", name + ".md"});
  INFO(taken.out << taken.err);
  CHECK(taken.exit == 7);  // the two notes of this name are new to each other
  CHECK(read_text(two.here / (decomposed + ".md")) == "mine\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(read_text(two.there / (composed + ".md")) == "![](" + composed + ".png)\n");
}

TEST_CASE("sync leave: an undo in part brings back what it names, and a folder as a whole", "[cli][leave]") {
  const Archive two;
  SECTION("notes by themselves") {
    two.check(two.here, {"sync", "leave", "old/1.md", "old/deep/2.md"});
    two.check(two.here, {"sync", "undo", "--only", "old/1.md"});
    two.check(two.here, {"sync"});
    CHECK(texts_of(two.here) == two.without({"old/deep/2.md"}));
  }
  SECTION("a part of a folder stays out") {
    two.check(two.here, {"sync", "leave", "old"});
    const Ended undone = two.ws(two.here, {"sync", "undo", "--only", "old/1.md"});
    CAPTURE(undone.out, undone.err);
    CHECK_THAT(undone.err, Contains("`ws sync take` brings it back"));
    CHECK(two.left_out() == "old");
    two.check(two.here, {"sync"});
    CHECK(texts_of(two.here) == two.without({"old/"}));
  }
}

TEST_CASE("sync leave: a redo leaves out the folder again, with what is new in it", "[cli][leave]") {
  const Archive two;
  two.check(two.here, {"sync", "leave", "old"});
  two.check(two.here, {"sync", "undo"});
  two.check(two.here, {"sync", "redo"});
  CHECK(two.left_out() == "old");
  write_text(two.there / "old/new.md", "new\n");
  two.check(two.there, {"sync"});
  two.check(two.here, {"sync"});
  CHECK(texts_of(two.here) == two.without({"old/"}));
}

TEST_CASE("sync leave: what the service archived and this folder kept is not left out", "[cli][leave]") {
  const Archive two;
  fs::remove(two.there / "old/1.md");
  two.check(two.there, {"sync"});
  two.check(two.here, {"sync", "--keep-archived"});
  const std::string place = GENERATE("old/1.md", "old");
  const Ended refused = two.ws(two.here, {"sync", "leave", place});
  CHECK(refused.exit == 7);
  CHECK_THAT(refused.err, Contains("old/1.md"));
  CHECK(fs::exists(two.here / "old/1.md"));
}

TEST_CASE("sync take: a pull that failed says nothing of both sides", "[cli][leave]") {
  const Archive two;
  two.check(two.here, {"sync", "leave", "old"});
  control(two.server, "POST", "/faults", R"({"operation": "sync.pull", "effect": {"status": {"status": 503}}})");
  const Ended failed = two.ws(two.here, {"sync", "take", "old", "--no-retry"});
  CHECK(failed.exit == 10);
  CHECK_THAT(failed.out + failed.err, Contains("nothing was done") && !Contains("both sides are the same"));
}

TEST_CASE("sync take: a name with the signs of a pattern is a name where it is left out", "[cli][leave]") {
  const Archive two;
  write_text(two.here / "n[1].md", "brackets\n");
  write_text(two.here / "n1.md", "none\n");
  two.check(two.here, {"sync"});
  two.check(two.here, {"sync", "leave", "n[1].md"});
  two.check(two.here, {"sync", "take", "n[1].md"});
  CHECK(read_text(two.here / "n[1].md") == "brackets\n");
}

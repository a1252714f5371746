// A conflict is about a document: where its file is renamed while it is open, it is decided where the file lies.
#include <filesystem>
#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/two_folders.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

namespace fs = std::filesystem;

const std::string mine = "one\nthere\nthree\n";
const std::string theirs = "one\nhere\nthree\n";

/// An open conflict at a.md in `there`, whose file is k.md by now.
struct Renamed : TwoFolders {
  explicit Renamed(bool with_markers) {
    collide();
    REQUIRE(ws(there, {"sync"}).exit == 7);
    if (with_markers) REQUIRE(ws(there, {"sync", "resolve", "a.md", "--markers"}).exit == 7);
    const bool by_program = GENERATE(true, false);
    CAPTURE(by_program);
    if (by_program) {
      REQUIRE(ws(there, {"sync", "mv", "a.md", "k.md"}).exit == 0);
    } else {
      fs::rename(there / "a.md", there / "k.md");
    }
    // Also where a run has seen it meanwhile.
    const bool was_synced = GENERATE(false, true);
    CAPTURE(was_synced);
    if (was_synced) REQUIRE(ws(there, {"sync"}).exit == 7);
  }
  std::string listed() const {
    const Json open = parse(ws(there, {"sync", "conflicts", "--json"}).out).at("data");
    return open.size() == 1 ? text_at(open.at(0), "path") : std::to_string(open.size()) + " conflicts";
  }
  void check_settled(const std::string& text) const {
    REQUIRE(ws(there, {"sync"}).exit == 0);
    REQUIRE(ws(here, {"sync"}).exit == 0);
    CHECK(same());
    CHECK(texts_of(here).size() == 2);
    CHECK(read_text(here / "k.md") == text);
  }
};

}  // namespace

TEST_CASE("renamed conflicts: the one note gets the text that was chosen, at its new name", "[cli]") {
  const Renamed two(false);
  CHECK(two.listed() == "k.md");
  const std::string keep = GENERATE("mine", "theirs");
  REQUIRE(two.ws(two.there, {"sync", "resolve", "k.md", "--keep", keep}).exit == 0);
  two.check_settled(keep == "mine" ? mine : theirs);
}

TEST_CASE("renamed conflicts: markers are found in the file by its new name", "[cli]") {
  const Renamed two(true);
  CHECK(two.listed() == "k.md");
  const Ended left = two.ws(two.there, {"sync", "resolve", "k.md", "--keep", "merged"});
  CHECK(left.exit == 2);
  CHECK_THAT(left.err, Contains("k.md still has conflict markers"));
  SECTION("taken out by hand") {
    write_text(two.there / "k.md", "one\nboth\nthree\n");
    REQUIRE(two.ws(two.there, {"sync", "resolve", "k.md", "--keep", "merged"}).exit == 0);
    two.check_settled("one\nboth\nthree\n");
  }
  SECTION("another choice after all") {
    REQUIRE(two.ws(two.there, {"sync", "resolve", "k.md", "--keep", "theirs"}).exit == 0);
    two.check_settled(theirs);
  }
  SECTION("the file is gone") {
    fs::remove(two.there / "k.md");
    const Ended merged = two.ws(two.there, {"sync", "resolve", two.listed(), "--keep", "merged"});
    CHECK(merged.exit == 7);
    CHECK_THAT(merged.err, Contains("--file"));
    CHECK(read_text(two.here / "a.md") == theirs);
  }
}

TEST_CASE("renamed conflicts: after markers both texts can be kept, as they were recorded", "[cli]") {
  const TwoFolders two;
  two.collide();
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  REQUIRE(two.ws(two.there, {"sync", "resolve", "a.md", "--markers"}).exit == 7);
  if (GENERATE(false, true)) REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  REQUIRE(two.ws(two.there, {"sync", "resolve", "a.md", "--keep", "both"}).exit == 0);
  CHECK(read_text(two.there / "a.md") == theirs);
  CHECK(read_text(two.there / "a (local).md") == mine);
}

TEST_CASE("renamed conflicts: an undo of the markers gives the file its text back, and undoes no other run", "[cli]") {
  const TwoFolders two;
  two.collide();
  write_text(two.there / "deep/b.md", "# B, sent\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  REQUIRE(two.ws(two.there, {"sync", "resolve", "a.md", "--markers"}).exit == 7);
  const Ended undone = two.ws(two.there, {"sync", "undo"});
  CAPTURE(undone.out, undone.err);
  CHECK(read_text(two.there / "a.md") == mine);
  CHECK(read_text(two.there / "deep/b.md") == "# B, sent\n");
  // Without them nothing was merged by hand.
  CHECK(two.ws(two.there, {"sync", "resolve", "a.md", "--keep", "merged"}).exit == 2);
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(read_text(two.here / "a.md") == theirs);
}

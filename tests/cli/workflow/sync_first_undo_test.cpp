// The undo of a folder's first run: nothing was agreed before it, so each side gets back what it had.
#include <map>
#include <string>

#include "tests/cli/workflow/pictures.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace fs = std::filesystem;

namespace {

using Files = std::map<std::string, std::string>;

/// The first folder is in step; the second one has a note and a picture of its own, and no run yet.
struct Joining : Pictures {
  Files here_before;
  Files there_before;

  Joining() {
    fs::remove(here / "img/unshown.png");
    REQUIRE(sync(here).exit == 0);
    write_text(there / "own.md", "# Own\n\n![o](own.png)\n");
    write_text(there / "own.png", png + "own");
    here_before = bytes_of(here);
    there_before = bytes_of(there);
  }
  Ended undo(const fs::path& folder) const { return ws(folder, {"sync", "undo", "--allow-deletes", "--json"}); }
  void bring_together() const {
    REQUIRE(sync(there).exit == 0);
    REQUIRE(sync(here).exit == 0);
    REQUIRE(sync(there).exit == 0);
  }
};

Files together(Files all, const Files& more) {
  all.insert(more.begin(), more.end());
  return all;
}

std::map<std::string, std::string> kinds_of(const Json& report) {
  std::map<std::string, std::string> kinds;
  for (const Json& row : report.at("actions")) kinds.emplace(text_at(row, "path"), text_at(row, "action"));
  return kinds;
}

}  // namespace

TEST_CASE("undo of the first run: what came goes here and stays there, what was sent stays here", "[cli][undo]") {
  const Joining two;
  REQUIRE(two.sync(two.there).exit == 0);
  const Json planned = parse(two.ws(two.there, {"sync", "undo", "-n", "--json"}).out);
  const std::map<std::string, std::string> kinds = {{"img/a.png", "pull_delete"},
                                                    {"img/b.pdf", "pull_delete"},
                                                    {"note.md", "pull_delete"},
                                                    {"own.md", "push_delete"},
                                                    {"own.png", "push_delete"}};
  CHECK(kinds_of(planned) == kinds);

  const Ended undone = two.undo(two.there);
  INFO(undone.out << undone.err);
  CHECK(undone.exit == 0);
  CHECK(kinds_of(parse(undone.out)) == kinds);
  CHECK(bytes_of(two.there) == two.there_before);
  CHECK(two.ws(two.there, {"sync", "status", "--exit-code"}).exit == 13);
  REQUIRE(two.sync(two.here).exit == 0);
  CHECK(bytes_of(two.here) == two.here_before);

  two.bring_together();
  CHECK(bytes_of(two.there) == together(two.there_before, bytes_of(two.here)));
  CHECK(bytes_of(two.here) == together(two.here_before, two.there_before));
}

TEST_CASE("undo of the first run: again and again, and after each redo", "[cli][undo]") {
  const Joining two;
  for (int i = 0; i < 2; ++i) {
    two.bring_together();
    const Files both = bytes_of(two.there);
    REQUIRE(two.undo(two.there).exit == 0);
    CHECK(bytes_of(two.there) == two.there_before);
    const Ended redone = two.ws(two.there, {"sync", "redo", "--json"});
    INFO(redone.out << redone.err);
    CHECK(redone.exit == 0);
    CHECK(bytes_of(two.there) == both);
    REQUIRE(two.sync(two.here).exit == 0);
    CHECK(bytes_of(two.here) == together(two.here_before, two.there_before));
    REQUIRE(two.undo(two.there).exit == 0);
    CHECK(bytes_of(two.there) == two.there_before);
    REQUIRE(two.sync(two.here).exit == 0);
    CHECK(bytes_of(two.here) == two.here_before);
  }
}

TEST_CASE("undo of the first run: of the folder that made the source", "[cli][undo]") {
  const Joining two;
  const Ended told = two.ws(two.here, {"sync", "undo"});
  CHECK(told.exit == 7);
  CHECK_THAT(told.err, Contains("what it sent stays here") && Contains("archive all 1 document"));
  REQUIRE(two.undo(two.here).exit == 0);
  CHECK(bytes_of(two.here) == two.here_before);
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(bytes_of(two.there) == two.there_before);
  CHECK(two.ws(two.here, {"sync", "undo"}).exit == 6);  // nothing is left
}

TEST_CASE("undo of the first run: what was edited since stays, and so does what both sides had", "[cli][undo]") {
  const Joining two;
  write_text(two.there / "note.md", read_text(two.here / "note.md"));
  REQUIRE(two.sync(two.there).exit == 0);
  write_text(two.there / "own.md", "# Own\n\nedited\n\n![o](own.png)\n");
  const Ended undone = two.undo(two.there);
  INFO(undone.out << undone.err);
  CHECK(undone.exit == 13);
  CHECK(text_at(parse(undone.out).at("left").at(0), "path") == "own.md");
  CHECK(read_text(two.there / "own.md").find("edited") != std::string::npos);
  CHECK(read_text(two.there / "note.md") == read_text(two.here / "note.md"));
  CHECK_FALSE(fs::exists(two.there / "img/a.png"));
  two.bring_together();
  CHECK(bytes_of(two.here) == together(two.here_before, bytes_of(two.there)));
}

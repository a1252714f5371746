// Files that notes show and the places they have: what is a new name and what a copy, and who has a name that two want.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/workflow/pictures.hpp"
#include "tests/support/relay.hpp"

namespace ws::test {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using Rows = std::vector<std::string>;

/// "push_create img/a.png" for each row, sorted.
Rows rows_of(const Ended& ended) {
  Rows rows;
  const Json report = parse(ended.out);
  for (const Json& row : report["actions"]) rows.push_back(text_at(row, "action") + " " + text_at(row, "path"));
  std::ranges::sort(rows);
  return rows;
}

TEST_CASE("attachment places: a copy that no note shows is not the new name of a picture that went", "[cli]") {
  const Pictures two;
  two.both_in_step();
  write_text(two.here / "private/copy.png", png);
  two.both_in_step();
  fs::remove(two.here / "img/a.png");
  CHECK(attachment_rows(two.sync(two.here)) == Rows{"push_delete img/a.png"});
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK_FALSE(fs::exists(two.there / "private"));
  CHECK(read_text(two.here / "private/copy.png") == png);
}

TEST_CASE("attachment places: a picture that is renamed while it is sent is renamed by the next run", "[cli]") {
  MeddledServer stage;
  Person person{stage.server};
  person.environment["WS_BASE_URL"] = stage.relay.origin();
  const TemporaryFolder folder;
  const fs::path notes = folder / "notes";
  fs::create_directories(notes);
  write_text(notes / "n.md", "![r](r.png)\n");
  write_text(notes / "r.png", png);
  REQUIRE(person.ws({"sync", "init", "--name", "notes"}, notes).exit == 0);
  stage.meddles = [&notes](const Seen& seen) -> std::optional<Script> {
    const bool is_sent = seen.target.find("uploads:finalize") != std::string::npos && fs::exists(notes / "r.png");
    if (is_sent) fs::rename(notes / "r.png", notes / "later.png");
    return std::nullopt;
  };
  REQUIRE(person.ws({"sync"}, notes).exit == 0);
  REQUIRE(fs::exists(notes / "later.png"));
  CHECK(rows_of(person.ws({"sync", "--json"}, notes)) == Rows{"push_move later.png"});
}

TEST_CASE("attachment places: a picture keeps its way to the others where a new one took its name", "[cli]") {
  const Pictures two;
  two.both_in_step();
  SECTION("renamed by a person") {
    fs::rename(two.here / "img/a.png", two.here / "img/old.png");
    write_text(two.here / "img/a.png", png + "new");
    CHECK(attachment_rows(two.sync(two.here)) == Rows{"push_update img/a.png", "push_create img/old.png"});
    CHECK(two.assets() == 3);
    REQUIRE(two.sync(two.there).exit == 0);
    CHECK(read_text(two.there / "img/old.png") == png);
    two.both_in_step();
  }
  SECTION("put aside by an editor that saves") {
    fs::rename(two.here / "img/a.png", two.here / "img/a.png~");
    write_text(two.here / "img/a.png", png + "new");
    CHECK(attachment_rows(two.sync(two.here)) == Rows{"push_update img/a.png"});
    REQUIRE(two.sync(two.there).exit == 0);
    CHECK_FALSE(fs::exists(two.there / "img/a.png~"));
  }
  CHECK(read_text(two.there / "img/a.png") == png + "new");
}

TEST_CASE("attachment places: a file here, a folder of its name there, and the folder gets the name", "[cli][undo]") {
  const Pictures two;
  two.both_in_step();
  write_text(two.there / "art.png/page.png", png + "page");
  write_text(two.there / "other.md", "![](art.png/page.png)\n");
  REQUIRE(two.sync(two.there).exit == 0);
  write_text(two.here / "art.png", "a picture");
  write_text(two.here / "own.md", "![](art.png)\n");
  const Ended planned = two.ws(two.here, {"sync", "-n", "--json"});
  const Ended met = two.sync(two.here);
  INFO(met.out << met.err);
  CHECK(met.exit == 7);
  CHECK(rows_of(planned) == rows_of(met));
  CHECK_THAT(two.ws(two.here, {"sync"}).err, Contains("ws sync resolve art.png --path theirs"));
  const Ended refused = two.ws(two.here, {"sync", "resolve", "art.png", "--path", "mine"});
  CHECK(refused.exit == 7);
  CHECK_THAT(refused.err, Contains("art.png is a folder on the service") && Contains("--path theirs"));
  REQUIRE(two.ws(two.here, {"sync", "resolve", "art.png", "--path", "theirs"}).exit == 0);
  CHECK(attachment_rows(two.sync(two.here)) == Rows{"push_create art (local).png", "pull_create art.png/page.png"});
  two.both_in_step();
  CHECK(read_text(two.there / "art (local).png") == "a picture");
  CHECK(read_text(two.here / "art.png/page.png") == png + "page");
}

TEST_CASE("attachment places: a folder here, a file of its name there, and the folder keeps the name", "[cli]") {
  const Pictures two;
  two.both_in_step();
  const bool is_renamed = GENERATE(true, false);
  CAPTURE(is_renamed);
  if (is_renamed) {
    fs::rename(two.there / "img/a.png", two.there / "img/r.png");
  } else {
    write_text(two.there / "img/r.png", png + "new");
  }
  write_text(two.there / "note.md", "# Note\n\n![a](img/a.png) ![r](img/r.png) and [[b.pdf]]\n");
  REQUIRE(two.sync(two.there).exit == 0);
  write_text(two.here / "img/r.png/page.png", png + "page");
  write_text(two.here / "own.md", "![](img/r.png/page.png)\n");
  const Ended met = two.sync(two.here);
  INFO(met.out << met.err);
  CHECK(met.exit == 7);
  const std::string theirs = is_renamed ? png : png + "new";
  CHECK(read_text(two.here / "img/r (remote).png") == theirs);
  CHECK(two.ws(two.here, {"sync", "resolve", "img/r.png", "--path", "theirs"}).exit == 7);
  REQUIRE(two.ws(two.here, {"sync", "resolve", "img/r.png", "--path", "mine"}).exit == 0);
  two.both_in_step();
  two.both_in_step();
  CHECK(bytes_of(two.here) == [&] {
    auto files = bytes_of(two.there);
    files.emplace("img/unshown.png", "nobody shows it");
    return files;
  }());
  CHECK(read_text(two.there / "img/r.png/page.png") == png + "page");
  CHECK(read_text(two.there / "img/r (remote).png") == theirs);
}

TEST_CASE("attachment places: one picture that two runs rename at the same moment is a conflict, not two pictures",
          "[cli]") {
  const Pictures two;
  two.both_in_step();
  fs::rename(two.here / "img/a.png", two.here / "img/mine.png");
  fs::rename(two.there / "img/a.png", two.there / "img/theirs.png");
  two.hold_up("sync.commit", 1, std::chrono::milliseconds{3000});
  Running first(two.person.command({"sync", "--json"}, two.here));
  two.wait_until_held_up();
  REQUIRE(two.sync(two.there).exit == 0);
  const Ended late = first.wait();
  INFO(late.out << late.err);
  CHECK(late.exit == 13);
  const Ended met = two.sync(two.here);
  CHECK(met.exit == 7);
  CHECK(attachment_rows(met) == Rows{"conflict img/mine.png"});
  REQUIRE(two.ws(two.here, {"sync", "resolve", "img/mine.png", "--path", "mine"}).exit == 0);
  two.both_in_step();
  CHECK(fs::exists(two.there / "img/mine.png"));
  CHECK_FALSE(fs::exists(two.there / "img/theirs.png"));
}

TEST_CASE("attachment places: a name that another run took in another case meanwhile is left to it", "[cli]") {
  const Pictures two;
  two.both_in_step();
  write_text(two.here / "img/New.png", png + "mine");
  write_text(two.here / "own.md", "![](img/New.png)\n");
  write_text(two.there / "img/new.png", png + "theirs");
  write_text(two.there / "other.md", "![](img/new.png)\n");
  // The first commit sends the note, the second the list.
  two.hold_up("sync.commit", 2, std::chrono::milliseconds{3000});
  Running first(two.person.command({"sync", "--json"}, two.here));
  two.wait_until_held_up();
  REQUIRE(two.sync(two.there).exit == 0);
  const Ended late = first.wait();
  INFO(late.out << late.err);
  CHECK(late.exit == 13);
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(read_text(two.there / "img/new.png") == png + "theirs");
  CHECK_FALSE(fs::exists(two.there / "img/New.png"));
  CHECK(read_text(two.here / "img/New.png") == png + "mine");
}

TEST_CASE("attachment places: both pictures are kept only once theirs has come", "[cli]") {
  const Pictures two;
  two.both_in_step();
  write_text(two.there / "img/a.png", png + "theirs");
  REQUIRE(two.sync(two.there).exit == 0);
  write_text(two.here / "img/a.png", png + "mine");
  control(two.server,
          "POST",
          "/faults",
          dump({{"operation", "files.content"}, {"every", 1}, {"effect", {{"status", 404}}}}));
  CHECK(two.sync(two.here).exit != 0);
  const Ended early = two.ws(two.here, {"sync", "resolve", "img/a.png", "--keep", "both"});
  CHECK(early.exit == 7);
  CHECK_THAT(early.err, Contains("theirs of img/a.png has not been received yet"));
  control(two.server, "DELETE", "/faults", "");
  CHECK(two.sync(two.here).exit == 7);
  REQUIRE(two.ws(two.here, {"sync", "resolve", "img/a.png", "--keep", "both"}).exit == 0);
  two.both_in_step();
  CHECK(read_text(two.there / "img/a.png") == png + "mine");
  CHECK(read_text(two.there / "img/a (remote).png") == png + "theirs");
}

TEST_CASE("attachment places: a preview plans a note where a picture leaves its name to a folder", "[cli]") {
  const Pictures two;
  two.both_in_step();
  fs::remove(two.here / "img/a.png");
  write_text(two.here / "img/a.png/inside.md", "inside\n");
  REQUIRE(two.sync(two.here).exit == 0);
  const Ended planned = two.ws(two.there, {"sync", "-n", "--json"});
  const Ended done = two.sync(two.there);
  INFO(planned.out << done.out);
  CHECK(done.exit == 0);
  CHECK(rows_of(planned) == Rows{"pull_create img/a.png/inside.md", "pull_delete img/a.png"});
  CHECK(rows_of(planned) == rows_of(done));
}

TEST_CASE("attachment places: a preview plans a picture where a note, or another picture, leaves its name", "[cli]") {
  const Pictures two;
  two.both_in_step();
  const bool is_of_note = GENERATE(true, false);
  CAPTURE(is_of_note);
  Rows wanted;
  if (is_of_note) {
    std::filesystem::create_directory(two.there / "d");
    write_text(two.there / "d/a.md", "a\n");
    two.sync(two.there);
    REQUIRE(two.sync(two.here).exit == 0);
    std::filesystem::remove(two.there / "d/a.md");
    std::filesystem::create_directory(two.there / "d/a.md");
    write_text(two.there / "d/a.md/in.png", png + "in");
    write_text(two.there / "note.md", "![a](img/a.png) [[b.pdf]] ![](d/a.md/in.png)\n");
    wanted = {"pull_create d/a.md/in.png"};
  } else {
    std::filesystem::rename(two.there / "img/a.png", two.there / "img/x.png");
    std::filesystem::rename(two.here / "img/b.pdf", two.here / "img/A.png");
    wanted = {"push_move img/A.png", "pull_move img/x.png"};
  }
  REQUIRE(two.sync(two.there).exit == 0);
  const Ended planned = two.ws(two.here, {"sync", "-n", "--json"});
  const Ended done = two.sync(two.here);
  INFO(planned.out << done.out);
  CHECK(attachment_rows(planned) == wanted);
  CHECK(rows_of(planned) == rows_of(done));
}

TEST_CASE("attachment places: a preview with --on-conflict shows what becomes of each picture", "[cli]") {
  const Pictures two;
  write_text(two.here / "img/c.png", png + "c");
  write_text(two.here / "more.md", "![](img/c.png)\n");
  two.both_in_step();
  const std::string keep = GENERATE("mine", "theirs");
  CAPTURE(keep);
  write_text(two.here / "img/a.png", png + "mine");
  write_text(two.there / "img/a.png", png + "theirs");
  write_text(two.here / "img/b.pdf", "mine");
  fs::remove(two.there / "img/b.pdf");
  fs::rename(two.here / "img/c.png", two.here / "img/mine.png");
  fs::rename(two.there / "img/c.png", two.there / "img/theirs.png");
  REQUIRE(two.sync(two.there).exit == 0);
  const Ended planned = two.ws(two.here, {"sync", "-n", "--json", "--on-conflict", keep});
  const Ended done = two.ws(two.here, {"sync", "--json", "--on-conflict", keep});
  INFO(planned.out << done.out);
  CHECK(done.exit == 0);
  CHECK(rows_of(planned) == rows_of(done));
  const Rows of_theirs{"pull_delete img/b.pdf", "pull_move img/theirs.png", "pull_update img/a.png"};
  CHECK(rows_of(done) == (keep == "theirs"
                              ? of_theirs
                              : Rows{"push_create img/b.pdf", "push_move img/mine.png", "push_update img/a.png"}));
}

}  // namespace
}  // namespace ws::test

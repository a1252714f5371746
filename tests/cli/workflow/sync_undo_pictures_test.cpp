// An undo of pictures against what the service has by now, by the real programs: what collides is left and named, and
// `-n` shows what is done.
#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>

#include "tests/cli/workflow/pictures.hpp"

using namespace ws;
using namespace ws::test;

namespace fs = std::filesystem;

namespace {

using Lines = std::vector<std::string>;

Lines rows_of_undo(const Json& report) {
  Lines rows;
  for (const Json& row : report.at("actions")) rows.push_back(text_at(row, "action") + " " + text_at(row, "path"));
  std::ranges::sort(rows);
  return rows;
}

Lines left_by_undo(const Json& report) {
  Lines left;
  for (const Json& each : report.at("left")) left.push_back(text_at(each, "path") + ": " + text_at(each, "reason"));
  return left;
}

/// The report of the undo here, which is the one that `-n` gave.
Json undo_as_planned(const Pictures& two, const Lines& which = {}) {
  Lines arguments{"sync", "undo", "--allow-deletes", "--json"};
  arguments.insert(arguments.begin() + 2, which.begin(), which.end());
  Lines looks = arguments;
  looks.push_back("-n");
  const Json planned = parse(two.ws(two.here, looks).out);
  const Ended ended = two.ws(two.here, arguments);
  INFO(planned.dump() << ended.out << ended.err);
  const Json undone = parse(ended.out);
  CHECK(rows_of_undo(planned) == rows_of_undo(undone));
  CHECK(left_by_undo(planned) == left_by_undo(undone));
  CHECK(undone.at("conflicts").empty());
  return undone;
}

void check_same(const Pictures& two) {
  two.both_in_step();
  two.both_in_step();
  fs::remove(two.here / "img/unshown.png");
  CHECK(bytes_of(two.here) == bytes_of(two.there));
}

/// Renamed here, which both folders know.
void rename_here(const Pictures& two) {
  fs::rename(two.here / "img/a.png", two.here / "img/r.png");
  two.both_in_step();
}

}  // namespace

TEST_CASE("sync undo: a rename of a picture that collides with what others did since is left and named",
          "[cli][undo]") {
  const Pictures two;
  two.both_in_step();
  rename_here(two);
  const auto [since, why] =
      GENERATE(table<std::string, std::string>({{"taken", "img/a.png: changed since, and the two changes collide"},
                                                {"taken in other case", "img/a.png: another file is in its place"},
                                                {"deleted", "img/a.png: deleted on the service since"},
                                                {"renamed", "img/a.png: renamed since: it keeps that name"}}));
  CAPTURE(since);
  if (since == "taken") {
    write_text(two.there / "img/a.png", png + "another");
    write_text(two.there / "other.md", "![](img/a.png)\n");
  } else if (since == "taken in other case") {
    write_text(two.there / "img/A.png", png + "another");
    write_text(two.there / "other.md", "![](img/A.png)\n");
  } else if (since == "deleted") {
    fs::remove(two.there / "img/r.png");
  } else {
    fs::rename(two.there / "img/r.png", two.there / "img/s.png");
  }
  REQUIRE(two.sync(two.there).exit == 0);
  const bool is_received = GENERATE(false, true);
  CAPTURE(is_received);
  if (is_received) REQUIRE(two.sync(two.here).exit == 0);
  const auto before = bytes_of(two.here);
  const Json undone = undo_as_planned(two, {"2"});
  CHECK(rows_of_undo(undone).empty());
  if (!is_received) CHECK(left_by_undo(undone) == Lines{why});
  CHECK(bytes_of(two.here) == before);
  check_same(two);
}

TEST_CASE("sync undo: a rename and an edit of a picture do not collide", "[cli][undo]") {
  const Pictures two;
  two.both_in_step();
  const std::string undoes = GENERATE("edit", "rename");
  const bool is_received = GENERATE(false, true);
  CAPTURE(undoes, is_received);
  if (undoes == "edit") {
    write_text(two.here / "img/a.png", png + "edited");
    two.both_in_step();
    fs::rename(two.there / "img/a.png", two.there / "img/r.png");
  } else {
    rename_here(two);
    write_text(two.there / "img/r.png", png + "edited");
  }
  REQUIRE(two.sync(two.there).exit == 0);
  if (is_received) REQUIRE(two.sync(two.here).exit == 0);
  CHECK(left_by_undo(undo_as_planned(two, {"2"})).empty());
  CHECK(two.ws(two.here, {"sync", "status", "--exit-code"}).exit == 0);
  check_same(two);
  const auto files = bytes_of(two.there);
  CHECK(files.count("img/a.png") + files.count("img/r.png") == 1);
  CHECK(files.at(undoes == "edit" ? "img/r.png" : "img/a.png") == (undoes == "edit" ? png : png + "edited"));
  // What the undo received meanwhile is no part of what a redo takes back.
  CHECK(two.ws(two.here, {"sync", "redo"}).exit == 0);
  check_same(two);
  CHECK(bytes_of(two.there).at("img/r.png") == png + "edited");
  CHECK_FALSE(fs::exists(two.there / "img/a.png"));
}

TEST_CASE("sync undo: a received picture that was edited on the service since stays as it is", "[cli][undo]") {
  const Pictures two;
  two.both_in_step();
  write_text(two.there / "img/a.png", png + "2");
  REQUIRE(two.sync(two.there).exit == 0);
  REQUIRE(two.sync(two.here).exit == 0);
  write_text(two.there / "img/a.png", png + "3");
  REQUIRE(two.sync(two.there).exit == 0);
  const Json undone = undo_as_planned(two);
  CHECK(rows_of_undo(undone).empty());
  CHECK(left_by_undo(undone) == Lines{"img/a.png: changed since, and the two changes collide"});
  CHECK(read_text(two.here / "img/a.png") == png + "2");
  check_same(two);
}

TEST_CASE("sync undo: a new picture that others renamed or edited since stays", "[cli][undo]") {
  const Pictures two;
  two.both_in_step();
  write_text(two.here / "note.md", "# Note\n\n![a](img/a.png) and [[b.pdf]] and ![new](img/new.png)\n");
  write_text(two.here / "img/new.png", png + "new");
  two.both_in_step();
  if (GENERATE(true, false)) {
    fs::rename(two.there / "img/new.png", two.there / "img/other.png");
  } else {
    write_text(two.there / "img/new.png", png + "newer");
  }
  REQUIRE(two.sync(two.there).exit == 0);
  const Json undone = undo_as_planned(two);
  CHECK(rows_of_undo(undone) == Lines{"push_update note.md"});
  CHECK(left_by_undo(undone) == Lines{"img/new.png: changed on the service since"});
  check_same(two);
}

TEST_CASE("sync undo: what an undo of a later run took away is no renamed picture", "[cli][undo]") {
  const Pictures two;
  two.both_in_step();
  rename_here(two);
  REQUIRE(two.ws(two.here, {"sync", "restore", "img/a.png", "--at", "run:1"}).exit == 0);
  REQUIRE(two.sync(two.here).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "undo", "--allow-deletes"}).exit == 0);
  const Json undone = parse(two.ws(two.here, {"sync", "undo", "--json"}).out);
  INFO(undone.dump());
  CHECK(rows_of_undo(undone) == Lines{"push_move img/a.png"});
}

TEST_CASE("sync undo: the decision about a picture is taken back on both sides, and its conflict is open again",
          "[cli][undo]") {
  const Pictures two;
  two.both_in_step();
  write_text(two.there / "img/a.png", png + "there");
  REQUIRE(two.sync(two.there).exit == 0);
  write_text(two.here / "img/a.png", png + "here");
  const std::string keep = GENERATE("mine", "theirs", "both");
  const bool by_a_run = GENERATE(true, false);
  CAPTURE(keep, by_a_run);
  if (by_a_run) {
    REQUIRE(two.ws(two.here, {"sync", "--on-conflict", keep}).exit == 0);
  } else {
    REQUIRE(two.sync(two.here).exit == 7);
    REQUIRE(two.ws(two.here, {"sync", "resolve", "img/a.png", "--keep", keep}).exit == 0);
  }
  const Json planned = parse(two.ws(two.here, {"sync", "undo", "-n", "--allow-deletes", "--json"}).out);
  CHECK(planned.at("conflicts").size() == 1);
  const Ended undone = two.ws(two.here, {"sync", "undo", "--allow-deletes", "--json"});
  INFO(undone.out << undone.err);
  CHECK(undone.exit == 7);
  CHECK(parse(undone.out).at("left").empty());
  CHECK(read_text(two.here / "img/a.png") == png + "here");
  const Json open = parse(two.ws(two.here, {"sync", "conflicts", "--json"}).out);
  CHECK(open.dump().find("img/a.png") != std::string::npos);
  CHECK(two.sync(two.here).exit == 7);
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(read_text(two.there / "img/a.png") == png + "there");
  // It can be decided again.
  REQUIRE(two.ws(two.here, {"sync", "--on-conflict", "theirs"}).exit == 0);
  CHECK(read_text(two.here / "img/a.png") == png + "there");
  CHECK(two.sync(two.here).exit == 0);
}

TEST_CASE("sync undo: of the decisions of a run only those about the named files are taken back", "[cli][undo]") {
  const Pictures two;
  two.both_in_step();
  for (const char* name : {"img/a.png", "img/b.pdf"}) {
    write_text(two.there / name, "there");
    write_text(two.here / name, "here");
  }
  REQUIRE(two.sync(two.there).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "--on-conflict", "mine"}).exit == 0);
  const auto open = [&] { return two.ws(two.here, {"sync", "conflicts", "--json"}).out; };
  const Ended first = two.ws(two.here, {"sync", "undo", "--yes", "--only", "img/a.png"});
  INFO(first.out << first.err);
  CHECK(first.exit == 7);
  CHECK(open().find("img/a.png") != std::string::npos);
  CHECK(open().find("img/b.pdf") == std::string::npos);
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(read_text(two.there / "img/a.png") == "there");
  CHECK(read_text(two.there / "img/b.pdf") == "here");
  // The rest of the run can be taken back later.
  const Ended second = two.ws(two.here, {"sync", "undo", "--yes", "2"});
  INFO(second.out << second.err);
  CHECK(open().find("img/b.pdf") != std::string::npos);
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(read_text(two.there / "img/b.pdf") == "there");
}

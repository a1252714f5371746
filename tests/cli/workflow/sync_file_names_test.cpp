// Files beside the notes that get another name, or become something else: told as renames, as notes are.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/pictures.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace fs = std::filesystem;

namespace {

void append(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::app) << text; }

}  // namespace

TEST_CASE("file names: a picture renamed in case alone is renamed on the other side too", "[cli]") {
  const bool by_command = GENERATE(true, false);
  const bool is_edited = GENERATE(false, true);
  CAPTURE(by_command, is_edited);
  const Pictures two;
  two.both_in_step();
  if (by_command) {
    REQUIRE(two.ws(two.here, {"sync", "mv", "img/a.png", "img/A.png"}).exit == 0);
  } else {
    fs::rename(two.here / "img/a.png", two.here / "img/A.png");
  }
  if (is_edited) write_text(two.here / "img/A.png", png + "edited");
  const std::size_t before = two.assets();
  const Ended sent = two.sync(two.here);
  INFO(sent.out << sent.err);
  CHECK(sent.exit == 0);
  CHECK(attachment_rows(sent).front() == "push_move img/A.png");
  CHECK(two.assets() == before + (is_edited ? 1 : 0));
  const Ended received = two.sync(two.there);
  INFO(received.out << received.err);
  CHECK(received.exit == 0);
  CHECK(attachment_rows(received).front() == "pull_move img/A.png");
  CHECK(read_text(two.there / "img/A.png") == png + (is_edited ? "edited" : ""));
  CHECK_FALSE(fs::exists(two.there / "img/a.png"));
  two.both_in_step();
  CHECK(attachment_rows(two.sync(two.here)).empty());
  CHECK(attachment_rows(two.sync(two.there)).empty());
  auto wanted = bytes_of(two.here);
  wanted.erase("img/unshown.png");
  CHECK(bytes_of(two.there) == wanted);
}

TEST_CASE("file names: a picture that is renamed and then edited is told by the file that it is", "[cli][undo]") {
  const bool is_known_by_sending = GENERATE(true, false);
  CAPTURE(is_known_by_sending);
  const Pictures two;
  two.both_in_step();
  const fs::path& mine = is_known_by_sending ? two.here : two.there;
  const fs::path& other = is_known_by_sending ? two.there : two.here;
  fs::rename(mine / "img/a.png", mine / "img/q.png");
  append(mine / "img/q.png", "edited");
  const Ended sent = two.sync(mine);
  INFO(sent.out << sent.err);
  CHECK(sent.exit == 0);
  CHECK(attachment_rows(sent) == std::vector<std::string>{"push_move img/q.png", "push_update img/q.png"});
  CHECK(two.sync(other).exit == 0);
  CHECK(read_text(other / "img/q.png") == png + "edited");
  CHECK_FALSE(fs::exists(other / "img/a.png"));
  CHECK(attachment_rows(two.sync(mine)).empty());

  const Ended undone = two.ws(mine, {"sync", "undo", "--json"});
  INFO(undone.out << undone.err);
  CHECK(undone.exit == 0);
  CHECK(read_text(mine / "img/a.png") == png);
  CHECK_FALSE(fs::exists(mine / "img/q.png"));
  CHECK(two.sync(other).exit == 0);
  CHECK(read_text(other / "img/a.png") == png);
  CHECK_FALSE(fs::exists(other / "img/q.png"));
}

namespace {

/// While the picture is edited on the other side.
void replace_picture_by_folder(const std::string& inside) {
  CAPTURE(inside);
  const Pictures two;
  two.both_in_step();
  write_text(two.there / "img/a.png", png + "theirs");
  REQUIRE(two.sync(two.there).exit == 0);
  fs::rename(two.here / "img/a.png", two.here / "img/aside");
  fs::create_directory(two.here / "img/a.png");
  const std::string name = inside == "a note" ? "img/a.png/inner.md" : "img/a.png/inner.png";
  if (inside == "its bytes") {
    fs::rename(two.here / "img/aside", two.here / name);
  } else {
    fs::remove(two.here / "img/aside");
    write_text(two.here / name, png + "inner");
  }
  if (inside == "a note") {
    write_text(two.here / name, "# Inner\n");
  } else {
    write_text(two.here / "note.md", "# Note\n\n![a](" + name + ") and [[b.pdf]]\n");
  }
  const Ended met = two.sync(two.here);
  INFO(met.out << met.err);
  CHECK((met.exit == 0 || met.exit == 7));
  CHECK_THAT(met.out, !Contains("changed during the sync"));
  if (met.exit == 7) {
    CHECK(read_text(two.here / "img/a (remote).png") == png + "theirs");
    CHECK(two.ws(two.here, {"sync", "resolve", "img/a.png", "--keep", "both"}).exit == 0);
    CHECK(two.sync(two.here).exit == 0);
  }
  two.both_in_step();
  two.both_in_step();
  CHECK(fs::exists(two.there / name));
  bool has_theirs = false;
  for (const auto& [path, bytes] : bytes_of(two.here)) has_theirs = has_theirs || bytes == png + "theirs";
  CHECK(has_theirs);
}

}  // namespace

TEST_CASE("file names: a picture that became a folder here and was edited there", "[cli]") {
  replace_picture_by_folder(GENERATE("its bytes", "a picture", "a note"));
}

TEST_CASE("file names: a viewer's key cannot send a renamed picture, is told so, and goes on receiving", "[cli]") {
  const Pictures two;
  two.both_in_step();
  Person viewer(two.server);
  viewer.environment["WS_TOKEN"] =
      text_at(parse(control(two.server, "POST", "/keys", R"({"role": "viewer"})")), "secret");
  fs::rename(two.there / "img/a.png", two.there / "img/q.png");
  for (int i = 0; i < 2; ++i) {
    write_text(two.here / "note.md", "# Note\n\n![a](img/a.png) and [[b.pdf]]\n" + std::to_string(i));
    REQUIRE(two.sync(two.here).exit == 0);
    const Ended partly = viewer.ws({"sync", "--json"}, two.there);
    INFO(partly.out << partly.err);
    CHECK(partly.exit == 13);
    CHECK(read_text(two.there / "note.md") == read_text(two.here / "note.md"));
    const Json report = parse(partly.out);
    bool is_told = false;
    for (const Json& row : report["actions"]) {
      is_told = is_told || (text_at(row, "path") == "img/q.png" && text_at(row, "error.code") == "cannot_push");
    }
    CHECK(is_told);
  }
  CHECK(two.sync(two.there).exit == 0);
  CHECK(two.sync(two.here).exit == 0);
  CHECK(fs::exists(two.here / "img/q.png"));
}

TEST_CASE("file names: a viewer's key cannot send pictures that are edited or new, and is told so each time", "[cli]") {
  const Pictures two;
  two.both_in_step();
  Person viewer(two.server);
  viewer.environment["WS_TOKEN"] =
      text_at(parse(control(two.server, "POST", "/keys", R"({"role": "viewer"})")), "secret");
  std::set<std::string> wanted;
  for (int i = 0; i < 12; ++i) wanted.insert("img/new" + std::to_string(i) + ".png");
  std::string text;
  for (const std::string& path : wanted) {
    write_text(two.there / path, png + path);
    text += "![](" + path + ")\n";
  }
  write_text(two.there / "shows.md", text);
  wanted.insert({"img/a.png", "shows.md"});
  write_text(two.there / "img/a.png", png + "edited");
  for (int i = 0; i < 2; ++i) {
    const Ended partly = viewer.ws({"sync", "--json"}, two.there);
    INFO(partly.out << partly.err);
    CHECK(partly.exit == 13);
    const Json report = parse(partly.out);
    CHECK(report["clean"] == false);
    CHECK(report["skipped"].empty());
    std::set<std::string> told;
    for (const Json& row : report["actions"]) {
      if (text_at(row, "error.code") == "cannot_push") told.insert(text_at(row, "path"));
    }
    CHECK(told == wanted);
    CHECK(viewer.ws({"sync", "status", "--exit-code"}, two.there).exit == 13);
  }
  CHECK(two.sync(two.there).exit == 0);
}

TEST_CASE("file names: a picture renamed on both sides to two names is a conflict about its path", "[cli]") {
  const std::string choice = GENERATE("local", "remote");
  CAPTURE(choice);
  const Pictures two;
  two.both_in_step();
  fs::rename(two.here / "img/a.png", two.here / "img/ours.png");
  fs::rename(two.there / "img/a.png", two.there / "img/theirs.png");
  REQUIRE(two.sync(two.there).exit == 0);
  for (int i = 0; i < 2; ++i) {
    const Ended met = two.sync(two.here);
    INFO(met.out << met.err);
    CHECK(met.exit == 7);
    CHECK(fs::exists(two.here / "img/ours.png"));
    CHECK_FALSE(fs::exists(two.here / "img/theirs.png"));
    const Json conflicts = parse(met.out)["conflicts"];
    REQUIRE(conflicts.size() == 1);
    CHECK(conflicts[0]["kind"] == "path");
  }
  CHECK(two.sync(two.there).exit == 0);
  CHECK(fs::exists(two.there / "img/theirs.png"));
  CHECK_FALSE(fs::exists(two.there / "img/ours.png"));
  const Ended decided = two.ws(two.here, {"sync", "resolve", "img/ours.png", "--path", choice});
  INFO(decided.out << decided.err);
  CHECK(decided.exit == 0);
  two.both_in_step();
  two.both_in_step();
  const std::string name = choice == "local" ? "ours" : "theirs";
  auto wanted = bytes_of(two.here);
  CHECK(wanted.contains("img/" + name + ".png"));
  wanted.erase("img/unshown.png");
  CHECK(wanted.size() == 3);
  CHECK(bytes_of(two.there) == wanted);
}

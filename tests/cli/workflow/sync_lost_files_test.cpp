// How other tools that sync pictures lose them, by name; and a list of attachments that cannot be believed.
#include <csignal>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "api-client/base/sha256.hpp"
#include "tests/cli/workflow/pictures.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace fs = std::filesystem;

namespace {

/// Many pictures, shown by one note.
void add_gallery(const fs::path& folder, int count) {
  std::string note = "# Gallery\n";
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("pics/{:03}.png", i);
    write_text(folder / name, png + name);
    note += "![](" + name + ")\n";
  }
  write_text(folder / "gallery.md", note);
}

std::size_t pictures_in(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& [path, bytes] : bytes_of(folder)) count += path.starts_with("pics/") ? 1 : 0;
  return count;
}

Json list_of(const Pictures& vault) {
  const Json documents = parse(body_of(vault.server, "/v1/documents?limit=100"));
  for (const Json& each : documents["data"]) {
    if (each["title"] == "Attachments")
      return parse(body_of(vault.server, "/v1/documents/" + each["id"].get<std::string>()));
  }
  return {};
}

/// The service's list of attachments says something else.
void write_list(const Pictures& vault, const std::string& text) {
  const Json list = list_of(vault);
  const fs::path file = vault.stage / "list.md";
  write_text(file, text);
  const Ended ended = vault.ws(vault.stage.path(),
                               {"docs",
                                "update",
                                list["id"].get<std::string>(),
                                "-f",
                                file.string(),
                                "--revision",
                                list["content_revision"].dump()});
  INFO(ended.err);
  REQUIRE(ended.exit == 0);
}

/// Every state of the file that can be had again, as bytes.
std::set<std::string> states_of(const Pictures& vault, const fs::path& folder, const std::string& path) {
  std::set<std::string> states;
  std::string ids = vault.ws(folder, {"sync", "log", path, "--format", "ids"}).out;
  for (std::size_t end = 0; (end = ids.find('\n')) != std::string::npos; ids.erase(0, end + 1)) {
    if (vault.ws(folder, {"sync", "restore", path, "--at", ids.substr(0, end)}).exit == 0)
      states.insert(read_text(folder / path));
  }
  return states;
}

}  // namespace

TEST_CASE("lost elsewhere: both strategies drop the losing edit", "[cli]") {
  const std::string keep = GENERATE("local", "remote");
  CAPTURE(keep);
  const Pictures vault;
  vault.both_in_step();
  write_text(vault.here / "img/a.png", png + "ours");
  write_text(vault.there / "img/a.png", png + "theirs");
  REQUIRE(vault.sync(vault.there).exit == 0);
  REQUIRE(vault.sync(vault.here).exit == 7);
  REQUIRE(vault.ws(vault.here, {"sync", "resolve", "img/a.png", "--keep", keep}).exit == 0);
  REQUIRE(vault.sync(vault.here).exit == 0);
  const std::set<std::string> states = states_of(vault, vault.here, "img/a.png");
  CHECK(states.contains(png + "ours"));
  CHECK(states.contains(png + "theirs"));
  CHECK(states.contains(png));
}

TEST_CASE("lost elsewhere: a fresh empty folder deletes files on the service", "[cli]") {
  const Pictures vault;
  add_gallery(vault.here, 20);
  vault.both_in_step();
  // The same folder, with nothing in it: another disk, or one that is not mounted.
  fs::remove_all(vault.there);
  fs::create_directory(vault.there);
  REQUIRE(vault.ws(vault.there, {"sync", "init", "--source", vault.source}).exit == 0);
  const Ended ended = vault.sync(vault.there);
  INFO(ended.out << ended.err);
  CHECK(ended.exit == 0);
  CHECK(pictures_in(vault.there) == 20);
  // Tied still, but its pictures are gone: the guard asks.
  fs::remove_all(vault.there / "pics");
  const Ended guarded = vault.sync(vault.there);
  CHECK(guarded.exit == 7);
  CHECK_THAT(guarded.out + guarded.err, Contains("guard"));
  CHECK(vault.sync(vault.here).exit == 0);
  CHECK(pictures_in(vault.here) == 20);
}

TEST_CASE("lost elsewhere: a forgotten filter after a restart deletes 426 images", "[cli]") {
  const bool is_state_lost = GENERATE(false, true);
  CAPTURE(is_state_lost);
  const Pictures vault;
  add_gallery(vault.here, 60);
  vault.both_in_step();
  const std::string config = read_text(vault.there / ".ws/config.yaml");
  write_text(vault.there / ".ws/config.yaml", "attachments: off\n");
  CHECK(vault.sync(vault.there).exit == 0);
  write_text(vault.here / "pics/000.png", png + "edited meanwhile");
  CHECK(vault.sync(vault.here).exit == 0);
  CHECK(vault.sync(vault.there).exit == 0);
  if (is_state_lost) {
    fs::remove_all(vault.there / ".ws");
    REQUIRE(vault.ws(vault.there, {"sync", "init", "--source", vault.source}).exit == 0);
  } else {
    write_text(vault.there / ".ws/config.yaml", config);
  }
  // Without its state it cannot know which of two pictures is the old one, and asks.
  CHECK(vault.sync(vault.there).exit == (is_state_lost ? 7 : 0));
  CHECK(vault.sync(vault.here).exit == 0);
  CHECK(pictures_in(vault.there) == (is_state_lost ? 61 : 60));
  CHECK(pictures_in(vault.here) == 60);
  CHECK(read_text(vault.here / "pics/000.png") == png + "edited meanwhile");
  CHECK(read_text(vault.there / (is_state_lost ? "pics/000 (remote).png" : "pics/000.png")) ==
        png + "edited meanwhile");
}

TEST_CASE("lost elsewhere: stale copies pushed over good ones", "[cli]") {
  const std::string how = GENERATE("touched", "restored from a backup", "copied in without its state");
  CAPTURE(how);
  const Pictures vault;
  vault.both_in_step();
  fs::copy(vault.there, vault.stage / "backup", fs::copy_options::recursive);
  write_text(vault.here / "img/a.png", png + "the good one");
  REQUIRE(vault.sync(vault.here).exit == 0);
  if (how == "touched") {
    // The old bytes, with a date that is later than the good one's.
    fs::last_write_time(vault.there / "img/a.png", fs::file_time_type::clock::now() + std::chrono::hours(1));
  } else {
    REQUIRE(vault.sync(vault.there).exit == 0);
    fs::remove_all(vault.there);
    fs::copy(vault.stage / "backup", vault.there, fs::copy_options::recursive);
    if (how != "restored from a backup") {
      fs::remove_all(vault.there / ".ws");
      REQUIRE(vault.ws(vault.there, {"sync", "init", "--source", vault.source}).exit == 0);
    }
  }
  const bool is_unknown = how == "copied in without its state";
  const Ended ended = vault.sync(vault.there);
  INFO(ended.out << ended.err);
  CHECK(ended.exit == (is_unknown ? 7 : 0));
  CHECK(read_text(vault.there / (is_unknown ? "img/a (remote).png" : "img/a.png")) == png + "the good one");
  CHECK(vault.sync(vault.here).exit == 0);
  CHECK(read_text(vault.here / "img/a.png") == png + "the good one");
}

TEST_CASE("lost elsewhere: a moved file reappears", "[cli]") {
  const std::string mode = GENERATE("linked", "all");
  CAPTURE(mode);
  const Pictures vault;
  for (const fs::path& folder : {vault.here, vault.there})
    write_text(folder / ".ws/config.yaml", "attachments: " + mode + "\n");
  vault.both_in_step();
  fs::create_directory(vault.there / "art");
  fs::rename(vault.there / "img/a.png", vault.there / "art/lamp.png");
  REQUIRE(vault.sync(vault.there).exit == 0);
  // The other side edits another picture, and the note that still names the old place.
  write_text(vault.here / "img/b.pdf", "%PDF-1.7 edited");
  write_text(vault.here / "note.md", "# Note, edited\n\n![a](img/a.png) and [[b.pdf]]\n");
  for (int round = 0; round < 2; ++round) vault.both_in_step();
  for (const fs::path& folder : {vault.here, vault.there}) {
    CHECK(read_text(folder / "art/lamp.png") == png);
    CHECK_FALSE(fs::exists(folder / "img/a.png"));
  }
  CHECK(bytes_of(vault.here).at("img/b.pdf") == bytes_of(vault.there).at("img/b.pdf"));
}

TEST_CASE("lost elsewhere: removed folders come back", "[cli]") {
  const std::string mode = GENERATE("linked", "all");
  CAPTURE(mode);
  const Pictures vault;
  for (const fs::path& folder : {vault.here, vault.there})
    write_text(folder / ".ws/config.yaml", "attachments: " + mode + "\n");
  add_gallery(vault.here, 2);
  vault.both_in_step();
  fs::remove_all(vault.there / "pics");
  REQUIRE(vault.sync(vault.there).exit == 0);
  write_text(vault.here / "gallery.md", read_text(vault.here / "gallery.md") + "edited\n");
  for (int round = 0; round < 2; ++round) vault.both_in_step();
  CHECK_FALSE(fs::exists(vault.here / "pics"));
  CHECK_FALSE(fs::exists(vault.there / "pics"));
}

TEST_CASE("a list of attachments that cannot be believed deletes nothing, is told, and is made anew", "[cli]") {
  const std::string what = GENERATE("no list at all", "empty", "cut", "of an earlier edition", "a row of other bytes");
  CAPTURE(what);
  const Pictures vault;
  vault.both_in_step();
  const std::string earlier = list_of(vault)["content"];
  write_text(vault.here / "img/more.png", png + "more");
  write_text(vault.here / "more.md", "![](img/more.png)\n");
  vault.both_in_step();
  const std::string good = list_of(vault)["content"];
  REQUIRE(good != earlier);
  std::string other = good;
  if (what == "no list at all") other = "# My holidays\n\nA text of mine.\n";
  if (what == "empty") other = "\n";
  if (what == "cut") other.resize(other.find("| img/b.pdf"));
  if (what == "of an earlier edition") other = earlier;
  if (what == "a row of other bytes") {
    const std::string hash = Sha256::of(png).hex();
    const std::size_t at = other.find(hash);
    REQUIRE(at != std::string::npos);
    other.replace(at, hash.size(), Sha256::of("bytes that nobody has").hex());
  }
  write_list(vault, other);
  const auto before = bytes_of(vault.there);
  const Ended looked = vault.ws(vault.there, {"sync", "status", "--json"});
  CHECK(parse(looked.out)["remarks"].dump().find("manifest_damaged") != std::string::npos);
  const Ended told = vault.sync(vault.there);
  INFO(told.out << told.err);
  CHECK(parse(told.out)["remarks"].dump().find("manifest_damaged") != std::string::npos);
  vault.sync(vault.here);
  vault.both_in_step();
  CHECK(bytes_of(vault.there) == before);
  CHECK(bytes_of(vault.here).at("img/a.png") == png);
  const std::string anew = list_of(vault)["content"];
  for (const char* row : {"| img/a.png", "| img/b.pdf", "| img/more.png"}) CHECK_THAT(anew, Contains(row));
  CHECK_THAT(anew, Contains(Sha256::of(png).hex()));
  // Somebody who comes later gets everything from it.
  const fs::path third = vault.stage / "third";
  fs::create_directory(third);
  REQUIRE(vault.ws(third, {"sync", "init", "--source", vault.source}).exit == 0);
  CHECK(vault.sync(third).exit == 0);
  CHECK(bytes_of(third) == before);
}

TEST_CASE("a list of attachments that was archived deletes nothing, is told, and is made anew", "[cli]") {
  const Pictures vault;
  vault.both_in_step();
  const auto before = bytes_of(vault.there);
  REQUIRE(vault.ws(vault.stage.path(), {"docs", "archive", list_of(vault)["id"].get<std::string>(), "--yes"}).exit ==
          0);
  const Ended told = vault.sync(vault.there);
  INFO(told.out << told.err);
  CHECK(parse(told.out)["remarks"].dump().find("manifest_damaged") != std::string::npos);
  CHECK(vault.sync(vault.here).exit == 0);
  vault.both_in_step();
  CHECK(bytes_of(vault.there) == before);
  CHECK_THAT(list_of(vault)["content"].get<std::string>(), Contains("| img/a.png"));
}

TEST_CASE("sync gc leaves the bytes of pictures that nobody else has", "[cli]") {
  const Pictures vault;
  vault.both_in_step();
  write_text(vault.here / "img/a.png", png + "ours, never sent");
  write_text(vault.there / "img/a.png", png + "theirs");
  REQUIRE(vault.sync(vault.there).exit == 0);
  REQUIRE(vault.sync(vault.here).exit == 7);
  REQUIRE(vault.ws(vault.here, {"sync", "resolve", "img/a.png", "--keep", "remote"}).exit == 0);
  REQUIRE(vault.ws(vault.here, {"sync", "gc", "--keep", "90d"}).exit == 0);
  CHECK(states_of(vault, vault.here, "img/a.png").contains(png + "ours, never sent"));
}

TEST_CASE("sync gc drops the kept bytes of pictures by age, and none that is still needed", "[cli]") {
  const Pictures vault;
  vault.both_in_step();
  const auto kept = [&] {
    std::set<std::string> all;
    for (const auto& entry : fs::directory_iterator(vault.here / ".ws/attachments"))
      all.insert(read_text(entry.path()));
    return all;
  };
  const auto collide = [&](const char* name, const std::string& ours, const std::string& theirs) {
    write_text(vault.here / name, ours);
    write_text(vault.there / name, theirs);
    REQUIRE(vault.sync(vault.there).exit == 0);
    REQUIRE(vault.sync(vault.here).exit == 7);
  };
  const std::string never_sent = png + "ours, never sent";
  collide("img/a.png", never_sent, png + "theirs");
  REQUIRE(vault.ws(vault.here, {"sync", "resolve", "img/a.png", "--keep", "remote"}).exit == 0);
  collide("img/b.pdf", "ours", "%PDF-1.7 theirs, undecided");
  write_text(vault.here / ".ws/attachments" / ("." + Sha256::of("of a file that is gone").hex() + ".ws-part"), "half");
  REQUIRE(kept().contains(never_sent));

  // An undo is offered: its bytes stay.
  REQUIRE(vault.ws(vault.here, {"sync", "gc"}).exit == 0);
  CHECK(kept().contains(never_sent));

  const auto before = kept();
  const Ended plan = vault.ws(vault.here, {"sync", "gc", "-n", "--keep", "0", "--json"});
  CHECK(kept() == before);
  const Ended done = vault.ws(vault.here, {"sync", "gc", "--keep", "0", "--yes", "--json"});
  CHECK(done.exit == 0);
  CHECK(parse(done.out)["files_dropped"] == parse(plan.out)["files_dropped"]);
  CHECK(parse(done.out)["files_dropped"] == before.size() - kept().size());
  CHECK_FALSE(kept().contains(never_sent));
  CHECK_FALSE(kept().contains("half"));
  CHECK(kept().contains("%PDF-1.7 theirs, undecided"));
  // The log lists what can be had, and nothing else.
  std::string ids = vault.ws(vault.here, {"sync", "log", "img/a.png", "--format", "ids"}).out;
  for (std::size_t end = 0; (end = ids.find('\n')) != std::string::npos; ids.erase(0, end + 1)) {
    CHECK(vault.ws(vault.here, {"sync", "restore", "img/a.png", "--at", ids.substr(0, end)}).exit == 0);
    CHECK(read_text(vault.here / "img/a.png") != never_sent);
  }
  CHECK(read_text(vault.here / "img/a.png") == png);
  CHECK(vault.ws(vault.here, {"sync", "gc", "--keep", "0", "--yes"}).exit == 0);
  CHECK(vault.ws(vault.here, {"sync", "resolve", "img/b.pdf", "--keep", "remote"}).exit == 0);
  CHECK(read_text(vault.here / "img/b.pdf") == "%PDF-1.7 theirs, undecided");
}

TEST_CASE("sync watch: a picture that changes alone is sent", "[cli]") {
  const Pictures vault;
  vault.both_in_step();
  Running watch(vault.person.command({"sync", "watch", "--interval", "1s", "--json"}, vault.here));
  REQUIRE(watch.wait_for("watching "));
  write_text(vault.here / "img/a.png", png + "edited while it watched");
  REQUIRE(watch.wait_for("push_update"));
  write_text(vault.there / "img/b.pdf", "%PDF-1.7 edited there");
  REQUIRE(vault.sync(vault.there).exit == 0);
  REQUIRE(watch.wait_for("pull_update"));
  watch.signal(SIGTERM);
  watch.wait();
  CHECK(read_text(vault.there / "img/a.png") == png + "edited while it watched");
  CHECK(read_text(vault.here / "img/b.pdf") == "%PDF-1.7 edited there");
}

TEST_CASE("lost files: what became a folder or a link after an unanswered commit does not stop the next run",
          "[cli][attachments]") {
  const Pictures vault;
  vault.both_in_step();
  const std::string name = GENERATE("img/a.png", "note.md");
  const bool is_link = GENERATE(true, false);
  const int nth = GENERATE(1, 2);
  CAPTURE(name, is_link, nth);
  write_text(vault.here / "img/a.png", png + "edited");
  write_text(vault.here / "note.md", "# Note\n\n![a](img/a.png) and [[b.pdf]], edited\n");
  write_text(vault.here / "other.md", "another\n");
  control(
      vault.server,
      "POST",
      "/faults",
      fmt::format(
          R"({{"operation": "sync.commit", "nth": {}, "phase": "after", "effect": {{"close_without_answer": true}}}})",
          nth));
  REQUIRE(vault.ws(vault.here, {"sync", "--no-retry"}).exit != 0);
  fs::remove(vault.here / name);
  if (is_link) {
    fs::create_symlink("other.md", vault.here / name);
  } else {
    write_text(vault.here / name / "in.txt", "inside");
  }
  const Ended run = vault.ws(vault.here, {"sync"});
  const Ended again = vault.ws(vault.here, {"sync"});
  INFO(run.out << run.err << again.out << again.err);
  CHECK(again.exit == 0);
}

TEST_CASE("lost elsewhere: a look tells that a commit of the list was cut off, and no undo is planned past it",
          "[cli]") {
  const Pictures two;
  two.both_in_step();
  write_text(two.here / "img/a.png", png + "edited");
  const std::string lost = R"({"operation": "sync.commit", "times": 1, "phase": "after", )"
                           R"("effect": {"close_without_answer": true}})";
  control(two.server, "POST", "/faults", lost);
  REQUIRE(two.ws(two.here, {"sync", "--no-retry"}).exit == 12);
  CHECK_THAT(two.ws(two.here, {"sync", "status"}).err, Contains("an earlier command was interrupted"));
  CHECK(two.ws(two.here, {"sync", "undo", "-n"}).exit == 7);
  REQUIRE(two.sync(two.here).exit == 0);
  CHECK_THAT(two.ws(two.here, {"sync", "status"}).err, !Contains("interrupted"));
  CHECK(two.ws(two.here, {"sync", "undo", "-n"}).exit == 0);
}

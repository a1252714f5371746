// The guards of a run, for the files beside the notes: what goes, and what comes.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/pictures.hpp"
#include "tests/cli/workflow/two_folders.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace fs = std::filesystem;

namespace {

/// 30 notes; the first of them show pictures, one each. Both folders are in step.
struct Album : Pictures {
  int pictures;

  explicit Album(int count) : pictures(count) {
    fs::remove_all(here / "img");
    fs::remove(here / "note.md");
    for (int i = 0; i < 30; ++i) {
      const std::string link = i < count ? fmt::format("![p](img/p{}.png)\n", i) : "";
      write_text(here / fmt::format("n{}.md", i), fmt::format("# Note {}\n\n{}", i, link));
      if (i < count) write_text(here / fmt::format("img/p{}.png", i), png + std::to_string(i));
    }
    both_in_step();
  }
  void remove_pictures(const fs::path& folder, int count) const {
    for (int i = 0; i < count; ++i) fs::remove(folder / fmt::format("img/p{}.png", i));
  }
  std::size_t requests(std::string_view operation) const {
    const Json data = parse(control(server, "GET", "/requests", ""))["data"];
    return static_cast<std::size_t>(
        std::ranges::count_if(data, [&](const Json& one) { return text_at(one, "operation") == operation; }));
  }
};

}  // namespace

TEST_CASE("guard: all or most of the pictures are removed only after a confirmation", "[cli]") {
  const auto [pictures, removed] = GENERATE(std::pair(10, 10), std::pair(4, 3), std::pair(12, 11));
  CAPTURE(pictures, removed);
  const Album two(pictures);
  two.remove_pictures(two.here, removed);
  const Ended stopped = two.ws(two.here, {"sync"});
  INFO(stopped.out << stopped.err);
  CHECK(stopped.exit == 7);
  CHECK_THAT(stopped.err, Contains(fmt::format("would remove {} of {} files on the service", removed, pictures)));
  CHECK_THAT(stopped.err, Contains("--allow-deletes"));
  const Json guard = parse(two.sync(two.here).out)["guard"];
  CHECK(guard["files_deleted_there"] == removed);
  CHECK(guard["files_tracked"] == pictures);
  CHECK(guard["tracked"] == 30);
  CHECK(two.sync(two.there).exit == 0);
  CHECK(bytes_of(two.there).size() == std::size_t(30 + pictures));
  CHECK(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);

  const Ended asked = two.ws(two.there, {"sync"});
  CHECK(asked.exit == 7);
  CHECK_THAT(asked.err, Contains(fmt::format("would remove {} of {} files here", removed, pictures)));
  CHECK(bytes_of(two.there).size() == std::size_t(30 + pictures));
  CHECK(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
  CHECK(bytes_of(two.there) == bytes_of(two.here));
}

TEST_CASE("guard: some of the pictures are removed without a question", "[cli]") {
  const Album two(10);
  two.remove_pictures(two.here, 5);
  CHECK(two.sync(two.here).exit == 0);
  CHECK(two.sync(two.there).exit == 0);
  CHECK(bytes_of(two.there) == bytes_of(two.here));
}

TEST_CASE("guard: pictures that go with their last links are weighed with the notes only", "[cli]") {
  const bool note_goes = GENERATE(true, false);
  CAPTURE(note_goes);
  const Album two(4);
  for (int i = 0; i < 4; ++i) {
    const fs::path note = two.here / fmt::format("n{}.md", i);
    note_goes ? static_cast<void>(fs::remove(note)) : write_text(note, "# No picture any more\n");
  }
  two.remove_pictures(two.here, 4);
  const Ended sent = two.sync(two.here);
  INFO(sent.out << sent.err);
  CHECK(sent.exit == 0);
  const Ended received = two.sync(two.there);
  INFO(received.out << received.err);
  CHECK(received.exit == 0);
  CHECK(bytes_of(two.there) == bytes_of(two.here));
}

TEST_CASE("guard: notes and pictures together are counted for what they are", "[cli]") {
  const Album two(20);
  for (int i = 20; i < 27; ++i) fs::remove(two.here / fmt::format("n{}.md", i));
  two.remove_pictures(two.here, 7);
  const Ended stopped = two.ws(two.here, {"sync"});
  INFO(stopped.out << stopped.err);
  CHECK(stopped.exit == 7);
  CHECK_THAT(stopped.err,
             Contains("would remove 7 of 20 files on the service and archive 7 of 30 documents on the service"));
}

TEST_CASE("guard: what was removed here does not keep a pull from what comes", "[cli]") {
  const TwoFolders two;
  for (int i = 0; i < 9; ++i) write_text(two.here / fmt::format("n{}.md", i), "note\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  for (int i = 1; i < 9; ++i) fs::remove(two.here / fmt::format("n{}.md", i));
  write_text(two.there / "n0.md", "edited there\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  const Ended planned = two.ws(two.here, {"sync", "pull", "--dry-run", "--json"});
  INFO(planned.out << planned.err);
  CHECK(planned.exit == 0);
  const Ended pulled = two.ws(two.here, {"sync", "pull"});
  INFO(pulled.out << pulled.err);
  CHECK(pulled.exit == 0);
  CHECK(read_text(two.here / "n0.md") == "edited there\n");
  CHECK(two.ws(two.here, {"sync", "push"}).exit == 7);
  CHECK(two.ws(two.here, {"sync"}).exit == 7);
}

TEST_CASE("guard: a watch holds the pictures' deletes back, and the rest goes on", "[cli]") {
  const Album two(6);
  two.remove_pictures(two.here, 6);
  Running watch(two.person.command({"sync", "watch", "--interval", "1s", "--json"}, two.here));
  REQUIRE(watch.wait_for("\"held_back\""));
  write_text(two.here / "n29.md", "edited\n");
  REQUIRE(watch.wait_for("push_update"));
  watch.signal(SIGTERM);
  CHECK_THAT(watch.wait().out, !Contains("push_delete"));
  CHECK(two.sync(two.there).exit == 0);
  CHECK(fs::exists(two.there / "img/p0.png"));
  CHECK(read_text(two.there / "n29.md") == "edited\n");
}

TEST_CASE("guard: with `links: keep` a run that is stopped for its pictures has edited no link", "[cli]") {
  const Album two(15);
  write_text(two.here / ".ws/config.yaml", read_text(two.here / ".ws/config.yaml") + "links: keep\n");
  write_text(two.here / "n0.md", "# Note\n\n[other](n29.md)\n");
  REQUIRE(two.sync(two.here).exit == 0);
  two.remove_pictures(two.here, 15);
  fs::rename(two.here / "n29.md", two.here / "last.md");
  CHECK(two.ws(two.here, {"sync"}).exit == 7);
  CHECK(read_text(two.here / "n0.md") == "# Note\n\n[other](n29.md)\n");
}

TEST_CASE("guard: an undo that would remove all pictures asks first, and has changed nothing", "[cli][undo]") {
  Album two(0);
  for (int i = 0; i < 10; ++i) write_text(two.here / fmt::format("img/p{}.png", i), png + std::to_string(i));
  std::string album = "# Album\n";
  for (int i = 0; i < 10; ++i) album += fmt::format("\n![p](img/p{}.png)\n", i);
  write_text(two.here / "n0.md", album);
  REQUIRE(two.sync(two.here).exit == 0);
  const auto before = bytes_of(two.here);
  const Ended stopped = two.ws(two.here, {"sync", "undo"});
  INFO(stopped.out << stopped.err);
  CHECK(stopped.exit == 7);
  CHECK_THAT(stopped.err, Contains("would remove 10 of 10 files on the service"));
  CHECK(bytes_of(two.here) == before);
  const Ended done = two.ws(two.here, {"sync", "undo", "--allow-deletes"});
  INFO(done.out << done.err);
  CHECK(done.exit == 0);
  CHECK_FALSE(fs::exists(two.here / "img/p0.png"));
}

TEST_CASE("guard: what stopped a run is said with --quiet and with --json", "[cli]") {
  const Album two(4);
  const bool of_notes = GENERATE(true, false);
  CAPTURE(of_notes);
  for (int i = 0; i < 30; ++i)
    fs::remove(two.here / (of_notes ? fmt::format("n{}.md", i) : fmt::format("img/p{}.png", i)));
  const std::vector<std::string> command =
      GENERATE(std::vector<std::string>{"sync"}, std::vector<std::string>{"sync", "run"});
  const auto with = [&](const std::string& flag) {
    std::vector<std::string> words = command;
    words.push_back(flag);
    return two.ws(two.here, words);
  };
  const Ended quiet = with("-q");
  CHECK(quiet.exit == 7);
  CHECK_THAT(quiet.err, Contains("nothing was changed") && Contains("--allow-deletes"));
  const Ended json = with("--json");
  CHECK(json.exit == 7);
  CHECK(parse(json.out).contains("guard"));
  CHECK(text_at(error_of(json), "code") == "too_many_deletes");
  CHECK(text_at(error_of(json), "exit") == "7");
}

TEST_CASE("guard: many copies of one file wait until somebody confirms them", "[cli]") {
  const Album two(2);
  const std::string large(std::size_t{2} << 20U, 'x');
  write_text(two.here / "img/large.png", large);
  std::string album = "# Album\n";
  for (int i = 0; i < 150; ++i) {
    fs::create_hard_link(two.here / "img/large.png", two.here / fmt::format("img/c{}.png", i));
    album += fmt::format("\n![p](img/c{}.png)\n", i);
  }
  fs::remove(two.here / "img/large.png");
  write_text(two.here / "album.md", album);
  REQUIRE(two.sync(two.here).exit == 0);

  const Ended waiting = two.ws(two.there, {"sync"});
  INFO(waiting.out << waiting.err);
  CHECK(waiting.exit == 7);
  CHECK_THAT(waiting.err, Contains("150 files of 315 MB are waiting") && Contains("--allow-large"));
  CHECK(read_text(two.there / "album.md") == album);
  CHECK_FALSE(fs::exists(two.there / "img/c0.png"));
  const Ended again = two.sync(two.there);
  CHECK(again.exit == 7);
  CHECK(text_at(error_of(again), "code") == "too_much_to_receive");
  const Json report = parse(again.out);
  CHECK(report["growth"]["files"] == 150);
  CHECK(std::ranges::count_if(report["skipped"], [](const Json& one) { return text_at(one, "reason") == "growth"; }) ==
        150);
  CHECK(two.ws(two.there, {"sync", "status", "--exit-code"}).exit == 13);
  CHECK(two.ws(two.there, {"sync", "--only", "img/c0.png"}).exit == 0);
  CHECK(read_text(two.there / "img/c0.png") == large);
  CHECK_FALSE(fs::exists(two.there / "img/c1.png"));
  CHECK(two.ws(two.there, {"sync", "--allow-large"}).exit == 0);
  CHECK(fs::exists(two.there / "img/c149.png"));
  CHECK(two.ws(two.there, {"sync", "status", "--exit-code"}).exit == 0);
}

TEST_CASE("guard: a watch tries a file that cannot be received again only after longer and longer pauses", "[cli]") {
  const Album two(2);
  write_text(two.here / "img/p0.png", png + "edited");
  REQUIRE(two.sync(two.here).exit == 0);
  control(two.server, "POST", "/faults", R"({"operation": "files.content", "effect": {"status": 404}})");
  const std::size_t before = two.requests("files.content");
  Running watch(two.person.command({"sync", "watch", "--interval", "1s", "--json"}, two.there));
  REQUIRE(watch.wait_for("\"failed\""));
  const std::size_t pulls = two.requests("sync.pull");
  for (int i = 0; i < 500 && two.requests("sync.pull") < pulls + 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  REQUIRE(two.requests("sync.pull") >= pulls + 3);
  CHECK(two.requests("files.content") <= before + 2);
  // Other bytes are tried at once.
  control(two.server, "DELETE", "/faults", "");
  write_text(two.here / "img/p0.png", png + "edited again");
  REQUIRE(two.sync(two.here).exit == 0);
  REQUIRE(watch.wait_for("pull_update"));
  for (int i = 0; i < 200 && read_text(two.there / "img/p0.png") != png + "edited again"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  CHECK(read_text(two.there / "img/p0.png") == png + "edited again");
  watch.signal(SIGTERM);
  watch.wait();
}

// What the stat cache lets an engine leave out: with it and without it every answer is the same.
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "api-client/base/sqlite.hpp"
#include "sync-engine/engine.hpp"
#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

using test::FakeRemote;
using test::lines;
using test::SyncedFolder;

using RowTexts = std::vector<std::string>;

constexpr int cached_files = 24;

std::string cached_name(int i) { return "d" + std::to_string(i % 4) + "/n" + std::to_string(i) + ".md"; }

void fill(SyncedFolder& folder) {
  for (int i = 0; i < cached_files; ++i) folder.write(cached_name(i), "text " + std::to_string(i) + "\n");
}

RowTexts offline_status(SyncedFolder& folder) { return lines(folder.status({.offline = true})); }

}  // namespace

TEST_CASE("cache: files that were edited in place are told without the rest of the base", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  fill(here);
  here.run();
  CHECK(offline_status(here).empty());
  // From here on whoever reads this row fails.
  auto database = sqlite::Database::open((here.path() / ".ws/state.db").string());
  REQUIRE(database);
  REQUIRE(database->execute("update base set path = '../' || path where path = '" + cached_name(3) + "'"));
  here.write(cached_name(5), "edited here\n");
  CHECK(offline_status(here) == RowTexts{"push_update " + cached_name(5)});
  CHECK(lines(here.status()) == RowTexts{"push_update " + cached_name(5)});
  here.write(cached_name(5), "text 5\n");
  CHECK(offline_status(here).empty());
  here.write("new.md", "new\n");
  const auto whole = here.engine().status({.offline = true});
  CHECK_FALSE(whole);
}

TEST_CASE("cache: it is of one state, one that was put back is compared anew", "[sync-engine]") {
  namespace fs = std::filesystem;
  FakeRemote remote;
  SyncedFolder here(remote);
  fill(here);
  here.run();
  const fs::path state = here.path() / ".ws/state.db";
  fs::copy_file(state, here.path() / ".ws/state.old");
  here.write(cached_name(5), "edited here\n");
  here.run();
  CHECK(offline_status(here).empty());
  fs::rename(here.path() / ".ws/state.old", state);
  CHECK(offline_status(here) == RowTexts{"push_update " + cached_name(5)});
}

TEST_CASE("cache: an edit of a file whose name is spelt otherwise than its document's is told", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  fill(here);
  here.write("caf\u00e9.md", "one\n");
  here.run();
  std::filesystem::rename(here.path() / "caf\u00e9.md", here.path() / "cafe\u0301.md");
  CHECK(offline_status(here).empty());
  here.write("cafe\u0301.md", "two\n");
  CHECK(offline_status(here).size() == 1);
  std::filesystem::remove(here.path() / ".ws/stat.cache");
  CHECK(offline_status(here).size() == 1);
}

TEST_CASE("cache: names that were exchanged are renames with it too", "[sync-engine]") {
  namespace fs = std::filesystem;
  FakeRemote remote;
  SyncedFolder here(remote);
  fill(here);
  here.run();
  fs::rename(here.path() / cached_name(1), here.path() / "aside");
  fs::rename(here.path() / cached_name(2), here.path() / cached_name(1));
  fs::rename(here.path() / "aside", here.path() / cached_name(2));
  const RowTexts cached = offline_status(here);
  CHECK(cached == RowTexts{"push_move " + cached_name(1), "push_move " + cached_name(2)});
  fs::remove(here.path() / ".ws/stat.cache");
  CHECK(offline_status(here) == cached);
}

TEST_CASE("cache: who only foresees leaves none behind", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  fill(here);
  here.run();
  std::filesystem::remove(here.path() / ".ws/stat.cache");
  here.write(cached_name(1), "edited\n");
  CHECK(lines(here.status({.dry_run = true})) == RowTexts{"push_update " + cached_name(1)});
  CHECK_FALSE(std::filesystem::exists(here.path() / ".ws/stat.cache"));
  here.status();
  CHECK(std::filesystem::exists(here.path() / ".ws/stat.cache"));
}

TEST_CASE("cache: a lost one hides nothing", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  fill(here);
  here.run();
  const auto without = [&] {
    std::filesystem::remove(here.path() / ".ws/stat.cache");
    return here.status({.offline = true});
  };
  CHECK(without().clean);
  here.write(cached_name(1), "TEXT 1\n");  // as long as it was
  CHECK(lines(without()) == RowTexts{"push_update " + cached_name(1)});
  here.write(cached_name(1), "text 1\n");
  CHECK(without().clean);
  std::filesystem::rename(here.path() / cached_name(2), here.path() / "moved.md");
  CHECK(lines(without()) == RowTexts{"push_move moved.md"});
  std::filesystem::rename(here.path() / "moved.md", here.path() / cached_name(2));
  here.write(".wsignore", cached_name(3) + "\n");
  CHECK(without().detached.size() == 1);
  here.remove(".wsignore");
  here.remove(cached_name(4));
  CHECK(lines(without()) == RowTexts{"push_delete " + cached_name(4)});
}

TEST_CASE("cache: after any edits the answer is the same without it", "[sync-engine]") {
  const unsigned seed = GENERATE(range(1U, 7U));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto any_of = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  FakeRemote remote;
  SyncedFolder here(remote);
  fill(here);
  here.run();
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round);
    for (int edits = any_of(4); edits > 0; --edits) {
      const int i = any_of(cached_files);
      // Often what it was before: an edit that is taken back is none.
      here.write(cached_name(i),
                 any_of(3) == 0 ? "text " + std::to_string(i) + "\n" : std::to_string(any_of(4)) + "\n");
    }
    if (any_of(8) == 0) here.remove(cached_name(any_of(cached_files)));
    if (any_of(8) == 0) here.write("new" + std::to_string(any_of(3)) + ".md", "new\n");
    if (any_of(4) == 0) remote.create("there" + std::to_string(round) + ".md", "there\n");
    const RowTexts cached = lines(here.status());
    const RowTexts cached_offline = offline_status(here);
    std::filesystem::remove(here.path() / ".ws/stat.cache");
    CHECK(lines(here.status()) == cached);
    CHECK(offline_status(here) == cached_offline);
    if (any_of(3) == 0) {
      CHECK(lines(here.run({.allow_deletes = true})) == cached);
      CHECK(here.run().clean);
    }
  }
}

TEST_CASE("links: whatever changed, the kept index says what a fresh one says", "[sync-engine][links]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  const std::filesystem::path index = here.path() / ".ws/links.cache";
  const std::filesystem::path aside = here.path() / ".ws/links.aside";
  const auto broken = [&] {
    RowTexts shown;
    const auto found = here.engine().broken_links("");
    REQUIRE(found);
    for (const BrokenLink& each : found->broken) {
      shown.push_back(each.path + ":" + std::to_string(each.line) + " " + each.target + " " + each.nearest);
    }
    return shown;
  };
  for (int i = 0; i < 140; ++i) here.write("many/" + std::to_string(i) + ".md", "# Many\n\n[a](../0.md#part)\n");
  std::mt19937 random(7);
  const RowTexts parts = {
      "# Part\n", "[a](1.md#part)\n", "[b](2.md)\n", "![c](img/c.png)\n", "[[3#other]]\n", "# Other\n", "words\n"};
  std::size_t steps_with_an_old_index = 0;
  for (int step = 0; step < 60; ++step) {
    const std::string path = random() % 8 == 0 ? "img/c.png" : std::to_string(random() % 4) + ".md";
    if (random() % 5 == 0) {
      if (here.read(path)) here.remove(path);
    } else {
      std::string text;
      for (int i = 0; i < 4; ++i) text += parts[random() % parts.size()] + "\n";
      here.write(path, text);
    }
    std::error_code none_yet;
    const auto before = std::filesystem::last_write_time(index, none_yet);
    const RowTexts kept = broken();
    steps_with_an_old_index += before == std::filesystem::last_write_time(index) ? 1 : 0;
    std::filesystem::rename(index, aside);
    CAPTURE(step, path);
    REQUIRE(kept == broken());
    std::filesystem::rename(aside, index);
  }
  CHECK(steps_with_an_old_index > 5);
}

}  // namespace ws::sync

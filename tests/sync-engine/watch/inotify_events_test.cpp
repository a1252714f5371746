// What the kernel tells of a real folder. Every wait ends with an event; the time given is only a deadline.
#include "sync-engine/watch/inotify_events.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <pthread.h>

#include "tests/support/temporary_folder.hpp"

namespace ws::sync {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

void put_file(const fs::path& file, const std::string& text = "x\n") {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

/// Everything told so far. A last file, `end.md`, shows where it ends: the kernel keeps the order.
std::set<std::string> told(InotifyEvents& events, const fs::path& root) {
  put_file(root / "end.md");
  std::set<std::string> paths;
  while (!paths.contains("end.md")) {
    const auto batch = events.wait(milliseconds(10'000));
    REQUIRE(batch);
    REQUIRE_FALSE(batch->changed.empty());
    for (const FileEvent& each : batch->changed) paths.insert(each.path + (each.is_other ? " (other)" : ""));
  }
  fs::remove(root / "end.md");
  const auto rest = events.wait(milliseconds(0));
  REQUIRE(rest);
  paths.erase("end.md");
  return paths;
}

using Paths = std::set<std::string>;

}  // namespace

TEST_CASE("inotify: edits, saves by rename and deletes are told by their path", "[sync-engine]") {
  const ws::test::TemporaryFolder root;
  put_file(root / "a.md");
  put_file(root / "deep/er/b.md");
  const auto events = InotifyEvents::open(root.path(), FileKinds(), nullptr);
  REQUIRE(events);
  CHECK((*events)->folder_count() == 3);
  put_file(root / "a.md", "more\n");
  CHECK(told(**events, root.path()) == Paths{"a.md"});
  put_file(root / "deep/er/.b.md.swp", "new\n");
  fs::rename(root / "deep/er/.b.md.swp", root / "deep/er/b.md");
  CHECK(told(**events, root.path()) == Paths{"deep/er/b.md"});
  fs::remove(root / "deep/er/b.md");
  CHECK(told(**events, root.path()) == Paths{"deep/er/b.md"});
}

TEST_CASE("inotify: a file that changed places with another one is no delete", "[sync-engine]") {
  const ws::test::TemporaryFolder root;
  put_file(root / "a.md");
  put_file(root / ".hidden/new", "new\n");
  const auto events = InotifyEvents::open(root.path(), FileKinds(), nullptr);
  REQUIRE(events);
  const auto last_kind = [&] {
    const auto batch = (*events)->wait(milliseconds(10'000));
    REQUIRE(batch);
    REQUIRE_FALSE(batch->changed.empty());
    CHECK(batch->changed.back().path == "a.md");
    return batch->changed.back().kind;
  };
  const std::string beside = root / ".hidden/new";
  REQUIRE(::renameat2(AT_FDCWD, beside.c_str(), AT_FDCWD, (root / "a.md").c_str(), RENAME_EXCHANGE) == 0);
  CHECK(last_kind() == FileEventKind::changed);
  fs::remove(root / "a.md");
  CHECK(last_kind() == FileEventKind::removed);
}

TEST_CASE("inotify: new folders are watched, renamed ones under their new name, removed ones no more",
          "[sync-engine]") {
  const ws::test::TemporaryFolder root;
  const auto events = InotifyEvents::open(root.path(), FileKinds(), nullptr);
  REQUIRE(events);
  fs::create_directories(root / "one/two");
  CHECK(told(**events, root.path()).contains("one"));
  put_file(root / "one/two/a.md");
  CHECK(told(**events, root.path()) == Paths{"one/two/a.md"});
  fs::rename(root / "one", root / "other");
  CHECK(told(**events, root.path()) == Paths{"one", "other"});
  put_file(root / "other/two/a.md", "again\n");
  CHECK(told(**events, root.path()) == Paths{"other/two/a.md"});
  fs::remove_all(root / "other");
  CHECK(told(**events, root.path()).contains("other"));
  CHECK((*events)->folder_count() == 1);
}

TEST_CASE("inotify: hidden names are not told, rules are, and what is no Markdown as other files", "[sync-engine]") {
  const ws::test::TemporaryFolder root;
  put_file(root / ".ws/state.db");
  put_file(root / ".git/HEAD");
  const auto events = InotifyEvents::open(root.path(), FileKinds(), nullptr);
  REQUIRE(events);
  put_file(root / ".ws/state.db", "changed");
  put_file(root / ".git/a.md");
  put_file(root / ".hidden.md");
  CHECK(told(**events, root.path()).empty());
  put_file(root / "picture.png");
  CHECK(told(**events, root.path()) == Paths{"picture.png (other)"});
  put_file(root / ".wsignore", "*.tmp.md\n");
  CHECK(told(**events, root.path()) == Paths{".wsignore"});
}

TEST_CASE("inotify: what the tree's config includes is told, in hidden folders too", "[sync-engine]") {
  const ws::test::TemporaryFolder root;
  put_file(root / ".github/notes.md");
  put_file(root / ".ws/state.txt");
  auto kinds = FileKinds::with({"*.txt", ".github/*.md"});
  const auto events = InotifyEvents::open(root.path(), std::move(kinds), nullptr);
  REQUIRE(events);
  put_file(root / "a.txt");
  put_file(root / "a.png");
  put_file(root / ".github/notes.md", "more\n");
  put_file(root / ".ws/state.txt", "more\n");
  CHECK(told(**events, root.path()) == Paths{"a.txt", "a.png (other)", ".github/notes.md"});
}

TEST_CASE("inotify: a picture that is renamed is no delete, a note that becomes a backup is one", "[sync-engine]") {
  const ws::test::TemporaryFolder root;
  put_file(root / "a.png");
  put_file(root / "a.md");
  const auto events = InotifyEvents::open(root.path(), FileKinds(), nullptr);
  REQUIRE(events);
  const auto last_kinds = [&](const char* from, const char* to) {
    fs::rename(root / from, root / to);
    std::map<std::string, FileEventKind> kinds;
    while (!kinds.contains(to)) {
      const auto batch = (*events)->wait(milliseconds(10'000));
      REQUIRE(batch);
      for (const FileEvent& each : batch->changed) kinds[each.path] = each.kind;
    }
    return std::pair(kinds.at(from), kinds.at(to));
  };
  CHECK(last_kinds("a.png", "b.png") == std::pair(FileEventKind::changed, FileEventKind::moved));
  CHECK(last_kinds("a.md", "a.md~") == std::pair(FileEventKind::removed, FileEventKind::replaced));
}

TEST_CASE("inotify: a link to a folder is not followed", "[sync-engine]") {
  const ws::test::TemporaryFolder root;
  const ws::test::TemporaryFolder outside;
  fs::create_directory_symlink(outside.path(), root / "link");
  const auto events = InotifyEvents::open(root.path(), FileKinds(), nullptr);
  REQUIRE(events);
  put_file(outside / "a.md");
  CHECK(told(**events, root.path()).empty());
  CHECK((*events)->folder_count() == 1);
}

TEST_CASE("inotify: more than the queue holds is said, and afterwards everything is watched again", "[sync-engine]") {
  const ws::test::TemporaryFolder root;
  put_file(root / "a.md");
  const auto events = InotifyEvents::open(root.path(), FileKinds(), nullptr);
  REQUIRE(events);
  std::size_t room = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> room;
  if (room == 0 || room > 100'000) return;  // another system's choice: it would take minutes
  // Two names in turn: the kernel joins equal events that follow each other.
  for (std::size_t i = 0; i <= room; i += 2) {
    fs::rename(root / "a.md", root / "b.md");
    fs::rename(root / "b.md", root / "a.md");
  }
  put_file(root / "late/c.md");  // its folder's event is lost
  const auto batch = (*events)->wait(milliseconds(10'000));
  REQUIRE(batch);
  CHECK(batch->overflowed);
  CHECK((*events)->folder_count() == 2);
  put_file(root / "late/c.md", "more\n");
  CHECK(told(**events, root.path()).contains("late/c.md"));
}

TEST_CASE("inotify: a signal ends the wait, and none begins once one came", "[sync-engine]") {
  const ws::test::TemporaryFolder root;
  static std::atomic<bool> cancelled{false};
  cancelled = false;
  const auto before = std::signal(SIGTERM, [](int) { cancelled = true; });
  const auto events = InotifyEvents::open(root.path(), FileKinds(), &cancelled);
  REQUIRE(events);
  const pthread_t waiting = ::pthread_self();
  std::thread sender([waiting] { ::pthread_kill(waiting, SIGTERM); });
  const auto begin = (*events)->now();
  while (!cancelled) CHECK((*events)->wait(milliseconds(60'000)));
  CHECK((*events)->wait(milliseconds(60'000)));
  CHECK((*events)->now() - begin < milliseconds(50'000));
  sender.join();
  std::signal(SIGTERM, before);
}

TEST_CASE("inotify: a folder that is not there cannot be watched", "[sync-engine]") {
  const ws::test::TemporaryFolder root;
  const auto events = InotifyEvents::open(root / "missing", FileKinds(), nullptr);
  REQUIRE_FALSE(events);
  CHECK(events.error().kind == Failure::Kind::disk);
}

}  // namespace ws::sync

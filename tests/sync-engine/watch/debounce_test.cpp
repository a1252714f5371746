#include "sync-engine/watch/debounce.hpp"

#include <string>

#include <catch2/catch.hpp>

namespace ws::sync {
namespace {

using std::chrono::milliseconds;
using Paths = std::set<std::string>;

constexpr DebounceTimes times{.quiet = milliseconds(500),
                              .least = milliseconds(50),
                              .patience = milliseconds(2'000),
                              .longest = milliseconds(60'000)};

Instant after(int ms) { return Instant(ms); }

}  // namespace

TEST_CASE("debounce: a file is due half a second after the last that happened to it", "[sync-engine]") {
  ChangeDebouncer changes(times);
  CHECK_FALSE(changes.due());
  changes.note("a.md", after(1'000));
  CHECK(changes.due() == after(1'500));
  changes.note("a.md", after(1'400));
  CHECK(changes.due() == after(1'900));
  CHECK(changes.take(after(1'899)) == Paths{"a.md"});
  CHECK(changes.take(after(1'900)).empty());
  CHECK_FALSE(changes.due());
}

TEST_CASE("debounce: a save by rename is one change, not a delete and a create", "[sync-engine]") {
  ChangeDebouncer changes(times);
  changes.note("a.md", after(0));    // moved to a.md~
  changes.note("a.md", after(120));  // another file takes the name
  changes.note("a.md", after(130));  // its mode is set
  CHECK(changes.take(after(500)) == Paths{"a.md"});
  CHECK(changes.due() == after(630));
}

TEST_CASE("debounce: a deleted file that is written anew within five seconds is an edit", "[sync-engine]") {
  ChangeDebouncer changes(times);
  changes.note("a.md", after(0), FileEventKind::removed);
  CHECK(changes.due() == after(5'000));
  CHECK(changes.take(after(4'999)) == Paths{"a.md"});
  changes.note("a.md", after(4'999));
  changes.note("a.md", after(5'000), FileEventKind::closed);
  CHECK(changes.due() == after(5'500));
  CHECK(changes.take(after(5'500)).empty());
}

TEST_CASE("debounce: the deletes of one burst are due together, a minute after the first at the latest",
          "[sync-engine]") {
  ChangeDebouncer changes(times);
  changes.note("a.md", after(0), FileEventKind::removed);
  changes.note("b.md", after(2'000), FileEventKind::removed);
  changes.note("c.md", after(4'000), FileEventKind::removed);
  CHECK(changes.due() == after(9'000));
  CHECK(changes.take(after(8'999)) == Paths{"a.md", "b.md", "c.md"});
  CHECK(changes.take(after(9'000)).empty());
  changes.note("d.md", after(10'000), FileEventKind::removed);
  for (int ms = 14'000; ms < 70'000; ms += 4'000)
    changes.note("e" + std::to_string(ms) + ".md", after(ms), FileEventKind::removed);
  CHECK(changes.due() == after(70'000));
  CHECK(changes.take(after(70'000)) == Paths{"e66000.md"});
  CHECK(changes.due() == after(71'000));
}

TEST_CASE("debounce: a file that its writer keeps open goes once it was left alone for ten seconds", "[sync-engine]") {
  ChangeDebouncer changes(times);
  changes.note("a.md", after(0), FileEventKind::written);
  CHECK(changes.due() == after(10'000));
  changes.note("a.md", after(8'000), FileEventKind::written);
  CHECK(changes.due() == after(18'000));
  changes.note("a.md", after(9'000), FileEventKind::closed);
  CHECK(changes.due() == after(9'500));
}

TEST_CASE("debounce: a file that another one was renamed over is whole, and goes at once", "[sync-engine]") {
  ChangeDebouncer changes(times);
  changes.note("a.md", after(0), FileEventKind::replaced);
  changes.note("a.md", after(10));  // its mode is set
  CHECK(changes.due() == after(60));
  changes.note("a.md", after(20), FileEventKind::written);
  CHECK(changes.due() == after(10'020));
}

TEST_CASE("debounce: how an editor saves in place shows how long to wait for it", "[sync-engine]") {
  ChangeDebouncer changes(times);
  const auto save = [&](int at, std::vector<int> closes) {
    for (const int close : closes) {
      changes.note("a.md", after(at + close), FileEventKind::written);
      changes.note("a.md", after(at + close), FileEventKind::closed);
    }
    const Instant due = changes.due().value();
    CHECK(changes.take(due).empty());
    return due - after(at + closes.back());
  };
  SECTION("in one step") {
    CHECK(save(0, {0}) == milliseconds(500));
    CHECK(save(5'000, {0}) == milliseconds(500));
    CHECK(save(10'000, {0}) == milliseconds(50));
  }
  SECTION("in steps 40 ms apart") {
    CHECK(save(0, {0, 40}) == milliseconds(500));
    CHECK(save(5'000, {0, 40}) == milliseconds(500));
    CHECK(save(10'000, {0, 40}) == milliseconds(160));
    // A program that pauses for longer is met with the longest wait from then on.
    CHECK(save(15'000, {0, 150}) == milliseconds(500));
  }
  SECTION("what was taken for whole too early is not taken so again") {
    for (int i = 0; i < 3; ++i) save(i * 5'000, {0});
    save(20'000, {0});
    CHECK(save(20'090, {0}) == milliseconds(360));
    CHECK(save(30'000, {0}) == milliseconds(340));
  }
}

TEST_CASE("debounce: files that change together go together", "[sync-engine]") {
  ChangeDebouncer changes(times);
  for (int i = 0; i < 10; ++i) changes.note("f" + std::to_string(i) + ".md", after(i * 100));
  CHECK(changes.due() == after(1'400));
  CHECK(changes.take(after(1'400)).empty());
}

TEST_CASE("debounce: one that is written on and on is left out, and holds the others up for two seconds at most",
          "[sync-engine]") {
  ChangeDebouncer changes(times);
  changes.note("a.md", after(0));
  changes.note("log.md", after(0));
  for (int now = 100; now <= 2'500; now += 100) changes.note("log.md", after(now));
  CHECK(changes.due() == after(2'500));  // a.md was ready at 500
  CHECK(changes.take(after(2'500)) == Paths{"log.md"});
  CHECK(changes.due() == after(3'000));
}

TEST_CASE("debounce: one that never is quiet goes as it is after a minute, and from then on every minute",
          "[sync-engine]") {
  ChangeDebouncer changes(times);
  for (int now = 0; now < 60'000; now += 250) changes.note("log.md", after(now));
  CHECK(changes.due() == after(60'000));
  CHECK(changes.take(after(60'000)).empty());
  changes.note("log.md", after(60'250));
  for (int now = 60'250; now < 61'000; now += 250) changes.note("log.md", after(now));
  CHECK(changes.due() == after(61'250));
  CHECK(changes.take(after(61'000)) == Paths{"log.md"});
}

TEST_CASE("debounce: what nobody can name is never a path to leave out", "[sync-engine]") {
  ChangeDebouncer changes(times);
  changes.note("", after(0));
  CHECK(changes.take(after(100)).empty());
  CHECK(changes.due() == after(500));
}

TEST_CASE("debounce: a folder that changes covers all below it, and nothing beside it", "[sync-engine]") {
  const Paths changing = {"deep/in", "log.md"};
  CHECK(is_changing(changing, "log.md"));
  CHECK(is_changing(changing, "deep/in"));
  CHECK(is_changing(changing, "deep/in/a/b.md"));
  CHECK_FALSE(is_changing(changing, "deep/inner.md"));
  CHECK_FALSE(is_changing(changing, "deep/a.md"));
  CHECK_FALSE(is_changing(changing, "catalog.md"));
  CHECK_FALSE(is_changing({}, "log.md"));
}

}  // namespace ws::sync

// What goes from the history and what stays; and that it is whole whenever it is stopped.
#include "sync-engine/state/history_gc.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include <catch2/catch.hpp>

#include "sync-engine/engine.hpp"
#include "sync-engine/state/history.hpp"
#include "tests/support/run_command.hpp"
#include "tests/sync-engine/support/paths.hpp"
#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using test::path;

constexpr Time today = Time(std::chrono::milliseconds(1'795'000'000'000));
Time days_ago(int days) { return today - hours(24) * days; }
const auto never_stop = [] { return Result<void>(); };

class MovedClock final : public Clock {
 public:
  Time now() const override { return time; }
  Time time = today;
};

/// A history that is written a day at a time.
struct Written {
  ws::test::TemporaryFolder folder;
  fs::path git = folder / "history.git";
  MovedClock clock;
  std::map<std::string, git::ObjectId> kept = {};  ///< by text

  git::ObjectId note(int ago, const std::string& file, const std::string& text) {
    clock.time = days_ago(ago);
    History history(git, clock);
    const auto blob = history.keep(text);
    REQUIRE(blob);
    REQUIRE(history.record_after({{.path = file, .blob = *blob}}, "Pushed to the service"));
    kept[text] = *blob;
    return *blob;
  }
  git::ObjectId aside(int ago, const std::string& branch, const std::string& text) {
    clock.time = days_ago(ago);
    History history(git, clock);
    const auto blob = history.keep(text);
    REQUIRE(blob);
    REQUIRE(history.record_aside({{branch, {{.path = "local.md", .blob = *blob}}}}, "The texts of a conflict"));
    kept[text] = *blob;
    return *blob;
  }
  GcReport gc(int days, const GcNeeds& needs = {.references = {"refs/heads/main"}}) const {
    const auto report = collect_history(git, needs, {.keep_from = days_ago(days)}, never_stop);
    if (!report) FAIL(report.error().what);
    return *report;
  }
  bool holds(const std::string& text) const {
    History history(git, clock);
    const auto found = history.text(kept.at(text));
    return found && *found == text;
  }
};

/// Everything that plain git has against a repository; empty: nothing.
std::string complaints(const fs::path& repository) {
  const auto checked =
      ws::test::run_command({.arguments = {"git", "-C", repository.string(), "fsck", "--full", "--strict"}});
  return checked.exit == 0 && checked.err.find("error") == std::string::npos ? "" : checked.out + checked.err;
}

std::size_t states_in(const fs::path& repository) {
  auto log = HistoryLog::open(repository);
  REQUIRE(log);
  const auto states = log->states({});
  if (!states) FAIL(states.error().what);
  return states->size();
}

}  // namespace

TEST_CASE("history gc: states before the time go, the one in force when it began stays", "[sync-engine]") {
  Written written;
  written.note(300, "a.md", "first\n");
  written.note(200, "a.md", "second\n");
  written.note(10, "a.md", "third\n");
  const GcReport report = written.gc(90);
  CHECK(report.states_dropped == 1);
  CHECK(report.states_kept == 2);
  CHECK(report.texts_dropped == 1);
  CHECK_FALSE(written.holds("first\n"));
  CHECK(written.holds("second\n"));  // it was replaced ten days ago
  CHECK(written.holds("third\n"));
  CHECK(states_in(written.git) == 2);
  CHECK(complaints(written.git).empty());
  CHECK(written.gc(90) ==
        GcReport{.states_kept = 2, .bytes_before = report.bytes_after, .bytes_after = report.bytes_after});
  // A state that lost its parents earlier has lost them for good.
  written.aside(300, "conflicts/closed", "closed\n");
  CHECK(written.gc(90).states_dropped == 1);
  CHECK(complaints(written.git).empty());
}

TEST_CASE("history gc: the last state stays, however old, a day later the next goes", "[sync-engine]") {
  Written written;
  written.note(300, "a.md", "first\n");
  written.note(200, "b.md", "second\n");
  written.gc(90);
  CHECK(states_in(written.git) == 1);
  CHECK(written.holds("first\n"));  // it is in the last state's tree
  written.note(100, "a.md", "third\n");
  written.note(80, "a.md", "fourth\n");
  CHECK(written.gc(90).states_dropped == 1);
  CHECK_FALSE(written.holds("first\n"));
  CHECK(written.holds("second\n"));
  CHECK(written.holds("third\n"));
  CHECK(complaints(written.git).empty());
}

TEST_CASE("history gc: what the tree still needs stays: texts, open conflicts, a person's own branch",
          "[sync-engine]") {
  Written written;
  const auto old = written.note(300, "a.md", "needed\n");
  written.note(250, "a.md", "mine\n");
  REQUIRE(
      ws::test::run_command({.arguments = {"git", "-C", written.git.string(), "branch", "draft", "refs/heads/main"}})
          .exit == 0);
  written.aside(300, "conflicts/open", "open\n");
  written.aside(300, "conflicts/closed", "closed\n");
  written.aside(10, "conflicts/young", "young\n");
  written.aside(300, "rescued", "rescued\n");
  written.note(200, "a.md", "second\n");
  written.gc(90, {.texts = {old}, .references = {"refs/heads/main", "refs/heads/conflicts/open"}});
  CHECK(written.holds("needed\n"));
  CHECK(written.holds("mine\n"));
  CHECK(written.holds("open\n"));
  CHECK(written.holds("young\n"));
  CHECK(written.holds("second\n"));
  CHECK_FALSE(written.holds("closed\n"));
  CHECK_FALSE(written.holds("rescued\n"));
  CHECK(complaints(written.git).empty());
}

TEST_CASE("history gc: a text that no state holds stays while its file is young", "[sync-engine]") {
  Written written;
  written.note(300, "a.md", "first\n");
  for (const char* text : {"stray\n", "old stray\n"}) {
    History history(written.git, written.clock);
    const auto blob = history.keep(text);
    REQUIRE(blob);
    REQUIRE(history.flush());
    written.kept[text] = *blob;
  }
  const std::string hex = written.kept["old stray\n"].hex();
  const fs::path loose = written.git / "objects" / hex.substr(0, 2) / hex.substr(2);
  REQUIRE(fs::exists(loose));
  const std::string young = written.kept["stray\n"].hex();
  fs::last_write_time(written.git / "objects" / young.substr(0, 2) / young.substr(2),
                      fs::file_time_type::clock::now() - hours(24) * 30);
  // Young and old are by the clock of the files here.
  const Time now = SystemClock().now();
  fs::last_write_time(loose, fs::file_time_type::clock::now() - hours(24) * 91);
  const GcNeeds needs{.references = {"refs/heads/main"}};
  const auto gc = [&](Time from) {
    const auto report = collect_history(written.git, needs, {.keep_from = from}, never_stop);
    REQUIRE(report);
    return *report;
  };
  CHECK(gc(now - hours(24) * 90).texts_dropped == 1);
  CHECK(written.holds("stray\n"));
  CHECK_FALSE(written.holds("old stray\n"));
  // The pack that it lies in now is no younger than it was.
  CHECK(gc(now - hours(24) * 90).bytes_before == gc(now - hours(24) * 90).bytes_after);
  CHECK(gc(now - hours(24) * 20).texts_dropped == 1);
  CHECK_FALSE(written.holds("stray\n"));
}

TEST_CASE("history gc: a clock that was set back loses nothing young", "[sync-engine]") {
  Written written;
  written.note(10, "a.md", "young\n");
  written.note(300, "a.md", "by a wrong clock\n");
  written.note(299, "a.md", "last\n");
  CHECK(written.gc(90).states_dropped == 0);
  CHECK(written.holds("young\n"));
}

TEST_CASE("history gc: stopped at any step the history is whole, and the next call does the rest", "[sync-engine]") {
  Written written;
  for (int i = 0; i < 12; ++i) written.note(300 - i * 10, "f" + std::to_string(i % 4) + ".md", std::to_string(i));
  for (int i = 0; i < 3; ++i) written.aside(300 - i, "conflicts/c" + std::to_string(i), "c" + std::to_string(i));
  written.note(10, "f0.md", "young\n");
  const auto whole = [&](const fs::path& repository) {
    Written copy;
    fs::copy(repository, copy.git, fs::copy_options::recursive);
    copy.kept = written.kept;
    CHECK(complaints(copy.git).empty());
    CHECK(states_in(copy.git) >= 2);
    for (const char* text : {"young\n", "8", "9", "10", "11"}) CHECK(copy.holds(text));
    copy.gc(90);
    CHECK(states_in(copy.git) == 2);
    // What the first call had let go, and its end came before the files went, is no state's any more: it goes by age.
    const Time later = SystemClock().now() + hours(1);
    REQUIRE(collect_history(copy.git, {.references = {"refs/heads/main"}}, {.keep_from = later}, never_stop));
    CHECK(complaints(copy.git).empty());
    CHECK_FALSE(copy.holds("0"));
    CHECK_FALSE(copy.holds("c0"));
  };
  const GcNeeds needs{.references = {"refs/heads/main"}};
  int steps = 0;
  for (bool ended = false; !ended; ++steps) {
    ws::test::TemporaryFolder folder;
    fs::copy(written.git, folder / "history.git", fs::copy_options::recursive);
    int left = steps;
    const auto report =
        collect_history(folder / "history.git", needs, {.keep_from = days_ago(90)}, [&]() -> Result<void> {
          if (left-- == 0) return fail(Failure::Kind::cancelled, "stopped");
          return {};
        });
    ended = report.has_value();
    // Each single file that goes is a step: of those every eighth is looked at.
    if (steps < 5 || steps % 8 == 0 || ended) whole(folder / "history.git");
  }
  CHECK(steps > 20);
}

TEST_CASE("history gc: a pack that was never named, and git's own helpers, do no harm", "[sync-engine]") {
  Written written;
  written.note(300, "a.md", "first\n");
  written.note(200, "a.md", "second\n");
  written.note(100, "a.md", "third\n");
  const auto git = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"git", "-C", written.git.string()});
    return ws::test::run_command({.arguments = std::move(arguments)}).exit;
  };
  REQUIRE(git({"repack", "-adq", "--write-midx"}) == 0);
  REQUIRE(git({"commit-graph", "write", "--reachable"}) == 0);
  fs::create_directories(written.git / "objects/ws-new-pack");
  std::ofstream(written.git / "objects/ws-new-pack/pack-0.pack") << "half";
  written.aside(300, "rescued", "rescued\n");
  std::ofstream(written.git / "refs/heads/rescued.lock") << "";
  CHECK(written.gc(90).states_dropped == 3);
  CHECK_FALSE(written.holds("rescued\n"));
  CHECK(complaints(written.git).empty());
  CHECK(git({"log", "-p", "--all"}) == 0);
  CHECK_FALSE(fs::exists(written.git / "objects/ws-new-pack"));
}

TEST_CASE("sync gc: afterwards log and restore work, a run finds nothing to do, and a dry run changes nothing",
          "[sync-engine]") {
  test::FakeRemote remote;
  test::SyncedFolder here(remote);
  const fs::path git = here.path() / ".ws/history.git";
  CHECK(*here.engine().gc({.keep_from = today}) == GcReport{});
  for (int i = 0; i < 60; ++i) here.write("deep/f" + std::to_string(i) + ".md", "text " + std::to_string(i) + "\n");
  here.run();
  for (const char* text : {"one\n", "two\n", "three\n"}) {
    here.write("a.md", text);
    here.run();
  }
  here.remove("deep/f0.md");
  here.run();
  // All is of one moment, just before.
  const GcOptions options{.keep_from = today + hours(1)};
  const auto plan = here.engine().gc({.keep_from = options.keep_from, .dry_run = true});
  REQUIRE(plan);
  CHECK(here.engine().log()->size() == 5);
  const auto done = here.engine().gc(options);
  if (!done) FAIL(done.error().what);
  CHECK(done->states_dropped == 4);
  CHECK(done->texts_dropped == 3);  // "one", "two" and the deleted file's
  CHECK(plan->states_dropped == done->states_dropped);
  CHECK(plan->texts_dropped == done->texts_dropped);
  CHECK(done->bytes_after < done->bytes_before);
  CHECK(complaints(git).empty());
  CHECK(here.engine().log()->size() == 1);
  CHECK(here.run().rows.empty());
  here.write("a.md", "spoiled\n");
  const auto restored = here.engine().restore(path("a.md"));
  if (!restored) FAIL(restored.error().what);
  CHECK(here.read("a.md") == "three\n");
  CHECK(here.run().clean);
  CHECK(complaints(git).empty());
}

}  // namespace ws::sync

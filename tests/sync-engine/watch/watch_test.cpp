// The loop of the watch, in a folder and a time of its own: nothing here waits.
#include "sync-engine/watch/watch.hpp"

#include <algorithm>
#include <deque>
#include <map>

#include <catch2/catch.hpp>

#include "tests/sync-engine/support/paths.hpp"

namespace ws::sync {
namespace {

using std::chrono::milliseconds;
using test::path;

/// News at their times; waiting moves the clock to the next of them.
class ScriptedFolder final : public FolderEvents {
 public:
  void at(int ms, EventBatch batch) { script_.emplace_back(ms, std::move(batch)); }
  void changes(int ms, const std::string& file) { at(ms, {.changed = {{.path = file}}}); }
  void happens(int ms, const std::string& file, FileEventKind kind) {
    at(ms, {.changed = {{.path = file, .kind = kind}}});
  }

  Result<EventBatch> wait(milliseconds at_most) override {
    const Instant end = now_ + at_most;
    if (script_.empty() || script_.front().first > end) {
      now_ = end;
      return EventBatch{};
    }
    now_ = std::max(now_, script_.front().first);
    EventBatch batch = std::move(script_.front().second);
    script_.pop_front();
    return batch;
  }
  Instant now() const override { return now_; }
  bool sees_all() const override { return sees_all_; }
  void lose_sight() { sees_all_ = false; }
  void advance(int ms) { now_ += milliseconds(ms); }

 private:
  Instant now_{0};
  bool sees_all_ = true;
  std::deque<std::pair<Instant, EventBatch>> script_ = {};
};

/// Programs that ask for the status, at their times; and the tree's state.
class ScriptedRequests final : public StatusRequests {
 public:
  explicit ScriptedRequests(const ScriptedFolder& folder) : folder_(folder) {}
  void ask_at(int ms) { asked_.push_back(milliseconds(ms)); }
  void change_state_at(int ms) { changes_at_ = milliseconds(ms); }

  bool is_asked() override {
    const bool any = !asked_.empty() && asked_.front() <= folder_.now();
    if (any) asked_.pop_front();
    return any;
  }
  void answer(std::string_view text) override {
    answers.push_back(std::to_string(folder_.now().count()) + " " + std::string(text));
  }
  std::optional<CleanStatus> make_status() override {
    if (!is_clean) return std::nullopt;
    return CleanStatus{.text = "status " + std::to_string(++made), .state = state_stamp()};
  }
  std::string state_stamp() override { return folder_.now() < changes_at_ ? "before" : "after"; }

  std::vector<std::string> answers;
  int made = 0;
  bool is_clean = true;

 private:
  const ScriptedFolder& folder_;
  std::deque<Instant> asked_ = {};
  Instant changes_at_ = Instant::max();
};

Report report_with(std::vector<Row> rows) { return {.rows = std::move(rows)}; }
Row watched_row(ActionKind kind, const char* file, Row::State state) {
  return {.action = {.kind = kind, .path = path(file)}, .state = state};
}

/// What was done when, a line each: "500 run", "500 run without log.md", "0 news".
struct WatchedWorld {
  ScriptedFolder folder;
  WatchOptions options{.interval = milliseconds(30'000)};
  std::vector<std::string> said;
  std::vector<int> runs;
  std::vector<RunOptions> given;
  std::function<Result<Report>(std::size_t run)> answer = [](std::size_t) { return Report{}; };
  int end_at = 0;
  Failure ended;
  ScriptedRequests status_requests{folder};
  void ask_at(std::initializer_list<int> times) {
    for (const int ms : times) {
      folder.at(ms, {});  // a connection ends the wait
      status_requests.ask_at(ms);
    }
  }

  void watch_until(int ms) {
    end_at = ms;
    const auto say = [this](const std::string& what) {
      said.push_back(std::to_string(folder.now().count()) + " " + what);
    };
    const auto ended_by = watch(folder,
                                options,
                                {.run =
                                     [&](const RunOptions& run) {
                                       runs.push_back(static_cast<int>(folder.now().count()));
                                       given.push_back(run);
                                       return answer(runs.size() - 1);
                                     },
                                 .on_report = [&](const Report&) { say("news"); },
                                 .on_error = [&](const Failure& failure) { say("trouble: " + failure.what); },
                                 .on_recovery = [&] { say("recovered"); },
                                 .on_first_sync = [&] { say("in step"); },
                                 .on_partial_watch = [&] { say("unwatched"); },
                                 .must_stop = [&] { return folder.now() >= milliseconds(end_at); },
                                 .status_requests = &status_requests});
    REQUIRE_FALSE(ended_by);
    ended = ended_by.error();
  }
};

Failure offline() { return {.kind = Failure::Kind::unreachable, .what = "no network"}; }

}  // namespace

TEST_CASE("watch: runs at once, every interval, and says nothing while nothing happens", "[sync-engine]") {
  WatchedWorld stage;
  stage.watch_until(95'000);
  CHECK(stage.runs == std::vector<int>{0, 30'000, 60'000, 90'000});
  CHECK(stage.said == std::vector<std::string>{"0 in step"});
  CHECK(stage.ended.kind == Failure::Kind::cancelled);
}

TEST_CASE("watch: an edit runs once it is quiet, and the service is looked at often while somebody edits",
          "[sync-engine]") {
  WatchedWorld stage;
  stage.folder.changes(10'000, "a.md");
  stage.folder.changes(10'200, "a.md");
  stage.answer = [](std::size_t run) {
    return report_with(run == 1 ? std::vector{watched_row(ActionKind::push_update, "a.md", Row::State::done)}
                                : std::vector<Row>{});
  };
  stage.watch_until(14'000);
  CHECK(stage.runs == std::vector<int>{0, 10'700, 11'200, 11'700, 12'200, 12'700, 13'200, 13'700});
  CHECK(stage.said == std::vector<std::string>{"0 in step", "10700 news"});
  CHECK_FALSE(stage.given[1].only);
}

TEST_CASE("watch: an hour after the last change costs no more requests than an idle one, but for its first minutes",
          "[sync-engine]") {
  WatchedWorld stage;
  stage.answer = [](std::size_t run) {
    return report_with(run == 0 ? std::vector{watched_row(ActionKind::pull_update, "a.md", Row::State::done)}
                                : std::vector<Row>{});
  };
  stage.watch_until(3'720'000);
  const auto runs_until = [&](int ms) {
    return std::count_if(stage.runs.begin(), stage.runs.end(), [ms](int at) { return at <= ms; });
  };
  CHECK(runs_until(10'000) == 21);
  CHECK(runs_until(60'000) == 71);
  CHECK(runs_until(120'000) <= 82);
  CHECK(stage.runs.size() - static_cast<std::size_t>(runs_until(120'000)) <= 130);
}

TEST_CASE("watch: runs that take long leave the machine alone for ten times as long", "[sync-engine]") {
  WatchedWorld stage;
  stage.answer = [&](std::size_t run) {
    stage.folder.advance(400);
    return report_with(run == 0 ? std::vector{watched_row(ActionKind::pull_update, "a.md", Row::State::done)}
                                : std::vector<Row>{});
  };
  stage.watch_until(10'000);
  CHECK(stage.runs == std::vector<int>{0, 4'400, 8'800});
}

TEST_CASE("watch: a file under way is left out of the run, and comes in a later one", "[sync-engine]") {
  WatchedWorld stage;
  stage.folder.changes(1'000, "a.md");
  for (int ms = 1'000; ms <= 5'000; ms += 200) stage.folder.changes(ms, "deep/log.md");
  stage.watch_until(10'000);
  CHECK(stage.runs == std::vector<int>{0, 3'500, 5'500});
  REQUIRE(stage.given[1].only);
  CHECK(stage.given[1].only(path("a.md")));
  CHECK_FALSE(stage.given[1].only(path("deep/log.md")));
  CHECK_FALSE(stage.given[2].only);
}

TEST_CASE("watch: a delete waits five seconds, and an edit beside it does not", "[sync-engine]") {
  WatchedWorld stage;
  stage.folder.happens(1'000, "gone.md", FileEventKind::removed);
  stage.folder.changes(1'100, "a.md");
  stage.watch_until(10'000);
  CHECK(stage.runs == std::vector<int>{0, 1'600, 6'000});
  REQUIRE(stage.given[1].only);
  CHECK_FALSE(stage.given[1].only(path("gone.md")));
  CHECK(stage.given[1].only(path("a.md")));
  CHECK_FALSE(stage.given[2].only);
}

TEST_CASE("watch: what is removed between the events and the walk waits as well", "[sync-engine]") {
  WatchedWorld stage;
  stage.folder.changes(1'000, "a.md");
  std::vector<bool> removed;
  stage.answer = [&](std::size_t run) -> Result<Report> {
    if (run == 1) stage.folder.happens(1'500, "gone.md", FileEventKind::removed);  // while it waits for the lock
    for (int walk = 0; walk < 2; ++walk) removed.push_back(stage.given[run].was_any_removed());
    return removed[2 * run] ? Result<Report>(fail({.kind = Failure::Kind::pending, .code = "removed_meanwhile"}))
                            : Report{};
  };
  stage.watch_until(10'000);
  CHECK(stage.runs == std::vector<int>{0, 1'500, 1'550, 6'500});
  CHECK(removed == std::vector<bool>{false, false, true, false, false, false, false, false});
  CHECK_FALSE(stage.given[2].only(path("gone.md")));
  CHECK_FALSE(stage.given[3].only);
}

TEST_CASE("watch: files that go on being removed delay a run no longer than twenty looks", "[sync-engine]") {
  WatchedWorld stage;
  for (int ms = 0; ms < 20'000; ms += 10) stage.folder.happens(ms, "x.md", FileEventKind::removed);
  std::vector<int> done;
  stage.answer = [&](std::size_t run) -> Result<Report> {
    stage.folder.advance(10);
    if (stage.given[run].was_any_removed()) return fail({.kind = Failure::Kind::pending, .code = "removed_meanwhile"});
    done.push_back(stage.runs.back());
    return Report{};
  };
  stage.watch_until(5'000);
  REQUIRE_FALSE(done.empty());
  CHECK(done.front() <= 2'000);
  CHECK(stage.said == std::vector<std::string>{std::to_string(done.front() + 10) + " in step"});
}

TEST_CASE("watch: a file that notes may show waits as a note does, and begins no run", "[sync-engine]") {
  WatchedWorld stage;
  stage.folder.at(1'000, {.changed = {{.path = "gone.png", .kind = FileEventKind::removed, .is_other = true}}});
  stage.folder.changes(1'100, "a.md");
  stage.watch_until(40'000);
  CHECK(stage.runs == std::vector<int>{0, 1'600, 31'600});
  REQUIRE(stage.given[1].only);
  CHECK_FALSE(stage.given[1].only(path("gone.png")));
  CHECK(stage.given[1].busy(path("gone.png")));
  CHECK_FALSE(stage.given[2].only);
}

TEST_CASE("watch: a file is left out while its writer has it open", "[sync-engine]") {
  WatchedWorld stage;
  stage.folder.happens(1'000, "open.md", FileEventKind::written);
  stage.folder.happens(1'000, "a.md", FileEventKind::closed);
  stage.folder.happens(5'000, "open.md", FileEventKind::closed);
  stage.watch_until(10'000);
  CHECK(stage.runs == std::vector<int>{0, 3'500, 5'500});
  CHECK_FALSE(stage.given[1].only(path("open.md")));
  CHECK_FALSE(stage.given[2].only);
}

TEST_CASE("watch: lost events run over everything", "[sync-engine]") {
  WatchedWorld stage;
  stage.folder.at(2'000, {.overflowed = true});
  stage.folder.at(2'000, {.incomplete = true});
  stage.watch_until(10'000);
  CHECK(stage.runs == std::vector<int>{0, 2'500});
  CHECK_FALSE(stage.given[1].only);
  CHECK(stage.said == std::vector<std::string>{"0 in step", "2000 unwatched"});
}

TEST_CASE("watch: a lost network is told once, tried ever more seldom, and its end is told", "[sync-engine]") {
  WatchedWorld stage;
  stage.folder.changes(9'000, "a.md");  // an edit does not bring the network back
  stage.answer = [](std::size_t run) -> Result<Report> {
    if (run == 0 || run > 8) return Report{};
    return fail(offline());
  };
  stage.options.interval = milliseconds(5'000);
  stage.watch_until(200'000);
  const std::vector<int> begin(stage.runs.begin(), stage.runs.begin() + 10);
  CHECK(begin == std::vector<int>{0, 5'000, 6'000, 8'000, 12'000, 20'000, 36'000, 68'000, 128'000, 188'000});
  CHECK(stage.said == std::vector<std::string>{"0 in step", "5000 trouble: no network", "188000 recovered"});
}

TEST_CASE("watch: the service's own wait is kept", "[sync-engine]") {
  WatchedWorld stage;
  stage.answer = [](std::size_t run) -> Result<Report> {
    Failure busy{.kind = Failure::Kind::rate_limited, .what = "slow down"};
    busy.call.retry_after = milliseconds(90'000);
    if (run == 0) return fail(busy);
    return Report{};
  };
  stage.watch_until(100'000);
  CHECK(stage.runs == std::vector<int>{0, 90'000});
}

TEST_CASE("watch: after a sleep of hours one run is due, not hundreds", "[sync-engine]") {
  WatchedWorld stage;
  stage.answer = [&](std::size_t run) {
    if (run == 1) stage.folder.advance(3'600'000);
    return Report{};
  };
  stage.watch_until(3'700'000);
  CHECK(stage.runs == std::vector<int>{0, 30'000, 3'660'000, 3'690'000});
}

TEST_CASE("watch: a run that ended early is news and trouble", "[sync-engine]") {
  WatchedWorld stage;
  stage.answer = [](std::size_t run) {
    Report report;
    if (run == 0) {
      report = report_with({watched_row(ActionKind::pull_create, "a.md", Row::State::done)});
      report.ended_by = offline();
    }
    return report;
  };
  stage.watch_until(20'000);
  CHECK(stage.said == std::vector<std::string>{"0 news", "0 trouble: no network", "1000 recovered", "1000 in step"});
}

TEST_CASE("watch: what is open, failed or stopped is told when it begins, changes and ends", "[sync-engine]") {
  WatchedWorld stage;
  stage.answer = [](std::size_t run) {
    Report report = report_with({watched_row(ActionKind::conflict, "a.md", Row::State::done)});
    report.conflicts.push_back({.path = path("a.md"), .id = "1"});
    if (run == 2) report.rows.push_back(watched_row(ActionKind::push_update, "b.md", Row::State::failed));
    return run == 4 ? Report{} : report;
  };
  stage.watch_until(160'000);
  CHECK(stage.said ==
        std::vector<std::string>{"0 news", "0 in step", "60000 news", "90000 news", "120000 news", "150000 news"});
}

TEST_CASE("watch: no key, no permission, no tree end it, another ws is waited for without a word", "[sync-engine]") {
  WatchedWorld stage;
  SECTION("no key") {
    stage.answer = [](std::size_t) -> Result<Report> { return fail(Failure::Kind::auth, "revoked"); };
    stage.watch_until(100'000);
    CHECK(stage.ended.kind == Failure::Kind::auth);
    CHECK(stage.runs.size() == 1);
  }
  SECTION("no tree") {
    stage.answer = [](std::size_t) -> Result<Report> {
      return fail({.kind = Failure::Kind::disk, .what = "gone", .code = "marker_missing"});
    };
    stage.watch_until(100'000);
    CHECK(stage.ended.code == "marker_missing");
  }
  SECTION("another ws") {
    stage.answer = [](std::size_t run) -> Result<Report> {
      if (run < 3) return fail({.kind = Failure::Kind::disk, .what = "locked", .code = "tree_locked"});
      return Report{};
    };
    stage.watch_until(20'000);
    CHECK(stage.said == std::vector<std::string>{"7000 in step"});
  }
  CHECK(stage.folder.now() < milliseconds(110'000));
}

TEST_CASE("watch: who asks for the status is told it from the second time on", "[sync-engine]") {
  WatchedWorld stage;
  stage.ask_at({1'000, 2'000, 3'000});
  stage.watch_until(5'000);
  CHECK(stage.status_requests.answers == std::vector<std::string>{"1000 ", "2000 status 1", "3000 status 1"});
  CHECK(stage.status_requests.made == 1);
}

TEST_CASE("watch: nobody asks, and no status is made", "[sync-engine]") {
  WatchedWorld stage;
  stage.watch_until(95'000);
  CHECK(stage.status_requests.made == 0);
}

TEST_CASE("watch: after any event in the tree the status is not known, and not made before the run", "[sync-engine]") {
  WatchedWorld stage;
  stage.ask_at({1'000});
  SECTION("a synced file") { stage.folder.changes(2'000, "a.md"); }
  SECTION("another file") { stage.folder.at(2'000, {.any = true}); }
  SECTION("lost events") { stage.folder.at(2'000, {.overflowed = true}); }
  stage.ask_at({2'001, 4'000, 5'000});
  stage.watch_until(6'000);
  CHECK(stage.status_requests.answers == std::vector<std::string>{"1000 ", "2001 ", "4000 status 2", "5000 status 2"});
}

TEST_CASE("watch: an event that came before the question, and was not read yet, counts", "[sync-engine]") {
  WatchedWorld stage;
  stage.ask_at({1'000, 2'000});
  stage.folder.at(2'000, {.any = true});
  stage.watch_until(2'001);
  CHECK(stage.status_requests.answers == std::vector<std::string>{"1000 ", "2000 "});
}

TEST_CASE("watch: a state that another program changed is not described", "[sync-engine]") {
  WatchedWorld stage;
  stage.ask_at({1'000, 2'000, 4'000, 5'000});
  stage.status_requests.change_state_at(3'000);
  stage.watch_until(6'000);
  CHECK(stage.status_requests.answers == std::vector<std::string>{"1000 ", "2000 status 1", "4000 ", "5000 status 2"});
}

TEST_CASE("watch: where not every change is seen, or there is something to do, no status is told", "[sync-engine]") {
  WatchedWorld stage;
  stage.ask_at({1'000, 2'000});
  SECTION("not all is seen") { stage.folder.lose_sight(); }
  SECTION("not clean") { stage.status_requests.is_clean = false; }
  stage.watch_until(6'000);
  CHECK(stage.status_requests.answers == std::vector<std::string>{"1000 ", "2000 "});
  CHECK(stage.status_requests.made == 0);
}

}  // namespace ws::sync

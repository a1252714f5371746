// I18: two engines on one folder at once. One is halted at some step; the other must then report that the tree is
// locked, and must not see partial results, whether the halted one dies or continues.
#include <cstdint>
#include <string>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/property/invariants.hpp"
#include "tests/property/kill_at_step.hpp"
#include "tests/property/user_actions.hpp"
#include "tests/support/random_cases.hpp"

namespace ws::property {
namespace {

using ws::test::number_from_environment;

const Order everything{.options = {.allow_deletes = true}};

/// Whether the lock is held, according to the kernel.
bool is_held(const std::filesystem::path& lock) {
  const int file = ::open(lock.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  const bool held = ::flock(file, LOCK_EX | LOCK_NB) != 0;
  ::close(file);
  return held;
}

/// A folder and a service that were up to date and then changed independently.
class Shared {
 public:
  explicit Shared(std::uint64_t seed) : random_(SeededRandom(seed).next()), place_(service_, seed) {
    for (int i = 0; i < 4; ++i) change(StepKind::create);
    static_cast<void>(place_.carry_out(everything));
    for (int i = 0; i < 6; ++i) change(static_cast<StepKind>(random_.below(12)));
  }

  /// Empty: the invariant holds.
  std::string two_runs() {
    owed_ = texts_of(look(place_, service_));
    const std::uint64_t step = 1 + random_.below(220);
    const Then then = random_.below(2) == 0 ? Then::dies : Then::goes_on;
    std::string wrong;
    run_and_halt(
        step,
        [this](const http::Request& request) { return service_.answer(request); },
        [this](Ask ask) {
          place_.network().replace(std::move(ask));
          static_cast<void>(place_.carry_out(everything));
        },
        [&] {
          wrong = second();
          return then;
        });
    if (!wrong.empty()) return fmt::format("step {}: {}", step, wrong);
    wrong = afterwards();
    return wrong.empty() ? wrong : fmt::format("step {}, {}: {}", step, then == Then::dies ? "dead" : "alive", wrong);
  }

  static unsigned locked_out;    ///< how often the second engine found the lock held
  static unsigned came_or_went;  ///< how often the first engine was halted without holding the lock

 private:
  void change(StepKind kind) {
    const std::uint64_t bytes = random_.next();
    const Step step{.kind = kind,
                    .what = static_cast<std::uint8_t>(bytes >> 8U),
                    .where = static_cast<std::uint8_t>(bytes >> 16U),
                    .how = static_cast<std::uint8_t>(bytes >> 24U)};
    if (bytes % 2 == 0) {
      act_in_folder(place_, step, words_);
    } else {
      act_on_service(service_, step, words_);
    }
  }

  /// Runs the second engine while the first is halted.
  std::string second() {
    const bool held = is_held(place_.own("lock"));
    const Files before = place_.files();
    const Documents there = service_.documents();
    // While the first does not hold the lock, the second has the state to itself. SQLite then waits for seconds, so
    // test this only once.
    if (!held && ++came_or_went > 1) return {};
    const Result<sync::Report> report = place_.carry_out(everything);
    ++locked_out;
    if (report) return "two were at work at once";
    if (report.error().code != "tree_locked") return "another code: " + report.error().code + report.error().what;
    if (!report.error().call.retryable) return "it is not said that it may be tried again";
    return before == place_.files() && there == service_.documents() ? "" : "who was locked out changed something";
  }

  /// Runs after the first engine has died or completed.
  std::string afterwards() {
    for (int run = 0; run < 3; ++run) {
      const Observation before = look(place_, service_);
      const Result<sync::Report> report = place_.carry_out(everything);
      if (!report) return "the next run fails: " + report.error().what;
      if (report->ended_by) return "the next run ends: " + report->ended_by->what;
      const Observation after = look(place_, service_);
      for (std::string wrong :
           {nothing_is_lost(owed_, after, place_, service_), base_is_true(after, place_, service_)}) {
        if (!wrong.empty()) return wrong;
      }
      if (!nothing_is_written(before, after).empty()) continue;
      return report->clean && report->skipped.empty() ? sides_agree(after, place_) : "";
    }
    return "I4: it does not come to rest";
  }

  SeededRandom random_;
  Service service_;
  BoundFolder place_;
  Words words_;
  std::set<std::string> owed_;
};

unsigned Shared::locked_out = 0;
unsigned Shared::came_or_went = 0;

}  // namespace

TEST_CASE("engines: two on one folder at once, one works and the other is told", "[sync-model]") {
  const std::uint64_t first = number_from_environment("WS_SEED", 20261121);
  const std::uint64_t cases = number_from_environment("WS_CASES", 2000) * 4 / 100 + 1;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const std::string wrong = Shared(seed).two_runs();
    if (!wrong.empty()) FAIL("WS_SEED=" << seed << " WS_CASES=1: " << wrong);
  }
  // Otherwise the invariant was hardly tested.
  if (cases > 50) CHECK(Shared::locked_out * 2 > cases);
}

}  // namespace ws::property

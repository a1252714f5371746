// Two users each make one compound change to the same two documents and then sync in turn, for every pair of changes
// and in either order. `WS_CASES` is the number of cases (CI: a sample; 0: all), `WS_SEED` selects another sample,
// `WS_FIRST` starts at a case of the full list, and `WS_CASE="name of the one / name of the other / 0"` runs one.
#include "tests/property/compound_changes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "api-client/base/random.hpp"
#include "tests/property/bound_folder.hpp"
#include "tests/property/invariants.hpp"
#include "tests/property/service.hpp"
#include "tests/support/random_cases.hpp"

namespace ws::property {
namespace {

using Tree = std::map<std::string, std::string>;

/// The result of two changes.
struct Outcome {
  std::string wrong = {};
  std::set<std::string> conflicts = {};  ///< by kind, before any is resolved
  Tree tree = {};                        ///< if there was nothing to resolve
  std::string log = {};
};

class TwoPeople {
 public:
  TwoPeople() : places_{BoundFolder(service_, 1), BoundFolder(service_, 2)} {
    for (const auto& [path, text] : compound_start()) {
      const CompoundChange none;
      std::filesystem::create_directories((places_[0].root() / path).parent_path());
      write(places_[0].root() / path, text);
    }
    for (BoundFolder& place : places_) static_cast<void>(run(place));
  }

  Outcome play(const CompoundChange& mine, const CompoundChange& theirs, std::size_t who_first, sync::Keep keep) {
    carry_out(mine, places_[0].root(), "mine");
    carry_out(theirs, places_[1].root(), "theirs");
    for (const BoundFolder& place : places_) {
      for (const auto& [path, text] : place.tree()) owed_.insert(text);
    }
    first_ = who_first;
    Outcome outcome;
    outcome.wrong = rest(outcome);
    outcome.log = log_;
    if (!outcome.wrong.empty()) return outcome;
    if (outcome.conflicts.empty()) {
      outcome.tree = service_.tree();
    } else {
      outcome.wrong = decide(keep);
    }
    outcome.log = log_;
    return outcome;
  }

 private:
  static void write(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  Result<sync::Report> run(BoundFolder& place) {
    Order order;
    order.options.allow_deletes = true;
    return place.carry_out(order);
  }

  void tell(const BoundFolder& place, const Result<sync::Report>& report) {
    log_ += &place == &places_[0] ? "  mine:" : "  theirs:";
    if (!report) {
      log_ += " " + report.error().what + "\n";
      return;
    }
    for (const std::string& row : rows_of(*report)) log_ += " [" + row + "]";
    for (const sync::Row& row : report->rows) {
      if (row.error) log_ += " failed: " + row.error->what;
    }
    for (const sync::Conflict& conflict : report->conflicts)
      log_ += " X " + std::string(name(conflict.kind())) + " " + conflict.path.string();
    for (const sync::Skipped& each : report->skipped)
      log_ += " skipped " + each.path + " " + std::string(name(each.reason));
    for (const sync::Detached& each : report->detached) log_ += " detached " + each.path.string() + " " + each.reason;
    log_ += report->clean ? "\n" : " not clean\n";
  }

  /// Syncs in turn until no run does anything; then both sides must be equal, or their difference must be reported.
  std::string rest(Outcome& outcome) {
    for (unsigned round = 0; round < 4; ++round) {
      bool quiet = true;
      std::set<std::string> open;
      for (const std::size_t who : {first_, 1 - first_}) {
        BoundFolder& place = places_[who];
        const Result<sync::Report> report = run(place);
        tell(place, report);
        if (!report) return "a run fails: " + report.error().what;
        if (report->ended_by) return "a run ends early: " + report->ended_by->what;
        for (const sync::Row& row : report->rows) quiet = quiet && row.action.kind == sync::ActionKind::conflict;
        for (const sync::Conflict& conflict : report->conflicts) open.insert(std::string(name(conflict.kind())));
        if (!report->clean && report->conflicts.empty() && round == 3) return "not clean, and nothing to decide";
      }
      outcome.conflicts.insert(open.begin(), open.end());
      if (!quiet) continue;
      return check_rest();
    }
    return "it does not come to rest";
  }

  std::string check_rest() {
    for (const std::string& text : owed_) {
      const bool there =
          std::ranges::any_of(service_.tree(), [&](const auto& each) { return each.second == text; }) ||
          std::ranges::any_of(places_, [&](const BoundFolder& place) {
            return std::ranges::any_of(place.tree(), [&](const auto& each) { return each.second == text; }) ||
                   place.remembers(text);
          });
      if (!there) return "a text is lost: " + text;
    }
    for (const std::size_t who : {first_, 1 - first_}) {
      const Result<sync::Report> report = run(places_[who]);
      if (!report) return "a run fails: " + report.error().what;
      if (!report->conflicts.empty() || !report->skipped.empty() || !report->detached.empty()) continue;
      if (!report->clean || !report->rows.empty()) return "a run has something to do after all were at rest";
      const std::string apart = sides_agree(look(places_[who], service_), places_[who]);
      if (!apart.empty()) return (who == 0 ? "mine: " : "theirs: ") + apart;
    }
    return {};
  }

  /// Resolves every open conflict in the same way; then none may be open, and both sides must be equal. A resolution on
  /// one side can collide with something on the other (one user's link where the other publishes a note): that conflict
  /// is resolved too, and must not cause another.
  std::string decide(sync::Keep keep) {
    for (unsigned round = 0; round < 4; ++round) {
      bool any = false;
      for (const std::size_t who : {first_, 1 - first_}) {
        BoundFolder& place = places_[who];
        static_cast<void>(run(place));
        std::vector<sync::Conflict> open;
        static_cast<void>(place.with_engine({}, [&](sync::SyncEngine& engine) { open = engine.conflicts().value(); }));
        for (const sync::Conflict& conflict : open) {
          auto resolved = place.resolve(conflict, keep);
          // Another document has the path: the refusal names the other ways to resolve the conflict.
          if (!resolved && resolved.error().hint.find("or keep both") != std::string::npos)
            resolved = place.resolve(conflict, sync::Keep::both);
          // A file that is not synced and occupies the path is moved by its owner.
          any = any || resolved || resolved.error().hint.find("move it elsewhere") == std::string::npos;
          log_ += fmt::format("  {} decides {} {}: {}\n",
                              who == 0 ? "mine" : "theirs",
                              name(conflict.kind()),
                              conflict.path.string(),
                              resolved ? "done" : resolved.error().what + "; " + resolved.error().hint);
        }
      }
      if (any) continue;
      if (log_.find("move it elsewhere") != std::string::npos) return {};
      Outcome after;
      const std::string wrong = rest(after);
      if (!wrong.empty()) return "after the decision: " + wrong;
      if (after.conflicts.empty()) return wrong;
    }
    return "what was decided is open again";
  }

  Service service_;
  std::array<BoundFolder, 2> places_;
  std::set<std::string> owed_;
  std::string log_;
  std::size_t first_ = 0;
};

struct Case {
  const CompoundChange* mine = nullptr;
  const CompoundChange* theirs = nullptr;
  std::size_t first = 0;
};

std::string name_of(const Case& each) {
  return each.mine->name + " / " + each.theirs->name + " / " + std::to_string(each.first);
}

Outcome play_case(const Case& each, sync::Keep keep) {
  try {
    TwoPeople meeting;
    return meeting.play(*each.mine, *each.theirs, each.first, keep);
  } catch (const std::exception& error) {
    return {.wrong = std::string("exception: ") + error.what()};
  }
}

bool has_own(const CompoundChange& change) {
  return std::ranges::any_of(change.acts, [](const Act& act) { return act.own; });
}

/// The errors of the case, and its log.
Outcome judge(const Case& each) {
  const sync::Keep keep = (each.mine->name.size() + each.theirs->name.size() + each.first) % 2 == 0
                              ? sync::Keep::local
                              : sync::Keep::remote;
  Outcome outcome = play_case(each, keep);
  if (!outcome.wrong.empty() || outcome.conflicts.empty()) return outcome;
  const bool one_sided = each.mine->acts.empty() || each.theirs->acts.empty();
  const bool alike = each.mine == each.theirs && !has_own(*each.mine);
  if (one_sided) outcome.wrong = "I5: one side's change is a conflict";
  if (alike) outcome.wrong = "I6: the same change is a conflict";
  return outcome;
}

/// I7. If one side deletes, the default depends on the order of the syncs: such orders are not compared.
std::string compare(const Outcome& one, const Outcome& other) {
  for (const std::string_view deletes : {"push_delete", "pull_delete", "edit_delete"}) {
    if (one.log.find(deletes) != std::string::npos || other.log.find(deletes) != std::string::npos) return "";
  }
  if (one.conflicts.empty() != other.conflicts.empty()) return "I7: a conflict in one order alone";
  return one.tree == other.tree ? "" : "I7: the orders end in different trees";
}

std::uint64_t sample_size(std::uint64_t in_ci) { return ws::test::number_from_environment("WS_CASES", in_ci); }

/// Runs pairs of `changes` by their number.
void play_pairs(const std::vector<CompoundChange>& changes, std::uint64_t in_ci) {
  const std::uint64_t whole = changes.size() * changes.size();
  const char* const wanted = std::getenv("WS_CASE");
  std::uint64_t cases = sample_size(in_ci);
  const bool is_slice = std::getenv("WS_FIRST") != nullptr;
  const std::uint64_t first = ws::test::number_from_environment("WS_FIRST", 0);
  if (cases == 0 || cases > whole || wanted != nullptr) cases = whole;
  if (is_slice) cases = std::min(cases, whole - std::min(first, whole));
  SeededRandom random(ws::test::number_from_environment("WS_SEED", 20261121));
  unsigned failed = 0;
  for (std::uint64_t i = 0; i < cases; ++i) {
    const bool in_order = is_slice || cases == whole;
    const std::uint64_t number = in_order ? first + i : random.next() % whole;
    const Case one{&changes[number / changes.size()], &changes[number % changes.size()], 0};
    const Case other{one.mine, one.theirs, 1};
    if (wanted != nullptr && !name_of(one).starts_with(wanted)) continue;
    const Outcome mine_first = judge(one);
    const Outcome theirs_first = judge(other);
    const std::string differ =
        mine_first.wrong.empty() && theirs_first.wrong.empty() ? compare(mine_first, theirs_first) : "";
    if (wanted != nullptr)
      WARN(name_of(one) << "\n"
                        << mine_first.wrong << "\n"
                        << mine_first.log << "\n"
                        << theirs_first.wrong << "\n"
                        << theirs_first.log);
    const bool held = mine_first.wrong.empty() && theirs_first.wrong.empty() && differ.empty();
    if (held) continue;
    ++failed;
    const bool in_one = !mine_first.wrong.empty() || !differ.empty();
    FAIL_CHECK("WS_CASE=\"" << name_of(in_one ? one : other)
                            << "\": " << (in_one ? mine_first.wrong : theirs_first.wrong) << differ << "\n"
                            << (in_one ? mine_first.log : theirs_first.log)
                            << (differ.empty() ? "" : "other order\n" + theirs_first.log));
    if (failed >= ws::test::number_from_environment("WS_FAILURES", 5)) return;
  }
}

const CompoundChange& change_named(const std::vector<CompoundChange>& changes, const std::string& name) {
  const auto found = std::ranges::find(changes, name, &CompoundChange::name);
  if (found == changes.end()) throw std::runtime_error("no change is called " + name);
  return *found;
}

}  // namespace

TEST_CASE("compound: names that cross, or lie beneath a file here, can be decided one after the other", "[compound]") {
  const std::vector<CompoundChange> changes = compound_pairs();
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a.md: to n.md | d/b.md: to m.md, edited alike", "a.md: to m.md, edited alike | d/b.md: to n.md, saved"},
      {"a.md: to m.md, a new file there | d/b.md: to b.md, edited alike",
       "a.md: a folder, edited | d/b.md: to m.md, saved"},
  };
  for (const auto& [mine, theirs] : cases) {
    for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
      for (const sync::Keep keep : {sync::Keep::local, sync::Keep::remote}) {
        const Outcome outcome = play_case({&change_named(changes, mine), &change_named(changes, theirs), first}, keep);
        CAPTURE(outcome.log);
        CHECK(outcome.wrong.empty());
        CHECK(outcome.conflicts == std::set<std::string>{"path"});
        CHECK(outcome.log.find("Not a directory") == std::string::npos);
      }
    }
  }
}

TEST_CASE("compound: two people, one compound change each, end in agreement or in a conflict that can be decided",
          "[compound]") {
  play_pairs(compound_changes(), 30);
}

TEST_CASE("compound: two people, a change of each of two documents", "[compound]") { play_pairs(compound_pairs(), 30); }

}  // namespace ws::property

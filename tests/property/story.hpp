/// A random story: users change folders and the service, engines sync, and after each command every invariant is
/// checked. The same script with the same options repeats exactly.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/property/bound_folder.hpp"
#include "tests/property/coverage.hpp"
#include "tests/property/invariants.hpp"
#include "tests/property/script.hpp"
#include "tests/property/service.hpp"
#include "tests/property/user_actions.hpp"

namespace ws::property {

struct Stage {
  std::size_t places = 2;
  unsigned mishaps_one_in = 0;  ///< fault rate of the exchanges of a command; 0: a reliable network
  bool races = false;           ///< users keep changing documents while an engine talks to the service
  /// `twice`: each command runs twice, none is killed, and no invariant is checked: used as the reference.
  enum class Kill { never, twice, at_random } kill = Kill::never;
  bool strangers = false;       ///< links and hidden files are in the folders
  bool ignores_filter = false;  ///< the service answers every pull with all documents
  bool keeps_trace = false;     ///< every request and every report is recorded
  bool large_notes = false;     ///< notes grow beyond the limit of a folder and of the service
  bool refusals = false;        ///< the service refuses to accept or return some documents of a command
  bool vault = false;           ///< pictures, links, settings, and the commands that change files or take runs back
  bool meets = false;           ///< of a vault: each pair of changes is brought about on purpose
};

class Story {
 public:
  /// `coverage`: counts what the story meets; null: nothing does.
  Story(const Stage& stage, std::uint64_t seed, Coverage* coverage = nullptr);

  /// Runs the story until no run does anything any more. Empty: every invariant holds.
  std::string play(const Script& script);
  /// A log of the story, line by line.
  const std::string& log() const { return log_; }
  /// Every request and every report, for comparison with another run of the same story.
  const std::string& trace() const { return trace_; }
  /// With `twice`: every tree, the conflicts of each folder and the service's ledger, after each command and at the
  /// end.
  const std::vector<std::string>& states() const { return states_; }
  /// The pairs of changes that it brought about on purpose.
  const std::set<Cell>& met() const { return met_; }

 private:
  struct Meeting {
    Cell pair = {};
    std::string agreed = {};  ///< its path before both changes
    std::string here = {};    ///< and where it is by now
    std::string there = {};
    Step step = {};
  };

  Order order_of(const Step& step) const;
  std::string run_between(BoundFolder& place);
  std::string agree(BoundFolder& place, const Step& step);
  void arrange(std::size_t actor, const Step& step);
  std::string meet(std::size_t actor, const Step& last);
  std::string fall_apart(std::size_t actor);
  std::string come_around(std::size_t actor, const Step& around, bool is_before);
  void change_here(BoundFolder& place, Meeting& meeting, Happening what);
  std::string run_order(BoundFolder& place, const Order& order, const Step& step);
  std::string check_preview(BoundFolder& place, const Order& order, const Observation& before, sync::Report& foreseen);
  std::string cache_is_only_quicker(BoundFolder& place);
  std::string check_after(BoundFolder& place,
                          const Order& order,
                          const Observation& before,
                          const Observation& after,
                          const Result<sync::Report>& report);
  std::string second_run_does_nothing(BoundFolder& place, const Order& order, const Observation& before);
  std::string refuse_some(BoundFolder& place,
                          const Order& order,
                          const Step& step,
                          const Observation& before,
                          const sync::Report& foreseen);
  /// A command of a vault: what it may not lose, and who is who afterwards.
  std::string run_command(BoundFolder& place, const Step& step);
  std::string take_all_back(BoundFolder& place);
  std::string check_command(BoundFolder& place, const Observation& before, const Observation& after);
  std::string who_is_who(
      BoundFolder& place, const Observation& before, const Observation& after, const sync::Report* report, bool alone);
  void note_holders(BoundFolder& place,
                    const Observation& before,
                    const Observation& after,
                    const sync::links::Renames& moved);
  void follow_all();
  void count_command(BoundFolder& place, Feature what);
  void end_command(BoundFolder& place, std::optional<Feature> what);
  void run_killed(BoundFolder& place, const Order& order, const Step& step);
  void run_with_concurrent_edit(BoundFolder& place, const Step& step);
  std::string settle();
  std::string run_once(BoundFolder& place, bool& quiet);
  std::string run_until_quiet(BoundFolder& place, bool& quiet);
  void tell_unrest();
  void note_state();
  void record_trace(BoundFolder& place, const Result<sync::Report>& report);
  void tell(const std::string& line) { log_ += line + "\n"; }

  Stage stage_;
  Service service_;
  std::vector<std::unique_ptr<BoundFolder>> places_;
  Words words_;
  /// By folder: the inode that holds a document since the last command, and the documents that were out of its sight.
  std::map<const BoundFolder*, std::map<sync::DocumentId, std::uint64_t>> holders_;
  std::map<const BoundFolder*, std::set<sync::DocumentId>> out_of_sight_;
  Coverage* coverage_ = nullptr;
  std::map<const BoundFolder*, Follower> followers_;
  std::map<const BoundFolder*, std::string> rules_;  ///< `.wsignore` as it was at the last command
  std::set<std::string> owed_;                       ///< texts that the current command must not lose
  std::string log_;
  std::string trace_;
  std::vector<std::string> states_;
  std::set<Cell> met_;
  std::vector<Meeting> meetings_;      ///< arranged, to be brought about together
  std::vector<std::string> last_met_;  ///< paths here of those that met last
  bool raced_ = false;
  bool one_by_one_ = false;  ///< at the end, each folder syncs until nothing changes before the next one starts
};

}  // namespace ws::property

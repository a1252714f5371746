/// What random stories met. A cell: what happened to an entry of a folder, what happened to it next before a command of
/// the folder came, in which trees, whether it is a note or a picture, and what the command had to do with. The number
/// of stories alone would tell nothing about that.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/property/invariants.hpp"

namespace ws::property {

/// `recoded`: the same name in the other Unicode form.
enum class Happening : std::uint8_t {
  created,
  edited,
  renamed,
  renamed_and_edited,
  recased,
  recoded,
  removed,
  became_folder
};

/// What a command was, or what its folder had: it counts in the cell of each that applies.
enum class Feature : std::uint8_t {
  run,
  pull,
  push,
  commit,
  restore,
  mv,
  links_fix,
  undo,
  redo,
  undo_all,  ///< until nothing is left
  resolve,   ///< of a conflict that was open: after the changes, between them, or before them since the last run
  watch,     ///< a run that holds deletes back
  viewer,    ///< a run with a key that may only read
  leave,     ///< or `take`, likewise
  links_keep,
  rule_set,
  rule_removed,
  pictures_off,
  pictures_all,
};

/// The trees of the first and of the next happening.
enum class Trees : std::uint8_t { here_here, here_there, there_here, there_there };

struct Cell {
  Happening first = Happening::created;
  Happening next = Happening::created;
  bool is_picture = false;
  Feature feature = Feature::run;
  Trees trees = Trees::here_here;
  auto operator<=>(const Cell&) const = default;
};

bool names_picture(const std::string& path);

/// Why a cell cannot be reached; empty: it can.
std::string_view cannot_be(const Cell& cell);
/// All cells of the plain run that can be reached: what the stories bring about on purpose.
const std::vector<Cell>& pairs();
/// "note: edited here, then removed there".
std::string render(const Cell& cell);

class Coverage {
 public:
  /// The current story meets the cell: it counts once, however often it does.
  void count(const Cell& cell) { story_.insert(cell); }
  void end_story() {
    for (const Cell& cell : story_) ++cells_[cell];
    story_.clear();
  }
  /// A row for each pair of happenings, in one tree and across both, and a column for each feature; in it the smaller
  /// count of both orders. Then the cells below the bar, 100 in 100,000 `stories`, and those that cannot be.
  std::string table(std::uint64_t first_seed, std::uint64_t stories) const;

 private:
  std::uint64_t count_of(const Cell& cell) const;

  std::map<Cell, std::uint64_t> cells_;
  std::set<Cell> story_;
};

/// Follows the entries of one folder between its commands. Entries are known by their path when both sides last agreed.
class Follower {
 public:
  /// After something was done by others than the folder's own command.
  void look(const Observation& now);
  /// The folder's own command is about to come. One that takes back, decides, or leaves out what the last one did has
  /// to do with what that met too.
  void command(const std::set<Feature>& features, Coverage& coverage);
  /// And has ended: what is there now is the start of what follows.
  void start(const Observation& now);
  /// And has ended, but sends and receives nothing: what happened before it still waits for the next one.
  void go_on(const Observation& now, Feature command);

 private:
  struct Event {
    Happening what = Happening::created;
    bool is_here = true;
  };
  struct Place {
    std::string path = {};  ///< in its tree
    std::string text = {};  ///< or another mark of its bytes
    bool operator==(const Place&) const = default;
  };
  using Side = std::map<std::string, Place>;  ///< by what tells an entry of this side apart: inode, document, row
  void compare(const Side& before, const Side& now, bool is_here);
  static Side here(const Observation& observation);
  static Side there(const Observation& observation);

  Side here_;
  Side there_;
  std::map<std::string, std::string> names_;  ///< the agreed path, by inode, document or row
  using Events = std::map<std::string, std::vector<Event>>;
  static void count(const Events& events, const std::set<Feature>& features, Coverage& coverage);
  Events events_;
  Events last_;              ///< those that the last command met
  std::set<Feature> since_;  ///< commands that sent and received nothing, since the last one that did
};

}  // namespace ws::property

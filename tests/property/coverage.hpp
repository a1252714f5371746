/// What random stories met. A cell: what happened to an entry of a folder, what happened to it next before a command of
/// the folder came, in which trees, whether it is a note or a picture, and what the command had to do with. The number
/// of stories alone would tell nothing about that.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/property/invariants.hpp"

namespace ws::property {

enum class Happening : std::uint8_t { created, edited, renamed, renamed_and_edited, recased, removed, became_folder };

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
  resolve,
  watch,  ///< a run that holds deletes back
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

class Coverage {
 public:
  void count(const Cell& cell) { ++cells_[cell]; }
  void add(const Coverage& other);
  /// A row for each feature, kind and order of the trees; in it the least of the counts of its pairs of happenings that
  /// can be, and which pair that is. Then the pairs with fewer than `bar`.
  std::string table(std::uint64_t bar) const;

 private:
  std::map<Cell, std::uint64_t> cells_;
};

/// Follows the entries of one folder between its commands. Entries are known by their path when both sides last agreed.
class Follower {
 public:
  /// After something was done by others than the folder's own command.
  void look(const Observation& now);
  /// The folder's own command is about to come.
  void command(const std::set<Feature>& features, Coverage& coverage);
  /// And has ended: what is there now is the start of what follows.
  void start(const Observation& now);

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
  std::map<std::string, std::vector<Event>> events_;
};

}  // namespace ws::property

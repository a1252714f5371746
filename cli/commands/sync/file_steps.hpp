/// Files that are named by words, and what was done with them, for the commands that change many files here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/shared/session.hpp"
#include "cli/commands/sync/tree.hpp"
#include "sync-engine/run/bring_back.hpp"

namespace ws::cli {

/// One of the words: a file, a folder with all that is in it, or a pattern.
struct Wanted {
  std::string word = {};
  std::string path = {};
  bool is_pattern = false;
  bool takes(std::string_view file) const;
};

/// Those that the command was given. Fails with `usage` where one is not in the tree.
Result<std::vector<Wanted>> wanted_files(Session& session, const SyncTree& tree);
/// Empty where there are none.
sync::WantedPath as_filter(const std::vector<Wanted>& wanted);

/// "12 files brought back, 3 replaced".
std::string shown_counts(const std::vector<sync::FileStep>& steps);
/// The first ten, or all.
void list_steps(Session& session, const std::vector<sync::FileStep>& steps, bool all, bool is_planned);

/// The lines that tell which files were left. More than three files with one reason share a line.
struct LeftLines {
  struct Line {
    std::string files = {};  ///< "a.md", or "a.md and 4 more"
    std::string why = {};
  };
  std::vector<Line> lines = {};
  std::size_t unshown = 0;  ///< reasons or files beyond the first twenty
};
LeftLines lines_of_left(const std::vector<sync::LeftAlone>& left);

/// What is said where there is nothing to do, and after it was done.
struct StepWords {
  std::string nothing;
  std::string next = "`ws sync undo` undoes it; the next `ws sync` sends what differs from the service";
};
/// The steps and what was left, as rows or JSON.
ExitCode tell_steps(Session& session, const sync::BroughtBack& found, bool is_planned, const StepWords& words);

}  // namespace ws::cli

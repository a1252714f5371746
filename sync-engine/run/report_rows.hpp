/// The rows of a report: made from a plan, and changed by what is decided of its conflicts.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sync-engine/model/options.hpp"
#include "sync-engine/model/report.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// The plan as a report. Its actions are moved out of it: there may be many.
Result<Report> report_of(Session& session, Survey& survey);
void sort_by_path(std::vector<Row>& rows);
/// Planned, or failed.
bool is_unfinished(const Row& row);

/// Turns the rows of decided conflicts into the actions that follow.
class SettledRows {
 public:
  explicit SettledRows(std::vector<Row>& rows);
  /// `planned`: in a preview, which no other plan follows.
  void settle(const Conflict& conflict, Keep keep, Row::State state);
  bool has(const Conflict& conflict) const;
  /// Removes the rows of path conflicts: the plan of the next round carries those out.
  void drop_rows();

 private:
  using Key = std::pair<RelativePath, DocumentId>;

  std::vector<Row>& rows_;
  std::map<Key, std::size_t> places_;  ///< of the rows that are conflicts
  std::set<Key> settled_;
  std::set<std::size_t> dropped_;
};

/// For a dry run: the rows as `on_conflict` would decide them.
void preview_decisions(Report& report, const RunOptions& options);

}  // namespace ws::sync

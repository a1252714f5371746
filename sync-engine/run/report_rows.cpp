#include "sync-engine/run/report_rows.hpp"

#include <algorithm>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>

#include "sync-engine/conflicts/decide.hpp"
#include "sync-engine/model/plan.hpp"

namespace ws::sync {
namespace {

using Folders = std::pair<std::string, std::string>;

/// The highest folders whose names differ: "a/b/x.md" and "a/c/x.md" come to "a/b" and "a/c". Empty where the file got
/// another name itself, or lay, or lies, in no folder.
Folders folders_of(std::string_view from, std::string_view to) {
  if (last_part(from) != last_part(to)) return {};
  from = parent_folder(from);
  to = parent_folder(to);
  while (!parent_folder(from).empty() && !parent_folder(to).empty() && last_part(from) == last_part(to)) {
    from = parent_folder(from);
    to = parent_folder(to);
  }
  return from.empty() || to.empty() ? Folders() : Folders(from, to);
}

/// Folders with at least two documents of which every one moves alike, on the same side.
std::vector<RenamedFolder> renamed_folders(const std::vector<Action>& actions, const BaseTree& base) {
  std::map<std::pair<ActionKind, Folders>, std::size_t> moved;
  for (const Action& action : actions) {
    const bool is_move = action.kind == ActionKind::push_move || action.kind == ActionKind::pull_move;
    if (!is_move || !action.previous_path) continue;
    Folders folders = folders_of(action.previous_path->text(), action.path.text());
    if (!folders.first.empty()) ++moved[{action.kind, std::move(folders)}];
  }
  std::vector<RenamedFolder> whole;
  for (const auto& [key, count] : moved) {
    const std::string below = key.second.first + "/";
    std::size_t known = 0;
    if (count < 2) continue;
    for (const auto& [document, entry] : base.documents) known += entry.path.text().starts_with(below) ? 1 : 0;
    if (known == count) whole.push_back({.from = key.second.first, .to = key.second.second});
  }
  return whole;
}

/// The plan as rows, with its conflicts, in order of path. The actions are moved out: there may be many.
std::vector<Row> take_rows(Plan& plan) {
  std::vector<Row> rows;
  rows.reserve(plan.actions.size() + plan.conflicts.size());
  for (Action& action : plan.actions) rows.push_back({.action = std::move(action)});
  std::exchange(plan.actions, {});  // gives the memory back, which assigning {} does not
  for (const Conflict& conflict : plan.conflicts) {
    rows.push_back({.action = {.kind = ActionKind::conflict,
                               .path = conflict.path,
                               .reason = conflict.row().reason,
                               .document = conflict.document}});
  }
  sort_by_path(rows);
  return rows;
}

/// Who wrote what comes for a note that programs obey. Empty: it is none, or nobody but whose folder it is did.
std::optional<Remark> remark_on_agent_note(const Session& session, const Survey& survey, const Action& action) {
  const bool comes = action.kind == ActionKind::pull_create || action.kind == ActionKind::pull_update ||
                     action.kind == ActionKind::pull_move || action.kind == ActionKind::merge;
  const auto pending = survey.pending.find(action.document);
  if (!comes || !is_for_programs(action.path) || pending == survey.pending.end()) return std::nullopt;
  const Author& author = pending->second.author;
  const auto& own = session.binding.account;
  if (own && !own->id.empty() && own->id == author.id) return std::nullopt;
  return Remark{.word = Remark::Word::agent_note, .path = action.path.string(), .by = author.name};
}

/// Remarks that are shown once (but for who may write to the tree): an unportable name with its transfer, a lost state
/// until a run has rebuilt it.
Result<std::vector<Remark>> remarks_of(Session& session, const Survey& survey) {
  const Plan& plan = survey.plan;
  std::vector<Remark> remarks;
  WS_LET(const bool remade, session.state.is_remade());
  if (remade) remarks.push_back({.word = Remark::Word::state_remade});
  for (const char* const folder : {".", ".ws"}) {
    struct stat found {};
    const bool is_open = ::fstatat(session.root.fd(), folder, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
                         (found.st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH;
    if (is_open)
      remarks.push_back({.word = Remark::Word::open_to_others,
                         .path = (folder[1] == '\0' ? session.root.path() : session.root.path() / folder).string()});
  }
  for (const RelativePath& path : survey.same_revision) {
    remarks.push_back({.word = Remark::Word::same_revision, .path = path.string()});
  }
  for (const Action& action : plan.actions) {
    const bool new_name = action.kind == ActionKind::push_create || action.kind == ActionKind::push_move ||
                          action.kind == ActionKind::pull_create || action.kind == ActionKind::pull_move ||
                          action.kind == ActionKind::adopt;
    if (new_name && is_unportable(action.path)) {
      remarks.push_back({.word = Remark::Word::unportable_name, .path = action.path.string()});
    }
    auto from_others = remark_on_agent_note(session, survey, action);
    const bool is_told = from_others && std::ranges::find(remarks, *from_others) != remarks.end();  // moved and edited
    if (from_others && !is_told) remarks.push_back(std::move(*from_others));
  }
  return remarks;
}

/// Of the documents that were archived by somebody whom the service names.
std::map<RelativePath, std::string> archived_by(const Survey& survey) {
  std::map<RelativePath, std::string> names;
  for (const Action& action : survey.plan.actions) {
    const auto pending = survey.pending.find(action.document);
    if (action.kind != ActionKind::pull_delete || pending == survey.pending.end()) continue;
    if (const std::string& name = pending->second.author.name; !name.empty()) names.emplace(action.path, name);
  }
  return names;
}

using Key = std::pair<RelativePath, DocumentId>;

/// What a report says of a conflict that was decided: whose name or text was kept.
std::string_view reason_of(const Action& action, Keep keep) {
  if (action.kind == ActionKind::push_move) return "conflict, my name is kept";
  if (action.kind == ActionKind::pull_move) return "conflict, their name is kept";
  if (keep == Keep::local) return action.attachment ? "conflict, mine is kept" : "conflict, my text is kept";
  if (keep == Keep::remote) return action.attachment ? "conflict, theirs is kept" : "conflict, their text is kept";
  return action.attachment ? "conflict, both are kept" : "conflict, my text is kept beside theirs";
}

Key key(const RelativePath& path, const DocumentId& document) { return {path, document}; }

}  // namespace

void sort_by_path(std::vector<Row>& rows) {
  const auto by_path = [](const Row& a, const Row& b) { return a.action.path < b.action.path; };
  if (!std::is_sorted(rows.begin(), rows.end(), by_path)) std::stable_sort(rows.begin(), rows.end(), by_path);
}

Result<Report> report_of(Session& session, Survey& survey) {
  WS_LET(std::vector<Remark> remarks, remarks_of(session, survey));
  Report report{.source_id = session.binding.source_id,
                .base_revision = survey.revision_before,
                .revision = survey.revision,
                .rows = {},
                .conflicts = survey.plan.conflicts,
                .skipped = std::move(survey.plan.skipped),
                .detached = std::move(survey.plan.detached),
                .guard = survey.plan.guard,
                .held_back = survey.plan.held,
                .not_included = survey.scan.not_included(),
                .only_notes = session.config.attachments == AttachmentMode::off,
                .archived_by = archived_by(survey),
                .renamed_folders = renamed_folders(survey.plan.actions, survey.base),
                .remarks = std::move(remarks)};
  report.rows = take_rows(survey.plan);
  report.partial = survey.plan.partial;
  report.clean = report.rows.empty() && !report.guard && !report.partial;
  return report;
}

bool is_unfinished(const Row& row) { return row.state != Row::State::done && row.action.kind != ActionKind::conflict; }

SettledRows::SettledRows(std::vector<Row>& rows) : rows_(rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].action.kind == ActionKind::conflict)
      places_.emplace(key(rows[i].action.path, rows[i].action.document), i);
  }
}

void SettledRows::settle(const Conflict& conflict, Keep keep, Row::State state) {
  settled_.insert(key(conflict.path, conflict.document));
  const auto place = places_.find(key(conflict.path, conflict.document));
  if (place == places_.end()) return;
  Row& row = rows_[place->second];
  places_.erase(place);
  const auto kind = state == Row::State::planned ? planned_as(conflict, keep) : decided_as(conflict, keep);
  // A path conflict has no row: the plan of the next round carries the decision out.
  if (!kind) {
    dropped_.insert(static_cast<std::size_t>(&row - rows_.data()));
    return;
  }
  row.action.kind = *kind;
  if (*kind == ActionKind::push_move) row.action.previous_path = conflict.remote->path;
  if (*kind == ActionKind::pull_move) {
    row.action.previous_path = conflict.path;
    row.action.path = conflict.remote->path;
  }
  row.action.reason = reason_of(row.action, keep);
  row.state = state;
  row.error.reset();
}

bool SettledRows::has(const Conflict& conflict) const {
  return settled_.contains(key(conflict.path, conflict.document));
}

void SettledRows::drop_rows() {
  if (dropped_.empty()) return;
  std::vector<Row> kept;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!dropped_.contains(i)) kept.push_back(std::move(rows_[i]));
  }
  rows_ = std::move(kept);
}

void preview_decisions(Report& report, const RunOptions& options) {
  const auto& keep = options.on_conflict;
  if (!keep) return;
  SettledRows settled(report.rows);
  std::erase_if(report.conflicts, [&](const Conflict& conflict) {
    if (!planned_as(conflict, *keep)) return false;
    settled.settle(conflict, *keep, Row::State::planned);
    return true;
  });
}

}  // namespace ws::sync

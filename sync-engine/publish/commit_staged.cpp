#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/publish/publish.hpp"
#include "sync-engine/reconcile/narrow_plan.hpp"

namespace ws::sync {
namespace {

/// Removes deletes whose files exist again since they were staged, unless another document is to be there. True where
/// there were any.
Result<bool> drop_returned(Session& session, CommitPart& part, std::vector<Row>& rows) {
  std::set<DocumentId> deleted;
  std::set<RelativePath> taken;
  for (const StagedItem& staged : part.commit.items) {
    if (staged.item.hash) taken.insert(staged.disk_path);
    if (!staged.item.hash) deleted.insert(staged.item.document);
  }
  if (deleted.empty()) return false;
  WS_LET(const auto base, session.state.base());
  for (const auto& [document, row] : base) {
    if (!deleted.contains(document)) taken.insert(row.disk_path());
  }
  WS_LET(const SafeWriter files, SafeWriter::open(session.root));
  std::vector<bool> is_out(part.commit.items.size());
  for (std::size_t i = 0; i < is_out.size(); ++i) {
    const StagedItem& staged = part.commit.items[i];
    const auto known = base.find(staged.item.document);
    const RelativePath& file = known == base.end() ? staged.disk_path : known->second.disk_path();
    if (staged.item.hash || taken.contains(file) || !files.read(file)) continue;
    is_out[i] = true;
    rows[part.rows[i]].fail({.kind = Failure::Kind::conflict,
                             .what = fmt::format("{} came back since it was staged", file.text()),
                             .hint = "run `ws sync`"});
  }
  const bool any = std::find(is_out.begin(), is_out.end(), true) != is_out.end();
  if (any) drop_items(part, is_out);
  return any;
}

Action action_of(const StagedItem& staged) {
  return {.kind = staged.conflict ? ActionKind::conflict : staged.item.kind,
          .path = staged.disk_path,
          .reason = "staged earlier",
          .document = staged.item.document,
          .previous_path = staged.item.previous_path,
          .seen = staged.item.hash,
          .result = staged.item.hash,
          .revision = staged.item.revision};
}

CommitPart with_rows(StagedCommit staged, std::vector<Row>& rows) {
  CommitPart part{.commit = std::move(staged)};
  for (const StagedItem& each : part.commit.items) {
    part.rows.push_back(rows.size());
    rows.push_back({.action = action_of(each)});
  }
  return part;
}

/// Removes the items that are not `wanted`, and those that depend on them, as `narrow_plan` does.
Result<std::vector<StagedItem>> take_out_unwanted(Session& session, StagedCommit& staged, const WantedPath& wanted) {
  WS_LET(const auto rows, session.state.base());
  BaseTree base;
  Plan plan;
  for (const StagedItem& each : staged.items) {
    const auto row = rows.find(each.item.document);
    const RelativePath& place = each.item.previous_path ? *each.item.previous_path : each.item.path;
    if (!each.item.document.empty())
      base.documents.emplace(each.item.document, row == rows.end() ? Entry{.path = place} : row->second.entry);
    plan.actions.push_back(action_of(each));
  }
  narrow_plan(plan, base, {}, wanted);
  const auto key = [](const Action& action) { return std::tuple(action.kind, action.path, action.document); };
  std::set<std::tuple<ActionKind, RelativePath, DocumentId>> kept;
  for (const Action& action : plan.actions) kept.insert(key(action));
  std::vector<StagedItem> chosen;
  std::vector<StagedItem> rest;
  for (StagedItem& each : staged.items) {
    (kept.contains(key(action_of(each))) ? chosen : rest).push_back(std::move(each));
  }
  staged.items = std::move(chosen);
  return rest;
}

/// Stages the removed items again: on the service they were part of the same plan.
Result<void> stage_again(Session& session, std::vector<StagedItem> items) {
  if (items.empty()) return {};
  std::vector<Row> rows;
  CommitPart part = with_rows({.items = std::move(items)}, rows);
  WS_LET(const SourceRevision revision, session.state.source_revision());
  WS_TRY(send_part(session, part, revision, rows, [] {}));
  return part.commit.items.empty() ? Result<void>() : session.state.put_staged(part.commit);
}

}  // namespace

Result<void> commit_staged(Session& session,
                           const std::string& message,
                           std::vector<Row>& rows,
                           const WantedPath& wanted,
                           const AwaitFiles& await_files) {
  WS_LET(std::optional<StagedCommit> staged, session.state.staged());
  if (!staged) return {};
  if (staged->under_way) return commit_part(session, with_rows(std::move(*staged), rows), rows, await_files);
  std::vector<StagedItem> rest;
  if (wanted) {
    WS_LET(rest, take_out_unwanted(session, *staged, wanted));
  }
  if (staged->items.empty()) return {};
  CommitPart part = with_rows(std::move(*staged), rows);
  part.commit.request.message = message;
  WS_LET(const bool returned, drop_returned(session, part, rows));
  if (part.commit.items.empty()) {
    WS_TRY(session.state.clear_staged());
  } else {
    // Items staged under the old plan would be committed with it.
    const bool fewer = returned || !rest.empty();
    WS_TRY(fewer ? commit_anew(session, std::move(part), rows) : commit_part(session, std::move(part), rows));
  }
  return stage_again(session, std::move(rest));
}

Result<std::vector<Row>> staged_rows(Session& session, const WantedPath& wanted) {
  std::vector<Row> rows;
  WS_LET(std::optional<StagedCommit> staged, session.state.staged());
  if (!staged) return rows;
  if (wanted && !staged->under_way) WS_TRY(take_out_unwanted(session, *staged, wanted));
  with_rows(std::move(*staged), rows);
  for (Row& row : rows) row.state = Row::State::staged;
  return rows;
}

Result<void> mark_staged(Session& session, std::vector<Row>& rows) {
  WS_LET(const std::optional<StagedCommit> staged, session.state.staged());
  if (!staged) return {};
  std::map<RelativePath, const PushItem*> items;
  for (const StagedItem& each : staged->items) {
    if (!each.conflict) items.emplace(each.disk_path, &each.item);
  }
  for (Row& row : rows) {
    const auto item = items.find(row.action.path);
    if (row.state != Row::State::planned || item == items.end()) continue;
    const bool is_same = item->second->kind == row.action.kind && item->second->document == row.action.document &&
                         item->second->hash == row.action.result;
    if (is_same) row.state = Row::State::staged;
  }
  return {};
}

}  // namespace ws::sync

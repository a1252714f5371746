#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/publish/match_answer.hpp"
#include "sync-engine/publish/publish.hpp"
#include "sync-engine/publish/push_ahead.hpp"
#include "sync-engine/reconcile/narrow_plan.hpp"
#include "sync-engine/survey/held_documents.hpp"

namespace ws::sync {
namespace {

/// Which items are deletes whose files exist again, unless another document is to be there.
Result<std::vector<bool>> find_returned(Session& session, const std::vector<StagedItem>& items) {
  std::vector<bool> returned(items.size());
  std::set<DocumentId> deleted;
  std::set<RelativePath> taken;
  for (const StagedItem& staged : items) {
    if (staged.item.hash) taken.insert(staged.disk_path);
    if (!staged.item.hash) deleted.insert(staged.item.document);
  }
  if (deleted.empty()) return returned;
  WS_LET(const auto base, session.state.base());
  for (const auto& [document, row] : base) {
    if (!deleted.contains(document)) taken.insert(row.disk_path());
  }
  WS_LET(const SafeWriter files, SafeWriter::open(session.root));
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto known = base.find(items[i].item.document);
    const RelativePath& file = known == base.end() ? items[i].disk_path : known->second.disk_path();
    returned[i] = !items[i].item.hash && !taken.contains(file) && files.read(file);
  }
  return returned;
}

bool any_of(const std::vector<bool>& marks) { return std::find(marks.begin(), marks.end(), true) != marks.end(); }

/// Removes deletes whose files exist again since they were staged. True where there were any.
Result<bool> drop_returned(Session& session, CommitPart& part, std::vector<Row>& rows) {
  WS_LET(const std::vector<bool> is_out, find_returned(session, part.commit.items));
  for (std::size_t i = 0; i < is_out.size(); ++i) {
    if (!is_out[i]) continue;
    rows[part.rows[i]].fail({.kind = Failure::Kind::conflict,
                             .what = fmt::format("{} was created again after its deletion was staged",
                                                 part.commit.items[i].disk_path.text()),
                             .hint = "run `ws sync`"});
  }
  const bool any = any_of(is_out);
  if (any) drop_items(part, is_out);
  return any;
}

Action action_of(const StagedItem& staged) {
  return {.kind = staged.conflict ? ActionKind::conflict : staged.item.kind,
          .path = staged.disk_path,
          .reason = "pushed earlier",
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

/// The items that have the text of a document as it lies here.
using EditedDocuments = std::unordered_map<DocumentId, const StagedItem*>;

EditedDocuments edits_among(const std::vector<StagedItem>& items) {
  EditedDocuments edits;
  for (const StagedItem& staged : items) {
    if (staged.item.kind == ActionKind::push_update) edits.emplace(staged.item.document, &staged);
  }
  return edits;
}

Failure failure_of(const Rejected& refused, const StagedItem& staged) {
  Failure failure{.kind = Failure::Kind::invalid,
                  .what = fmt::format("the service refused {}: {}", staged.item.path.text(), refused.message),
                  .code = refused.code};
  if (is_out_of_reach(refused.code)) failure = cannot_push(failure);
  if (is_refused_as_it_is(refused.code))
    failure.hint = "the file stays as it is, and is sent again once something about it changes";
  return failure;
}

Result<void> take_out_refused(Session& session,
                              CommitPart& part,
                              const std::vector<Rejected>& rejected,
                              std::vector<Row>& rows) {
  const std::vector<StagedItem>& items = part.commit.items;
  const std::vector<Refusal> refusals = find_refused(items, rejected);
  if (refusals.empty()) return {};
  const EditedDocuments edits = edits_among(items);
  std::vector<bool> is_out(items.size());
  for (const Refusal& refusal : refusals) {
    const StagedItem& staged = items[refusal.place];
    is_out[refusal.place] = true;
    rows[part.rows[refusal.place]].fail(failure_of(*refusal.why, staged));
    if (!is_refused_as_it_is(refusal.why->code)) continue;
    const auto edit = edits.find(staged.item.document);
    WS_TRY(record_refused(session, edit == edits.end() ? staged : *edit->second));
  }
  drop_items(part, is_out);
  return {};
}

/// Reads each text when its request is made, and keeps it in the history. A file that is no longer as the plan saw it
/// is left out.
class ItemTexts {
 public:
  ItemTexts(Session& session, std::vector<StagedItem>& items)
      : session_(session), items_(items), is_changed_(items.size()) {
    for (const StagedItem& staged : items) unkept_ += lacks_blob(staged) ? 1 : 0;
  }

  Result<std::optional<std::string>> next(std::size_t place) {
    using Text = std::optional<std::string>;
    StagedItem& staged = items_[place];
    auto text = files_.read(staged.disk_path.string());
    const bool is_as_seen = text && Sha256::of(*text) == *staged.item.hash;
    if (!staged.blob.empty()) return is_as_seen ? Text(std::move(*text)) : kept(staged);
    is_changed_[place] = !is_as_seen;
    if (is_as_seen) {
      WS_LET(staged.blob, session_.history.keep_file_text(*text));
    }
    // The last of them reaches the disk while the service is at work on those before.
    if (unkept_ > 0 && --unkept_ == 0) WS_TRY(session_.history.flush());
    return is_as_seen ? Text(std::move(*text)) : Text{};
  }

  /// Whose files were others when their turn came.
  const std::vector<bool>& changed() const { return is_changed_; }

 private:
  static bool lacks_blob(const StagedItem& staged) {
    return staged.item.hash && staged.item.kind != ActionKind::push_move && staged.blob.empty();
  }

  Result<std::optional<std::string>> kept(const StagedItem& staged) {
    WS_LET(std::string text, session_.history.text(staged.blob));
    return std::optional(std::move(text));
  }

  Session& session_;
  std::vector<StagedItem>& items_;
  std::vector<bool> is_changed_;
  std::size_t unkept_ = 0;
  FilesInOrder files_{session_.root};
};

void take_out_changed(CommitPart& part, const std::vector<bool>& is_changed, std::vector<Row>& rows) {
  if (!any_of(is_changed)) return;
  for (std::size_t i = 0; i < is_changed.size(); ++i) {
    if (is_changed[i]) rows[part.rows[i]].fail(changed_meanwhile(part.commit.items[i].disk_path));
  }
  drop_items(part, is_changed);
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

Result<void> take_over_sent(Session& session, std::vector<Row>& rows) {
  WS_LET(std::optional<StagedCommit> staged, session.state.staged());
  if (!staged) return {};
  std::vector<Row> sent;
  CommitPart part = with_rows(std::move(*staged), sent);
  WS_TRY(take_over_part(session, std::move(part), sent));
  std::ranges::copy_if(sent, std::back_inserter(rows), [](const Row& row) { return row.state == Row::State::done; });
  return {};
}

Result<bool> is_withdrawn(Session& session, const StagedCommit& staged) {
  WS_LET(const SafeWriter files, SafeWriter::open(session.root));
  for (const StagedItem& each : staged.items) {
    if (each.conflict || !each.item.hash) continue;
    WS_LET(const auto now, files.hash(each.disk_path));
    if (each.item.kind == ActionKind::push_move ? !now : now != each.item.hash) return true;
  }
  WS_LET(const std::vector<bool> returned, find_returned(session, staged.items));
  return any_of(returned);
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

Failure changed_meanwhile(const RelativePath& file) {
  return {.kind = Failure::Kind::conflict,
          .what = fmt::format("{} changed during the sync", file.text()),
          .hint = "run the same command again"};
}

void drop_items(CommitPart& part, const std::vector<bool>& is_out) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < is_out.size(); ++i) {
    if (is_out[i]) continue;
    if (kept != i) part.commit.items[kept] = std::move(part.commit.items[i]);
    part.rows[kept++] = part.rows[i];
  }
  part.commit.items.erase(part.commit.items.begin() + static_cast<std::ptrdiff_t>(kept), part.commit.items.end());
  part.rows.resize(kept);
}

Result<void> send_part(Session& session,
                       CommitPart& part,
                       SourceRevision revision,
                       std::vector<Row>& rows,
                       const std::function<void()>& next_text) {
  if (use_pushed_ahead(session, part, revision)) return {};
  StagedCommit& staged = part.commit;
  std::vector<PushItem> items;
  items.reserve(staged.items.size());
  for (const StagedItem& each : staged.items) items.push_back(each.item);
  const TreeBinding& binding = session.binding;
  WS_LET(const PlanAnswer plan, session.remote->plan(binding.source_id, revision, binding.client_id, items));
  ItemTexts texts(session, staged.items);
  WS_LET(PushAnswer pushed, session.remote->push(binding.source_id, plan.plan_id, items, [&](std::size_t place) {
    next_text();
    return texts.next(place);
  }));
  WS_TRY(session.history.flush());
  take_out_changed(part, texts.changed(), rows);
  staged.request = {.source_id = binding.source_id,
                    .plan_id = plan.plan_id,
                    .push_ids = std::move(pushed.push_ids),
                    .expected_revision = revision,
                    .client_id = binding.client_id,
                    .message = std::move(staged.request.message),
                    .device = session.options.device};
  return take_out_refused(session, part, pushed.rejected, rows);
}

}  // namespace ws::sync

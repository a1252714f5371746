#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "api-client/base/utf8.hpp"
#include "sync-engine/steps/conflict_files.hpp"
#include "sync-engine/steps/publish.hpp"
#include "sync-engine/steps/refused_push.hpp"

namespace ws::sync {
namespace {

/// Takes the answer of a commit into state and history.
class Committer {
 public:
  Committer(Session& session, StagedCommit staged, std::vector<Row>& rows)
      : session_(session), staged_(std::move(staged)), rows_(rows) {
    for (std::size_t i = 0; i < rows_.size(); ++i) row_places_[rows_[i].action.path.string()].push_back(i);
  }

  Result<void> commit() {
    session_.progress(Stage::commit, 0, staged_.items.size());
    auto answer = send();
    if (!answer && answer.error().code == "plan_expired") {
      if (auto staged = stage_anew(); !staged) return refused(std::move(staged).error());
      if (staged_.items.empty()) return {};
      answer = send();
    }
    if (!answer) return refused(std::move(answer).error());
    WS_TRY(take(*answer));
    session_.progress(Stage::commit, staged_.items.size(), staged_.items.size());
    return {};
  }

 private:
  Result<CommitAnswer> send() {
    staged_.under_way = true;
    WS_TRY(session_.state.put_staged(staged_));
    return session_.remote->commit(staged_.request);
  }

  /// A plan that expired was surely not committed.
  Result<void> stage_anew() {
    staged_.under_way = false;
    WS_LET(const auto rejected, send_staged(session_, staged_, staged_.request.expected_revision, [] {}));
    for (const Rejected& refused : rejected) {
      const auto at = std::find_if(staged_.items.begin(), staged_.items.end(), [&](const StagedItem& staged) {
        return path_on_wire(staged.item.path.text()) == path_on_wire(refused.path);
      });
      if (at == staged_.items.end()) continue;
      row_of(*at).fail({.kind = Failure::Kind::invalid,
                        .what = fmt::format("the service refused {}: {}", at->item.path.text(), refused.message),
                        .code = refused.code});
      staged_.items.erase(at);
    }
    return staged_.items.empty() ? session_.state.clear_staged() : Result<void>();
  }

  /// A commit that surely did not happen is forgotten; one that may have is kept, and sent again by the next run.
  Result<void> refused(Failure failure) {
    const bool surely_not = failure.kind == Failure::Kind::invalid || failure.kind == Failure::Kind::not_found ||
                            failure.kind == Failure::Kind::conflict || failure.kind == Failure::Kind::forbidden;
    if (!surely_not) return fail(std::move(failure));
    WS_TRY(session_.state.clear_staged());
    for (const StagedItem& staged : staged_.items) {
      row_of(staged).fail(failure.kind == Failure::Kind::forbidden ? cannot_push(failure) : failure);
    }
    return {};
  }

  Row& row_of(const StagedItem& staged) {
    const PushItem& item = staged.item;
    std::vector<std::size_t>& places = row_places_[staged.file.string()];
    for (const std::size_t place : places) {
      const ActionKind kind = rows_[place].action.kind;
      const bool merged = kind == ActionKind::merge && item.kind == ActionKind::push_update;
      if (staged.conflict ? kind == ActionKind::conflict : kind == item.kind || merged) return rows_[place];
    }
    places.push_back(rows_.size());
    rows_.push_back({.action = {.kind = staged.conflict ? ActionKind::conflict : item.kind,
                                .path = staged.file,
                                .reason = "staged earlier",
                                .document = item.document,
                                .previous_path = item.previous_path,
                                .seen = item.hash,
                                .result = item.hash,
                                .revision = item.revision}});
    return rows_.back();
  }

  const AppliedItem* applied_for(const CommitAnswer& answer, const PushItem& item) const {
    const auto found = applied_by_path_.find(path_on_wire(item.path.text()));
    if (found == applied_by_path_.end()) return nullptr;
    for (const std::size_t i : found->second) {
      if (answer.applied[i].kind == item.kind) return &answer.applied[i];
    }
    return &answer.applied[found->second.front()];
  }

  Result<void> take(const CommitAnswer& answer) {
    for (std::size_t i = 0; i < answer.applied.size(); ++i) {
      applied_by_path_[path_on_wire(answer.applied[i].path)].push_back(i);
    }
    WS_LET(base_, session_.state.base());
    WS_LET(pending_, session_.state.pending());
    std::map<std::string, const RecordedConflict*> recorded_by_path;
    for (const RecordedConflict& conflict : answer.conflicts)
      recorded_by_path.emplace(path_on_wire(conflict.path), &conflict);
    for (const StagedItem& staged : staged_.items) {
      const auto recorded = recorded_by_path.find(path_on_wire(staged.item.path.text()));
      if (recorded != recorded_by_path.end()) {
        WS_TRY(note_conflict(staged, *recorded->second));
      } else if (const AppliedItem* applied = applied_for(answer, staged.item)) {
        note_applied(staged, *applied);
      } else {
        row_of(staged).fail(
            {.kind = Failure::Kind::service,
             .what = fmt::format("the service did not say what became of {}", staged.item.path.text())});
      }
    }
    return store(answer);
  }

  /// A document that was moved and edited has two items, in this order: `base_` is as the first left it.
  void note_applied(const StagedItem& staged, const AppliedItem& applied) {
    const PushItem& item = staged.item;
    Row& row = row_of(staged);
    // The answer to a move tells the text as an edit beside it left it.
    const bool tells_text = item.kind != ActionKind::push_move && item.hash && applied.hash;
    if (tells_text && *applied.hash != *item.hash) {
      return row.fail({.kind = Failure::Kind::integrity,
                       .what = fmt::format("the service stored another text for {}", item.path.text())});
    }
    if (applied.document.empty() && item.document.empty()) {
      return row.fail({.kind = Failure::Kind::service,
                       .what = fmt::format("the service did not say which document {} is", item.path.text()),
                       .hint = "run the command again: what arrived is taken for the same"});
    }
    row.state = Row::State::done;
    const DocumentId document = applied.document.empty() ? item.document : applied.document;
    row.action.document = document;
    const auto old = base_.find(document);
    if (old != base_.end() && old->second.disk_path() != staged.file)
      after_.push_back({.path = old->second.disk_path().string()});
    if (!item.hash) {
      after_.push_back({.path = staged.file.string()});
      advanced_.emplace_back(document, std::nullopt);
      return;
    }
    const bool moved_only = item.kind == ActionKind::push_move && old != base_.end();
    BaseRow now =
        moved_only ? old->second : BaseRow{.entry = {.path = item.path, .hash = *item.hash}, .blob = staged.blob};
    now.entry.path = item.path;
    now.entry.revision = applied.revision;
    now.placed = staged.file != item.path ? std::optional(staged.file) : std::nullopt;
    after_.push_back({.path = staged.file.string(), .blob = now.blob});
    base_.insert_or_assign(document, now);
    advanced_.emplace_back(document, std::move(now));
  }

  Result<void> note_conflict(const StagedItem& staged, const RecordedConflict& recorded) {
    const PushItem& item = staged.item;
    Conflict conflict = staged.conflict ? *staged.conflict : new_conflict(item, recorded.kind);
    std::optional<std::string> seen_there;
    if (conflict.document.empty()) {
      WS_LET(seen_there, look_there(conflict, recorded.id));
    }
    conflict.id = recorded.id;
    conflict.here_only = false;
    Row& row = row_of(staged);
    row.state = Row::State::done;
    row.action.kind = ActionKind::conflict;
    row.action.reason = name(conflict.kind);
    ThreeTexts texts;
    if (!staged.blob.empty()) {
      WS_LET(texts.local, session_.history.text(staged.blob));
    }
    if (const auto base = base_.find(conflict.document); base != base_.end()) {
      if (auto text = session_.history.text(base->second.blob)) texts.base = std::move(*text);
    }
    if (const auto there = pending_.find(conflict.document); there != pending_.end() && !there->second.blob.empty()) {
      if (auto text = session_.history.text(there->second.blob)) texts.remote = std::move(*text);
    }
    if (seen_there) texts.remote = std::move(seen_there);
    WS_TRY(write_conflict_texts(session_, conflict.id, texts));
    conflicts_.push_back(std::move(conflict));
    return {};
  }

  /// Which document holds the place of a new file: without it nobody could ever close the conflict. Its text.
  Result<std::optional<std::string>> look_there(Conflict& conflict, const std::string& id) {
    WS_LET(ServiceConflict there, session_.remote->find_conflict(id));
    PulledItem& item = there.remote;
    if (item.document.empty() || item.deleted || !item.hash) return std::optional<std::string>{};
    conflict.document = item.document;
    conflict.remote = Entry{.path = conflict.path, .hash = *item.hash, .revision = item.revision};
    return std::move(item.content);
  }

  /// One that only the service saw: somebody was quicker between our pull and our commit.
  Conflict new_conflict(const PushItem& item, ConflictKind kind) const {
    Conflict conflict{.kind = kind, .path = item.path, .document = item.document};
    if (const auto base = base_.find(item.document); base != base_.end()) conflict.base = base->second.entry;
    if (item.hash) conflict.local = Entry{.path = item.path, .hash = *item.hash};
    return conflict;
  }

  Result<void> store(const CommitAnswer& answer) {
    WS_TRY(session_.history.record_after(
        after_, staged_.request.message.empty() ? "Pushed to the service" : staged_.request.message));
    WS_LET(const std::vector<Conflict> known, session_.state.conflicts());
    WS_LET(const auto refused, session_.state.refused());
    std::vector<std::string> replaced;
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    for (const auto& [document, row] : advanced_) {
      if (row) {
        WS_TRY(session_.state.put_base(document, *row));
      } else {
        WS_TRY(session_.state.forget_base(document));
      }
      WS_TRY(session_.state.drop_pending(document));
      if (refused.contains(document)) WS_TRY(session_.state.drop_refused(document));
    }
    for (const Conflict& conflict : conflicts_) {
      // One open conflict a document: the newer takes the place of the older.
      for (const Conflict& older : known) {
        const bool same =
            older.document == conflict.document && (!older.document.empty() || older.path == conflict.path);
        if (!same || older.id == conflict.id) continue;
        WS_TRY(session_.state.drop_conflict(older.id));
        replaced.push_back(older.id);
      }
      WS_TRY(session_.state.put_conflict(conflict));
    }
    // The counter rises by one a change: if it rose by ours alone nobody else was there in between, and the next pull
    // can begin after it. Otherwise that pull brings our own changes too, which costs time and changes nothing. Where a
    // text was out of reach the counter stayed behind on purpose: the next pull asks for it again.
    WS_LET(const std::uint64_t taken_over, session_.state.source_revision());
    if (taken_over == staged_.request.expected_revision && answer.revision == taken_over + advanced_.size()) {
      WS_TRY(session_.state.set_source_revision(answer.revision));
    }
    WS_TRY(session_.state.clear_staged());
    WS_TRY(transaction.commit());
    for (const std::string& id : replaced) remove_conflict_files(session_.root.path(), id);
    return {};
  }

  Session& session_;
  StagedCommit staged_;
  std::vector<Row>& rows_;
  std::map<std::string, std::vector<std::size_t>> row_places_;
  std::map<std::string, std::vector<std::size_t>> applied_by_path_;
  std::map<DocumentId, BaseRow> base_;
  std::map<DocumentId, PendingRow> pending_;
  std::vector<std::pair<DocumentId, std::optional<BaseRow>>> advanced_;
  std::vector<Conflict> conflicts_;
  TextChanges after_;
};

}  // namespace

Result<void> commit_staged(Session& session, const std::string& message, std::vector<Row>& rows) {
  WS_LET(std::optional<StagedCommit> staged, session.state.staged());
  if (!staged) return {};
  if (!staged->under_way) staged->request.message = message;
  return Committer(session, std::move(*staged), rows).commit();
}

}  // namespace ws::sync

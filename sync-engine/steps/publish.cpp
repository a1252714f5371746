#include "sync-engine/steps/publish.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api-client/base/utf8.hpp"
#include "sync-engine/merge/merge.hpp"
#include "sync-engine/steps/conflict_files.hpp"
#include "sync-engine/steps/local_conflicts.hpp"
#include "sync-engine/tree/safe_write.hpp"

namespace ws::sync {
namespace {

/// Item paths go out, and come back, in NFC.
std::string wire(std::string_view path) { return utf8::nfc(path); }

void fail_row(Row& row, Failure failure) {
  row.state = Row::State::failed;
  row.error = std::move(failure);
}

Failure cannot_push(const Failure& why) {
  Failure failure = why;
  failure.kind = Failure::Kind::forbidden;
  failure.code = "cannot_push";
  failure.hint = "this key may read but not write; the change stays here";
  return failure;
}

/// The codes of 403, 404 and 410 on one document: nothing is deleted for it.
bool is_out_of_reach(const std::string& code) {
  return code == "forbidden" || code == "not_found" || code == "gone" || code == "archived";
}

/// Chooses what is staged and stages it.
class Stager {
 public:
  Stager(Session& session, const Survey& survey, std::vector<Row>& rows)
      : session_(session), survey_(survey), rows_(rows) {}

  Result<void> stage() {
    WS_TRY(session_.state.clear_staged());
    WS_LET(const SafeWriter files, SafeWriter::open(session_.root));
    // What could not be done here holds up the rest of its document: a move would carry the revision of a text that is
    // not here.
    for (const Row& row : rows_) {
      if (row.state == Row::State::failed && !row.action.document.empty()) held_up_.insert(row.action.document);
    }
    for (Row& row : rows_) {
      if (held_up_.contains(row.action.document)) continue;
      if (auto item = item_for(row)) WS_TRY(add(files, row, std::move(*item)));
    }
    if (staged_.items.empty()) return {};
    WS_TRY(session_.go_on());
    WS_TRY(session_.history.record_before({}, used_up_));
    return send();
  }

 private:
  std::optional<StagedItem> item_for(const Row& row) const {
    const Action& action = row.action;
    if (is_push(action.kind) && row.state == Row::State::planned) {
      return StagedItem{
          .item = {.kind = action.kind,
                   .path = action.service_path.value_or(action.path),
                   .previous_path = action.kind == ActionKind::push_move ? action.previous_path : std::nullopt,
                   .document = action.document,
                   .hash = action.result,
                   .revision = action.revision},
          .file = action.path};
    }
    if (action.kind == ActionKind::merge && row.state == Row::State::done) {
      return StagedItem{.item = {.kind = ActionKind::push_update,
                                 .path = action.service_path.value_or(action.path),
                                 .document = action.document,
                                 .hash = action.result,
                                 .revision = action.revision},
                        .file = action.path};
    }
    return action.kind == ActionKind::conflict ? item_for_conflict(action) : std::nullopt;
  }

  /// Pushed with the revision that it was made from, so that the commit refuses it and records both texts.
  std::optional<StagedItem> item_for_conflict(const Action& action) const {
    const auto found =
        std::find_if(survey_.plan.conflicts.begin(), survey_.plan.conflicts.end(), [&](const Conflict& c) {
          return c.document == action.document && c.path == action.path;
        });
    if (found == survey_.plan.conflicts.end() || !is_for_service(*found) || is_recorded(*found)) return std::nullopt;
    PushItem item{.kind = ActionKind::push_create, .path = found->path, .hash = found->local->hash};
    if (found->kind == ConflictKind::revision || found->kind == ConflictKind::edit_delete) {
      item.kind = ActionKind::push_update;
      item.document = found->document;
      item.revision = found->base->revision;
    }
    return StagedItem{.item = std::move(item), .file = found->path, .conflict = *found};
  }

  bool is_recorded(const Conflict& conflict) const {
    return std::any_of(survey_.known_conflicts.begin(), survey_.known_conflicts.end(), [&](const Conflict& known) {
      return known.document == conflict.document && known.local == conflict.local && known.remote == conflict.remote;
    });
  }

  Result<void> add(const SafeWriter& files, Row& row, StagedItem staged) {
    if (staged.item.kind == ActionKind::push_move) {
      // Its text stays where it is.
    } else if (staged.item.hash) {
      auto text = files.read(staged.file);
      if (!text || Sha256::of(*text) != *staged.item.hash) {
        Failure busy{.kind = Failure::Kind::conflict,
                     .what = fmt::format("{} changed since it was looked at", staged.file.text()),
                     .hint = "run the command again"};
        fail_row(row, std::move(busy));
        return {};
      }
      // A file that somebody is merging by hand: the conflict keeps the text that it was recorded with.
      if (staged.conflict && !staged.conflict->id.empty() && merge::has_markers(*text)) return {};
      staged.item.size_bytes = text->size();
      WS_LET(staged.blob, session_.history.keep(*text));
    } else if (const auto there = survey_.pending.find(staged.item.document);
               there != survey_.pending.end() && !there->second.blob.empty()) {
      // A local delete that wins over an edit: the text that nobody here has seen is kept.
      used_up_.push_back({.path = staged.item.path.string(), .blob = there->second.blob});
    }
    staged_.items.push_back(std::move(staged));
    item_rows_.push_back(&row);
    return {};
  }

  Result<void> send() {
    std::vector<PushItem> items;
    for (const StagedItem& staged : staged_.items) items.push_back(staged.item);
    const Tie& tie = session_.tie;
    auto plan = session_.remote->plan(tie.source_id, survey_.revision, tie.client_id, items);
    if (!plan) return give_up(std::move(plan).error());
    std::map<std::string, git::ObjectId> blobs;
    for (const StagedItem& staged : staged_.items) blobs[staged.item.path.string()] = staged.blob;
    std::uint64_t done = 0;
    auto pushed = session_.remote->push(tie.source_id, plan->plan_id, items, [&](const PushItem& item) {
      session_.progress(Stage::push, ++done, items.size());
      return session_.history.text(blobs.at(item.path.string()));
    });
    if (!pushed) return give_up(std::move(pushed).error());
    take_out_rejected(pushed->rejected);
    if (staged_.items.empty()) return {};
    staged_.request = {.source_id = tie.source_id,
                       .plan_id = plan->plan_id,
                       .push_ids = std::move(pushed->push_ids),
                       .expected_revision = survey_.revision,
                       .client_id = tie.client_id};
    return session_.state.put_staged(staged_);
  }

  /// No permission is a fact of each row; anything else ends the call.
  Result<void> give_up(Failure failure) {
    if (failure.kind != Failure::Kind::forbidden) return fail(std::move(failure));
    for (Row* row : item_rows_) fail_row(*row, cannot_push(failure));
    return {};
  }

  void take_out_rejected(const std::vector<Rejected>& rejected) {
    for (const Rejected& refused : rejected) {
      for (std::size_t i = 0; i < staged_.items.size(); ++i) {
        if (wire(staged_.items[i].item.path.text()) != wire(refused.path)) continue;
        Failure failure{
            .kind = Failure::Kind::invalid,
            .what = fmt::format("the service refused {}: {}", staged_.items[i].item.path.text(), refused.message)};
        failure.code = refused.code;
        if (is_out_of_reach(refused.code)) {
          failure = cannot_push(failure);
          failure.hint = "the file stays as it is; the next run tries again";
        }
        fail_row(*item_rows_[i], std::move(failure));
        staged_.items.erase(staged_.items.begin() + static_cast<std::ptrdiff_t>(i));
        item_rows_.erase(item_rows_.begin() + static_cast<std::ptrdiff_t>(i));
        break;
      }
    }
  }

  Session& session_;
  const Survey& survey_;
  std::vector<Row>& rows_;
  StagedCommit staged_;
  std::vector<Row*> item_rows_;  ///< of `staged_.items`, one each
  TextChanges used_up_;
  std::set<DocumentId> held_up_;
};

/// Takes the answer of a commit into state and history.
class Committer {
 public:
  Committer(Session& session, StagedCommit staged, std::vector<Row>& rows)
      : session_(session), staged_(std::move(staged)), rows_(rows) {
    for (std::size_t i = 0; i < rows_.size(); ++i) row_places_[rows_[i].action.path.string()].push_back(i);
  }

  Result<void> commit() {
    staged_.under_way = true;
    WS_TRY(session_.state.put_staged(staged_));
    session_.progress(Stage::commit, 0, staged_.items.size());
    auto answer = session_.remote->commit(staged_.request);
    if (!answer) return refused(std::move(answer).error());
    WS_TRY(take(*answer));
    session_.progress(Stage::commit, staged_.items.size(), staged_.items.size());
    return {};
  }

 private:
  /// A commit that surely did not happen is forgotten; one that may have is kept, and sent again by the next run.
  Result<void> refused(Failure failure) {
    const bool expired = failure.code == "plan_expired";
    const bool surely_not = expired || failure.kind == Failure::Kind::invalid ||
                            failure.kind == Failure::Kind::not_found || failure.kind == Failure::Kind::conflict ||
                            failure.kind == Failure::Kind::forbidden;
    if (!surely_not) return fail(std::move(failure));
    WS_TRY(session_.state.clear_staged());
    for (const StagedItem& staged : staged_.items) {
      fail_row(row_of(staged), failure.kind == Failure::Kind::forbidden ? cannot_push(failure) : failure);
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
    const auto found = applied_by_path_.find(wire(item.path.text()));
    if (found == applied_by_path_.end()) return nullptr;
    for (const std::size_t i : found->second) {
      if (answer.applied[i].kind == item.kind) return &answer.applied[i];
    }
    return &answer.applied[found->second.front()];
  }

  Result<void> take(const CommitAnswer& answer) {
    for (std::size_t i = 0; i < answer.applied.size(); ++i) {
      applied_by_path_[wire(answer.applied[i].path)].push_back(i);
    }
    WS_LET(base_, session_.state.base());
    WS_LET(pending_, session_.state.pending());
    std::map<std::string, const RecordedConflict*> recorded_by_path;
    for (const RecordedConflict& conflict : answer.conflicts) recorded_by_path.emplace(wire(conflict.path), &conflict);
    for (const StagedItem& staged : staged_.items) {
      const auto recorded = recorded_by_path.find(wire(staged.item.path.text()));
      if (recorded != recorded_by_path.end()) {
        WS_TRY(note_conflict(staged, *recorded->second));
      } else if (const AppliedItem* applied = applied_for(answer, staged.item)) {
        note_applied(staged, *applied);
      } else {
        fail_row(row_of(staged),
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
      return fail_row(row,
                      {.kind = Failure::Kind::integrity,
                       .what = fmt::format("the service stored another text for {}", item.path.text())});
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
    conflict.id = recorded.id;
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
    WS_TRY(write_conflict_texts(session_, conflict.id, texts));
    conflicts_.push_back(std::move(conflict));
    return {};
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
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    for (const auto& [document, row] : advanced_) {
      if (row) {
        WS_TRY(session_.state.put_base(document, *row));
      } else {
        WS_TRY(session_.state.forget_base(document));
      }
      WS_TRY(session_.state.drop_pending(document));
    }
    for (const Conflict& conflict : conflicts_) {
      // One open conflict a document: the newer takes the place of the older.
      for (const Conflict& older : known) {
        if (older.document == conflict.document && older.path == conflict.path && older.id != conflict.id) {
          WS_TRY(session_.state.drop_conflict(older.id));
        }
      }
      WS_TRY(session_.state.put_conflict(conflict));
    }
    // The counter rises by one a change: if it rose by ours alone nobody else was there in between, and the next pull
    // can begin after it. Otherwise that pull brings our own changes too, which costs time and changes nothing.
    if (answer.revision == staged_.request.expected_revision + advanced_.size()) {
      WS_TRY(session_.state.set_source_revision(answer.revision));
    }
    WS_TRY(session_.state.clear_staged());
    return transaction.commit();
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

Result<void> stage_changes(Session& session, const Survey& survey, std::vector<Row>& rows) {
  return Stager(session, survey, rows).stage();
}

Result<void> commit_staged(Session& session, const std::string& message, std::vector<Row>& rows) {
  WS_LET(std::optional<StagedCommit> staged, session.state.staged());
  if (!staged) return {};
  if (!staged->under_way) staged->request.message = message;
  return Committer(session, std::move(*staged), rows).commit();
}

}  // namespace ws::sync

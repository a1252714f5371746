#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api-client/base/utf8.hpp"
#include "sync-engine/merge/merge.hpp"
#include "sync-engine/steps/local_conflicts.hpp"
#include "sync-engine/steps/publish.hpp"
#include "sync-engine/steps/refused_push.hpp"
#include "sync-engine/tree/safe_write.hpp"

namespace ws::sync {
namespace {

/// Chooses what is staged, and stages it a part at a time.
class Stager {
 public:
  Stager(Session& session, const Survey& survey, std::vector<Row>& rows)
      : session_(session), survey_(survey), rows_(rows), revision_(survey.revision) {}

  /// Reads the texts and puts them into the history.
  Result<void> collect() {
    WS_TRY(session_.state.clear_staged());
    WS_LET(const SafeWriter files, SafeWriter::open(session_.root));
    // What could not be done here holds up the rest of its document: a move would carry the revision of a text that is
    // not here.
    for (const Row& row : rows_) {
      if (row.state == Row::State::failed && !row.action.document.empty()) held_up_.insert(row.action.document);
    }
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (held_up_.contains(rows_[row].action.document)) continue;
      if (auto item = item_for(rows_[row])) WS_TRY(add(files, row, std::move(*item)));
    }
    if (waiting_.empty()) return {};
    if (waiting_.size() > session_.options.commit_items) put_movers_first();
    WS_TRY(session_.go_on());
    return session_.history.record_before({}, used_up_);
  }

  /// Stages what one commit may hold. False: nothing was left.
  Result<bool> stage_part() {
    if (next_ >= waiting_.size()) return false;
    const std::size_t end = end_of_part();
    staged_ = {};
    item_rows_.clear();
    for (; next_ < end; ++next_) {
      staged_.items.push_back(std::move(waiting_[next_].first));
      item_rows_.push_back(waiting_[next_].second);
    }
    WS_TRY(send());
    return true;
  }

  /// The counter after the parts that are committed.
  void expect_revision(std::uint64_t revision) { revision_ = std::max(revision_, revision); }

 private:
  static bool frees_or_moves(const PushItem& item) {
    return item.kind == ActionKind::push_delete || item.kind == ActionKind::push_move;
  }

  /// A place is free once all of one commit took effect: what leaves or changes places goes together and first, with
  /// the edits of the same documents, which are made from the same revision.
  void put_movers_first() {
    std::set<DocumentId> movers;
    for (const auto& [staged, row] : waiting_) {
      if (frees_or_moves(staged.item)) movers.insert(staged.item.document);
    }
    const auto rest = std::stable_partition(waiting_.begin(), waiting_.end(), [&](const auto& each) {
      return !each.first.item.document.empty() && movers.contains(each.first.item.document);
    });
    movers_ = static_cast<std::size_t>(rest - waiting_.begin());
  }

  std::size_t end_of_part() const {
    return std::min(waiting_.size(), std::max(next_ + session_.options.commit_items, movers_));
  }

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
    if (renamed_on_both(*found)) {
      item.kind = ActionKind::push_move;
      item.document = found->document;
      item.revision = found->base->revision;
      item.previous_path = found->base->path;
    }
    return StagedItem{.item = std::move(item), .file = found->path, .conflict = *found};
  }

  bool is_recorded(const Conflict& conflict) const {
    return std::any_of(survey_.known_conflicts.begin(), survey_.known_conflicts.end(), [&](const Conflict& known) {
      return (!known.here_only || !is_for_service(known)) && known.document == conflict.document &&
             known.local == conflict.local && known.remote == conflict.remote;
    });
  }

  Result<void> add(const SafeWriter& files, std::size_t row, StagedItem staged) {
    if (!staged.item.hash && came_back(files, staged.file)) {
      rows_[row].fail({.kind = Failure::Kind::conflict,
                       .what = fmt::format("{} came back since it was looked at", staged.file.text()),
                       .hint = "run the command again"});
      return {};
    }
    if (staged.item.kind == ActionKind::push_move && !staged.conflict) {
      // Its text stays where it is.
    } else if (staged.item.hash) {
      auto text = files.read(staged.file);
      if (!text || Sha256::of(*text) != *staged.item.hash) {
        Failure busy{.kind = Failure::Kind::conflict,
                     .what = fmt::format("{} changed since it was looked at", staged.file.text()),
                     .hint = "run the command again"};
        rows_[row].fail(std::move(busy));
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
    waiting_.emplace_back(std::move(staged), row);
    return {};
  }

  /// An editor that saves anew takes the file away for a moment; another file may stand there by right.
  bool came_back(const SafeWriter& files, const RelativePath& path) {
    if (!files.read(path)) return false;
    if (places_.empty()) {
      for (const auto& [document, entry] : survey_.local.tracked) places_.insert(entry.path);
      for (const auto& [created, hash] : survey_.local.created) places_.insert(created);
      for (const Skipped& skipped : survey_.local.skipped) {
        if (auto skipped_path = RelativePath::parse(skipped.path)) places_.insert(std::move(*skipped_path));
      }
    }
    return !places_.contains(path);
  }

  Result<void> send() {
    const auto rejected =
        send_staged(session_, staged_, revision_, [this] { session_.progress(Stage::push, ++sent_, waiting_.size()); });
    if (!rejected) return give_up(rejected.error());
    WS_TRY(take_out_rejected(*rejected));
    if (staged_.items.empty()) return {};
    return session_.state.put_staged(staged_);
  }

  /// No permission is a fact of each row; anything else ends the call.
  Result<void> give_up(Failure failure) {
    if (failure.kind != Failure::Kind::forbidden) return fail(std::move(failure));
    for (const std::size_t row : item_rows_) rows_[row].fail(cannot_push(failure));
    return {};
  }

  Result<void> take_out_rejected(const std::vector<Rejected>& rejected) {
    for (const Rejected& refused : rejected) {
      const auto at = std::find_if(staged_.items.begin(), staged_.items.end(), [&](const StagedItem& staged) {
        return path_on_wire(staged.item.path.text()) == path_on_wire(refused.path);
      });
      if (at == staged_.items.end()) continue;
      Failure failure{.kind = Failure::Kind::invalid,
                      .what = fmt::format("the service refused {}: {}", at->item.path.text(), refused.message)};
      failure.code = refused.code;
      if (is_out_of_reach(refused.code)) {
        failure = cannot_push(failure);
        failure.hint = "the file stays as it is, and is sent again once something about it changes";
        WS_TRY(note_refused(at->item.document));
      }
      const auto row = item_rows_.begin() + (at - staged_.items.begin());
      rows_[*row].fail(std::move(failure));
      staged_.items.erase(at);
      item_rows_.erase(row);
    }
    return {};
  }

  Result<void> note_refused(const DocumentId& document) {
    if (document.empty()) return {};
    return session_.state.put_refused(document, refusal_mark(survey_.base, survey_.local, survey_.remote, document));
  }

  Session& session_;
  const Survey& survey_;
  std::vector<Row>& rows_;
  std::uint64_t revision_;                                   ///< of the source, as far as this run knows
  std::vector<std::pair<StagedItem, std::size_t>> waiting_;  ///< with the place of its row
  std::size_t next_ = 0;                                     ///< of `waiting_`: before it all was staged
  std::size_t movers_ = 0;                                   ///< of `waiting_`: those that one commit must hold
  StagedCommit staged_;                                      ///< the part at hand
  std::vector<std::size_t> item_rows_;                       ///< of `staged_.items`, one each
  std::uint64_t sent_ = 0;
  TextChanges used_up_;
  std::set<DocumentId> held_up_;
  std::set<RelativePath> places_;  ///< where the plan saw files; filled when a delete asks
};

}  // namespace

Result<std::vector<Rejected>> send_staged(Session& session,
                                          StagedCommit& staged,
                                          std::uint64_t revision,
                                          const std::function<void()>& next_text) {
  std::vector<PushItem> items;
  std::map<std::string, git::ObjectId> blobs;
  for (const StagedItem& each : staged.items) {
    items.push_back(each.item);
    if (!each.blob.empty()) blobs[each.item.path.string()] = each.blob;
  }
  const Tie& tie = session.tie;
  WS_LET(const PlanAnswer plan, session.remote->plan(tie.source_id, revision, tie.client_id, items));
  WS_LET(PushAnswer pushed, session.remote->push(tie.source_id, plan.plan_id, items, [&](const PushItem& item) {
    next_text();
    return session.history.text(blobs.at(item.path.string()));
  }));
  staged.request = {.source_id = tie.source_id,
                    .plan_id = plan.plan_id,
                    .push_ids = std::move(pushed.push_ids),
                    .expected_revision = revision,
                    .client_id = tie.client_id,
                    .message = std::move(staged.request.message)};
  return std::move(pushed.rejected);
}

Result<void> stage_changes(Session& session, const Survey& survey, std::vector<Row>& rows) {
  Stager stager(session, survey, rows);
  WS_TRY(stager.collect());
  WS_LET(const bool any, stager.stage_part());
  static_cast<void>(any);
  return {};
}

Result<void> publish_changes(Session& session,
                             const Survey& survey,
                             const std::string& message,
                             std::vector<Row>& rows) {
  Stager stager(session, survey, rows);
  WS_TRY(stager.collect());
  while (true) {
    WS_LET(const bool any, stager.stage_part());
    if (!any) return {};
    WS_TRY(commit_staged(session, message, rows));
    WS_LET(const std::uint64_t revision, session.state.source_revision());
    stager.expect_revision(revision);
  }
}

}  // namespace ws::sync

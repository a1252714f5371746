#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/utf8.hpp"
#include "sync-engine/conflict_store/conflict_texts.hpp"
#include "sync-engine/publish/match_answer.hpp"
#include "sync-engine/publish/publish.hpp"
#include "sync-engine/survey/held_documents.hpp"

namespace ws::sync {
namespace {

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return trimmed_end(line);
}

std::string without_blanks(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string plain;
  while (!text.empty()) {
    plain += take_line(text);
    plain += '\n';
  }
  trim_end(plain, "\n");
  return utf8::nfc(plain);
}

/// Whether two texts say the same: blanks at the ends of lines, line ends, empty lines at the end, a byte order mark
/// and the Unicode form aside.
bool is_same_but_for_blanks(std::string_view a, std::string_view b) { return without_blanks(a) == without_blanks(b); }

constexpr std::size_t max_text_bytes = std::size_t{32} << 20U;  // of conflicts, in memory at a time

/// Takes the answer of a commit into state and history.
class Committer {
 public:
  Committer(Session& session, CommitPart part, std::vector<Row>& rows, AwaitFiles await_files)
      : session_(session), part_(std::move(part)), rows_(rows), await_files_(std::move(await_files)) {}

  Result<void> commit() {
    if (items().empty()) return {};
    session_.progress(Stage::commit, 0, items().size());
    auto answer = send();
    if (!answer && answer.error().code == "plan_expired") {
      if (auto sent = send_anew(); !sent) return refused(std::move(sent).error());
      if (items().empty()) return {};
      answer = send();
    }
    if (!answer) return refused(std::move(answer).error());
    WS_TRY(take(*answer, nullptr));
    session_.progress(Stage::commit, items().size(), items().size());
    return {};
  }

  Result<void> take_over() {
    const Failure dropped{.kind = Failure::Kind::conflict, .what = "it was not published"};
    WS_LET(const CommitAnswer applied, find_applied_items(session_, items()));
    return take(applied, &dropped);
  }

  /// Handles a plan that certainly was not committed.
  Result<void> send_anew() {
    part_.commit.under_way = false;
    WS_TRY(send_part(session_, part_, part_.commit.request.expected_revision, rows_, [] {}));
    return items().empty() ? session_.state.clear_staged() : Result<void>();
  }

 private:
  const std::vector<StagedItem>& items() const { return part_.commit.items; }

  Result<CommitAnswer> send() {
    part_.commit.under_way = true;
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    // Whichever command hears of its end, it is this operation's.
    WS_TRY(session_.state.operations().begin_record());
    WS_TRY(session_.state.put_staged(part_.commit));
    WS_TRY(transaction.commit());
    return session_.remote->commit(part_.commit.request);
  }

  /// Drops a commit that certainly did not happen; keeps one that may have, so that the next run sends it again.
  Result<void> refused(Failure failure) {
    if (is_unusable_answer(failure)) return settle(std::move(failure));
    const bool surely_not = failure.kind == Failure::Kind::invalid || failure.kind == Failure::Kind::not_found ||
                            failure.kind == Failure::Kind::conflict || failure.kind == Failure::Kind::forbidden;
    if (!surely_not) return fail(std::move(failure));
    WS_TRY(session_.state.clear_staged());
    for (const std::size_t row : part_.rows) {
      rows_[row].fail(failure.kind == Failure::Kind::forbidden ? cannot_push(failure) : failure);
    }
    return {};
  }

  /// The answer cannot be used, and repeating the commit would return the same one: the commit is dropped.
  Result<void> settle(Failure failure) {
    const auto applied = find_applied_items(session_, items());
    if (applied) WS_TRY(take(*applied, &failure));
    return fail(std::move(failure));
  }

  /// `no_word`: why an item may be missing from the answer; null: it must not be.
  Result<void> take(const CommitAnswer& answer, const Failure* no_word) {
    WS_LET(const std::vector<Answered> answered, match_answer(*session_.remote, items(), answer));
    for (const StagedItem& staged : items()) WS_TRY(know(staged.item.document));
    for (const Answered& each : answered) {
      if (each.applied != nullptr) WS_TRY(know(each.applied->document));
    }
    if (await_files_) {
      WS_LET(not_here_, await_files_());
    }
    for (std::size_t i = 0; i < answered.size(); ++i) {
      const StagedItem& staged = items()[i];
      Row& row = rows_[part_.rows[i]];
      if (answered[i].conflict != nullptr) {
        WS_TRY(record_conflict(staged, *answered[i].conflict, row));
      } else if (answered[i].applied != nullptr) {
        WS_TRY(record_applied(staged, *answered[i].applied, row));
      } else {
        row.fail(no_word != nullptr ? *no_word
                                    : Failure{.kind = Failure::Kind::service,
                                              .what = fmt::format("the service did not report what it did with {}",
                                                                  staged.item.path.text())});
      }
    }
    return store(answer);
  }

  /// Loads what this tree knows of a document, once: a part needs no more than its own.
  Result<void> know(const DocumentId& document) {
    if (document.empty() || !known_.insert(document).second) return {};
    WS_LET(auto row, session_.state.find_base(document));
    if (row) base_.emplace(document, std::move(*row));
    WS_LET(auto pending, session_.state.find_pending(document));
    if (pending) pending_.emplace(document, std::move(*pending));
    return {};
  }

  /// A document that was moved and edited has two items, in this order: `base_` is as the first left it.
  Result<void> record_applied(const StagedItem& staged, const AppliedItem& applied, Row& row) {
    const PushItem& item = staged.item;
    if (auto refused = what_is_wrong(item, applied)) {
      row.fail(std::move(*refused));
      return {};
    }
    if (!not_here_.empty() && not_here_.contains(staged.disk_path)) {
      row.fail(changed_meanwhile(staged.disk_path));
      is_told_all_ = false;
      return {};
    }
    const DocumentId document = applied.document.empty() ? item.document : applied.document;
    // The answer to a move may have the text after the edit in the same commit.
    const bool tells_text = item.kind != ActionKind::push_move && item.hash && applied.hash;
    const bool in_its_own_form = tells_text && *applied.hash != *item.hash;
    if (in_its_own_form) {
      WS_LET(const bool alike, says_the_same_there(document, staged));
      if (!alike) {
        row.fail({.kind = Failure::Kind::integrity,
                  .what = fmt::format("the service stored a different text for {}", item.path.text())});
        return {};
      }
    }
    row.state = Row::State::done;
    row.action.document = document;
    const auto old = base_.find(document);
    if (old != base_.end() && old->second.disk_path() != staged.disk_path)
      after_.push_back({.path = old->second.disk_path().string()});
    // The service had the text of a merge already: nothing changed there.
    const bool is_same =
        item.kind == ActionKind::push_update && applied.revision.is_known() && applied.revision == item.revision;
    if (!is_same) changed_.insert(document);
    if (!item.hash) {
      after_.push_back({.path = staged.disk_path.string()});
      advanced_.emplace_back(document, std::nullopt);
      base_.erase(document);
      return {};
    }
    const bool moved_only = item.kind == ActionKind::push_move && old != base_.end();
    BaseRow now =
        moved_only ? old->second : BaseRow{.entry = {.path = item.path, .hash = *item.hash}, .blob = staged.blob};
    const bool text_only = item.kind == ActionKind::push_update && old != base_.end();
    now.entry.path = text_only ? place_there(document, old->second) : item.path;
    if (item.kind == ActionKind::push_move) moved_.insert(document);
    // Without a revision in the answer, the next pull brings it.
    is_told_all_ = is_told_all_ && applied.revision.is_known();
    now.entry.revision = applied.revision.is_known() ? applied.revision : item.revision;
    if (in_its_own_form) {
      // The pushed text becomes the base, and the service's form of it arrives as an edit with the next pull.
      now.entry.revision = old != base_.end() ? old->second.entry.revision : DocumentRevision{};
      is_told_all_ = false;
      session_.pulls_again = true;
    }
    now.set_disk_path(staged.disk_path);
    now.document_follows_file = now.displaced_to && now.document_follows_file;
    after_.push_back({.path = staged.disk_path.string(), .blob = now.blob});
    base_.insert_or_assign(document, now);
    advanced_.emplace_back(document, std::move(now));
    return {};
  }

  /// Why the answer to an item is invalid; empty: it is valid.
  std::optional<Failure> what_is_wrong(const PushItem& item, const AppliedItem& applied) const {
    if (applied.document.empty() && item.document.empty()) {
      return Failure{.kind = Failure::Kind::service,
                     .what = fmt::format("the service did not report which document {} is", item.path.text()),
                     .hint = "run the same command again: what was stored is recognized"};
    }
    if (item.document.empty() && base_.contains(applied.document)) {
      return Failure{
          .kind = Failure::Kind::service,
          .what = fmt::format("the service answered for {} with the document of another file", item.path.text()),
          .hint = "run the same command again: what was stored is recognized"};
    }
    return std::nullopt;
  }

  /// Whether the service stored our text up to blanks and line ends.
  Result<bool> says_the_same_there(const DocumentId& document, const StagedItem& staged) {
    const auto there = session_.remote->content(document);
    if (!there) return is_about_one(there.error()) ? Result<bool>(false) : fail(Failure(there.error()));
    if (there->deleted || !there->content) return false;
    WS_LET(const std::string ours, session_.history.text(staged.blob));
    return is_same_but_for_blanks(ours, *there->content);
  }

  /// The service's path of a document that was only edited: after a move in the same commit, else as last pulled. A
  /// move that was not applied does not count.
  const RelativePath& place_there(const DocumentId& document, const BaseRow& known) const {
    const auto pulled = pending_.find(document);
    const bool was_moved_there = !moved_.contains(document) && pulled != pending_.end() && pulled->second.entry;
    return was_moved_there ? pulled->second.entry->path : known.entry.path;
  }

  Result<void> record_conflict(const StagedItem& staged, const RecordedConflict& recorded, Row& row) {
    const PushItem& item = staged.item;
    Conflict conflict = staged.conflict ? *staged.conflict : new_conflict(item);
    std::optional<std::string> seen_there;
    // Detected by the service alone, or a new file at a taken path: no pull has brought the other side.
    if (conflict.document.empty() || !staged.conflict) {
      WS_LET(seen_there, fetch_service_side(conflict, recorded.id));
      conflict.which = find_recorded_case(staged.conflict ? conflict.kind() : recorded.kind, conflict);
    }
    WS_TRY(know(conflict.document));
    const bool is_here_only = recorded.id.empty();  // the service could not be asked about it
    conflict.record = is_here_only ? ConflictRecord::here : ConflictRecord::service;
    conflict.id = is_here_only ? local_conflict_id(conflict) : recorded.id;
    row.state = Row::State::done;
    row.action.kind = ActionKind::conflict;
    row.action.reason = conflict.row().reason;
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
    for (const auto* text : {&texts.base, &texts.local, &texts.remote}) text_bytes_ += *text ? (*text)->size() : 0;
    texts_.insert_or_assign(conflict.id, std::move(texts));
    if (text_bytes_ > max_text_bytes) WS_TRY(write_texts());
    conflicts_.push_back(std::move(conflict));
    return {};
  }

  /// Fills in the document and the remote side, which a decision needs. Returns the remote text.
  Result<std::optional<std::string>> fetch_service_side(Conflict& conflict, const std::string& id) {
    using Text = std::optional<std::string>;
    auto recorded = session_.remote->find_conflict(id);
    if (!recorded) return is_about_one(recorded.error()) ? Result<Text>(Text{}) : fail(std::move(recorded).error());
    PulledItem& item = recorded->remote;
    if (item.document.empty()) item.document = conflict.document;
    if (item.document.empty() || (!conflict.document.empty() && item.document != conflict.document)) return Text{};
    if (!item.deleted && (!item.hash || !item.content)) {
      auto asked = session_.remote->content(item.document);
      if (!asked) return Text{};
      if (asked->path.empty()) asked->path = item.path;
      item = std::move(*asked);
    }
    if (item.deleted || !item.content) return Text{};
    conflict.document = item.document;
    auto path = RelativePath::parse(item.path);
    const bool elsewhere = path && service_form(path->text()) != service_form(conflict.path.text());
    conflict.remote = Entry{.path = elsewhere ? std::move(*path) : conflict.path,
                            .hash = Sha256::of(*item.content),
                            .revision = item.revision};
    return std::move(item.content);
  }

  /// A conflict that only the service detected: another client committed between our pull and our commit.
  Conflict new_conflict(const PushItem& item) const {
    Conflict conflict{.path = item.path, .document = item.document};
    if (const auto base = base_.find(item.document); base != base_.end()) conflict.base = base->second.entry;
    if (item.hash) conflict.local = Entry{.path = item.path, .hash = *item.hash};
    return conflict;
  }

  Result<void> write_texts() {
    WS_TRY(write_conflict_texts(session_, texts_));
    texts_.clear();
    text_bytes_ = 0;
    return {};
  }

  Result<void> store(const CommitAnswer& answer) {
    WS_TRY(write_texts());
    WS_TRY(session_.history.record_after(
        after_, part_.commit.request.message.empty() ? "Pushed to the service" : part_.commit.request.message));
    WS_LET(const std::vector<Conflict> known, session_.state.conflicts());
    WS_LET(const auto refused, session_.state.refused());
    WS_LET(const auto pending, session_.state.pending());
    std::vector<std::string> replaced;
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    for (const auto& [document, row] : advanced_) {
      if (row) {
        WS_TRY(session_.state.put_base(document, *row, ChangeOrigin::sent));
      } else {
        // What went is what the service had: an edit that the delete won over comes back with its undo.
        const auto heard = pending.find(document);
        if (heard != pending.end() && heard->second.entry && !heard->second.blob.empty()) {
          const BaseRow there{.entry = *heard->second.entry, .blob = heard->second.blob};
          WS_TRY(session_.state.put_base(document, there, ChangeOrigin::agreed));
        }
        WS_TRY(session_.state.forget_base(document, ChangeOrigin::sent));
      }
      WS_TRY(session_.state.drop_pending(document));
      if (const std::string key = document.text(); refused.contains(key)) WS_TRY(session_.state.drop_refused(key));
    }
    std::multimap<DocumentId, const Conflict*> known_by_document;
    for (const Conflict& older : known) known_by_document.emplace(older.document, &older);
    for (Conflict& conflict : conflicts_) {
      conflict.device = session_.options.device;
      // A document has one open conflict: the newer replaces the older.
      const auto [first, last] = known_by_document.equal_range(conflict.document);
      for (auto each = first; each != last; ++each) {
        const Conflict& older = *each->second;
        if ((older.document.empty() && older.path != conflict.path) || older.id == conflict.id) continue;
        WS_TRY(session_.state.drop_conflict(older.id));
        replaced.push_back(older.id);
      }
      WS_TRY(session_.state.put_conflict(conflict));
    }
    // Invariant: the stored source revision never passes a change that was not pulled. The revision rises by one with
    // each change: where it rose by ours alone, no other client committed in between, and the next pull starts after
    // it. Otherwise that pull repeats our own changes, which only costs time. Where a text could not be read, the
    // revision was left behind on purpose, so that the next pull repeats it.
    WS_LET(const SourceRevision taken_over, session_.state.source_revision());
    const bool follows = taken_over == part_.commit.request.expected_revision && is_told_all_;
    const SourceRevision least = taken_over.after(changed_.size());
    if (follows && answer.revision == least) WS_TRY(session_.state.set_source_revision(answer.revision));
    WS_TRY(session_.state.clear_staged());
    WS_TRY(transaction.commit());
    for (const std::string& id : replaced) remove_conflict_files(session_.root, id);
    const bool counts_twice = answer.revision > least && answer.revision <= taken_over.after(advanced_.size());
    return follows && counts_twice ? check_for_other_clients(taken_over, answer.revision) : Result<void>();
  }

  /// A document that was moved and edited may count twice, which looks like an edit of another client: a pull tells
  /// them apart. If that fails, the next run pulls.
  Result<void> check_for_other_clients(SourceRevision since, SourceRevision revision) {
    const auto end =
        session_.remote->pull(session_.binding.source_id, since, [this](const PulledItem& item) -> Result<void> {
          WS_TRY(know(item.document));
          const auto ours = base_.find(item.document);
          const bool known = ours != base_.end();
          const bool is_ours = item.deleted
                                   ? !known
                                   : known && ours->second.entry.revision == item.revision &&
                                         service_form(ours->second.entry.path.text()) == service_form(item.path);
          return is_ours ? Result<void>() : fail(Failure::Kind::conflict, "it was changed by someone else");
        });
    return end && end->revision == revision ? session_.state.set_source_revision(revision) : Result<void>();
  }

  Session& session_;
  CommitPart part_;
  std::vector<Row>& rows_;
  AwaitFiles await_files_;
  std::set<RelativePath> not_here_;  ///< of the new files
  std::set<DocumentId> known_;       ///< of which the next two have what there is
  std::map<DocumentId, BaseRow> base_;
  std::map<DocumentId, PendingRow> pending_;
  std::vector<std::pair<DocumentId, std::optional<BaseRow>>> advanced_;
  std::set<DocumentId> changed_;  ///< of these, on the service
  std::set<DocumentId> moved_;    ///< by this commit
  std::vector<Conflict> conflicts_;
  std::map<std::string, ThreeTexts> texts_;  ///< of conflicts, by id: written together
  std::size_t text_bytes_ = 0;
  TextChanges after_;
  bool is_told_all_ = true;  ///< the revision of each document that was taken
};

}  // namespace

Result<void> commit_part(Session& session, CommitPart part, std::vector<Row>& rows, const AwaitFiles& await_files) {
  return Committer(session, std::move(part), rows, await_files).commit();
}

Result<void> commit_anew(Session& session, CommitPart part, std::vector<Row>& rows) {
  Committer committer(session, std::move(part), rows, {});
  WS_TRY(committer.send_anew());
  return committer.commit();
}

Result<void> take_over_part(Session& session, CommitPart part, std::vector<Row>& rows) {
  return Committer(session, std::move(part), rows, {}).take_over();
}

}  // namespace ws::sync

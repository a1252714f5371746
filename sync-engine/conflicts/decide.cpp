#include "sync-engine/conflicts/decide.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "api-client/base/utf8.hpp"
#include "api-client/base/uuid.hpp"
#include "sync-engine/changes/replace_file.hpp"
#include "sync-engine/conflict_store/conflict_texts.hpp"
#include "sync-engine/conflicts/decide_place.hpp"
#include "sync-engine/conflicts/decide_rewound.hpp"
#include "sync-engine/conflicts/decided_block.hpp"
#include "sync-engine/conflicts/recorded_conflict.hpp"
#include "sync-engine/reconcile/free_name.hpp"

namespace ws::sync {
namespace {

/// The decision of one conflict about a text.
class Decision {
 public:
  /// `not_free`: names that the service refused for a copy, or that are reserved for another copy.
  Decision(Session& session,
           const Conflict& conflict,
           Keep keep,
           const SafeWriter& writer,
           const std::set<RelativePath>& not_free)
      : session_(session), conflict_(conflict), keep_(keep), writer_(writer), not_free_(not_free) {}

  /// The path of the copy that the service refused; empty: none.
  const std::optional<RelativePath>& refused_copy() const { return refused_copy_; }

  /// Resolves the conflict on the service. Returns what is left to do here; nothing of that is done yet.
  Result<DecidedConflict> tell_service(const std::optional<std::string>& merged) {
    if (auto seen = has_seen_their_text(); !seen)
      return fail(refresh_after_refusal(session_, conflict_, std::move(seen).error()));
    texts_ = read_conflict_texts(session_.root, conflict_.id);
    WS_TRY(is_no_folder());
    WS_LET(on_disk_, read_if_there(writer_, conflict_.path));
    WS_TRY(has_what_was_recorded());
    WS_LET(const std::optional<RelativePath> copy, copy_path());
    ResolveRequest request{.conflict_id = conflict_.id, .keep = keep_, .content = merged};
    if (conflict_.remote) request.expected_revision = conflict_.remote->revision;  // none there: none expected
    if (copy) request.path_for_local_copy = copy->string();
    if (makes_new_document()) request.path = conflict_.path.string();
    std::optional<AppliedItem> result;
    if (!conflict_.is_here_only()) {
      auto answered = session_.remote->resolve(request);
      if (!answered) {
        refused_copy_ = copy;
        return fail(name_is_taken(refresh_after_refusal(session_, conflict_, std::move(answered).error())));
      }
      result = std::move(*answered);
    }
    DecidedConflict decided{.conflict = conflict_};
    WS_TRY(keep_their_text(decided));
    WS_LET(const std::optional<std::string> text, winning_text(merged));
    if (keep_ != Keep::local || holds_both_texts())
      decided.files.push_back({.path = conflict_.path, .now = on_disk_, .text = text});
    WS_TRY(conflict_.is_here_only() && keep_ != Keep::remote ? leave_to_push(decided, text)
                                                             : agree(decided, result, text));
    if (copy) WS_TRY(add_copy(decided, *copy));
    return decided;
  }

 private:
  /// A conflict that only the service detected has no remote text until the next pull: it cannot be decided unseen.
  Result<void> has_seen_their_text() const {
    if (conflict_.remote || conflict_.row().sides != ConflictSides::both) return {};
    return fail(Failure::Kind::conflict,
                fmt::format("the text of {} on the service was not fetched yet", conflict_.path.text()),
                "`ws sync` fetches it; then decide");
  }

  /// Whether the text goes to a new document, as the old one is archived.
  bool makes_new_document() const {
    return conflict_.which == ConflictCase::edited_and_archived && (keep_ == Keep::local || keep_ == Keep::merged);
  }

  /// Explains a refused create: its path may be taken by a twin, which no plan here contains.
  Failure name_is_taken(Failure refusal) const {
    if (!makes_new_document() || refusal.kind != Failure::Kind::conflict || !refusal.hint.empty()) return refusal;
    refusal.what =
        fmt::format("the service refused to create a document at {}: {}", conflict_.path.text(), refusal.what);
    refusal.hint =
        "if its name is taken on the service, rename the file here, run `ws sync`, then decide again; or keep both";
    return refusal;
  }

  Result<void> is_no_folder() const {
    const Descriptor folder = session_.root.open_beneath(conflict_.path.text(), O_PATH | O_NOFOLLOW | O_DIRECTORY);
    if (!folder) return {};
    return fail(Failure::Kind::conflict,
                fmt::format("{} became a folder since the conflict was recorded", conflict_.path.text()),
                "`ws sync` records it as it is now; then decide");
  }

  /// Markers that `--markers` wrote are still in the file: the local text is then the recorded one.
  bool holds_both_texts() const { return on_disk_ && is_being_merged(session_.root, conflict_.id, *on_disk_); }

  /// `both` keeps the two recorded texts; a file that was edited since would be a third one.
  Result<void> has_what_was_recorded() const {
    if (keep_ != Keep::both || !on_disk_ || !conflict_.local || holds_both_texts()) return {};
    const Sha256 now = Sha256::of(*on_disk_);
    if (now == conflict_.local->hash || (conflict_.remote && now == conflict_.remote->hash)) return {};
    return fail(Failure::Kind::conflict,
                fmt::format("{} was edited since the conflict was recorded", conflict_.path.text()),
                "`ws sync` records it as it is now; then decide");
  }

  Result<std::optional<RelativePath>> copy_path() const {
    using Path = std::optional<RelativePath>;
    if (keep_ != Keep::both) return Path{};
    auto copy = name_beside(conflict_.path, "local", [this](const RelativePath& place) {
      if (not_free_.contains(place)) return false;
      const auto there = writer_.read(place);
      return there ? is_own_copy(place, *there) : there.error().kind == Failure::Kind::not_found;
    });
    if (copy) return copy;
    return fail(Failure::Kind::conflict, fmt::format("no free name for a copy of {}", conflict_.path.text()));
  }

  /// Whether an interrupted run of this decision wrote the copy already.
  bool is_own_copy(const RelativePath& place, const std::string& text) const {
    if (!conflict_.local || Sha256::of(text) != conflict_.local->hash) return false;
    const auto known = session_.state.find_base(place);
    return known && !*known;
  }

  Result<std::string> local_text() const {
    if (on_disk_ && conflict_.local && Sha256::of(*on_disk_) == conflict_.local->hash) return *on_disk_;
    if (texts_.local) return *texts_.local;
    return fail(Failure::Kind::disk,
                fmt::format("the local text of the conflict at {} is lost", conflict_.path.text()));
  }

  Result<std::optional<std::string>> remote_text() {
    using Text = std::optional<std::string>;
    if (!conflict_.remote) return Text{};
    if (texts_.remote && Sha256::of(*texts_.remote) == conflict_.remote->hash) return Text(texts_.remote);
    WS_LET(Text text, fetch_remote_text(session_, conflict_.document, {}, conflict_.remote->hash));
    return text ? Result<Text>(std::move(text)) : fail(changed_again(conflict_));
  }

  /// The text at the path from now on; empty: no file.
  Result<std::optional<std::string>> winning_text(const std::optional<std::string>& merged) {
    using Text = std::optional<std::string>;
    switch (keep_) {
      case Keep::merged: return merged;
      case Keep::remote:
      case Keep::both: return remote_text();
      case Keep::local: break;
    }
    if (!conflict_.local) return Text{};
    WS_LET(std::string text, local_text());
    return Text(std::move(text));
  }

  /// Who made the change of the service that is not applied here; without a name: nobody known.
  Result<Author> pending_author() const {
    WS_LET(const auto pending, session_.state.find_pending(conflict_.document));
    return pending ? pending->author : Author();
  }

  /// The losing remote text goes to the history, so that `restore` can bring it back.
  Result<void> keep_their_text(DecidedConflict& decided) {
    if (keep_ == Keep::remote || keep_ == Keep::both || !conflict_.remote || !texts_.remote) return {};
    WS_LET(const git::ObjectId blob, session_.history.keep(*texts_.remote));
    WS_LET(Author author, pending_author());
    decided.theirs.push_back({.path = conflict_.path.string(), .blob = blob, .author = std::move(author)});
    return {};
  }

  Result<void> add_copy(DecidedConflict& decided, const RelativePath& copy) {
    if (!conflict_.local) return {};
    WS_LET(std::string text, local_text());
    Version made{.path = copy, .hash = Sha256::of(text)};
    WS_LET(made.blob, session_.history.keep(text));
    decided.end.recorded.push_back({.origins = ChangeOrigin::decided, .after = std::move(made)});
    if (const auto there = writer_.read(copy); there && *there == text) return {};
    decided.files.push_back({.path = copy, .text = std::move(text)});
    return {};
  }

  /// A conflict that is kept here alone: the remote text becomes the base, and the next run pushes ours as an edit of
  /// it.
  Result<void> leave_to_push(DecidedConflict& decided, const std::optional<std::string>& text) {
    decided.end = {.base = {{conflict_.document, std::nullopt}}, .pending = {{conflict_.document, std::nullopt}}};
    WS_LET(const std::optional<std::string> theirs, remote_text());
    if (!theirs) return {};
    BaseRow row{.entry = *conflict_.remote};
    WS_LET(row.blob, session_.history.keep(*theirs));
    row.set_disk_path(conflict_.path);
    row.document_follows_file = row.displaced_to && conflict_.base && conflict_.base->path != conflict_.path;
    std::optional<Version> now;
    if (text) {
      now = Version{.path = conflict_.path, .hash = Sha256::of(*text), .revision = row.entry.revision};
      WS_LET(now->blob, session_.history.keep(*text));
    }
    WS_TRY(record_losing_text(decided, conflict_.document, std::move(now)));
    decided.end.base.insert_or_assign(conflict_.document, std::move(row));
    return {};
  }

  Result<void> agree(DecidedConflict& decided,
                     const std::optional<AppliedItem>& result,
                     const std::optional<std::string>& text) {
    const bool is_named = result && !result->document.empty();
    const DocumentId document = is_named ? result->document : conflict_.document;
    decided.end = {.base = {{conflict_.document, std::nullopt}}, .pending = {{conflict_.document, std::nullopt}}};
    decided.agreed = {{.path = conflict_.path.string()}};
    if (!text) return record_losing_text(decided, document, std::nullopt);
    WS_LET(const git::ObjectId blob, session_.history.keep(*text));
    decided.agreed.front().blob = blob;
    // As the service names it: blame goes by that.
    if (keep_ == Keep::remote || keep_ == Keep::both) {
      WS_LET(decided.agreed.front().author, pending_author());
    }
    // The answer does not name the new document: the next pull brings it, with the same text.
    if (!conflict_.remote && !is_named) return {};
    const DocumentRevision known = conflict_.remote ? conflict_.remote->revision : DocumentRevision{1};
    BaseRow row{.entry = {.path = path_there(result),
                          .hash = Sha256::of(*text),
                          .revision = result && result->revision.is_known() ? result->revision : known},
                .blob = blob};
    // A decision about a text does not decide a rename: that is pushed or pulled by the next run.
    row.set_disk_path(conflict_.path);
    row.document_follows_file = row.displaced_to && conflict_.base && conflict_.base->path != conflict_.path;
    WS_TRY(record_losing_text(decided, document, version_of(row)));
    decided.end.base.insert_or_assign(document, std::move(row));
    return {};
  }

  /// Undoing a decision restores the losing text. Where both are kept that is ours, which gave its place to theirs.
  Result<void> record_losing_text(DecidedConflict& decided, const DocumentId& document, std::optional<Version> now) {
    const bool is_ours = keep_ == Keep::remote || keep_ == Keep::both;
    const std::optional<Entry>& loser = is_ours ? conflict_.local : conflict_.remote;
    const std::optional<std::string>& text = is_ours ? texts_.local : texts_.remote;
    if (loser && (!text || Sha256::of(*text) != loser->hash)) return {};
    OperationRow row{.document = keep_ == Keep::both ? conflict_.document : document,
                     .origins = ChangeOrigin::decided,
                     .after = std::move(now)};
    if (loser) {
      row.before = Version{.path = conflict_.path, .hash = loser->hash, .revision = loser->revision};
      WS_LET(row.before->blob, session_.history.keep(*text));
    }
    decided.end.recorded.push_back(std::move(row));
    return keep_for_undo(decided);
  }

  /// Taking such a decision back alone would put one text in the place of the other, on either side.
  Result<void> keep_for_undo(DecidedConflict& decided) {
    const OperationRow& row = decided.end.recorded.front();
    const bool is_for_theirs = keep_ == Keep::remote || keep_ == Keep::both;
    if (!is_for_theirs && (!conflict_.local || !row.after)) return {};
    git::ObjectId blob;
    if (conflict_.local) {
      WS_LET(const std::string text, local_text());
      WS_LET(blob, session_.history.keep(text));
    }
    decided.end.decided = DecidedText{.document = row.document,
                                      .text = row.after ? row.after->hash : Sha256{},
                                      .conflict = conflict_,
                                      .local_blob = blob};
    return {};
  }

  /// The path on the service, in the Unicode form of the disk where it is the same name.
  RelativePath path_there(const std::optional<AppliedItem>& result) const {
    if (!result && conflict_.is_here_only() && conflict_.remote) return conflict_.remote->path;
    if (!result || result->path.empty() || result->path == utf8::nfc(conflict_.path.text())) return conflict_.path;
    return RelativePath::parse(result->path).value_or(conflict_.path);
  }

  Session& session_;
  const Conflict& conflict_;
  Keep keep_;
  const SafeWriter& writer_;
  const std::set<RelativePath>& not_free_;
  std::optional<RelativePath> refused_copy_;
  ThreeTexts texts_;
  std::optional<std::string> on_disk_;
};

Failure no_open(const Conflict& conflict) {
  return {.kind = Failure::Kind::not_found,
          .what = fmt::format("there is no open conflict at {}", conflict.path.text()),
          .hint = "`ws sync conflicts` lists them; `ws sync` records what is new"};
}

/// The open conflict with that id. Fails where there is none or it cannot be decided.
Result<Conflict> find_open(Session& session, const Conflict& conflict) {
  WS_LET(std::optional<Conflict> open, session.state.find_conflict(conflict.id));
  if (!open) return fail(no_open(conflict));
  if (!open->is_here_only() && !is_uuid(open->id)) {
    return fail(Failure::Kind::conflict,
                fmt::format("the service recorded the conflict at {} under an invalid id", conflict.path.text()),
                "`ws sync` records it again; then decide");
  }
  return std::move(*open);
}

/// Decisions about texts, carried out here a block at a time.
class TextDecisions {
 public:
  using Tell = std::function<void(std::size_t choice, Result<void> result)>;

  TextDecisions(Session& session, SafeWriter& writer, Tell tell)
      : session_(session), writer_(writer), tell_(std::move(tell)) {}

  void add(std::size_t choice, const Conflict& conflict, Keep keep, const std::optional<std::string>& merged) {
    if (keep == Keep::merged && !merged) {
      return tell_(choice, fail(Failure::Kind::usage, "`merged` needs the merged text", "give it with --file"));
    }
    // Two decisions about one path must not be in one block.
    if (!places_.insert(conflict.path).second) {
      finish();
      places_.insert(conflict.path);
    }
    auto decided = tell_service(conflict, keep, merged);
    if (!decided) return tell_(choice, fail(std::move(decided).error()));
    for (const FileChange& file : decided->files) places_.insert(file.path);
    bytes_ += decided->bytes();
    block_.push_back(std::move(*decided));
    choices_.push_back(choice);
    if (block_.size() == max_at_once || bytes_ > max_bytes) finish();
  }

  void finish() {
    if (!block_.empty()) {
      std::vector<Result<void>> results = carry_out(session_, writer_, block_);
      for (std::size_t i = 0; i < results.size(); ++i) tell_(choices_[i], std::move(results[i]));
    }
    block_.clear();
    choices_.clear();
    places_.clear();
    bytes_ = 0;
  }

 private:
  static constexpr std::size_t max_at_once = 500;
  static constexpr std::size_t max_bytes = std::size_t{32} << 20U;  // of texts, in memory

  /// `both` prefers no text, so it is repeated where the remote text changed again or the name of the copy is taken.
  Result<DecidedConflict> tell_service(Conflict conflict, Keep keep, const std::optional<std::string>& merged) {
    constexpr int max_attempts = 4;
    std::set<RelativePath> not_free = places_;
    for (int attempt = 1;; ++attempt) {
      Decision decision(session_, conflict, keep, writer_, not_free);
      auto decided = decision.tell_service(merged);
      const bool met_change = !decided && decided.error().kind == Failure::Kind::conflict;
      if (!met_change || keep != Keep::both || attempt == max_attempts) return decided;
      WS_LET(const std::optional<Conflict> now, session_.state.find_conflict(conflict.id));
      if (!now || (*now == conflict && !decision.refused_copy())) return decided;
      if (*now == conflict) not_free.insert(*decision.refused_copy());
      conflict = *now;
    }
  }

  Session& session_;
  SafeWriter& writer_;
  Tell tell_;
  std::vector<DecidedConflict> block_;
  std::vector<std::size_t> choices_;  ///< that the block is of
  std::set<RelativePath> places_;     ///< that the block is about
  std::size_t bytes_ = 0;
};

class Decisions {
 public:
  Decisions(Session& session, const std::vector<Choice>& choices)
      : session_(session), choices_(choices), results_(choices.size()) {}

  std::vector<Result<void>> decide() {
    if (auto done = decide_all(); !done && !ended_by_) ended_by_ = std::move(done).error();
    std::vector<Result<void>> results;
    for (std::optional<Result<void>>& result : results_) {
      results.push_back(result ? std::move(*result) : Result<void>(fail(Failure(*ended_by_))));
    }
    return results;
  }

 private:
  using Open = std::vector<std::pair<std::size_t, Conflict>>;

  Result<void> decide_all() {
    Open about_texts;
    Open about_places;
    std::set<std::string> ids;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      Result<Conflict> open = ids.insert(choices_[i].conflict.id).second ? find_open(session_, choices_[i].conflict)
                                                                         : fail(no_open(choices_[i].conflict));
      if (!open) {
        tell(i, fail(std::move(open).error()));
      } else if (open->is_about(ConflictSubject::revision)) {
        tell(i, decide_rewound(session_, *open, choices_[i].keep));
      } else {
        (open->is_about(ConflictSubject::place) ? about_places : about_texts).emplace_back(i, std::move(*open));
      }
    }
    WS_LET(SafeWriter writer, SafeWriter::open(session_.root));
    const auto tell_result = [this](std::size_t i, Result<void> result) { tell(i, std::move(result)); };
    TextDecisions texts(session_, writer, tell_result);
    for (const auto& [i, conflict] : about_texts) {
      if (!ended_by_) texts.add(i, conflict, choices_[i].keep, choices_[i].merged);
    }
    texts.finish();
    return ended_by_ ? Result<void>() : decide_places(writer, std::move(about_places));
  }

  Result<void> decide_places(SafeWriter& writer, Open about_places) {
    if (about_places.empty()) return {};
    // First where a file takes its document's other name: then it is no longer in the way of a document that wants the
    // name it had.
    std::stable_partition(about_places.begin(), about_places.end(), [](const auto& open) {
      return open.second.which == ConflictCase::renamed_on_both ||
             open.second.which == ConflictCase::renamed_on_both_kept_here;
    });
    WS_LET(PlaceDecisions places, PlaceDecisions::open(session_, writer));
    for (const auto& [i, conflict] : about_places) {
      if (places.must_finish_before(conflict)) tell_all(places.finish());
      if (ended_by_) break;
      if (auto decided = places.add(i, conflict, choices_[i].keep); !decided) tell(i, std::move(decided));
    }
    tell_all(places.finish());
    return {};
  }

  void tell_all(const std::vector<std::pair<std::size_t, Result<void>>>& results) {
    for (const auto& [i, result] : results) tell(i, result);
  }

  void tell(std::size_t i, Result<void> result) {
    const bool ends = !result && !is_about_one(result.error()) && result.error().kind != Failure::Kind::usage;
    if (ends && !ended_by_) ended_by_ = result.error();
    results_[i] = std::move(result);
  }

  Session& session_;
  const std::vector<Choice>& choices_;
  std::vector<std::optional<Result<void>>> results_;
  std::optional<Failure> ended_by_;
};

}  // namespace

std::optional<ActionKind> planned_as(const Conflict& conflict, Keep keep) {
  const ConflictResolution* const resolution = conflict.row().find(keep);
  return resolution == nullptr ? std::nullopt : resolution->done_as;
}

std::optional<ActionKind> decided_as(const Conflict& conflict, Keep keep) {
  if (conflict.is_here_only() && keep == Keep::local) return std::nullopt;  // the plan that follows sends it
  return planned_as(conflict, keep);
}

std::vector<Result<void>> decide_conflicts(Session& session, const std::vector<Choice>& choices) {
  return Decisions(session, choices).decide();
}

}  // namespace ws::sync

#include "sync-engine/undo/apply_undo.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/reconcile/free_name.hpp"
#include "sync-engine/reconcile/overlapping_paths.hpp"
#include "sync-engine/session/written_files.hpp"

namespace ws::sync {

class UndoApplier::Impl {
 public:
  Impl(Session& session, const std::vector<UndoStep>& steps, bool was_begun)
      : session_(session),
        steps_(steps),
        was_begun_(was_begun),
        is_large_(steps.size() >= jobs_worth_a_thread),
        outcomes_(steps.size()),
        disk_(is_large_ ? OwnThread::one : OwnThread::none) {}

  Result<void> begin(const ReadsTexts& reads) {
    WS_LET(writer_, SafeWriter::open(session_.root));
    WS_TRY(record_before());
    return stage(reads);
  }

  void then(std::function<void()> job) { disk_.add(std::move(job)); }

  const std::optional<Failure>& refusal() const { return refusal_; }

  Result<std::vector<LeftAlone>> end() {
    disk_.wait();
    WS_TRY(std::move(outcome_));
    return std::move(left_);
  }

 private:
  /// A file that was changed meanwhile, or cannot be written, is left as it is.
  Result<void> leave_or_end(const RelativePath& path, Result<void> outcome) {
    if (outcome) return outcome;
    const Failure::Kind why = outcome.error().kind;
    if (ends_everything(outcome.error()) && why != Failure::Kind::disk) return outcome;
    if (!refusal_) refusal_ = outcome.error();
    if (why == Failure::Kind::disk) left_.push_back({.path = path, .why = "it could not be written"});
    if (why == Failure::Kind::conflict) left_.push_back({.path = path, .why = "changed while it was taken back"});
    return {};
  }

  bool has_text(const RelativePath& path, const Sha256& text) const {
    const auto now = writer_->read(path);
    return now && Sha256::of(*now) == text;
  }

  static bool writes(const UndoStep& step) { return step.to && (!step.from || step.seen != step.result); }

  /// Promise 1 of `safety.md`.
  Result<void> record_before() {
    TextChanges ours;
    for (const UndoStep& step : steps_) {
      if (!step.from || step.seen == step.result || session_.history.holds(step.seen_blob)) continue;
      const auto text = writer_->read(*step.from);
      if (!text || Sha256::of(*text) != step.seen) continue;
      WS_LET(const git::ObjectId blob, session_.history.keep(*text));
      ours.push_back({.path = step.from->string(), .blob = blob});
    }
    return session_.history.record_before(ours, {});
  }

  /// Whether an earlier call did this step. A file with the right text may still be another one that a later step
  /// moves.
  bool is_written(const UndoStep& step) const {
    if (!was_begun_ || !has_text(*step.to, *step.result)) return false;
    if (step.from) return step.from == step.to || is_moved(step);
    return std::ranges::none_of(steps_, [&](const UndoStep& other) {
      const bool leaves = other.from == step.to && other.to && other.to != other.from && other.seen == step.result;
      return leaves && !has_arrived(other);
    });
  }

  /// One text is written while the next is read; after the last, the same thread moves the files to their places.
  Result<void> stage(const ReadsTexts& reads) {
    std::vector<const UndoStep*> unwritten;
    std::vector<const UndoStep*> made;
    for (const UndoStep& step : steps_) {
      if (!writes(step) || is_written(step)) continue;
      (step.from ? unwritten : made).push_back(&step);
    }
    for (const UndoStep* step : unwritten) WS_TRY(stage_from_history(*step));
    std::size_t taken = 0;
    const auto take = [&](std::size_t place, const std::string& text) {
      stage_text(*made[place], text);
      if (++taken == made.size()) disk_.add([this] { outcome_ = put_in_place(); });
    };
    if (made.size() >= jobs_worth_a_thread && reads) reads(made, take);
    if (taken == made.size() && taken > 0) return {};
    for (std::size_t i = taken; i < made.size(); ++i) WS_TRY(stage_from_history(*made[i]));
    disk_.add([this] { outcome_ = put_in_place(); });
    return {};
  }

  Result<void> stage_from_history(const UndoStep& step) {
    WS_TRY(session_.check_cancelled());
    const auto text = find_kept_text(session_, step.result_blob, *step.result);
    if (text) {
      stage_text(step, *text);
      return {};
    }
    // As every step that cannot be done: the journal would keep an end that no command can reach.
    left_.push_back({.path = *step.to, .why = "the history lacks its text"});
    if (!refusal_)
      refusal_ = Failure{.kind = Failure::Kind::integrity,
                         .what = fmt::format("the history lacks the text of {}", step.to->text())};
    return {};
  }

  void stage_text(const UndoStep& step, const std::string& text) {
    const bool as_new = is_large_ && !step.from;
    auto& outcome = outcomes_[static_cast<std::size_t>(&step - steps_.data())];
    disk_.add(text, [this, &step, &outcome, as_new](const std::string& held) {
      outcome = as_new ? writer_->stage_new(held, *step.result) : writer_->stage(held, *step.result);
    });
    session_.progress(Stage::write, ++staged_texts_, steps_.size());
  }

  Result<void> put_in_place() {
    for (const auto& outcome : outcomes_) {
      if (outcome && !*outcome) return fail(outcome->error());
    }
    WS_TRY(writer_->flush_texts());
    for (const UndoStep& step : steps_) {
      if (step.from && !step.to) WS_TRY(leave_or_end(*step.from, writer_->remove(*step.from, *step.seen)));
    }
    WS_TRY(move());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!outcomes_[i]) continue;
      const UndoStep& step = steps_[i];
      WS_TRY(leave_or_end(*step.to, writer_->place(**outcomes_[i], *step.to, step.seen)));
      outcomes_[i].reset();  // closes an unnamed file
    }
    return writer_->flush_folders();
  }

  struct Move {
    RelativePath from;
    RelativePath to;
    Sha256 seen;
  };

  /// Orders steps so that a path is free before it is used; in a circle one file is moved to a temporary name first.
  Result<void> move() {
    std::vector<Move> waiting;
    for (const UndoStep& step : steps_) {
      if (step.from && step.to && step.from != step.to && !is_moved(step)) {
        waiting.push_back({*step.from, *step.to, *step.seen});
      }
    }
    WS_TRY(find_stepped_aside(waiting));
    while (!waiting.empty()) {
      std::multimap<std::string, const Move*> leaving;
      for (const Move& each : waiting) leaving.emplace(each.from.twin_key(), &each);
      std::vector<Move> blocked;
      for (const Move& each : waiting) {
        bool held = false;
        visit_overlapping(
            leaving, each.to.twin_key(), [&](const auto& other) { held = held || other->second != &each; });
        if (held) {
          blocked.push_back(each);
          continue;
        }
        std::erase_if(leaving, [&](const auto& other) { return other.second == &each; });
        WS_TRY(leave_or_end(each.from, writer_->move(each.from, each.to, each.seen)));
      }
      if (blocked.size() == waiting.size()) WS_TRY(step_aside(blocked));
      waiting = std::move(blocked);
    }
    return {};
  }

  bool is_moved(const UndoStep& step) const {
    const auto aside = place_aside(*step.from);
    if (aside && has_text(*aside, *step.seen)) return false;
    return has_arrived(step) && !has_text(*step.from, *step.seen);
  }

  bool has_arrived(const UndoStep& step) const {
    return has_text(*step.to, *step.seen) || has_text(*step.to, *step.result);
  }

  static std::optional<RelativePath> place_aside(const RelativePath& from) {
    return name_beside(from, "undo", [](const RelativePath&) { return true; });
  }

  /// The temporary name at which an interruption left a file.
  Result<void> find_stepped_aside(std::vector<Move>& waiting) {
    for (Move& each : waiting) {
      const auto aside = place_aside(each.from);
      if (aside && !has_text(each.from, each.seen) && has_text(*aside, each.seen)) each.from = *aside;
    }
    return {};
  }

  Result<void> step_aside(std::vector<Move>& circle) {
    Move& first = circle.front();
    const auto aside = place_aside(first.from);
    const bool done = aside && writer_->move(first.from, *aside, first.seen);
    // The path is taken: this step is left out, the others continue.
    if (done) first.from = *aside;
    if (!done) circle.erase(circle.begin());
    return {};
  }

  Session& session_;
  std::optional<SafeWriter> writer_;
  const std::vector<UndoStep>& steps_;
  bool was_begun_;  ///< an earlier call may have done some of the steps
  bool is_large_;
  std::vector<std::optional<Result<Staged>>> outcomes_;  ///< of the staging, by step
  std::size_t staged_texts_ = 0;
  Result<void> outcome_;  ///< of what `put_in_place` did
  std::vector<LeftAlone> left_;
  std::optional<Failure> refusal_;  // of the first of them
  Background disk_;                 ///< ends before what its jobs refer to
};

UndoApplier::UndoApplier(Session& session, const std::vector<UndoStep>& steps, bool was_begun)
    : impl_(std::make_unique<Impl>(session, steps, was_begun)) {}
UndoApplier::UndoApplier(UndoApplier&&) noexcept = default;
UndoApplier::~UndoApplier() = default;

Result<void> UndoApplier::begin(const ReadsTexts& reads) { return impl_->begin(reads); }
void UndoApplier::then(std::function<void()> job) { impl_->then(std::move(job)); }
Result<std::vector<LeftAlone>> UndoApplier::end() { return impl_->end(); }
const std::optional<Failure>& UndoApplier::refusal() const { return impl_->refusal(); }

FlushAhead::FlushAhead(const Session& session, std::size_t files)
    : background_(files >= jobs_worth_a_thread ? OwnThread::one : OwnThread::none) {
  if (files < jobs_worth_a_thread) return;
  background_.add([fd = session.root.fd()] { static_cast<void>(::syncfs(fd)); });
}

Result<void> record_written_steps(Session& session,
                                  const std::vector<UndoStep>& steps,
                                  const std::vector<LeftAlone>& left) {
  std::set<RelativePath> left_alone;
  for (const LeftAlone& each : left) left_alone.insert(each.path);
  WS_LET(const SafeWriter files, SafeWriter::open(session.root));
  for (const UndoStep& step : steps) {
    if (step.document.empty() || !step.to || left_alone.contains(*step.to)) continue;
    // A rename that failed is listed under its old name only.
    if (step.from != step.to && files.hash(*step.to).value_or(std::nullopt) != step.result) continue;
    WS_TRY(record_written(session, step.document, *step.to, *step.result));
  }
  return {};
}

namespace {

/// Promise 1 of `safety.md`, where no row of the log keeps the texts.
Result<void> keep_seen_texts(Session& session, const std::vector<UndoStep>& steps) {
  TextChanges ours;
  for (const UndoStep& step : steps) {
    if (step.from && step.seen != step.result) ours.push_back({.path = step.from->string(), .blob = step.seen_blob});
  }
  return session.history.record_before(ours, {});
}

}  // namespace

Result<DoneSteps> carry_out_steps(Session& session,
                                  const std::vector<UndoStep>& steps,
                                  const std::vector<OperationRow>& rows) {
  if (steps.empty()) return DoneSteps{};
  WS_TRY(rows.empty() ? keep_seen_texts(session, steps) : session.history.flush());
  Operations operations = session.state.operations();
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  for (const OperationRow& row : rows) WS_TRY(operations.record(row));
  WS_TRY(operations.put_undo(steps));
  WS_TRY(transaction.commit());
  return finish_steps(session, *operations.current());
}

Result<DoneSteps> finish_steps(Session& session, std::uint64_t operation) {
  Operations operations = session.state.operations();
  WS_LET(const std::vector<UndoStep> steps, operations.undo_steps(operation));
  UndoApplier applier(session, steps, true);
  WS_TRY(applier.begin());
  DoneSteps done;
  WS_LET(done.left, applier.end());
  done.refusal = applier.refusal();
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  WS_TRY(record_written_steps(session, steps, done.left));
  WS_TRY(operations.clear_undo(operation));
  WS_TRY(transaction.commit());
  return done;
}

}  // namespace ws::sync

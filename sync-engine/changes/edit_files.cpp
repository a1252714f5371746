#include "sync-engine/changes/edit_files.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "sync-engine/changes/carry_out.hpp"
#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/session/written_files.hpp"

namespace ws::sync {

class FileEdits::Impl {
 public:
  Impl(Session& session, const std::vector<FileStep>& steps, bool was_begun)
      : session_(session),
        steps_(steps),
        was_begun_(was_begun),
        is_large_(steps.size() >= jobs_worth_a_thread),
        staged_(steps.size()),
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
  Result<void> leave_or_end(const FileStep& step, Result<void> outcome) {
    if (outcome) return outcome;
    const Failure::Kind why = outcome.error().kind;
    if (why != Failure::Kind::integrity && ends_everything(outcome.error()) && why != Failure::Kind::disk)
      return outcome;
    if (!refusal_) refusal_ = outcome.error();
    left_.push_back({.path = step.is_rename() || !step.to ? *step.from : *step.to,
                     .why = why == Failure::Kind::disk        ? "it could not be written"
                            : why == Failure::Kind::integrity ? "the history lacks its text"
                                                              : "changed during the undo"});
    return {};
  }

  static bool writes(const FileStep& step) { return step.to && (!step.from || step.seen != step.result); }

  /// Promise 1 of `safety.md`.
  Result<void> record_before() {
    TextChanges ours;
    for (const FileStep& step : steps_) {
      if (!step.from || step.seen == step.result || session_.history.holds(step.seen_blob)) continue;
      const auto text = writer_->read(*step.from);
      if (!text || Sha256::of(*text) != step.seen) continue;
      WS_LET(const git::ObjectId blob, session_.history.keep(*text));
      ours.push_back({.path = step.from->string(), .blob = blob});
    }
    return session_.history.record_before(ours, {});
  }

  /// One text is written while the next is read; after the last, the same thread moves the files to their places.
  Result<void> stage(const ReadsTexts& reads) {
    std::vector<const FileStep*> unwritten;
    std::vector<const FileStep*> made;
    const BegunSteps begun(*writer_, steps_);
    for (const FileStep& step : steps_) {
      if (!writes(step) || (was_begun_ && begun.is_written(step))) continue;
      (step.from ? unwritten : made).push_back(&step);
    }
    for (const FileStep* step : unwritten) WS_TRY(stage_from_history(*step));
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

  Result<void> stage_from_history(const FileStep& step) {
    WS_TRY(session_.check_cancelled());
    const auto text = find_kept_text(session_, step.result_blob, *step.result);
    if (text) {
      stage_text(step, *text);
      return {};
    }
    // As every step that cannot be done: the journal would keep an end that no command can reach.
    staged_[index_of(step)] = fail(Failure{.kind = Failure::Kind::integrity,
                                           .what = fmt::format("the history lacks the text of {}", step.to->text())});
    return {};
  }

  std::size_t index_of(const FileStep& step) const { return static_cast<std::size_t>(&step - steps_.data()); }

  void stage_text(const FileStep& step, const std::string& text) {
    const bool as_new = is_large_ && !step.from;
    auto& outcome = staged_[index_of(step)];
    disk_.add(text, [this, &step, &outcome, as_new](const std::string& held) {
      outcome = as_new ? writer_->stage_new(held, *step.result) : writer_->stage(held, *step.result);
    });
    session_.progress(Stage::write, ++staged_texts_, steps_.size());
  }

  Result<void> put_in_place() {
    for (const auto& outcome : staged_) {
      if (outcome && !*outcome && outcome->error().kind == Failure::Kind::disk) return fail(Failure(outcome->error()));
    }
    WS_TRY(writer_->flush_texts());
    return carry_out(*writer_, steps_, staged_, was_begun_, [this](std::size_t step, Result<void> outcome) {
      return leave_or_end(steps_[step], std::move(outcome));
    });
  }

  Session& session_;
  std::optional<SafeWriter> writer_;
  const std::vector<FileStep>& steps_;
  bool was_begun_;  ///< an earlier call may have done some of the steps
  bool is_large_;
  StagedTexts staged_;
  std::size_t staged_texts_ = 0;
  Result<void> outcome_;  ///< of what `put_in_place` did
  std::vector<LeftAlone> left_;
  std::optional<Failure> refusal_;  // of the first of them
  Background disk_;                 ///< ends before what its jobs refer to
};

FileEdits::FileEdits(Session& session, const std::vector<FileStep>& steps, bool was_begun)
    : impl_(std::make_unique<Impl>(session, steps, was_begun)) {}
FileEdits::FileEdits(FileEdits&&) noexcept = default;
FileEdits::~FileEdits() = default;

Result<void> FileEdits::begin(const ReadsTexts& reads) { return impl_->begin(reads); }
void FileEdits::then(std::function<void()> job) { impl_->then(std::move(job)); }
Result<std::vector<LeftAlone>> FileEdits::end() { return impl_->end(); }
const std::optional<Failure>& FileEdits::refusal() const { return impl_->refusal(); }

FlushAhead::FlushAhead(const Session& session, std::size_t files)
    : background_(files >= jobs_worth_a_thread ? OwnThread::one : OwnThread::none) {
  if (files < jobs_worth_a_thread) return;
  background_.add([fd = session.root.fd()] { static_cast<void>(::syncfs(fd)); });
}

Result<void> record_written_steps(Session& session,
                                  const std::vector<FileStep>& steps,
                                  const std::vector<LeftAlone>& left) {
  std::set<RelativePath> left_alone;
  for (const LeftAlone& each : left) left_alone.insert(each.path);
  WS_LET(const SafeWriter files, SafeWriter::open(session.root));
  for (const FileStep& step : steps) {
    if (step.document.empty() || !step.to || left_alone.contains(*step.to)) continue;
    // A rename that failed is listed under its old name only.
    if (step.from != step.to && files.hash(*step.to).value_or(std::nullopt) != step.result) continue;
    WS_TRY(record_written(session, step.document, *step.to, *step.result));
  }
  return {};
}

Result<void> record_steps_to_write(Session& session, const std::vector<FileStep>& steps) {
  for (const FileStep& step : steps) {
    if (step.from && step.to && step.seen != step.result)
      WS_TRY(record_written(session, step.document, *step.from, *step.result));
  }
  return {};
}

namespace {

/// Promise 1 of `safety.md`: a row of the operation alone would keep them, which no ref reaches.
Result<void> keep_seen_texts(Session& session, const std::vector<FileStep>& steps) {
  TextChanges ours;
  for (const FileStep& step : steps) {
    if (step.from && step.seen != step.result && !step.seen_blob.empty())
      ours.push_back({.path = step.from->string(), .blob = step.seen_blob});
  }
  return session.history.record_before(ours, {});
}

}  // namespace

Result<DoneSteps> carry_out_steps(Session& session,
                                  const std::vector<FileStep>& steps,
                                  const std::vector<OperationRow>& rows) {
  if (steps.empty()) return DoneSteps{};
  WS_TRY(keep_seen_texts(session, steps));
  Operations operations = session.state.operations();
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  for (const OperationRow& row : rows) WS_TRY(operations.record(row));
  WS_TRY(operations.put_undo(steps));
  WS_TRY(record_steps_to_write(session, steps));
  WS_TRY(transaction.commit());
  return finish_steps(session, *operations.current());
}

Result<DoneSteps> finish_steps(Session& session, std::uint64_t operation) {
  Operations operations = session.state.operations();
  WS_LET(const std::vector<FileStep> steps, operations.undo_steps(operation));
  FileEdits applier(session, steps, true);
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

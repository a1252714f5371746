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
#include "sync-engine/session/kept_bytes.hpp"
#include "sync-engine/session/written_files.hpp"
#include "sync-engine/tree/hash.hpp"

namespace ws::sync {

class FileEdits::Impl {
 public:
  Impl(Session& session, const std::vector<FileStep>& steps, bool was_begun)
      : session_(session),
        steps_(steps),
        on_disk_(steps),
        was_begun_(was_begun),
        is_large_(steps.size() >= jobs_worth_a_thread),
        staged_(steps.size()),
        replaced_(steps.size()),
        disk_(is_large_ ? OwnThread::one : OwnThread::none) {}

  Result<void> begin(const ReadsTexts& reads) {
    WS_LET(texts_, SafeWriter::open(session_.root));
    WS_TRY(spell_names());
    WS_TRY(record_before());
    WS_TRY(stage_bytes());
    return stage(reads);
  }

  void then(std::function<void()> job) { disk_.add(std::move(job)); }

  const std::map<std::size_t, Failure>& refused() const { return refused_; }

  Result<std::vector<LeftAlone>> end() {
    disk_.wait();
    WS_TRY(std::move(outcome_));
    std::vector<LeftAlone> left;
    for (const auto& [step, why] : refused_)
      left.push_back({.path = place_left(steps_[step]), .why = std::string(why_left(steps_[step], why))});
    return left;
  }

  Result<void> record() {
    std::set<std::pair<std::optional<RelativePath>, std::optional<RelativePath>>> not_made;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (refused_.contains(i)) {
        not_made.emplace(steps_[i].from, steps_[i].to);
      } else if (steps_[i].to) {
        WS_TRY(steps_[i].is_about_bytes() ? record_bytes(i) : record_text(steps_[i]));
      }
    }
    const auto path_of = [](const std::optional<Version>& version) {
      return version ? std::optional(version->path) : std::nullopt;
    };
    return session_.state.operations().settle_planned([&](const OperationRow& row) {
      const bool is_of_run = row.origins.has(ChangeOrigin::sent) || row.origins.has(ChangeOrigin::received);
      return is_of_run ? std::nullopt : std::optional(!not_made.contains({path_of(row.before), path_of(row.after)}));
    });
  }

 private:
  static const RelativePath& place_left(const FileStep& step) {
    return step.is_rename() || !step.to ? *step.from : *step.to;
  }

  /// Why a file stays as it is; empty: the failure ends everything.
  static std::string_view why_left(const FileStep& step, const Failure& failure) {
    if (failure.kind == Failure::Kind::disk) return "it could not be written";
    if (failure.kind == Failure::Kind::integrity)
      return step.is_about_bytes() ? "its bytes are not kept here" : "the history lacks its text";
    return ends_everything(failure) ? "" : "changed since";
  }

  Result<void> leave_or_end(std::size_t step, Result<void> outcome) {
    if (outcome) return outcome;
    if (why_left(steps_[step], outcome.error()).empty()) return outcome;
    refused_.emplace(step, std::move(outcome).error());
    return {};
  }

  Result<void> spell_names() {
    AttachmentStore store = session_.attachments();
    for (FileStep& step : on_disk_) {
      if (!step.document.empty() || session_.kinds.takes((step.to ? *step.to : *step.from).text())) continue;
      for (std::optional<RelativePath>* const place : {&step.from, &step.to}) {
        if (!*place) continue;
        WS_LET(*place, spelled_here(session_, store, **place));
      }
    }
    return {};
  }

  /// Promise 1 of `safety.md`.
  Result<void> record_before() {
    TextChanges ours;
    for (const FileStep& step : steps_) {
      if (!step.from || step.seen == step.result || step.is_about_bytes() || session_.history.holds(step.seen_blob))
        continue;
      const auto text = texts_->read(*step.from);
      if (!text || Sha256::of(*text) != step.seen) continue;
      WS_LET(const git::ObjectId blob, session_.history.keep(*text));
      ours.push_back({.path = step.from->string(), .blob = blob});
    }
    return session_.history.record_before(ours, {});
  }

  Result<void> stage_bytes() {
    if (std::ranges::none_of(steps_, &FileStep::is_about_bytes)) return {};
    WS_LET(bytes_, SafeWriter::open(session_.root, attachments_folder));
    if (was_begun_) WS_TRY(name_by_hash(*bytes_));
    std::map<Sha256, std::size_t> received;
    for (const FileStep& step : on_disk_) {
      if (step.is_about_bytes() && step.to && step.side == StepSide::here) ++received[*step.result];
    }
    const BegunSteps begun(*bytes_, on_disk_);
    for (std::size_t i = 0; i < on_disk_.size(); ++i) {
      const FileStep& step = on_disk_[i];
      if (!step.is_about_bytes() || !step.to) continue;
      WS_TRY(session_.check_cancelled());
      const bool is_last = step.side == StepSide::here && --received[*step.result] == 0;
      if (was_begun_ && begun.is_written(step)) continue;
      if (step.from) replaced_[i] = find_file_id(session_.root, *step.from);
      const std::string name = step.result->hex();
      if (!bytes_->has(name, *step.result)) {
        staged_[i] = fail(Failure::Kind::integrity, fmt::format("the bytes of {} are not kept", step.to->text()));
      } else {
        // What was received is no copy to keep: the service has it.
        staged_[i] = is_last ? bytes_->stage_file(name, *step.result) : bytes_->stage_copy(name, *step.result);
      }
    }
    return {};
  }

  /// What a call that was cut off had in hand.
  static Result<void> name_by_hash(const SafeWriter& writer) {
    WS_LET(const std::vector<std::string> names, writer.leftovers());
    for (const std::string& name : names) {
      if (Sha256::from_hex(name)) continue;
      WS_LET(const Sha256 hash, writer.hash_leftover(name));
      WS_TRY(writer.rename_leftover(name, hash.hex()));
    }
    return {};
  }

  /// One text is written while the next is read; after the last, the same thread moves the files to their places.
  Result<void> stage(const ReadsTexts& reads) {
    std::vector<const FileStep*> unwritten;
    std::vector<const FileStep*> made;
    const BegunSteps begun(*texts_, steps_);
    for (const FileStep& step : steps_) {
      const bool writes = step.to && (!step.from || step.seen != step.result) && !step.is_about_bytes();
      if (!writes || (was_begun_ && begun.is_written(step))) continue;
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
      outcome = as_new ? texts_->stage_new(held, *step.result) : texts_->stage(held, *step.result);
    });
    session_.progress(Stage::write, ++staged_texts_, steps_.size());
  }

  /// Without room for texts nothing is moved: the next command goes on. One file that notes show waits for nobody.
  Result<void> put_in_place() {
    for (std::size_t i = 0; i < staged_.size(); ++i) {
      const auto& outcome = staged_[i];
      const bool is_full = outcome && !*outcome && outcome->error().kind == Failure::Kind::disk;
      if (is_full && !steps_[i].is_about_bytes()) return fail(Failure(outcome->error()));
    }
    const StepWriters writers{.texts = &*texts_, .bytes = bytes_ ? &*bytes_ : nullptr};
    WS_TRY(writers.flush_texts());
    return carry_out(writers, on_disk_, staged_, was_begun_, [this](std::size_t step, Result<void> outcome) {
      return leave_or_end(step, std::move(outcome));
    });
  }

  Result<void> record_text(const FileStep& step) {
    if (step.document.empty()) return {};
    return record_written(session_, step.document, *step.to, *step.result);
  }

  /// What this tree never sent is held again: that it comes back is no wish to send it. What came from the service is
  /// none either.
  Result<void> record_bytes(std::size_t place) {
    const FileStep& step = steps_[place];
    AttachmentStore store = session_.attachments();
    const bool is_received = step.side == StepSide::here;
    WS_LET(const bool is_held, is_received ? Result<bool>(false) : are_unsent(store, *step.to, *step.result));
    if (is_held) WS_TRY(store.hold_again(*step.to));
    const auto id = find_file_id(session_.root, *on_disk_[place].to);
    if (id) WS_TRY(store.put_written(*step.to, replaced_[place], *id));
    return is_held || is_received ? Result<void>() : store.put_wanted(*step.to);
  }

  Session& session_;
  std::optional<SafeWriter> texts_;
  std::optional<SafeWriter> bytes_;
  const std::vector<FileStep>& steps_;
  std::vector<FileStep> on_disk_;  ///< the same, with the names of the files that notes show as the disk spells them
  bool was_begun_;                 ///< an earlier call may have done some of the steps
  bool is_large_;
  StagedTexts staged_;
  std::vector<std::optional<FileId>> replaced_;  ///< of files that notes show: which file the step wrote anew
  std::size_t staged_texts_ = 0;
  Result<void> outcome_;                    ///< of what `put_in_place` did
  std::map<std::size_t, Failure> refused_;  ///< which steps were left out, and why
  Background disk_;                         ///< ends before what its jobs refer to
};

FileEdits::FileEdits(Session& session, const std::vector<FileStep>& steps, bool was_begun)
    : impl_(std::make_unique<Impl>(session, steps, was_begun)) {}
FileEdits::FileEdits(FileEdits&&) noexcept = default;
FileEdits::~FileEdits() = default;

Result<void> FileEdits::begin(const ReadsTexts& reads) { return impl_->begin(reads); }
void FileEdits::then(std::function<void()> job) { impl_->then(std::move(job)); }
Result<std::vector<LeftAlone>> FileEdits::end() { return impl_->end(); }
const std::map<std::size_t, Failure>& FileEdits::refused() const { return impl_->refused(); }
Result<void> FileEdits::record() { return impl_->record(); }

FlushAhead::FlushAhead(const Session& session, std::size_t files)
    : background_(files >= jobs_worth_a_thread ? OwnThread::one : OwnThread::none) {
  if (files < jobs_worth_a_thread) return;
  background_.add([fd = session.root.fd()] { static_cast<void>(::syncfs(fd)); });
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

/// `was_begun`: by an earlier call.
Result<DoneSteps> do_steps(Session& session,
                           std::uint64_t operation,
                           const std::vector<FileStep>& steps,
                           bool was_begun,
                           const RecordsSteps& record) {
  FileEdits edits(session, steps, was_begun);
  WS_TRY(edits.begin());
  DoneSteps done;
  WS_LET(done.left, edits.end());
  done.refused = edits.refused();
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  WS_TRY(edits.record());
  WS_TRY(session.state.operations().clear_undo(operation));
  if (record) WS_TRY(record(done));
  WS_TRY(transaction.commit());
  return done;
}

}  // namespace

Result<DoneSteps> carry_out_steps(Session& session,
                                  const std::vector<FileStep>& steps,
                                  const std::vector<OperationRow>& rows,
                                  const RecordsSteps& record,
                                  const std::vector<DecidedText>& decided) {
  if (steps.empty()) return DoneSteps{};
  WS_TRY(keep_seen_texts(session, steps));
  Operations operations = session.state.operations();
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  for (const OperationRow& row : rows) WS_TRY(operations.record_planned(row));
  for (const DecidedText& each : decided) WS_TRY(operations.record(each));
  WS_TRY(operations.put_undo(steps));
  WS_TRY(record_steps_to_write(session, steps));
  WS_TRY(transaction.commit());
  auto done = do_steps(session, *operations.current(), steps, false, record);
  return done ? std::move(done) : fail(maybe_made(std::move(done).error()));
}

Failure maybe_made(Failure failure) {
  if (failure.call.applied == Applied::no) failure.call.applied = Applied::unknown;
  return failure;
}

Result<void> carry_out_step(Session& session, const FileStep& step, std::optional<ChangeOrigin> origin) {
  std::vector<OperationRow> rows;
  if (origin) rows.push_back(row_of(step, *origin));
  WS_LET(DoneSteps done, carry_out_steps(session, {step}, rows));
  return done.refused.empty() ? Result<void>() : fail(std::move(done.refused.begin()->second));
}

Result<DoneSteps> finish_steps(Session& session, std::uint64_t operation) {
  WS_LET(const std::vector<FileStep> steps, session.state.operations().undo_steps(operation));
  return do_steps(session, operation, steps, true, {});
}

}  // namespace ws::sync

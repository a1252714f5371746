#include "sync-engine/changes/apply.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "sync-engine/changes/carry_out.hpp"
#include "sync-engine/changes/finish_step.hpp"
#include "sync-engine/changes/stage_texts.hpp"
#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/model/change.hpp"
#include "sync-engine/session/written_files.hpp"

namespace ws::sync {
namespace {

/// Documents that are gone on the service and whose file becomes another document's.
///
/// The base forgets one with the very stroke that notes the other, and not before: a run that is cut off in between
/// would take the file for a new one, and what comes for a second one at its place.
class ReplacedFiles {
 public:
  ReplacedFiles(const Survey& survey, const std::vector<Row>& rows);

  /// Whose file the action takes over; null: nobody's.
  const DocumentId* by(const Action& action) const;
  bool contains(const Settled& settled) const { return !settled.base && documents_.contains(settled.document); }

 private:
  std::map<RelativePath, DocumentId> by_path_;
  std::set<DocumentId> documents_;
};

bool takes_over(const Action& action) {
  return (action.kind == ActionKind::pull_create || action.kind == ActionKind::adopt) && action.seen;
}

ReplacedFiles::ReplacedFiles(const Survey& survey, const std::vector<Row>& rows) {
  std::map<RelativePath, DocumentId> leaving;
  for (const Settled& settled : survey.plan.settled) {
    if (!settled.base) leaving.emplace(survey.base.disk_path(settled.document), settled.document);
  }
  if (leaving.empty()) return;
  for (const Row& row : rows) {
    const auto old = takes_over(row.action) ? leaving.find(row.action.path) : leaving.end();
    if (old == leaving.end()) continue;
    by_path_.insert(*old);
    documents_.insert(old->second);
  }
}

const DocumentId* ReplacedFiles::by(const Action& action) const {
  const auto old = takes_over(action) ? by_path_.find(action.path) : by_path_.end();
  return old == by_path_.end() ? nullptr : &old->second;
}

/// Texts in `.ws/tmp` at a time: bounds what a crash leaves there and what one barrier covers. A barrier waits for the
/// whole file system, so ten parts took 371 fsyncs where one takes 30.
constexpr std::size_t texts_at_a_time = 10'000;

/// A row of the plan while it is carried out on disk.
struct Task {
  Row* row = nullptr;
  JournalStep step;
};

class Applier {
 public:
  Applier(Session& session, const Survey& survey, std::vector<Row>& rows)
      : session_(session), survey_(survey), rows_(rows), replaced_(survey, rows) {}

  Result<void> apply() {
    collect();
    if (waiting_.empty() && survey_.plan.settled.empty()) return {};
    WS_LET(SafeWriter writer, SafeWriter::open(session_.root));
    WS_TRY(record_before(writer));
    WS_TRY(step_aside(writer));
    WS_TRY(settle());
    // Renames wait for each other, in chains and circles: they are one part, however many they are. They have no text.
    for (std::size_t first = 0; first < waiting_.size();) {
      WS_TRY(session_.check_cancelled());
      std::vector<Task> part;
      for (; first < waiting_.size() && (part.size() < texts_at_a_time || is_rename(*waiting_[first])); ++first) {
        part.push_back({waiting_[first], step_of(waiting_[first]->action)});
      }
      WS_TRY(do_part(writer, part));
    }
    return {};
  }

 private:
  /// Deletes first, then moves: they free paths that other rows need.
  void collect() {
    std::set<std::pair<int, std::size_t>> order;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const ActionKind kind = rows_[i].action.kind;
      if (kind == ActionKind::pull_delete) order.emplace(0, i);
      if (kind == ActionKind::pull_move) order.emplace(1, i);
      if (kind == ActionKind::adopt) order.emplace(2, i);
      if (kind == ActionKind::pull_create || kind == ActionKind::pull_update || kind == ActionKind::merge) {
        order.emplace(3, i);
      }
    }
    for (const auto& [rank, i] : order) waiting_.push_back(&rows_[i]);
  }

  static bool is_rename(const Row& row) { return row.action.kind == ActionKind::pull_move; }

  JournalStep step_of(const Action& action) const {
    JournalStep step{.action = action, .base = base_after(action), .author = author_of(action.document)};
    if (const DocumentId* const replaced = replaced_.by(action)) step.replaces = *replaced;
    // A move without its edit leaves the edit pending.
    const auto there = survey_.remote.changed.find(action.document);
    step.applies_remote = !step.base || action.kind != ActionKind::pull_move || there == survey_.remote.changed.end() ||
                          step.base->entry == there->second;
    return step;
  }

  Author author_of(const DocumentId& document) const {
    const auto found = survey_.pending.find(document);
    return found == survey_.pending.end() ? Author{.name = service_name} : found->second.author;
  }

  std::optional<BaseRow> base_after(const Action& action) const {
    if (action.kind == ActionKind::pull_delete) return std::nullopt;
    const auto old = survey_.base_rows.find(action.document);
    const Entry* there = nullptr;
    if (const auto found = survey_.remote.changed.find(action.document); found != survey_.remote.changed.end()) {
      there = &found->second;
    }
    // The service's entry; after a merge the file is a local edit of it. A move alone, also of a displaced file back
    // to its path, keeps the text of the base, as does a file that comes back though nothing changed there.
    const bool text_stays = !there || (action.kind == ActionKind::pull_move && there->revision != action.revision);
    BaseRow row = text_stays ? old->second : BaseRow{.entry = *there, .blob = pending_blob(survey_, action.document)};
    // A file that was renamed here keeps its path on the service until the move is committed.
    const bool text_only = action.kind == ActionKind::pull_update || action.kind == ActionKind::merge;
    row.entry.path = action.service_path.value_or(text_only ? there->path : action.path);
    row.entry.revision = action.revision;
    row.displaced_to = action.service_path ? std::optional(action.path) : std::nullopt;
    if (text_only && !row.displaced_to && same_name(action.path, row.entry.path)) row.entry.path = action.path;
    return row;
  }

  /// Promise 1 of `safety.md`: a text is in the history before a merge or a pull replaces it.
  Result<void> record_before(const SafeWriter& writer) {
    TextChanges ours;
    TextChanges theirs;
    for (const Row* row : waiting_) {
      const Action& action = row->action;
      const auto base = survey_.base_rows.find(action.document);
      const bool replaces = action.kind == ActionKind::merge || action.kind == ActionKind::pull_update ||
                            action.kind == ActionKind::pull_create || action.kind == ActionKind::pull_delete;
      if (!replaces || !action.seen) continue;
      if (action.kind != ActionKind::merge && base != survey_.base_rows.end() &&
          base->second.entry.hash == *action.seen && session_.history.holds(base->second.blob)) {
        continue;
      }
      const RelativePath& path = survey_.local.tracked.contains(action.document)
                                     ? survey_.local.tracked.at(action.document).path
                                     : action.path;
      auto text = writer.read(path);
      if (!text || Sha256::of(*text) != action.seen) continue;  // the write will be refused
      WS_LET(const git::ObjectId blob, session_.history.keep(*text));
      ours.push_back({.path = action.path.string(), .blob = blob});
      if (action.kind == ActionKind::merge && !pending_blob(survey_, action.document).empty()) {
        theirs.push_back({.path = action.path.string(),
                          .blob = pending_blob(survey_, action.document),
                          .author = author_of(action.document)});
      }
    }
    return session_.history.record_before(ours, theirs);
  }

  /// Renames files whose path becomes a folder before their documents are dropped from the base. A crash in between
  /// leaves a new file and a document that is deleted on both sides.
  Result<void> step_aside(SafeWriter& writer) {
    for (Row& row : rows_) {
      const Action& action = row.action;
      if (action.kind != ActionKind::push_create || !action.previous_path) continue;
      auto moved = writer.move(*action.previous_path, action.path, *action.seen);
      if (moved) continue;
      row.fail(std::move(moved).error());
    }
    return writer.flush_folders();
  }

  Result<void> settle() {
    if (survey_.plan.settled.empty()) return {};
    TextChanges after;
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    for (const Settled& settled : survey_.plan.settled) {
      if (replaced_.contains(settled)) continue;
      JournalStep step{.action = {.path = settled_path(settled), .document = settled.document}};
      const auto old = survey_.base_rows.find(settled.document);
      const bool known = old != survey_.base_rows.end();
      if (settled.base) {
        const bool same_text = known && old->second.entry.hash == settled.base->hash;
        step.base = BaseRow{.entry = *settled.base,
                            .blob = same_text ? old->second.blob : pending_blob(survey_, settled.document)};
      }
      // The author of the text on the service: who wrote the same text here is not recorded.
      if (survey_.pending.contains(settled.document)) step.author = author_of(settled.document);
      if (known && old->second.disk_path() != step.action.path) step.action.previous_path = old->second.disk_path();
      collect_texts(step, after);
      // Its file becomes a new document; the deletion on the service is recorded as received.
      const bool file_stays = !settled.base && survey_.local.tracked.contains(settled.document);
      WS_TRY(finish_step(session_, step, file_stays ? ChangeOrigin::received : ChangeOrigin::agreed));
    }
    WS_TRY(session_.history.record_after(after, "Same on both sides already"));
    return transaction.commit();
  }

  RelativePath settled_path(const Settled& settled) const {
    return settled.base ? settled.base->path : survey_.base.disk_path(settled.document);
  }

  Result<void> do_part(SafeWriter& writer, std::span<Task> part) {
    WS_TRY(journal(part));
    report_progress();
    StagedTexts staged;
    WS_TRY(stage(writer, part, staged));
    WS_TRY(writer.flush_texts());
    report_progress();
    std::vector<FileStep> steps;
    for (const Task& task : part) steps.push_back(file_step_of(task.step));
    WS_TRY(carry_out({.texts = &writer}, steps, staged, false, [&](std::size_t step, Result<void> outcome) {
      return finish(part[step], std::move(outcome));
    }));
    report_progress();
    return record_done(part);
  }

  /// Progress: staging the text and renaming it count as half a file each.
  void report_progress() const { session_.progress(Stage::write, (staged_ + done_) / 2, waiting_.size()); }

  Result<void> journal(std::span<const Task> part) {
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    for (const Task& task : part) {
      WS_TRY(session_.state.put_step(task.step));
      const Action& action = task.step.action;
      const auto here = survey_.local.tracked.find(action.document);
      if (here != survey_.local.tracked.end() && action.result && action.seen != action.result)
        WS_TRY(record_written(session_, action.document, here->second.path, *action.result));
    }
    return transaction.commit();
  }

  /// Records the row's result. A failure that ends the call is passed up; any other stays with the row.
  Result<void> finish(Task& task, Result<void> outcome) {
    ++done_;
    report_progress();
    if (outcome) {
      task.row->state = Row::State::done;
      return {};
    }
    task.row->fail(outcome.error());
    return ends_run(outcome.error()) ? Result<void>(fail(std::move(outcome).error())) : Result<void>();
  }

  Result<void> stage(SafeWriter& writer, std::span<Task> part, StagedTexts& staged) {
    std::vector<const Action*> actions;
    for (const Task& task : part) actions.push_back(&task.step.action);
    staged = stage_texts(session_, survey_, writer, actions, [this] {
      ++staged_;
      report_progress();
    });
    for (std::size_t i = 0; i < staged.size(); ++i) {
      if (!staged[i]) continue;
      if (*staged[i]) {
        writer.adopt(**staged[i]);
      } else if (ends_run(staged[i]->error())) {
        return finish(part[i], fail(Failure(staged[i]->error())));
      }
    }
    return {};
  }

  /// Invariant I15: the base advances for what is durable on disk, and for nothing else; its texts are in the history
  /// by then.
  Result<void> record_done(std::span<const Task> part) {
    TextChanges after;
    for (const Task& task : part) {
      if (task.row->state == Row::State::done) collect_texts(task.step, after);
    }
    WS_TRY(session_.history.record_after(after, "Pulled from the service"));
    report_progress();
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    for (const Task& task : part) {
      if (task.row->state == Row::State::done) WS_TRY(finish_step(session_, task.step, origin_of(task.step.action)));
    }
    WS_TRY(session_.state.clear_steps());
    return transaction.commit();
  }

  Session& session_;
  const Survey& survey_;
  std::vector<Row>& rows_;
  std::vector<Row*> waiting_;  ///< in the order of their turn
  ReplacedFiles replaced_;
  std::uint64_t staged_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace

Result<void> apply_here(Session& session, const Survey& survey, std::vector<Row>& rows) {
  return Applier(session, survey, rows).apply();
}

}  // namespace ws::sync

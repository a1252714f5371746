#include "sync-engine/changes/finish_step.hpp"

#include <algorithm>
#include <set>

#include "sync-engine/changes/carry_out.hpp"
#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/session/written_files.hpp"
#include "sync-engine/tree/hash.hpp"

namespace ws::sync {
namespace {

/// Whether the disk shows that a journalled step was done.
bool is_done(const SafeWriter& files, const Action& action) {
  const auto now = files.read(action.path);
  if (!action.result) return !now && now.error().kind == Failure::Kind::not_found;
  return now && Sha256::of(*now) == *action.result;
}

/// The steps that were done, as far as the disk shows. A path may have the expected text because another step has not
/// yet removed the same text from it: such a step counts only once the other is known to be done.
std::set<const JournalStep*> done_steps(const SafeWriter& files, const std::vector<JournalStep>& steps) {
  std::multimap<std::string_view, const JournalStep*> leaving;
  for (const JournalStep& step : steps) {
    if (step.action.previous_path) leaving.emplace(step.action.previous_path->text(), &step);
  }
  std::set<const JournalStep*> done;
  std::vector<const JournalStep*> shown;
  for (const JournalStep& step : steps) {
    if (is_done(files, step.action)) shown.push_back(&step);
  }
  const auto is_certain = [&](const JournalStep* step) {
    const auto [first, last] = leaving.equal_range(step->action.path.text());
    return std::all_of(first, last, [&](const auto& each) {
      const JournalStep* const other = each.second;
      return other == step || other->action.result != step->action.result || done.contains(other);
    });
  };
  while (true) {
    const auto known = std::stable_partition(shown.begin(), shown.end(), is_certain);
    if (known == shown.begin()) return done;
    done.insert(shown.begin(), known);
    shown.erase(shown.begin(), known);
  }
}

/// Renames that were under way are made: a file of a circle may be in none of its places. What cannot be renamed is
/// left: the next plan starts from what is there.
Result<void> finish_renames(SafeWriter& writer, const std::vector<JournalStep>& steps) {
  std::vector<FileStep> renames;
  for (const JournalStep& step : steps) {
    if (step.action.kind == ActionKind::pull_move) renames.push_back(file_step_of(step));
  }
  if (renames.empty()) return {};
  StagedTexts no_texts(renames.size());
  return carry_out(
      {.texts = &writer}, renames, no_texts, true, [](std::size_t, const Result<void>&) { return Result<void>(); });
}

}  // namespace

FileStep file_step_of(const JournalStep& step) {
  const Action& action = step.action;
  FileStep file{.document = action.document, .seen = action.seen, .result = action.result};
  if (action.kind == ActionKind::pull_move) {
    file.from = action.previous_path;
  } else if (action.seen) {
    file.from = action.path;
  }
  if (action.kind != ActionKind::pull_delete) file.to = action.path;
  return file;
}

ChangeOrigin origin_of(const Action& action) {
  if (action.kind == ActionKind::merge) return ChangeOrigin::merged;
  return is_pull(action.kind) ? ChangeOrigin::received : ChangeOrigin::agreed;
}

namespace {

/// Whether the step placed a file that both sides agree on, text and place.
bool is_agreed(const JournalStep& step) {
  return *step.action.result == step.base->entry.hash && step.action.path == step.base->disk_path();
}

}  // namespace

Result<void> finish_step(Session& session, const JournalStep& step, ChangeOrigin origin) {
  StateStore& state = session.state;
  const DocumentId& document = step.action.document;
  if (step.base) {
    const Action& action = step.action;
    const bool places = (is_pull(action.kind) || action.kind == ActionKind::merge) && action.result;
    const bool agrees = places && is_agreed(step);
    WS_TRY(state.put_base(
        document, *step.base, origin, agrees ? find_file_id(session.root, action.path) : std::optional<FileId>()));
    if (places && !agrees) WS_TRY(record_written(session, document, action.path, *action.result));
  } else {
    WS_TRY(state.forget_base(document, origin));
  }
  if (!step.replaces.empty()) {
    WS_TRY(state.forget_base(step.replaces, ChangeOrigin::received));
    WS_TRY(state.drop_pending(step.replaces));
  }
  return step.applies_remote ? state.drop_pending(document) : Result<void>();
}

void collect_texts(const JournalStep& step, TextChanges& after) {
  const Action& action = step.action;
  if (action.previous_path) after.push_back({.path = action.previous_path->string(), .author = step.author});
  if (!step.base) after.push_back({.path = action.path.string(), .author = step.author});
  if (step.base && !step.base->blob.empty()) {
    after.push_back({.path = action.path.string(), .blob = step.base->blob, .author = step.author});
  }
}

namespace {

/// Moves the texts that an interrupted run left in `.ws/tmp` to the history. Texts of pulls are there already.
Result<void> rescue_texts(Session& session, SafeWriter& writer, const std::vector<JournalStep>& steps) {
  WS_LET(const std::vector<std::string> names, writer.leftovers());
  if (names.empty()) return {};
  std::set<git::ObjectId> on_their_way;
  for (const JournalStep& step : steps) {
    if (step.base) on_their_way.insert(step.base->blob);
  }
  WS_LET(const auto pending, session.state.pending());
  for (const auto& [document, row] : pending) on_their_way.insert(row.blob);
  using Stage = Operation::Stage;
  WS_LET(const auto undoing, session.state.operations().find_at(Stage::undoing_on_disk, Stage::undoing_on_disk));
  if (undoing) {
    WS_LET(const std::vector<FileStep> undo, session.state.operations().undo_steps(undoing->id));
    for (const FileStep& step : undo) on_their_way.insert(step.result_blob);
  }
  TextChanges rescued;
  for (const std::string& name : names) {
    WS_LET(const std::string text, writer.read_leftover(name));
    const git::ObjectId id = git::object_id(git::ObjectType::blob, text);
    if (on_their_way.contains(id)) continue;
    WS_LET(const git::ObjectId blob, session.history.keep(text));
    rescued.push_back({.path = blob.hex() + ".md", .blob = blob});
  }
  if (!rescued.empty()) {
    WS_TRY(session.history.record_aside({{"rescued", rescued}}, "Texts of an interrupted run"));
  }
  for (const std::string& name : names) WS_TRY(writer.remove_leftover(name));
  return {};
}

}  // namespace

Result<void> recover_steps(Session& session) {
  session.history.drop_dead_locks();
  WS_LET(SafeWriter writer, SafeWriter::open(session.root));
  WS_LET(const std::vector<JournalStep> steps, session.state.steps());
  WS_TRY(rescue_texts(session, writer, steps));
  if (steps.empty()) return {};
  WS_TRY(finish_renames(writer, steps));
  TextChanges after;
  const std::set<const JournalStep*> done = done_steps(writer, steps);
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  for (const JournalStep& step : steps) {
    if (!done.contains(&step)) continue;  // the next plan starts from what is there
    WS_TRY(finish_step(session, step, origin_of(step.action)));
    collect_texts(step, after);
  }
  WS_TRY(session.state.clear_steps());
  WS_TRY(transaction.commit());
  return session.history.record_after(after, "Finished after an interruption");
}

}  // namespace ws::sync

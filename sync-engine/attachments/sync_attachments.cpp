#include "sync-engine/attachments/sync_attachments.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "sync-engine/attachments/blob_folder.hpp"
#include "sync-engine/attachments/publish_list.hpp"
#include "sync-engine/attachments/staged_files.hpp"
#include "sync-engine/attachments/tell_attachments.hpp"
#include "sync-engine/attachments/transfers.hpp"
#include "sync-engine/changes/edit_files.hpp"
#include "sync-engine/reconcile/free_name.hpp"
#include "sync-engine/session/kept_bytes.hpp"
#include "sync-engine/survey/held_documents.hpp"
#include "sync-engine/tree/hash.hpp"

namespace ws::sync {
namespace {

bool sends_bytes(const Action& action) {
  return action.kind == ActionKind::push_create || action.kind == ActionKind::push_update;
}
bool fetches_bytes(const Action& action) {
  return action.kind == ActionKind::pull_create || action.kind == ActionKind::pull_update;
}

/// The change of a row as a text that is equal for equal ones.
std::string change_of(const OperationRow& row) {
  const auto text_of = [](const std::optional<Version>& version) {
    return version ? version->hash.hex() + " " + version->path.string() : std::string();
  };
  return text_of(row.before) + "\n" + text_of(row.after);
}

class AttachmentRun {
 public:
  AttachmentRun(Session& session, const Clock& clock, AttachmentSurvey found, Half half, Report& report)
      : session_(session),
        clock_(clock),
        found_(std::move(found)),
        half_(half),
        report_(report),
        store_(session.attachments()) {}

  Result<void> run() {
    assets_ = session_.assets();
    const auto comes = [](const Action& each) { return is_pull(each.kind); };
    if (found_.is_first && std::ranges::any_of(found_.plan.actions, comes))
      WS_TRY(store_.set_note(first_files_key, "yes"));
    if (found_.backs_off) {
      WS_LET(failed_, store_.failed());
    }
    if (half_ == Half::here) {
      const auto pushes = std::erase_if(found_.plan.actions, [](const Action& each) { return is_push(each.kind); });
      report_.partial = report_.partial || pushes > 0;
    }
    if (half_ == Half::there) keep_what_goes_out();
    for (const Action& action : found_.plan.actions) rows_.push_back({.action = action});
    WS_LET(SafeWriter writer, SafeWriter::open(session_.root, attachments_folder));
    WS_TRY(recover_blob_folder(store_, writer));
    if (half_ == Half::there) {
      WS_TRY(move_bytes(writer));
      WS_TRY(stage());
      return tell();
    }
    if (session_.remote != nullptr) {
      WS_TRY(finish_list_commit(session_, store_));
      if (auto titled = give_missing_titles(session_, store_, found_.list); !titled) {
        outcome_.ended_by = std::move(titled).error();
        return tell();
      }
    }
    WS_TRY(settle());
    WS_TRY(end_conflicts(writer));
    WS_TRY(move_bytes(writer));
    if (!is_locked_out()) WS_TRY(lay_beside(writer));
    if (!is_locked_out()) WS_TRY(change_here(writer));
    if (half_ == Half::both && !outcome_.ended_by) WS_TRY(publish());
    return tell();
  }

 private:
  /// What must be done here first is done by a pull, as for notes.
  void keep_what_goes_out() {
    std::set<RelativePath> waiting;
    for (const Action& action : found_.plan.actions) {
      if (is_push(action.kind)) continue;
      waiting.insert(action.path);
      if (action.previous_path) waiting.insert(*action.previous_path);
    }
    const auto waits_here = [&](const Action& each) {
      return !is_push(each.kind) || waiting.contains(each.path) ||
             (each.previous_path && waiting.contains(*each.previous_path));
    };
    const auto later = std::erase_if(found_.plan.actions, waits_here);
    report_.partial = report_.partial || later > 0;
  }

  /// A commit publishes them.
  Result<void> stage() {
    StagedFiles staged;
    for (Row& row : rows_) {
      const auto why =
          sends_bytes(row.action) ? outcome_.not_uploaded.find(*row.action.result) : outcome_.not_uploaded.end();
      if (why != outcome_.not_uploaded.end()) {
        row.fail(why->second);
      } else if (!outcome_.ended_by) {
        row.state = Row::State::staged;
        staged.add(row.action);
      }
    }
    return staged.store(store_);
  }

  const Attachment* find(const AttachmentTree& tree, const RelativePath& path) const {
    const auto found = tree.find(path);
    return found == tree.end() ? nullptr : &found->second;
  }

  /// Where the file is, or is to be.
  RelativePath disk_path(const RelativePath& path) const {
    const auto known = found_.disk.find(path);
    if (known == found_.disk.end()) return path;
    return RelativePath::parse(known->second).value_or(path);
  }

  /// Of a file that was renamed here and edited there the row stands at its old path.
  const Attachment* incoming(const Action& action) const {
    if (const Attachment* const row = find(found_.sides.remote, action.path)) return row;
    for (const Row& row : rows_) {
      if (row.action.kind == ActionKind::push_move && row.action.path == action.path)
        return find(found_.sides.remote, *row.action.previous_path);
    }
    return nullptr;
  }

  Result<void> agree(const RelativePath& path, const std::optional<Attachment>& file, std::string_view how) {
    WS_TRY(file ? store_.put_base(path, *file) : store_.forget_base(path));
    if (file) WS_TRY(store_.wish_for(path));
    const bool is_named = found_.shown.targets.contains(path.string()) || !found_.shown.is_whole;
    if (!file && !is_named) WS_TRY(store_.drop_wish(path.string()));
    return how.empty() ? Result<void>() : store_.add_version(clock_.now(), path, file, how);
  }

  Result<void> settle() {
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    for (const auto& [path, file] : found_.plan.settled) {
      // Other bytes that both sides have already: a run that was cut off had brought them.
      const Attachment* const before = find(found_.sides.base, path);
      const bool is_new = file && (before == nullptr || before->hash != file->hash);
      WS_TRY(agree(path, file, is_new ? "agreed" : ""));
    }
    return transaction.commit();
  }

  /// Only what the service surely holds: without that proof the file here would be the last copy, and nobody knew.
  Result<void> adopt(const SafeWriter& writer) {
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    std::set<RelativePath> unproven;
    for (Row& row : rows_) {
      if (row.action.kind != ActionKind::adopt) continue;
      const Sha256& hash = *row.action.result;
      const auto why = outcome_.not_downloaded.find(hash);
      if (is_proven(hash) || writer.has(hash.hex(), hash)) {
        WS_TRY(agree(row.action.path, row_at(found_.sides.remote, row.action.path), "agreed"));
        row.state = Row::State::done;
      } else if (why != outcome_.not_downloaded.end() && why->second.kind == Failure::Kind::forbidden) {
        row.fail(why->second);
      } else if (!outcome_.ended_by) {
        unproven.insert(row.action.path);
        found_.plan.skipped.push_back({.path = row.action.path.string(), .reason = SkipReason::held});
      }
    }
    std::erase_if(rows_, [&](const Row& row) {
      return row.action.kind == ActionKind::adopt && unproven.contains(row.action.path);
    });
    return transaction.commit();
  }

  bool is_proven(const Sha256& hash) const { return proven_.contains(hash); }

  /// Which of the Assets that a run relies on hold what the list says.
  Result<void> prove() {
    Transfers proofs(session_, store_, *assets_);
    std::set<Sha256> asked;
    const auto ask = [&](const Attachment& file) -> Result<void> {
      if (!asked.insert(file.hash).second) return {};
      WS_LET(const auto own, store_.find_asset(file.hash));
      if (own && own->asset == file.asset) {
        proven_.insert(file.hash);
      } else {
        proofs.prove(file);
      }
      return {};
    };
    for (const Row& row : rows_) {
      if (row.action.kind == ActionKind::adopt) WS_TRY(ask(found_.sides.remote.at(row.action.path)));
      if (!sends_bytes(row.action)) continue;
      WS_LET(const auto known, known_asset(*row.action.result));
      if (known) WS_TRY(ask(*known));
    }
    TransferOutcome outcome = proofs.run();
    proven_.merge(outcome.proven);
    if (outcome.ended_by) outcome_.ended_by = std::move(outcome.ended_by);
    return {};
  }

  bool is_hidden(const RelativePath& path) const {
    const auto file = found_.sides.local.find(path);
    return file != found_.sides.local.end() && file->second.hidden;
  }

  /// Those that an edit, or another client, brought to an end.
  Result<void> end_conflicts(SafeWriter& writer) {
    if (found_.is_partial) return {};
    for (const auto& [path, open] : found_.open) {
      const bool is_open = std::ranges::any_of(
          found_.plan.collisions, [&path = path](const AttachmentCollision& each) { return each.path == path; });
      if (is_open || is_hidden(path) || (open.there && is_hidden(*open.there))) continue;
      // What lies beside it is on the service, or was changed by somebody: then it stays.
      if (open.beside && open.remote) static_cast<void>(writer.remove(*open.beside, open.remote->hash));
      WS_TRY(writer.flush_folders());
      WS_TRY(store_.drop_conflict(path));
    }
    return {};
  }

  /// The Asset that holds these bytes, where one is known.
  Result<std::optional<Attachment>> known_asset(const Sha256& hash) {
    WS_LET(auto own, store_.find_asset(hash));
    if (own) return own;
    if (by_hash_.empty()) {
      for (const AttachmentTree* tree : {&found_.sides.remote, &found_.sides.base}) {
        for (const auto& [path, row] : *tree) by_hash_.emplace(row.hash.hex(), row);
      }
    }
    const auto found = by_hash_.find(hash.hex());
    return found == by_hash_.end() ? std::optional<Attachment>{} : std::optional(found->second);
  }

  Result<void> move_bytes(SafeWriter& writer) {
    if (assets_ == nullptr) return adopt(writer);
    WS_TRY(prove());
    if (outcome_.ended_by) return {};
    Transfers transfers(session_, store_, *assets_);
    for (const Row& row : rows_) {
      const Action& action = row.action;
      if (sends_bytes(action)) {
        WS_LET(const auto known, known_asset(*action.result));
        if (known && is_proven(*action.result)) continue;
        if (waits(*action.result, "")) continue;
        const RelativePath where = moved_from(action.path).value_or(action.path);
        transfers.send({.path = action.path,
                        .disk = disk_path(where).string(),
                        .stamp = found_.stamps.at(where),
                        .hash = *action.result});
      }
      if (action.kind == ActionKind::adopt && !is_proven(*action.result))
        fetch(transfers, found_.sides.remote.at(action.path));
      if (!fetches_bytes(action)) continue;
      const Attachment* const file = incoming(action);
      if (file != nullptr && !writer.has(file->hash.hex(), file->hash)) fetch(transfers, *file);
    }
    for (const AttachmentCollision& collision : found_.plan.collisions) {
      if (half_ != Half::there && needs_copy(collision) &&
          !writer.has(collision.remote->hash.hex(), collision.remote->hash))
        fetch(transfers, *collision.remote);
    }
    outcome_ = transfers.run();
    WS_TRY(note_failed());
    return adopt(writer);
  }

  std::int64_t now_seconds() const {
    return std::chrono::duration_cast<std::chrono::seconds>(clock_.now().time_since_epoch()).count();
  }

  void fetch(Transfers& transfers, const Attachment& file) {
    asset_of_.insert_or_assign(file.hash, file.asset);
    if (!waits(file.hash, file.asset)) transfers.fetch(file);
  }

  /// Whether it failed a short time ago. Another Asset for the same bytes is tried at once.
  bool waits(const Sha256& hash, const std::string& asset) {
    const auto known = failed_.find(hash);
    if (known == failed_.end() || known->second.asset != asset || now_seconds() >= known->second.until_seconds)
      return false;
    waiting_.insert(hash);
    return true;
  }

  /// The next try comes later and later, up to an hour; what waits has failed as it did before.
  Result<void> note_failed() {
    if (!found_.backs_off) return {};
    constexpr std::int64_t first_pause = 5;
    constexpr std::int64_t max_pause = 3'600;
    const auto note = [&](const Sha256& hash, const std::string& asset, const Failure& failure) -> Result<void> {
      if (ends_transfers(failure)) return {};
      FailedTransfer& failed = failed_[hash];
      if (failed.asset != asset) failed = {};
      failed.asset = asset;
      failed.until_seconds =
          now_seconds() + std::min(max_pause, first_pause << std::min<std::uint64_t>(failed.times, 10));
      ++failed.times;
      failed.failure = failure;
      return store_.put_failed(hash, failed);
    };
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    for (const auto& [hash, failure] : outcome_.not_downloaded) WS_TRY(note(hash, asset_of_[hash], failure));
    for (const auto& [hash, failure] : outcome_.not_uploaded) WS_TRY(note(hash, "", failure));
    for (const auto& [hash, failed] : failed_) {
      const bool failed_again = outcome_.not_downloaded.contains(hash) || outcome_.not_uploaded.contains(hash);
      if (waiting_.contains(hash)) {
        (failed.asset.empty() ? outcome_.not_uploaded : outcome_.not_downloaded).emplace(hash, failed.failure);
      } else if (!failed_again) {
        WS_TRY(store_.drop_failed(hash));
      }
    }
    return transaction.commit();
  }

  /// Renamed there and edited here: the file still lies at its old path.
  std::optional<RelativePath> moved_from(const RelativePath& path) const {
    for (const Row& row : rows_) {
      if (row.action.kind == ActionKind::pull_move && row.action.path == path) return row.action.previous_path;
    }
    return std::nullopt;
  }

  bool needs_copy(const AttachmentCollision& collision) const {
    if (!collision.remote || collision.there) return false;
    const auto open = found_.open.find(collision.path);
    return open == found_.open.end() || !open->second.beside || open->second.remote != collision.remote;
  }

  /// Cut off anywhere, the next command ends it.
  Result<void> change_here(SafeWriter& writer) {
    std::vector<Row*> rows;
    std::vector<FileStep> steps;
    std::vector<OperationRow> planned;
    for (Row& row : rows_) {
      if (!is_pull(row.action.kind) || !has_bytes(writer, row)) continue;
      if (auto kept = back_up(writer, row.action); !kept) {
        row.fail(std::move(kept).error());
        if (row.error->kind != Failure::Kind::auth) continue;
        outcome_.ended_by = *row.error;
        return {};
      }
      rows.push_back(&row);
      steps.push_back(file_step_of(row.action));
      planned.push_back(operation_row(row.action));
    }
    const auto record = [&](const DoneSteps& done) -> Result<void> {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto why = done.refused.find(i);
        why == done.refused.end() ? void(rows[i]->state = Row::State::done) : rows[i]->fail(why->second);
      }
      WS_TRY(drop_undone([](const Row& row) { return is_pull(row.action.kind); }));
      for (const Row* const row : rows) {
        if (row->state == Row::State::done) WS_TRY(record_pulled(row->action));
      }
      return {};
    };
    if (auto done = carry_out_steps(session_, steps, planned, record); !done)
      outcome_.ended_by = std::move(done).error();
    return {};
  }

  bool has_bytes(const SafeWriter& writer, Row& row) {
    if (!fetches_bytes(row.action)) return true;
    const Sha256& hash = *row.action.result;
    const auto why = outcome_.not_downloaded.find(hash);
    const bool is_here = writer.has(hash.hex(), hash);
    if (!is_here && why != outcome_.not_downloaded.end()) row.fail(why->second);
    return is_here;
  }

  /// Takes out of the operation what was recorded and then not done. Within the caller's transaction.
  template <typename Which>
  Result<void> drop_undone(const Which& was_recorded) {
    std::set<std::string> undone;
    for (const Row& row : rows_) {
      if (was_recorded(row) && row.state != Row::State::done) undone.insert(change_of(operation_row(row.action)));
    }
    if (undone.empty()) return {};
    const auto took_place = [&](const OperationRow& recorded) -> std::optional<bool> {
      return undone.contains(change_of(recorded)) ? std::optional(false) : std::nullopt;
    };
    return session_.state.operations().settle_planned(took_place);
  }

  /// The row that has brought an edit from the service to this path. Rows are in order of path.
  const Row* find_fetched(const RelativePath& path) const {
    auto row = std::ranges::lower_bound(
        rows_, path, {}, [](const Row& each) -> const RelativePath& { return each.action.path; });
    for (; row != rows_.end() && row->action.path == path; ++row) {
      if (row->action.kind == ActionKind::pull_update && row->state == Row::State::done) return &*row;
    }
    return nullptr;
  }

  const Row* find_moved_here(const RelativePath& path) const {
    const auto is_move = [&](const Row& row) {
      return row.action.kind == ActionKind::push_move && row.action.path == path;
    };
    const auto found = std::ranges::find_if(rows_, is_move);
    return found == rows_.end() ? nullptr : &*found;
  }

  OperationRow operation_row(const Action& action) const {
    const ChangeOrigin origin = is_push(action.kind) ? ChangeOrigin::sent : ChangeOrigin::received;
    OperationRow row{.origins = origin};
    const auto known_as = found_.plan.known_as.find(action.path);
    const RelativePath before =
        known_as != found_.plan.known_as.end() ? known_as->second : action.previous_path.value_or(action.path);
    const bool is_new = action.kind == ActionKind::push_create && known_as == found_.plan.known_as.end();
    const Attachment* const agreed = is_new ? nullptr : find(found_.sides.base, before);
    const Attachment* const there = find(found_.sides.remote, before);
    const Row* const moved = action.kind == ActionKind::push_update ? find_moved_here(action.path) : nullptr;
    if (moved != nullptr) {  // renamed here and edited: the rename is a row of its own
      row.before = Version{.path = before, .hash = *moved->action.result};
    } else if (agreed != nullptr) {
      row.before = Version{.path = before, .hash = agreed->hash};
    } else if (action.kind == ActionKind::pull_update && action.seen) {  // renamed on both sides, edited on the service
      row.before = Version{.path = before, .hash = *action.seen};
    } else if (action.kind == ActionKind::push_update && there != nullptr) {  // the same, edited here
      row.before = Version{.path = before, .hash = there->hash};
    }
    const bool is_move = action.kind == ActionKind::push_move || action.kind == ActionKind::pull_move;
    if (is_move && row.before) {
      // Edited on the service too: its bytes are in place before the name is sent.
      const Row* const fetched = find_fetched(action.path);
      const bool is_edited = action.kind == ActionKind::push_move && fetched != nullptr;
      row.after = Version{.path = action.path, .hash = is_edited ? *fetched->action.result : row.before->hash};
    } else if (action.result) {
      row.after = Version{.path = action.path, .hash = *action.result};
    }
    return row;
  }

  Result<void> record_pulled(const Action& action) {
    if (action.kind == ActionKind::pull_move) {
      WS_TRY(agree(*action.previous_path, std::nullopt, ""));
      // Edited there too: the base takes over what is really on disk.
      const auto file = row_at(found_.sides.remote, action.path);
      const auto before = row_at(found_.sides.base, *action.previous_path);
      const bool is_old = file && before && file->hash != before->hash && find_fetched(action.path) == nullptr;
      return agree(action.path, is_old ? before : file, "renamed on the service");
    }
    if (action.kind == ActionKind::pull_delete) return agree(action.path, std::nullopt, "deleted on the service");
    // One that was renamed here has its row at the old place until the list is written, if it ever is.
    const bool is_moved = find(found_.sides.remote, action.path) == nullptr;
    const RelativePath row = is_moved ? *find_moved_here(action.path)->action.previous_path : action.path;
    WS_TRY(agree(row, *incoming(action), "received"));
    const auto id = is_moved ? find_file_id(session_.root, disk_path(action.path)) : std::nullopt;
    return id ? store_.put_file(row, *id) : Result<void>();
  }

  /// The key is not accepted: nothing more is changed.
  bool is_locked_out() const { return outcome_.ended_by && outcome_.ended_by->kind == Failure::Kind::auth; }

  FileStep file_step_of(const Action& action) const {
    FileStep step{.seen = action.seen, .result = action.result, .side = StepSide::here};
    if (action.kind == ActionKind::pull_move) {
      step.from = disk_path(*action.previous_path);
      step.to = action.path;
    } else {
      if (action.seen) step.from = disk_path(action.path);
      if (action.kind != ActionKind::pull_delete) step.to = disk_path(action.path);
    }
    return step;
  }

  /// Whether it replaces what this tree never sent nor received.
  bool is_unsent(const Action& action) const {
    return find(found_.sides.base, action.path) == nullptr && !moved_from(action.path) &&
           !was_synced(found_.sides, *action.seen);
  }

  /// What is replaced or removed here is on the service, or a copy of it is kept.
  Result<void> back_up(SafeWriter& writer, const Action& action) {
    if (!action.seen || action.kind == ActionKind::pull_move) return {};
    const RelativePath& known = action.path;
    auto agreed = row_at(found_.sides.base, known);
    if (action.kind != ActionKind::pull_delete && (!agreed || agreed->hash != *action.seen)) {
      WS_LET(agreed, known_asset(*action.seen));
    }
    // Renamed there too: it lies at its old place until the renames are made.
    WS_TRY(ensure_backup(session_, writer, disk_path(moved_from(known).value_or(known)), *action.seen, agreed));
    if (action.kind == ActionKind::pull_delete || !is_unsent(action)) return {};
    const Attachment file{.size_bytes = found_.sides.local.at(known).size_bytes, .hash = *action.seen};
    return store_.add_version(clock_.now(), known, file, replaced_unsent);
  }

  /// The other side's bytes beside ours, and the conflict in the store.
  Result<void> lay_beside(SafeWriter& writer) {
    for (const AttachmentCollision& collision : found_.plan.collisions) {
      const auto known = found_.open.find(collision.path);
      OpenAttachment open = open_from(collision);
      open.seconds = std::chrono::duration_cast<std::chrono::seconds>(clock_.now().time_since_epoch()).count();
      if (known != found_.open.end()) {
        open.beside = known->second.beside;
        open.seconds = known->second.seconds;
        if (known->second.remote == collision.remote && known->second.local == open.local && !needs_copy(collision))
          continue;
      }
      if (needs_copy(collision)) {
        if (open.beside && known->second.remote)
          static_cast<void>(writer.remove(*open.beside, known->second.remote->hash));
        WS_LET(open.beside, lay_copy(writer, collision.path, collision.remote->hash));
      }
      WS_TRY(store_.put_conflict(collision.path, open));
      found_.open.insert_or_assign(collision.path, open);
    }
    return {};
  }

  /// Where it lies; empty: its bytes did not come, or there is no room for its name. The next run tries again.
  Result<std::optional<RelativePath>> lay_copy(SafeWriter& writer, const RelativePath& path, const Sha256& hash) {
    std::optional<RelativePath> beside;
    if (!writer.has(hash.hex(), hash)) return beside;
    bool is_there = false;
    beside = name_beside(path, "remote", [&](const RelativePath& each) {
      if (find(found_.sides.remote, each) != nullptr || find(found_.sides.base, each) != nullptr) return false;
      if (!session_.root.open_beneath(each.text(), O_PATH | O_NOFOLLOW)) return true;
      // A run that was cut off laid it there, and did not come to say so.
      is_there = writer.hash(each).value_or(std::nullopt) == hash;
      return is_there;
    });
    if (!beside || is_there) return beside;
    WS_LET(const Staged staged, writer.stage_copy(hash.hex(), hash));
    WS_TRY(writer.flush_texts());
    if (auto placed = writer.place(staged, *beside, std::nullopt); !placed) beside.reset();
    WS_TRY(writer.flush_folders());
    return beside;
  }

  /// What an undo takes back, written before it is sent: a run that is killed in between leaves no change that its
  /// operation does not know.
  template <typename Which>
  Result<void> record_planned(const Which& is_wanted) {
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    for (const Row& row : rows_) {
      if (is_wanted(row)) WS_TRY(session_.state.operations().record_planned(operation_row(row.action)));
    }
    return transaction.commit();
  }

  Result<void> publish() {
    RowChanges changes;
    for (Row& row : rows_) {
      const Action& action = row.action;
      if (sends_bytes(action)) {
        WS_LET(auto file, asset_for(row));
        if (!file) continue;
        changes[action.path] = {.seen = row_at(found_.sides.remote, action.path), .now = std::move(file)};
      } else if (action.kind == ActionKind::push_delete) {
        changes[action.path] = {.seen = row_at(found_.sides.remote, action.path)};
      } else if (action.kind == ActionKind::push_move) {
        const auto file = row_at(found_.sides.remote, *action.previous_path);
        changes.try_emplace(*action.previous_path, RowChange{.seen = file});  // unless another file takes its name
        changes[action.path] = {.now = file, .from = action.previous_path};
      }
    }
    if (changes.empty() && !found_.list.is_due()) return {};
    const auto is_sent = [&](const Row& row) {
      return is_push(row.action.kind) && row.state != Row::State::failed && changes.contains(row.action.path);
    };
    if (!changes.empty()) WS_TRY(record_planned(is_sent));
    auto published = publish_list(session_, store_, found_.list, changes);
    if (!published && published.error().kind == Failure::Kind::forbidden) {
      // Whoever may only read goes on receiving.
      WS_LET(sqlite::Transaction transaction, session_.state.begin());
      WS_TRY(drop_undone(is_sent));
      WS_TRY(transaction.commit());
      for (Row& row : rows_) {
        if (is_sent(row)) row.fail(cannot_push(published.error()));
      }
      return {};
    }
    if (!published) {
      outcome_.ended_by = std::move(published).error();
      return {};
    }
    const auto is_refused = [&](const Row& row) { return is_sent(row) && !published->contains(row.action.path); };
    WS_LET(StagedFiles staged, StagedFiles::load(session_));
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    WS_TRY(drop_undone(is_refused));
    for (Row& row : rows_) {
      if (!is_sent(row)) continue;
      if (is_refused(row)) {
        row.fail({.kind = Failure::Kind::conflict,
                  .what = fmt::format("{} changed on the service during the sync", row.action.path.text()),
                  .hint = "run the same command again"});
        continue;
      }
      row.state = Row::State::done;
      staged.drop(row.action);
      WS_TRY(record_pushed(row.action, changes));
    }
    WS_TRY(staged.store(store_));
    return transaction.commit();
  }

  Result<void> record_pushed(const Action& action, const RowChanges& changes) {
    const std::optional<Attachment>& file = changes.at(action.path).now;
    if (action.kind != ActionKind::push_move) {
      WS_TRY(agree(action.path, file, action.kind == ActionKind::push_delete ? "deleted here" : "sent"));
      // The file that was read: it may have another name by now.
      const auto sent = found_.stamps.find(moved_from(action.path).value_or(action.path));
      return file && sent != found_.stamps.end() ? store_.put_file(action.path, sent->second.id()) : Result<void>();
    }
    // Edited there too: the base takes over what is really on disk.
    const auto fetched = std::ranges::find_if(rows_, [&](const Row& row) {
      return row.action.kind == ActionKind::pull_update && row.action.path == action.path;
    });
    const bool is_old = fetched != rows_.end() && fetched->state != Row::State::done;
    WS_TRY(agree(action.path, is_old ? row_at(found_.sides.base, *action.previous_path) : file, "renamed here"));
    const bool is_taken = changes.at(*action.previous_path).now.has_value();
    return is_taken ? Result<void>() : agree(*action.previous_path, std::nullopt, "");
  }

  Result<std::optional<Attachment>> asset_for(Row& row) {
    const Sha256& hash = *row.action.result;
    if (const auto sent = outcome_.uploaded.find(hash); sent != outcome_.uploaded.end())
      return std::optional(sent->second);
    if (const auto why = outcome_.not_uploaded.find(hash); why != outcome_.not_uploaded.end()) {
      row.fail(why->second);
      return std::optional<Attachment>{};
    }
    if (!is_proven(hash)) return std::optional<Attachment>{};
    return known_asset(hash);
  }

  /// Without the right to Assets the notes are synced all the same.
  Result<void> skip_for_scope() {
    std::string missing;
    const auto is_refused = [&](const Row& row) {
      if (row.state != Row::State::failed || row.error->kind != Failure::Kind::forbidden) return false;
      if (row.error->code == cannot_push({}).code) return false;
      const std::string_view word = sends_bytes(row.action) ? "write" : "read";
      if (missing.find(word) == std::string::npos) missing += word;
      return true;
    };
    const auto was_not_tried = [&](const Row& row) {
      const bool sends = sends_bytes(row.action);
      return row.state == Row::State::planned && !outcome_.ended_by &&
             ((sends && missing.find("write") != std::string::npos) ||
              (fetches_bytes(row.action) && missing.find("read") != std::string::npos));
    };
    const auto skip = [&](const auto& which) {
      std::erase_if(rows_, [&](const Row& row) {
        if (!which(row)) return false;
        report_.skipped.push_back({.path = row.action.path.string(), .reason = SkipReason::missing_scope});
        return true;
      });
    };
    for (Row& row : rows_) {
      if (!sends_bytes(row.action) || row.state != Row::State::planned) continue;
      const auto why = outcome_.not_uploaded.find(*row.action.result);
      if (why != outcome_.not_uploaded.end()) row.fail(why->second);
    }
    skip(is_refused);
    skip(was_not_tried);
    std::ranges::sort(report_.skipped);
    return store_.set_note("missing_scope", missing);
  }

  bool is_renamed_here(const RelativePath& path) const {
    const auto leaves = [&](const Row& row) {
      return row.action.kind == ActionKind::push_move && row.action.previous_path == path;
    };
    return std::ranges::any_of(rows_, leaves) ||
           std::ranges::any_of(found_.plan.collisions, [&](const auto& each) { return each.from == path; });
  }

  /// Which files on disk they are now: so one that is renamed and edited is still known.
  Result<void> note_files() {
    WS_LET(const AttachmentTree agreed, store_.base());
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    std::set<RelativePath> done;
    for (const Row& row : rows_) done.insert(row.action.path);
    for (const auto& [path, file] : agreed) {
      // Of a part of the plan nothing is known about the others.
      if (found_.is_partial && !done.contains(path)) continue;
      // Another file took the place of one that was renamed, and nothing was agreed about it yet.
      if (is_renamed_here(path) && row_at(found_.sides.base, path) == file) continue;
      const auto id = find_file_id(session_.root, disk_path(path));
      const auto known = found_.sides.files_known.find(path);
      if (!id || (known != found_.sides.files_known.end() && known->second == *id)) continue;
      WS_TRY(store_.put_file(path, *id));
      WS_TRY(keep_spelling(store_, path, disk_path(path)));
    }
    return transaction.commit();
  }

  Result<void> tell() {
    if (!outcome_.ended_by && half_ != Half::there) {
      WS_TRY(note_files());
      WS_TRY(store_.set_note(first_files_key, ""));
    }
    WS_TRY(skip_for_scope());
    for (const RelativePath& path : outcome_.in_doubt) {
      report_.remarks.push_back({.word = Remark::Word::asset_in_doubt, .path = path.string()});
    }
    found_.plan.actions.clear();
    WS_TRY(note_told(session_, found_));
    add_to_report(found_, report_);
    if (outcome_.ended_by && !report_.ended_by) report_.ended_by = outcome_.ended_by;
    const bool all_done = std::ranges::all_of(rows_, [](const Row& row) { return row.state == Row::State::done; });
    report_.clean = report_.clean && all_done && !report_.ended_by && !report_.partial;
    report_.rows.insert(
        report_.rows.end(), std::make_move_iterator(rows_.begin()), std::make_move_iterator(rows_.end()));
    return {};
  }

  Session& session_;
  const Clock& clock_;
  AttachmentSurvey found_;
  Half half_;
  Report& report_;
  AttachmentStore store_;
  Assets* assets_ = nullptr;
  std::vector<Row> rows_;
  std::unordered_map<std::string, Attachment> by_hash_;
  TransferOutcome outcome_;
  std::map<Sha256, FailedTransfer> failed_;
  std::set<Sha256> waiting_;  ///< not tried again yet
  std::map<Sha256, std::string> asset_of_;
  std::set<Sha256> proven_;  ///< bytes that the service surely has
};

/// As `note_files`, where nothing else is to be done.
Result<void> record_files(Session& session, const AttachmentSurvey& found) {
  const std::map<RelativePath, FileId> files = unrecorded_files(found);
  if (files.empty()) return {};
  AttachmentStore store = session.attachments();
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  for (const auto& [path, id] : files) {
    WS_TRY(store.put_file(path, id));
    WS_TRY(keep_spelling(store, path, RelativePath::parse(found.disk.at(path)).value_or(path)));
  }
  return transaction.commit();
}

}  // namespace

Result<void> sync_attachments(Session& session, const Clock& clock, AttachmentSurvey found, Half half, Report& report) {
  const bool is_off = session.config.attachments == AttachmentMode::off;
  const bool has_work = !found.is_quiet() || found.list.is_due() || !found.open.empty();
  bool is_unfinished_there = false;
  if (session.knows_attachments() && !is_off) {
    AttachmentStore store = session.attachments();
    WS_LET(is_unfinished_there, is_list_unfinished(store));
  }
  if (is_off || (!has_work && !is_unfinished_there)) {
    if (!is_off) WS_TRY(record_files(session, found));
    WS_TRY(note_told(session, found));
    add_to_report(found, report);
    if (!found.has_off_remark) return {};
    AttachmentStore store = session.attachments();
    return store.set_note("told_off", "yes");
  }
  return AttachmentRun(session, clock, std::move(found), half, report).run();
}

}  // namespace ws::sync

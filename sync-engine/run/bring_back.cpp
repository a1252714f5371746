#include "sync-engine/run/bring_back.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "sync-engine/attachments/local_files.hpp"
#include "sync-engine/attachments/publish_list.hpp"
#include "sync-engine/attachments/staged_files.hpp"
#include "sync-engine/attachments/transfers.hpp"
#include "sync-engine/changes/edit_files.hpp"
#include "sync-engine/changes/replace_file.hpp"
#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/manifest/known_list.hpp"
#include "sync-engine/session/kept_bytes.hpp"
#include "sync-engine/state/history_log.hpp"
#include "sync-engine/survey/documents_here.hpp"
#include "sync-engine/survey/survey.hpp"
#include "sync-engine/tree/hash.hpp"
#include "sync-engine/undo/taken_places.hpp"

namespace ws::sync {
namespace {

/// What a note is to be.
struct WantedNote {
  RelativePath path;
  DocumentId document = {};
  std::optional<Sha256> hash = {};  ///< empty: it goes
  git::ObjectId blob = {};
};
using WantedFiles = std::map<RelativePath, std::optional<Attachment>>;

constexpr std::string_view never_sent = "it was never sent";

class Planner {
 public:
  Planner(Session& session, const BringBack& wish, Survey& seen) : session_(session), wish_(wish), seen_(seen) {}

  Result<BroughtBack> plan() {
    WS_LET(writer_, SafeWriter::open(session_.root));
    WS_TRY(want_newest());
    switch (wish_.to) {
      case BringBack::To::agreed: WS_TRY(want_agreed()); break;
      case BringBack::To::run: WS_TRY(want_run()); break;
      case BringBack::To::state: WS_TRY(want_state()); break;
      case BringBack::To::service: WS_TRY(want_service()); break;
    }
    for (const WantedNote& note : notes_) WS_TRY(add(note));
    WS_TRY(add_files());
    leave_blocked();
    std::ranges::stable_sort(found_.steps, {}, place_of);
    std::ranges::stable_sort(found_.left, {}, &LeftAlone::path);
    if (found_.steps.empty() && found_.left.empty()) WS_TRY(look_for_match());
    return std::move(found_);
  }

 private:
  bool is_wanted(const RelativePath& path) const { return !wish_.wanted || wish_.wanted(path); }

  Result<void> look_for_match() {
    const auto is_note_wanted = [&](const auto& note) {
      const Entry* const file = here(note.first);
      return is_wanted(note.second.disk_path()) || (file != nullptr && is_wanted(file->path));
    };
    const auto is_file_wanted = [&](const auto& file) { return is_wanted(file.first); };
    WS_LET(const AttachmentTree base, session_.attachments().base());
    found_.matches_none = notes_.empty() && std::ranges::none_of(seen_.base_rows, is_note_wanted) &&
                          std::ranges::none_of(seen_.local.created, is_file_wanted) &&
                          std::ranges::none_of(base, is_file_wanted) && std::ranges::none_of(files_, is_file_wanted);
    return {};
  }

  void leave(const RelativePath& path, std::string_view why) {
    found_.left.push_back({.path = path, .why = std::string(why)});
  }

  /// A file cannot come to a place that is taken: `-n` promises nothing that the command leaves.
  void leave_blocked() {
    TakenPlaces places(session_.root);
    std::set<RelativePath> leaving;
    const auto is_blocked = [&](const FileStep& step) {
      const bool taken = step.to && step.to != step.from && places.is_taken(*step.to, leaving);
      if (taken) leave(*step.to, place_is_taken);
      return taken;
    };
    do {
      leaving.clear();
      for (const FileStep& step : found_.steps) {
        if (step.from && step.from != step.to) leaving.insert(*step.from);
      }
    } while (std::erase_if(found_.steps, is_blocked) != 0);
  }

  static std::string twin_words(const std::string& taken) {
    return fmt::format("it and {} are one name on other machines", taken);
  }

  const Entry* here(const DocumentId& document) const {
    const auto found = seen_.local.tracked.find(document);
    return found == seen_.local.tracked.end() ? nullptr : &found->second;
  }

  /// A rule, its name or its kind keeps it out of sight: that it is not seen is no proof that it is gone.
  bool is_out_of_sight(const DocumentId& document) const {
    return seen_.base.left_out.contains(document) || seen_.local.unsyncable.contains(document);
  }

  /// Whether the document's file is there with what no document may have.
  bool is_damaged(const DocumentId& document) const {
    const auto hidden = seen_.local.unsyncable.find(document);
    return hidden != seen_.local.unsyncable.end() && is_about_content(hidden->second);
  }

  /// One that is out of sight. What has its place is named.
  bool passes_over(const DocumentId& document, const BaseRow& row) {
    if (is_damaged(document)) return wish_.only_missing;
    const auto hidden = seen_.local.unsyncable.find(document);
    const bool is_replaced = hidden != seen_.local.unsyncable.end() &&
                             (hidden->second == SkipReason::symlink || hidden->second == SkipReason::special);
    if (is_replaced && is_wanted(row.disk_path())) leave(row.disk_path(), place_is_taken);
    return is_out_of_sight(document);
  }

  void want(WantedNote note) {
    if (is_wanted(note.path) && !named_.contains(note.path)) notes_.push_back(std::move(note));
  }

  Result<void> want_newest() {
    if (wish_.to_newest.empty()) return {};
    WS_LET(HistoryLog log, HistoryLog::open(session_.own("history.git")));
    const std::map<RelativePath, DocumentId> documents = documents_by_path();
    AttachmentStore store = session_.attachments();
    LocalFiles files(session_);
    for (const RelativePath& path : wish_.to_newest) {
      WS_LET(const std::vector<AttachmentVersion> versions, store.versions(path));
      if (!versions.empty()) {
        WS_LET(const RelativePath disk, spelled_here(session_, store, path));
        const auto seen = files.look_at(disk.string(), session_.config.attachments_max_bytes);
        const auto other = std::ranges::find_if(versions, [&seen](const AttachmentVersion& each) {
          return each.file && !(seen && seen->hash == each.file->hash);
        });
        if (other != versions.end()) files_.emplace(path, other->file);
        continue;
      }
      auto now = read_if_there(*writer_, path);
      if (!now) {
        WS_LET(const auto hash, writer_->hash(path));
        if (hash) return fail(std::move(now).error());
        leave(path, place_is_taken);  // a link or a folder: the other files come all the same
        continue;
      }
      auto found = find_state_text(log, path, {}, *now);
      if (!found && found.error().kind == Failure::Kind::not_found) continue;
      if (!found) return fail(std::move(found).error());
      const auto known = documents.find(path);
      named_.insert(path);
      notes_.push_back({.path = path,
                        .document = known == documents.end() ? DocumentId{} : known->second,
                        .hash = Sha256::of(found->text),
                        .blob = git::object_id(git::ObjectType::blob, found->text)});
    }
    return {};
  }

  /// The document of each file, also where it is missing here.
  std::map<RelativePath, DocumentId> documents_by_path() const {
    std::map<RelativePath, DocumentId> documents;
    for (const auto& [document, row] : seen_.base_rows) documents.emplace(row.disk_path(), document);
    for (const auto& [document, entry] : seen_.local.tracked) documents.insert_or_assign(entry.path, document);
    return documents;
  }

  Result<void> want_agreed() {
    for (const auto& [document, row] : seen_.base_rows) {
      const Entry* const file = here(document);
      if (passes_over(document, row) || (file != nullptr && wish_.only_missing)) continue;
      want({.path = file != nullptr ? file->path : row.disk_path(),
            .document = document,
            .hash = row.entry.hash,
            .blob = row.blob});
    }
    WS_LET(const AttachmentTree base, session_.attachments().base());
    for (const auto& [path, file] : base) files_.emplace(path, file);
    return {};
  }

  /// From what is agreed on now, back over the runs that came later.
  Result<void> want_run() {
    Operations operations = session_.state.operations();
    WS_LET(const std::vector<Operation> all, operations.list());
    const auto wanted = std::ranges::find(all, wish_.run, &Operation::id);
    if (wanted == all.end()) {
      return fail(Failure::Kind::not_found,
                  fmt::format("there is no run {}", wish_.run),
                  "`ws sync log --runs` lists the known runs");
    }
    std::map<RelativePath, WantedNote> then;
    for (const auto& [document, row] : seen_.base_rows) {
      then.emplace(row.disk_path(),
                   WantedNote{.path = row.disk_path(), .document = document, .hash = row.entry.hash, .blob = row.blob});
    }
    WS_LET(const AttachmentTree base, session_.attachments().base());
    for (const auto& [path, file] : base) files_.emplace(path, file);
    for (const Operation& later : all) {
      if (later.id <= wish_.run) break;
      WS_LET(const std::vector<OperationRow> rows, operations.rows(later.id));
      for (const OperationRow& row : rows) {
        if (row.after) (row.is_about_file() ? void(files_.erase(row.after->path)) : void(then.erase(row.after->path)));
      }
      for (const OperationRow& row : rows) {
        if (!row.before) continue;
        const Version& before = *row.before;
        if (row.is_about_file()) {
          files_.insert_or_assign(before.path, Attachment{.hash = before.hash});
        } else {
          then.insert_or_assign(
              before.path,
              WantedNote{.path = before.path, .document = row.document, .hash = before.hash, .blob = before.blob});
        }
      }
    }
    for (auto& [path, note] : then) {
      const Entry* const file = here(note.document);
      if (file != nullptr && file->path != path) {
        if (is_wanted(path)) leave(path, fmt::format("it is {} now", file->path.text()));
        continue;
      }
      if (!is_out_of_sight(note.document)) want(std::move(note));
    }
    return {};
  }

  Result<void> want_state() {
    WS_LET(HistoryLog log, HistoryLog::open(session_.own("history.git")));
    WS_LET(const std::vector<HistoryChange> files, log.files_in(wish_.state));
    const std::map<RelativePath, DocumentId> documents = documents_by_path();
    for (const HistoryChange& file : files) {
      auto path = RelativePath::parse(file.path);
      if (!path || !is_wanted(*path)) continue;
      WS_LET(const std::string text, log.text(*file.blob));
      const auto known = documents.find(*path);
      want({.path = *path,
            .document = known == documents.end() ? DocumentId{} : known->second,
            .hash = Sha256::of(text),
            .blob = *file.blob});
    }
    return {};
  }

  Result<void> want_service() {
    for (const auto& [document, row] : seen_.base_rows) {
      if (passes_over(document, row)) continue;
      const Entry* const file = here(document);
      if (seen_.remote.gone.contains(document)) {
        if (file != nullptr || is_damaged(document))
          want({.path = file != nullptr ? file->path : row.disk_path(), .document = document});
        continue;
      }
      const auto changed = seen_.remote.changed.find(document);
      const bool is_new = changed != seen_.remote.changed.end();
      const Entry& there = is_new ? changed->second : row.entry;
      const auto pending = seen_.pending.find(document);
      // A decision for the name here is sent by the next run: until then the service has another.
      const bool same_place = there.path == row.entry.path && !row.document_follows_file;
      WantedNote note{.path = same_place ? row.disk_path() : there.path,
                      .document = document,
                      .hash = there.hash,
                      .blob = there.hash == row.entry.hash     ? row.blob
                              : pending != seen_.pending.end() ? pending->second.blob
                                                               : git::ObjectId{}};
      if (is_wanted(note.path) || (file != nullptr && is_wanted(file->path))) notes_.push_back(std::move(note));
    }
    want_new_documents();
    AttachmentStore store = session_.attachments();
    WS_LET(KnownList list, load_list(store));
    for (const PulledPart& part : seen_.list_parts) take_part(list, part);
    WS_LET(const AttachmentTree base, store.base());
    for (const auto& [path, file] : list.rows()) files_.emplace(path, file);
    for (const auto& [path, file] : base) files_.emplace(path, std::nullopt);
    return {};
  }

  /// Documents that no run has brought yet, where a file of here has their very place. Other files of here were never
  /// sent: the service has nothing for them.
  void want_new_documents() {
    std::map<RelativePath, const DocumentId*> there;
    for (const auto& [document, entry] : seen_.remote.changed) {
      if (!seen_.base_rows.contains(document)) there.emplace(entry.path, &document);
    }
    for (const auto& [path, hash] : seen_.local.created) {
      const auto found = there.find(path);
      if (!is_wanted(path)) continue;
      if (found == there.end()) {
        leave(path, never_sent);
        found_.left.back().is_final = true;
        continue;
      }
      const PendingRow& row = seen_.pending.at(*found->second);
      notes_.push_back({.path = path, .document = *found->second, .hash = row.entry->hash, .blob = row.blob});
    }
  }

  /// An undo gives this side its own back, and the next run asks what becomes of the two: a text of the service that
  /// was taken here unseen by any run is nobody's to take from the service.
  void keep_sides(const WantedNote& note, const FileStep& step) {
    if (wish_.to != BringBack::To::service || note.document.empty()) return;
    const auto agreed = seen_.base_rows.find(note.document);
    const auto there = seen_.remote.changed.find(note.document);
    if (there == seen_.remote.changed.end() && !seen_.remote.gone.contains(note.document)) return;
    DecidedText decided{.document = note.document,
                        .text = note.hash.value_or(Sha256{}),
                        .conflict = {.path = place_of(step), .document = note.document},
                        .local_blob = step.seen_blob};
    if (agreed != seen_.base_rows.end()) decided.conflict.base = agreed->second.entry;
    if (step.from) decided.conflict.local = Entry{.path = *step.from, .hash = *step.seen};
    if (there != seen_.remote.changed.end()) decided.conflict.remote = there->second;
    found_.discarded.push_back(std::move(decided));
  }

  Result<void> add(const WantedNote& note) {
    const Entry* const file = here(note.document);
    FileStep step{.document = note.document};
    if (file != nullptr) {
      step.from = file->path;
      step.seen = file->hash;
    } else if (is_damaged(note.document)) {
      step.from = seen_.base_rows.at(note.document).disk_path();
      WS_LET(step.seen, writer_->hash(*step.from));
    } else if (seen_.local.created.contains(note.path) || seen_.local.set_aside.contains(note.path)) {
      const bool is_of_another = seen_.base_rows.contains(note.document);
      if (is_of_another || wish_.only_missing) {
        leave(note.path, place_is_taken);
        return {};
      }
      step.from = note.path;
      step.seen = seen_.local.created.contains(note.path) ? std::optional(seen_.local.created.at(note.path))
                                                          : writer_->hash(note.path).value_or(std::nullopt);
    } else if (const auto taken = note.hash ? find_taken(session_.root, note.path) : std::nullopt;
               taken && *taken != note.path.text()) {
      leave(note.path, twin_words(*taken));
      return {};
    }
    if (note.hash) {
      step.to = note.path;
      step.result = note.hash;
    }
    if (step.from == step.to && step.seen == step.result) return {};
    if (step.seen && step.seen != step.result) {
      // Promise 1: what is replaced or removed can be brought back.
      const auto text = writer_->read(*step.from);
      if (!text || Sha256::of(*text) != *step.seen) {
        leave(*step.from, "changed during the command");
        return {};
      }
      step.seen_blob = git::object_id(git::ObjectType::blob, *text);
      if (!wish_.dry_run) WS_TRY(session_.history.keep(*text));
    }
    if (step.result && step.seen != step.result) {
      // A look stores nothing of what the service has: the text comes with the command itself.
      const bool comes_later = wish_.dry_run && wish_.to == BringBack::To::service;
      if (!comes_later && (note.blob.empty() || !session_.history.holds(note.blob))) {
        leave(note.path, "the history lacks its text");
        return {};
      }
      step.result_blob = note.blob;
    }
    keep_sides(note, step);
    found_.steps.push_back(std::move(step));
    return {};
  }

  /// Where a file of the base is that was renamed here; null: nowhere.
  const RelativePath* renamed_to(const RelativePath& path, const AttachmentTree& base) {
    if (!others_) {
      others_.emplace();
      seen_.scan.each_other([&](const std::string& other) {
        auto parsed = RelativePath::parse(other);
        if (!parsed || base.contains(*parsed)) return;
        if (const auto id = find_file_id(session_.root, *parsed)) others_->emplace(id->number(), std::move(*parsed));
      });
    }
    const auto known = files_known_.find(path);
    const auto found = known == files_known_.end() ? others_->end() : others_->find(known->second.number());
    return found == others_->end() ? nullptr : &found->second;
  }

  Result<void> add_files() {
    if (files_.empty()) return {};
    AttachmentStore store = session_.attachments();
    WS_LET(const AttachmentTree base, store.base());
    WS_LET(files_known_, store.files());
    WS_LET(const std::set<RelativePath> left_out, store.left_out());
    LocalFiles local(session_);
    for (const auto& [path, wanted] : files_) {
      const bool by_new_name = wish_.to == BringBack::To::service;
      if (!by_new_name && !is_wanted(path)) continue;
      const RelativePath* from = &path;
      WS_LET(const RelativePath spelled, spelled_here(session_, store, path));
      if (by_new_name && !session_.root.open_beneath(spelled.text(), O_PATH | O_NOFOLLOW))
        from = renamed_to(path, base);
      if (!is_wanted(path) && (from == nullptr || !is_wanted(*from))) continue;
      WS_LET(const RelativePath disk, spelled_here(session_, store, from == nullptr ? path : *from));
      auto file = local.look_at(disk.string(), session_.config.attachments_max_bytes);
      if (file && wish_.only_missing) continue;
      const bool is_damaged = file && file->hidden && is_about_content(*file->hidden);
      if (!is_damaged && (left_out.contains(path) || (file && file->hidden))) continue;
      if (is_damaged) {
        WS_LET(const auto hash, writer_->hash(disk));
        if (!hash) continue;
        file->hash = *hash;
      }
      if (const auto taken = file || !wanted ? std::nullopt : find_taken(session_.root, path);
          taken && *taken != path.text()) {
        leave(path, twin_words(*taken));
        continue;
      }
      if (!file && (!wanted || renamed_to(path, base) != nullptr)) continue;
      FileStep step;
      if (file) {
        step.from = *from;
        step.seen = file->hash;
      }
      if (wanted) {
        step.to = path;
        step.result = wanted->hash;
      }
      if (step.from == step.to && step.seen == step.result) continue;
      if (wanted && !wanted->asset.empty() && step.seen != step.result) found_.there.push_back(*wanted);
      if (file && !base.contains(path)) {
        leave(path, never_sent);
        found_.left.back().is_final = true;
        continue;
      }
      found_.steps.push_back(std::move(step));
    }
    return {};
  }

  Session& session_;
  const BringBack& wish_;
  Survey& seen_;
  std::optional<SafeWriter> writer_;
  std::vector<WantedNote> notes_;
  WantedFiles files_;
  std::set<RelativePath> named_;  ///< notes that get another text than the agreed one
  std::map<RelativePath, FileId> files_known_;
  std::optional<std::map<FileId, RelativePath>> others_;  ///< files that nobody agreed on, by their number
  BroughtBack found_;
};

}  // namespace

Failure no_match() {
  return {.kind = Failure::Kind::not_found, .what = "no file that is synced here matches the pattern"};
}

const RelativePath& place_of(const FileStep& step) { return step.to ? *step.to : *step.from; }

Result<void> make_changes(Session& session, BroughtBack& found) {
  for (const Attachment& file : found.there) {
    auto brought = bring_bytes(session, file);
    if (!brought && !is_about_one(brought.error())) return fail(std::move(brought).error());
  }
  WS_LET(std::vector<LeftAlone> left, prepare_bytes(session, found.steps));
  std::vector<OperationRow> rows;
  for (const FileStep& step : found.steps) rows.push_back(row_of(step, ChangeOrigin::restored));
  WS_LET(const DoneSteps done, carry_out_steps(session, found.steps, rows, {}, found.discarded));
  left.insert(left.end(), done.left.begin(), done.left.end());
  std::set<RelativePath> paths;
  for (const LeftAlone& each : left) paths.insert(each.path);
  std::erase_if(found.steps, [&](const FileStep& step) {
    return paths.contains(place_of(step)) || (step.from && paths.contains(*step.from));
  });
  found.left.insert(found.left.end(), left.begin(), left.end());
  found.operation = session.state.operations().current();
  return {};
}

Result<BroughtBack> bring_back(RunContext& context, const BringBack& wish) {
  Session& session = context.session;
  const bool asks = wish.to == BringBack::To::service;
  const RunOptions look{.merge = false, .offline = !asks, .dry_run = wish.dry_run, .whole = true};
  WS_LET(Survey seen, survey(session, look, asks && !wish.dry_run ? PullMode::store : PullMode::inspect));
  WS_TRY(store_survey(session, seen));
  const bool is_rewound = std::ranges::any_of(
      seen.plan.conflicts, [](const Conflict& each) { return each.is_about(ConflictSubject::revision); });
  if (asks &&
      (is_rewound || (seen.plan.guard && (seen.plan.guard->empty_listing || seen.plan.guard->foreign_source)))) {
    return fail(Failure::Kind::conflict,
                "the service went back to an older state, or lists no document: nothing was changed",
                "`ws sync status` shows what differs on the service");
  }
  WS_LET(BroughtBack found, Planner(session, wish, seen).plan());
  if (wish.dry_run) return found;
  if (asks) {
    // What it discards is published by no later commit either.
    AttachmentStore store = session.attachments();
    WS_TRY(drop_list_commit(store));
    if (session.knows_attachments()) WS_TRY(StagedFiles().store(store));
    WS_TRY(session.state.clear_staged());
  }
  if (found.steps.empty()) return found;
  WS_TRY(make_changes(session, found));
  return found;
}

}  // namespace ws::sync

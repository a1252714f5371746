#include "sync-engine/attachments/survey_attachments.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "api-client/base/text.hpp"
#include "api-client/base/utf8.hpp"
#include "sync-engine/attachments/weigh_attachments.hpp"
#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/reconcile/freed_places.hpp"
#include "sync-engine/survey/cached_walk.hpp"
#include "sync-engine/tree/file_kinds.hpp"
#include "sync-engine/tree/hash.hpp"

namespace ws::sync {
namespace {

class AttachmentSurveyor {
 public:
  AttachmentSurveyor(Session& session,
                     const Survey& survey,
                     const RunOptions& options,
                     std::vector<FileStep> edits = {})
      : session_(session),
        survey_(survey),
        options_(options),
        edits_(std::move(edits)),
        kinds_(session.config.attachments_kinds) {}

  Result<AttachmentSurvey> survey() {
    found_.backs_off = options_.backs_off;
    found_.is_first = survey_.revision_before == SourceRevision{};
    if (is_still_quiet()) return std::move(found_);
    WS_TRY(look());
    if (is_off() || survey_.plan.went_back()) {
      WS_TRY(keep_marks());
      if (is_off()) WS_TRY(tell_left_behind());
      return std::move(found_);
    }
    found_.plan = plan(found_.sides);
    if (options_.looks_only) plan_freed_names();
    remark_foreign();
    tell_skipped();
    if (options_.whole) {
      found_.files = files_.all();
      std::erase_if(found_.files, [&](const RelativePath& path) { return why_not(path).has_value(); });
    }
    if (options_.only) narrow();
    if (!options_.allow_deletes) weigh_losses(session_, survey_, options_, found_);
    wait_for_folders();
    WS_TRY(keep_marks());
    if (!options_.allow_large) weigh_growth(session_, found_);
    if (!options_.dry_run) local_.save(clean_survey());
    return std::move(found_);
  }

  std::uint64_t synced_here() const { return found_.synced_here; }

  /// Reads both sides, and finds whose wishes the links are and which files are out of sight.
  Result<void> look() {
    survey_.scan.each_other([this](const std::string& path) {
      if (RelativePath::parse(path)) files_.add(path);
    });
    if (session_.knows_attachments() || !survey_.list_parts.empty()) WS_TRY(load());
    prefer_known_twins();
    WS_TRY(load_rules());
    // Files that are about to come count: the run that brings them leaves no mark for the next one to make.
    const bool any_synced = !found_.sides.base.empty() || !found_.list.rows().empty();
    found_.shown = shown_in_notes(session_, survey_, files_, !options_.dry_run, any_synced);
    WS_TRY(settle_marks());
    if (!is_off()) {
      found_.sides.remote = found_.list.rows();
      look_at_all();
    }
    find_left_out();
    return {};
  }

  /// Before any note is sent: a text that is sent must not outlive the wish that it makes. Writes only where somebody
  /// may, and where there is something new; a run that the guard stops changes nothing.
  Result<void> keep_marks() {
    const bool stopped = survey_.plan.guard || (found_.guard && !found_.held_deletes);
    const bool settles = found_.marks != marks_before_ || !notes_under_way_.empty();
    const std::string kinds = kinds_text();
    const bool is_known = !settles && found_.sides.left_out == left_out_before_ && kinds == kinds_before_;
    if (options_.dry_run || options_.looks_only || stopped || is_known) return {};
    AttachmentStore store = session_.attachments();
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    for (const auto& [target, mark] : marks_before_) {
      if (!found_.marks.contains(target)) WS_TRY(store.drop_wish(target));
    }
    for (const auto& [target, mark] : found_.marks) {
      const auto known = marks_before_.find(target);
      if (known == marks_before_.end() || known->second != mark) WS_TRY(store.put_mark(target, mark));
    }
    if (settles && !session_.wrote_notes) WS_TRY(store.set_note(notes_under_way_key, ""));
    WS_TRY(store.set_note(last_kinds_key, kinds));
    for (const auto& [path, row] : found_.sides.base) {
      const bool is_out = found_.sides.left_out.contains(path);
      if (is_out != left_out_before_.contains(path)) WS_TRY(store.set_left_out(path, is_out));
    }
    return transaction.commit();
  }

 private:
  bool is_off() const { return session_.config.attachments == AttachmentMode::off; }

  /// Whether nothing changed since a look that found nothing to do.
  bool is_still_quiet() {
    if (is_off() || options_.whole || options_.name_others || !survey_.list_parts.empty() || !edits_.empty())
      return false;
    inputs_ = survey_inputs(session_, survey_.scan);
    const auto known = inputs_ ? find_clean_survey(session_, *inputs_) : std::nullopt;
    found_.synced_here = known.value_or(0);
    return known.has_value();
  }

  /// A run that has nothing to do writes nothing.
  std::optional<CleanSurvey> clean_survey() const {
    const bool is_quiet = options_.looks_only && inputs_ && found_.is_quiet() && found_.plan.skipped.empty() &&
                          found_.remarks.empty() && found_.open.empty() && found_.shown.cut.empty() && !found_.guard &&
                          !found_.growth && !options_.only && !found_.list.is_due() && found_.sides.left_out.empty() &&
                          unrecorded_files(found_).empty() && kinds_text() == kinds_before_;
    if (!is_quiet || found_.stamps.size() != found_.synced_here) return std::nullopt;
    CleanSurvey clean{.inputs = *inputs_, .nowhere = found_.shown.nowhere};
    for (const auto& [path, stamp] : found_.stamps) clean.files.push_back(found_.disk.at(path));
    return clean;
  }

  /// Whether a file is ignored is asked for what is here, and for what may come.
  Result<void> load_rules() {
    const bool any_files = files_.size() > 0 || !found_.list.rows().empty();
    if (!any_files || !survey_.scan.any_rules() || survey_.scan.rules_loaded()) return {};
    WS_LET(with_rules_, walk_tree(session_, true));
    return {};
  }

  Result<void> load() {
    if (!session_.knows_attachments()) {
      // A mere look leaves no database behind.
      for (const PulledPart& part : survey_.list_parts) take_part(found_.list, part);
      return {};
    }
    AttachmentStore store = session_.attachments();
    WS_LET(found_.list, load_list(store));
    for (const PulledPart& part : survey_.list_parts) take_part(found_.list, part);
    WS_LET(found_.sides.base, store.base());
    WS_LET(found_.sides.files_known, store.files());
    WS_LET(const std::string first, store.note(first_files_key));
    found_.is_first = found_.is_first || !first.empty();
    WS_LET(found_.sides.left_out, store.left_out());
    WS_LET(found_.open, store.conflicts());
    WS_LET(wanted_, store.wanted());
    WS_LET(found_.marks, store.marks());
    WS_LET(wishes_.decisions, store.decisions());
    WS_LET(notes_under_way_, store.note(notes_under_way_key));
    WS_LET(missing_scope_, store.note("missing_scope"));
    WS_LET(told_off_, store.note("told_off"));
    WS_LET(kinds_before_, store.note(last_kinds_key));
    if (found_.list.is_due()) {
      found_.remarks.push_back({.word = Remark::Word::manifest_damaged});
    }
    return {};
  }

  /// Of two names that differ only in their normal form, the file that both sides know is synced: its number tells, or
  /// where an editor wrote it anew, the name by which the last run looked at it.
  void prefer_known_twins() {
    const std::multimap<RelativePath, std::string> twins = files_.twins();
    for (const auto& [path, disk] : twins) {
      if (!found_.sides.base.contains(path)) continue;
      const auto file = found_.sides.files_known.find(path);
      const auto is_known = [&](const std::string& name) {
        return file != found_.sides.files_known.end() && is_same_file(file->second, file_id(name)) != SameFile::no;
      };
      const std::string now = files_.disk_path(path);
      if (is_known(now)) continue;
      if (is_known(disk) || (local_.was_seen(disk) && !local_.was_seen(now))) files_.prefer(path, disk);
    }
  }

  Result<void> settle_marks() {
    WS_LET(const bool is_remade, session_.state.is_remade());
    const bool all_foreign = session_.wrote_notes || is_remade || !notes_under_way_.empty();
    marks_before_ = found_.marks;
    mark_targets(found_.marks, found_.shown, session_, all_foreign, [&](const RelativePath& path) {
      const auto file = local_.look_at(files_.disk_path(path), session_.config.attachments_max_bytes);
      return file && !file->hidden ? std::optional(file->hash) : std::nullopt;
    });
    for (const std::string& target : spent_wishes(found_.marks, found_.shown, found_.sides.base)) {
      const auto path = RelativePath::parse(target);
      if (!path || !wanted_.contains(*path)) found_.marks.erase(target);
    }
    for (auto& [target, mark] : found_.marks) {
      if (!mark.is_foreign || !found_.shown.targets.contains(target)) continue;
      const auto path = RelativePath::parse(target);
      if (!path || !files_.has(*path)) continue;
      const auto file = local_.look_at(files_.disk_path(*path), session_.config.attachments_max_bytes);
      if (file && !file->hidden) mark.hash = file->hash;
    }
    return {};
  }

  /// A blank before each, since there may be none at all. Empty: as by default.
  std::string kinds_text() const {
    std::string text;
    for (const std::string& kind : session_.config.attachments_kinds) text += " " + kind;
    if (text.empty()) return " ";
    return session_.config.attachments_kinds == TreeConfig().attachments_kinds ? std::string() : text;
  }

  ArrivingKinds kinds_then() const {
    if (kinds_before_.empty()) return ArrivingKinds(TreeConfig().attachments_kinds);
    const auto words = split(kinds_before_, ' ');
    return ArrivingKinds(std::vector<std::string>(words.begin(), words.end()));
  }

  /// Which files of the base are out of sight, remembered until they are seen again. One of a kind that the last run
  /// did not take went while it was: a file of such a kind that lies on both sides is synced, and has no mark.
  void find_left_out() {
    const ArrivingKinds before = kinds_then();
    std::set<RelativePath>& now = found_.sides.left_out;
    left_out_before_ = now;
    for (const auto& [path, row] : found_.sides.base) {
      const auto file = found_.sides.local.find(path);
      const bool is_here = file != found_.sides.local.end();
      const auto why = is_here ? file->second.hidden : std::nullopt;
      const bool is_gone_there = !found_.sides.remote.contains(path);
      const bool is_out = why && why != SkipReason::busy && why != SkipReason::twin;
      const bool is_gone = !why && is_here == is_gone_there;
      const bool is_seen = is_here && !why && !is_gone_there;
      const bool goes_out = is_off() || is_out || (is_gone && would_be_held(path, before));
      if (goes_out || (!is_seen && is_here && options_.keep_archived)) {
        now.insert(path);
      } else if (is_seen) {
        now.erase(path);
      }
    }
  }

  /// What may be done of it.
  AttachmentPlan plan(const AttachmentSides& sides) {
    AttachmentPlan plan = plan_attachments(sides, {.accept_deletes = options_.accept_deletes});
    hold(plan, sides);
    return plan;
  }

  /// A run looks again for files that had to wait for a name, once what comes has freed it.
  void plan_freed_names() {
    const FreedPlaces freed(found_.plan.actions);
    std::set<std::string> waiting;
    for (const Skipped& each : found_.plan.skipped) {
      if (freed.has_room_for(each)) waiting.insert(each.path);
    }
    if (waiting.empty()) return;
    const auto has_waited = [&](const auto& each) { return waiting.contains(std::string(text_of(each.path))); };
    AttachmentPlan later = plan(sides_after_pulls(found_.sides, found_.plan));
    std::set<std::string> told = waiting;
    for (const Action& action : later.actions) {
      if (!has_waited(action)) continue;
      if (action.previous_path) told.insert(action.previous_path->string());
      found_.plan.actions.push_back(action);
    }
    std::erase_if(found_.plan.skipped, [&](const Skipped& each) { return told.contains(each.path); });
    std::ranges::copy_if(later.collisions, std::back_inserter(found_.plan.collisions), has_waited);
    std::ranges::copy_if(later.skipped, std::back_inserter(found_.plan.skipped), has_waited);
    std::ranges::stable_sort(found_.plan.actions, {}, &Action::path);
  }

  static std::string_view text_of(const RelativePath& path) { return path.text(); }
  static std::string_view text_of(std::string_view path) { return path; }

  void hold(AttachmentPlan& plan, const AttachmentSides& sides) {
    wishes_.marks = found_.marks;
    wishes_.taken = wanted_;
    wishes_.is_for_all = session_.config.attachments == AttachmentMode::all;
    std::multimap<std::string, RelativePath> names;
    const auto is_name_taken = [&](const RelativePath& path, const std::optional<RelativePath>& from) {
      if (names.empty()) {
        for (const RelativePath& each : files_.all()) names.emplace(each.twin_key(), each);
        survey_.scan.each_file([&](const std::string& each, const CachedEntry&) {
          if (auto note = RelativePath::parse(utf8::nfc(each))) names.emplace(note->twin_key(), std::move(*note));
        });
      }
      const auto [first, last] = names.equal_range(path.twin_key());
      return std::any_of(first, last, [&](const auto& each) { return each.second != path && each.second != from; });
    };
    const ArrivalPlace place{.kinds = kinds_,
                             .is_executable = [&](const RelativePath& path) { return is_executable(path); },
                             .is_name_taken = is_name_taken,
                             .is_open_conflict = [&](const RelativePath& path) { return found_.open.contains(path); }};
    hold_unwished(plan, sides, wishes_, place);
  }

  void remark_foreign() {
    for (const Skipped& each : found_.plan.skipped) {
      const auto mark = found_.marks.find(each.path);
      if (each.reason != SkipReason::foreign || mark == found_.marks.end() || mark->second.is_told) continue;
      found_.remarks.push_back(
          {.word = Remark::Word::foreign_file, .path = each.path, .note = mark->second.note, .by = mark->second.by});
    }
  }

  bool is_executable(const RelativePath& path) const {
    const std::string known_as = files_.disk_path(path);
    const Descriptor there =
        session_.root.open_beneath(known_as.empty() ? path.string() : known_as, O_PATH | O_NOFOLLOW);
    struct stat status = {};
    return there && ::fstat(there.get(), &status) == 0 && (status.st_mode & 0111U) != 0;
  }

  const Scan& scan() const { return with_rules_ ? *with_rules_ : survey_.scan; }

  /// Notes show files, or the source has some, and this tree leaves them alone.
  Result<void> tell_left_behind() {
    std::set<RelativePath> left;
    for (const auto& [path, notes] : found_.shown.notes) left.insert(path);
    for (const auto& [path, row] : found_.list.rows()) left.insert(path);
    for (const RelativePath& path : left) {
      found_.plan.skipped.push_back({.path = path.string(), .reason = SkipReason::attachments_off});
    }
    found_.list = {};
    found_.has_off_remark = !left.empty() && !session_.config.says_attachments && told_off_.empty();
    if (found_.has_off_remark) found_.remarks.push_back({.word = Remark::Word::attachments_off});
    return {};
  }

  /// Which files the edits leave, and where; empty: none.
  void apply_edits(std::set<RelativePath>& paths) {
    for (const FileStep& step : edits_) {
      if (step.from) edited_.emplace(*step.from, std::nullopt);
    }
    for (const FileStep& step : edits_) {
      if (!step.to) continue;
      const FileId file = step.from ? file_id(files_.disk_path(*step.from)) : FileId();
      edited_.insert_or_assign(*step.to, LocalAttachment{.hash = *step.result, .file = file});
      wanted_.insert(*step.to);
      paths.insert(*step.to);
    }
  }

  std::optional<LocalAttachment> file_at(const RelativePath& path, const std::string& disk) {
    const auto edited = edited_.find(path);
    return edited == edited_.end() ? local_.look_at(disk, session_.config.attachments_max_bytes) : edited->second;
  }

  void look_at_all() {
    std::set<RelativePath> paths;
    apply_edits(paths);
    if (session_.config.attachments == AttachmentMode::all) {
      for (const RelativePath& path : files_.all()) paths.insert(path);
    } else {
      for (const auto& [path, notes] : found_.shown.notes) paths.insert(path);
      for (const RelativePath& path : wanted_) {
        if (files_.has(path)) paths.insert(path);
      }
    }
    for (const auto& [path, row] : found_.sides.base) paths.insert(path);
    for (const auto& [path, row] : found_.sides.remote) paths.insert(path);
    find_renamed(paths);
    std::set<RelativePath> beside;
    for (const auto& [path, open] : found_.open) {
      paths.insert(path);
      if (!open.beside) continue;
      beside.insert(*open.beside);
      const bool is_synced = found_.sides.base.contains(*open.beside) || found_.sides.remote.contains(*open.beside);
      if (is_synced || !files_.has(*open.beside)) continue;
      // It belongs to the conflict: not a file that is not synced.
      ++found_.synced_here;
      found_.disk.emplace(*open.beside, files_.disk_path(*open.beside));
    }
    for (const auto& [path, disk] : files_.twins()) {
      if (!paths.contains(path)) continue;
      ++found_.synced_here;
      other_forms_.push_back({.path = disk, .reason = SkipReason::twin});
    }
    for (const RelativePath& path : paths) {
      const bool is_known = found_.sides.base.contains(path) || found_.sides.remote.contains(path);
      if (!is_known && beside.contains(path)) continue;
      const bool is_asked_for =
          is_known || wanted_.contains(path) || found_.shown.notes.contains(path) || found_.open.contains(path);
      if (!is_asked_for && scan().is_ignored(path)) continue;
      look_at_one(path);
    }
    find_replaced();
    find_emptied();
  }

  /// Adds the files that were renamed here, which no note shows by their new names yet. A file is a missing one of the
  /// base if it has its inode number, or, where that tells nothing, its bytes; it is read only if it has the size of a
  /// missing one. A copy that somebody keeps elsewhere is no new name: nobody asked for it to be sent.
  void find_renamed(std::set<RelativePath>& paths) {
    std::set<RelativePath> missing;
    std::map<FileId, std::pair<FileId, RelativePath>> numbers;  // by number, also where a birth time is not known
    for (const auto& [path, row] : found_.sides.base) {
      if (files_.has(path)) continue;
      missing.insert(path);
      const auto file = found_.sides.files_known.find(path);
      if (file != found_.sides.files_known.end()) numbers.emplace(file->second.number(), std::pair(file->second, path));
    }
    if (missing.empty()) return;
    std::map<RelativePath, std::set<RelativePath>> moved;
    for (const RelativePath& path : files_.all()) {
      if (numbers.empty() || found_.sides.base.contains(path)) continue;
      const FileId file = file_id(files_.disk_path(path));
      const auto from = numbers.find(file.number());
      if (from == numbers.end() || is_same_file(from->second.first, file) != SameFile::yes) continue;
      if (const auto why = why_not(path)) {
        moved_out_of_sight_.emplace(from->second.second, *why);
      } else {
        moved[from->second.second].insert(path);
      }
    }
    for (const HiddenFile& file : numbers.empty() ? std::vector<HiddenFile>() : survey_.scan.hidden(session_.root)) {
      const auto from = numbers.find(file.id.number());
      // Nobody reads it, so that a number without a birth time is believed, as for notes.
      if (from != numbers.end() && is_same_file(from->second.first, file.id) != SameFile::no)
        moved_out_of_sight_.emplace(from->second.second, file.reason);
    }
    for (const auto& [from, names] : moved) {
      missing.erase(from);
      if (names.size() != 1) continue;  // links to one file
      paths.insert(*names.begin());
      wanted_.insert(*names.begin());
    }
    for (const auto& [from, why] : moved_out_of_sight_) missing.erase(from);
    find_copied(paths, missing);
  }

  /// The same of those that were copied and removed within one folder, which only their bytes tell. A copy that is put
  /// elsewhere is one that somebody keeps: its place is nobody's wish. Where no birth time is known the folder does not
  /// matter, as it may be the file itself.
  void find_copied(std::set<RelativePath>& paths, const std::set<RelativePath>& missing) {
    using Place = std::pair<std::optional<std::string>, Sha256>;  // a folder (empty: any), and bytes
    std::map<Place, std::size_t> went;
    std::set<std::uint64_t> sizes;
    for (const RelativePath& path : missing) {
      const Attachment& row = found_.sides.base.at(path);
      const auto file = found_.sides.files_known.find(path);
      const bool is_told = file != found_.sides.files_known.end() && file->second.born_ns != 0;
      ++went[{is_told ? std::optional(std::string(path.folder())) : std::nullopt, row.hash}];
      sizes.insert(row.size_bytes);
    }
    if (went.empty()) return;
    const std::int64_t since = last_run_ns();
    std::map<Place, std::vector<RelativePath>> came;
    for (const RelativePath& path : files_.all()) {
      if (paths.contains(path)) continue;
      const std::string disk = files_.disk_path(path);
      // Another file of the same bytes is nobody's wish: what an undo removed was not renamed to it.
      if (!sizes.contains(size_of(disk)) || scan().is_ignored(path) || (options_.only && !options_.only(path)))
        continue;
      const std::int64_t born = file_id(disk).born_ns;
      if (born != 0 && born < since) continue;
      const auto file = local_.look_at(disk, session_.config.attachments_max_bytes);
      if (!file || file->hidden) continue;
      for (const Place& place : {Place{std::nullopt, file->hash}, Place{path.folder(), file->hash}}) {
        if (went.contains(place)) came[place].push_back(path);
      }
    }
    for (const auto& [place, names] : came) {
      if (names.size() > went.at(place)) continue;  // nobody knows which one is meant
      paths.insert(names.begin(), names.end());
      wanted_.insert(names.begin(), names.end());
    }
  }

  /// When an earlier run last changed something: what lay here by then is a copy that somebody keeps. 0: never.
  std::int64_t last_run_ns() const {
    Operations operations = session_.state.operations();
    const auto last = operations.list(2);
    if (!last) return 0;
    for (const Operation& each : *last) {
      if (each.id == operations.current()) continue;
      return std::chrono::duration_cast<std::chrono::nanoseconds>(each.time.time_since_epoch()).count();
    }
    return 0;
  }

  /// Adds the files that were renamed here while another one took their name, told by their numbers. One with another
  /// ending is what an editor keeps of the version before.
  void find_replaced() {
    std::map<FileId, std::pair<FileId, RelativePath>> replaced;  // by number
    for (const auto& [path, file] : found_.sides.files_known) {
      const auto now = found_.sides.local.find(path);
      const bool is_here = now != found_.sides.local.end() && !now->second.hidden;
      if (is_here && file.born_ns != 0 && is_same_file(file, now->second.file) == SameFile::no)
        replaced.emplace(file.number(), std::pair(file, path));
    }
    if (replaced.empty()) return;
    for (const RelativePath& path : files_.all()) {
      if (found_.sides.local.contains(path)) continue;
      const FileId file = file_id(files_.disk_path(path));
      const auto from = replaced.find(file.number());
      const bool is_renamed = from != replaced.end() && is_same_file(from->second.first, file) == SameFile::yes &&
                              std::filesystem::path(from->second.second.text()).extension() ==
                                  std::filesystem::path(path.text()).extension();
      if (!is_renamed || why_not(path)) continue;
      wanted_.insert(path);
      look_at_one(path);
    }
  }

  /// What lies where a file or a folder above it has to be.
  void look_for_room(const RelativePath& path, const std::string& disk) {
    if (is_folder_in_use(disk)) found_.sides.folders_here.insert(path);
    std::string_view above = parent_folder(disk);
    for (std::string_view name = parent_folder(path.text()); !name.empty(); name = parent_folder(name)) {
      if (!folders_seen_.insert(std::string(above)).second) return;
      const Descriptor there = session_.root.open_beneath(std::string(above), O_PATH | O_NOFOLLOW);
      above = parent_folder(above);
      struct stat status = {};
      if (!there || ::fstat(there.get(), &status) != 0 || S_ISDIR(status.st_mode)) continue;
      auto other = RelativePath::parse(name);
      if (other && !options_.absent.contains(*other)) found_.sides.others_here.insert(std::move(*other));
    }
  }

  /// The plan knows which files of a folder stay, where it knows all that is in it.
  void find_emptied() {
    if (found_.sides.folders_here.empty()) return;
    std::set<std::string> known;
    for (const auto& [path, disk] : found_.disk) known.insert(disk);
    const auto is_known = [&](const std::string& path) { return known.contains(path); };
    std::erase_if(found_.sides.folders_here, [&](const RelativePath& path) {
      return holds_only(session_.root, path.string(), is_known) && emptied_.insert(path).second;
    });
  }

  /// What comes in the place of a folder waits where files in it stay after all: what removes them is not wanted now.
  void wait_for_folders() {
    if (emptied_.empty()) return;
    const FreedPlaces freed(found_.plan.actions);
    std::set<RelativePath> waiting;
    for (const Action& action : found_.plan.actions) {
      if (!is_pull(action.kind) || !emptied_.contains(action.path)) continue;
      const std::string folder = action.path.string() + "/";
      const bool stays = std::ranges::any_of(found_.sides.local, [&](const auto& each) {
        return each.first.text().starts_with(folder) && !freed.places().contains(each.first);
      });
      if (stays && waiting.insert(action.path).second)
        found_.plan.skipped.push_back({.path = action.path.string(), .reason = SkipReason::twin});
    }
    std::erase_if(found_.plan.actions,
                  [&](const Action& each) { return is_pull(each.kind) && waiting.contains(each.path); });
  }

  bool is_folder_in_use(const std::string& disk) const {
    const Descriptor above = session_.root.open_beneath(parent_folder(disk), O_RDONLY | O_DIRECTORY);
    const std::string name(last_part(disk));
    struct stat status = {};
    return above && ::fstatat(above.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(status.st_mode) && !is_empty_folder(above.get(), name.c_str());
  }

  FileId file_id(const std::string& disk) const {
    const Descriptor there = session_.root.open_beneath(disk, O_PATH | O_NOFOLLOW);
    struct statx status {};
    const bool is_file =
        there && ::statx(there.get(), "", AT_EMPTY_PATH, stamp_mask, &status) == 0 && S_ISREG(status.stx_mode);
    return is_file ? stamp_of(status).id() : FileId{};
  }

  /// 0: no file is there that could be read.
  std::uint64_t size_of(const std::string& disk) const {
    const Descriptor there = session_.root.open_beneath(disk, O_PATH | O_NOFOLLOW);
    struct stat status = {};
    const bool is_file = there && ::fstat(there.get(), &status) == 0 && S_ISREG(status.st_mode);
    return is_file ? static_cast<std::uint64_t>(status.st_size) : 0;
  }

  std::optional<SkipReason> why_not(const RelativePath& path) const {
    if (session_.kinds.takes(path.text()) || is_hidden_name(path.text()) || is_manifest_path(path.text()))
      return SkipReason::dangerous_name;
    if (session_.config.left_out.takes(path.text())) return SkipReason::left_out;
    if (const auto why = why_out_of_sight(session_, scan(), path)) return why;
    if (session_.excludes(path.text())) return SkipReason::excluded;
    const auto there = found_.sides.remote.find(path);
    const bool too_large =
        there != found_.sides.remote.end() && there->second.size_bytes > session_.config.attachments_max_bytes;
    return too_large ? std::optional(SkipReason::too_large) : std::nullopt;
  }

  void look_at_one(const RelativePath& path) {
    if (options_.absent.contains(path)) return;
    const std::string known_as = files_.disk_path(path);
    const std::string disk = known_as.empty() ? path.string() : known_as;
    std::optional<LocalAttachment> file;
    if (const auto why = why_not(path)) {
      file = LocalAttachment{.size_bytes = size_of(disk), .hidden = why};
    } else {
      file = file_at(path, disk);
    }
    if (options_.busy && !file && found_.sides.base.contains(path)) {
      // A file that a program is about to write anew.
      if (options_.busy(path)) file = LocalAttachment{.hidden = SkipReason::busy};
    }
    const auto moved = moved_out_of_sight_.find(path);
    if (!file && moved != moved_out_of_sight_.end()) file = LocalAttachment{.hidden = moved->second};
    if (!file && found_.sides.base.contains(path) && is_kept_elsewhere(session_.root, path.text()))
      file = LocalAttachment{.hidden = SkipReason::elsewhere};
    if ((!file || !found_.sides.remote.contains(path)) && would_be_held(path, kinds_))
      file = LocalAttachment{.size_bytes = size_of(disk), .hidden = SkipReason::held};
    if (!file && found_.sides.remote.contains(path)) look_for_room(path, disk);
    if (!file) return;
    if (!known_as.empty()) ++found_.synced_here;
    found_.disk.emplace(path, disk);
    const SeenFile* const seen = edited_.contains(path) ? nullptr : local_.seen(disk);
    if (seen != nullptr) {
      found_.stamps.emplace(path, seen->stamp);
      file->file = seen->stamp.id();
    }
    found_.sides.local.emplace(path, *file);
  }

  /// A file that came under a wider `attachments_kinds:`, and that would wait for a decision now; where kinds are
  /// named, also one that was sent under a wider one.
  bool would_be_held(const RelativePath& path, const ArrivingKinds& kinds) const {
    const auto known = found_.sides.base.find(path);
    if (known == found_.sides.base.end() || kinds.take(path.text())) return false;
    if (wishes_.decided(path, known->second.hash) == true) return false;
    if (kinds.are_named()) return true;
    const auto versions = session_.attachments().versions(path);
    return versions && !versions->empty() && versions->front().how == "received";
  }

  /// Why the walk does not list a file that a note shows. Empty: there is none.
  std::optional<SkipReason> why_not_listed(const std::string& path) const {
    const Descriptor there = session_.root.open_beneath(path, O_PATH | O_NOFOLLOW);
    if (!there) return errno == ELOOP || errno == EXDEV ? std::optional(SkipReason::symlink) : std::nullopt;
    struct stat status = {};
    if (::fstat(there.get(), &status) != 0 || S_ISDIR(status.st_mode)) return std::nullopt;
    if (S_ISLNK(status.st_mode)) return SkipReason::symlink;
    return S_ISREG(status.st_mode) ? SkipReason::ignored : SkipReason::special;
  }

  /// What a note names and cannot be told, and what the key may not send or fetch.
  void tell_skipped() {
    AttachmentPlan& plan = found_.plan;
    plan.skipped.insert(plan.skipped.end(), found_.shown.unclear.begin(), found_.shown.unclear.end());
    plan.skipped.insert(plan.skipped.end(), other_forms_.begin(), other_forms_.end());
    for (const std::string& path : found_.shown.nowhere) {
      if (const auto why = why_not_listed(path)) plan.skipped.push_back({.path = path, .reason = *why});
    }
    // A run asks again; a mere look shows what the last run met.
    std::erase_if(plan.actions, [&](const Action& action) {
      const bool sends = action.kind == ActionKind::push_create || action.kind == ActionKind::push_update;
      const bool fetches = action.kind == ActionKind::pull_create || action.kind == ActionKind::pull_update;
      const bool is_out = shows_last_ && ((sends && missing_scope_.find("write") != std::string::npos) ||
                                          (fetches && missing_scope_.find("read") != std::string::npos));
      if (is_out) plan.skipped.push_back({.path = action.path.string(), .reason = SkipReason::missing_scope});
      return is_out;
    });
    // A file that is left out on purpose is named only where one lies here all the same.
    std::erase_if(plan.skipped, [&](const Skipped& each) {
      const auto path = RelativePath::parse(each.path);
      return each.reason == SkipReason::left_out && path && !files_.has(*path);
    });
    std::ranges::sort(plan.skipped);
    plan.skipped.erase(std::unique(plan.skipped.begin(), plan.skipped.end()), plan.skipped.end());
  }

  void narrow() {
    AttachmentPlan& plan = found_.plan;
    const std::size_t before = plan.actions.size() + plan.collisions.size();
    std::set<RelativePath> moved;  // what else becomes of them there
    for (const Action& action : plan.actions) {
      if (action.previous_path && options_.only(*action.previous_path)) moved.insert(action.path);
    }
    std::erase_if(plan.actions,
                  [&](const Action& action) { return !options_.only(action.path) && !moved.contains(action.path); });
    std::erase_if(plan.collisions, [&](const auto& each) { return !options_.only(each.path); });
    found_.is_partial = plan.actions.size() + plan.collisions.size() != before;
  }

  Session& session_;
  const Survey& survey_;
  const RunOptions& options_;
  std::vector<FileStep> edits_;
  std::map<RelativePath, std::optional<LocalAttachment>> edited_;  ///< what they make of files here; empty: they go
  ArrivingKinds kinds_;
  std::set<std::string> folders_seen_;  ///< above what may come, as they are spelled here
  std::optional<Scan> with_rules_;
  OtherFiles files_;
  LocalFiles local_{session_};
  AttachmentSurvey found_;
  TargetMarks marks_before_;
  std::set<RelativePath> left_out_before_;
  std::set<RelativePath> wanted_;
  Wishes wishes_;
  std::string notes_under_way_;
  std::map<RelativePath, SkipReason> moved_out_of_sight_;  ///< renamed to a name that is not synced, and why
  std::vector<Skipped> other_forms_;                       ///< of what is synced, by their names on disk
  std::set<RelativePath> emptied_;                         ///< places of folders of which the plan knows all files
  std::string missing_scope_;
  std::string told_off_;
  std::string kinds_before_;                  ///< as the last run took them
  std::optional<std::uint64_t> inputs_ = {};  ///< of this look; empty: it is made in any case
  bool shows_last_ = options_.looks_only;
};

}  // namespace

Result<AttachmentSurvey> survey_attachments(Session& session,
                                            const Survey& survey,
                                            const RunOptions& options,
                                            const std::vector<FileStep>& edits) {
  return AttachmentSurveyor(session, survey, options, edits).survey();
}

std::map<RelativePath, FileId> unrecorded_files(const AttachmentSurvey& found) {
  std::map<RelativePath, FileId> files;
  for (const auto& [path, stamp] : found.stamps) {
    const auto agreed = found.sides.base.find(path);
    const auto here = found.sides.local.find(path);
    if (agreed == found.sides.base.end() || here->second.hidden || here->second.hash != agreed->second.hash) continue;
    const auto known = found.sides.files_known.find(path);
    if (known == found.sides.files_known.end() || known->second != stamp.id()) files.emplace(path, stamp.id());
  }
  return files;
}

Result<std::uint64_t> note_attachments(Session& session, const Survey& survey) {
  const RunOptions options;
  AttachmentSurveyor surveyor(session, survey, options);
  WS_TRY(surveyor.look());
  WS_TRY(surveyor.keep_marks());
  return surveyor.synced_here();
}

bool is_hidden_name(std::string_view path) {
  return path.starts_with('.') || path.find("/.") != std::string_view::npos;
}

}  // namespace ws::sync

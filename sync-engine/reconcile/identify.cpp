#include "sync-engine/reconcile/identify.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "api-client/base/utf8.hpp"
#include "sync-engine/model/change.hpp"
#include "sync-engine/reconcile/overlapping_paths.hpp"

namespace ws::sync {
namespace {

using Closed = std::map<std::string, SkipReason, std::less<>>;

/// Why the file at `path` cannot be seen: itself, or a folder above it, is closed.
std::optional<SkipReason> skip_reason_of(const Closed& closed, std::string_view path) {
  if (closed.empty()) return std::nullopt;
  for (std::string_view place = path;;) {
    if (const auto found = closed.find(place); found != closed.end()) return found->second;
    place = parent_folder(place);
    if (place.empty()) return std::nullopt;
  }
}

class Identifier {
 public:
  Identifier(const BaseTree& base, const FoundTree& found, const IdentifyOptions& options)
      : base_(base), found_(found), options_(options) {
    for (const auto& [document, entry] : base.documents) by_path_.emplace(base.disk_path(document).text(), &document);
    local_.skipped = found.skipped;
    for (const Skipped& skipped : found.closed) closed_.emplace(skipped.path, skipped.reason);
    for (const Skipped& skipped : found.skipped) closed_.emplace(skipped.path, skipped.reason);
  }

  LocalTree identify() {
    match_unchanged();
    if (!changed_.empty() || local_.tracked.size() < base_.documents.size()) {
      match_written();
      take_renames(moved_files(base_, missing(Places::all), changed_, options_.renames));
      match_by_path();
      match_where_written();
      match_other_forms();
      find_unsyncable();
      look_for_hidden();
      take_renames(alike_files(base_, missing_unexplained(), not_made(), options_.renames));
      wait_for_unknown();
      hold_what_follows();
    }
    keep_twins_apart();
    take_created();
    std::sort(local_.skipped.begin(), local_.skipped.end());
    return std::move(local_);
  }

 private:
  void track(const DocumentId& document, const FoundFile& file) {
    local_.tracked.emplace(document, Entry{.path = file.path, .hash = file.hash});
  }

  void match_unchanged() {
    for (const FoundFile& file : found_.files) {
      const DocumentId* const owner = unchanged_at(file);
      if (owner != nullptr) {
        track(*owner, file);
      } else {
        changed_.push_back(&file);
      }
    }
  }

  /// Whose file it is, by its place and text. Of several with one place and one text its number tells.
  const DocumentId* unchanged_at(const FoundFile& file) const {
    const auto [first, last] = by_path_.equal_range(file.path.text());
    const auto has_its_text = [&](const DocumentId& document) {
      return base_.documents.at(document).hash == file.hash;
    };
    const bool is_shared = first != last && std::next(first) != last;
    if (is_shared) {
      const DocumentId* const owner = document_at(file);
      if (owner != nullptr && has_its_text(*owner)) return owner;
    }
    const auto same = std::find_if(first, last, [&](const auto& known) {
      return has_its_text(*known.second) && !(is_shared && local_.tracked.contains(*known.second));
    });
    return same == last ? nullptr : same->second;
  }

  /// What this program put at a new path is its document's, also where another file has the old path by now, even with
  /// the old text.
  void match_written() {
    if (options_.renames.written) written_ = options_.renames.written();
    if (written_.empty()) return;
    std::map<std::string_view, const FoundFile*> by_path;
    for (const FoundFile* file : changed_) by_path.emplace(file->path.text(), file);
    std::set<const FoundFile*> taken;
    for (const auto& [document, written] : written_) {
      const auto file = by_path.find(written.path.text());
      if (file == by_path.end() || taken.contains(file->second) || !base_.documents.contains(document) ||
          written.path == base_.disk_path(document) || !is_written_file(written, *file->second))
        continue;
      if (const auto at_home = local_.tracked.find(document); at_home != local_.tracked.end()) {
        const auto other = std::ranges::find(found_.files, at_home->second.path, &FoundFile::path);
        if (other != found_.files.end()) changed_.push_back(&*other);
        local_.tracked.erase(at_home);
      }
      track(document, *file->second);
      taken.insert(file->second);
    }
    any_renamed_ = any_renamed_ || !taken.empty();
    std::erase_if(changed_, [&](const FoundFile* file) { return taken.contains(file); });
  }

  /// A document whose file is gone from where this program put it, and a file that an editor wrote anew in that place.
  void match_where_written() {
    for (const auto& [document, written] : written_) {
      if (local_.tracked.contains(document) || !base_.documents.contains(document)) continue;
      const RelativePath& path = written.path;
      const auto file = std::ranges::find_if(changed_, [&](const FoundFile* each) { return each->path == path; });
      if (file == changed_.end() || skip_reason_of(closed_, base_.disk_path(document).text())) continue;
      track(document, **file);
      changed_.erase(file);
      any_renamed_ = true;
    }
  }

  /// Whose file it is by its path. Two documents have one place where the file of the first was renamed here and waits
  /// for a decision, and the second came since: then its number tells, or else the second is taken for it.
  const DocumentId* document_at(const FoundFile& file) const {
    const auto [first, last] = by_path_.equal_range(file.path.text());
    if (first == last) return nullptr;
    if (std::next(first) == last) return local_.tracked.contains(*first->second) ? nullptr : first->second;
    const std::map<DocumentId, FileId> numbers = known_numbers();
    const DocumentId* best = nullptr;
    for (auto known = first; known != last; ++known) {
      if (local_.tracked.contains(*known->second)) continue;
      const auto number = numbers.find(*known->second);
      const bool same_file = number != numbers.end() && is_same_file(number->second, file.id) != SameFile::no;
      if (same_file) return known->second;
      if (best == nullptr || *best < *known->second) best = known->second;
    }
    return best;
  }

  std::map<DocumentId, FileId> known_numbers() const {
    auto numbers = options_.renames.files ? options_.renames.files() : std::map<DocumentId, FileId>();
    for (const auto& [document, written] : written_) numbers.insert_or_assign(document, written.id);
    return numbers;
  }

  /// With `all` also those whose own place cannot be seen: a file that was moved out of there is known by its number.
  enum class Places { seen, all };

  /// Documents without a file, neither at their path nor elsewhere, as far as is known by now.
  std::vector<DocumentId> missing(Places which = Places::seen) const {
    if (local_.tracked.size() == base_.documents.size()) return {};
    std::set<std::string_view> places;
    for (const FoundFile* file : changed_) places.insert(file->path.text());
    std::vector<DocumentId> missing;
    for (const auto& [document, entry] : base_.documents) {
      const std::string_view path = base_.disk_path(document).text();
      const bool there = local_.tracked.contains(document) || local_.unsyncable.contains(document) ||
                         places.contains(path) || (which == Places::seen && skip_reason_of(closed_, path));
      if (!there) missing.push_back(document);
    }
    return missing;
  }

  /// Without those of which nobody can tell whether somebody took them away: a new file, however alike, is not theirs.
  std::vector<DocumentId> missing_unexplained() const {
    std::vector<DocumentId> documents = missing();
    std::erase_if(documents, [this](const DocumentId& document) { return base_.left_out.contains(document); });
    return documents;
  }

  /// The rule, or what stands in its place, that explains why the document has no file. Empty: nothing does.
  std::optional<SkipReason> why_missing(const DocumentId& document) const {
    const RelativePath& path = base_.disk_path(document);
    const auto written = written_.find(document);
    if (const auto reason = skip_reason_of(closed_, path.text())) return reason;
    if (const auto reason =
            written == written_.end() ? std::nullopt : skip_reason_of(closed_, written->second.path.text()))
      return reason;
    if (options_.ignored && options_.ignored(path)) return SkipReason::ignored;
    if (options_.elsewhere && options_.elsewhere(path)) return SkipReason::elsewhere;
    return std::nullopt;
  }

  bool is_out_of_sight(const DocumentId& document) const {
    return base_.left_out.contains(document) || why_missing(document);
  }

  /// A text that was written anew is no renamed one, however equal.
  std::vector<const FoundFile*> not_made() const {
    std::vector<const FoundFile*> files = changed_;
    if (options_.made) std::erase_if(files, [&](const FoundFile* file) { return options_.made(file->path); });
    return files;
  }

  void take_renames(const RenamedDocuments& renames) {
    if (renames.empty()) return;
    any_renamed_ = true;
    std::set<const FoundFile*> taken;
    for (const auto& [document, file] : renames) {
      track(document, *file);
      taken.insert(file);
    }
    std::erase_if(changed_, [&](const FoundFile* file) { return taken.contains(file); });
  }

  void match_by_path() {
    std::erase_if(changed_, [&](const FoundFile* file) {
      const DocumentId* const known = document_at(*file);
      if (known == nullptr) return false;
      track(*known, *file);
      return true;
    });
  }

  /// A known document whose file is found under the same name in another normal form, or in another case: on a file
  /// system that folds names it would be the same file, whoever wrote it anew. Not in another case where the document
  /// is out of sight: its file may be where it was, and the new one is a twin of it.
  void match_other_forms() {
    if (changed_.empty() || local_.tracked.size() == base_.documents.size()) return;
    std::unordered_map<std::string, const DocumentId*> missing;
    for (const auto& [document, entry] : base_.documents) {
      if (!local_.tracked.contains(document)) missing.emplace(base_.disk_path(document).twin_key(), &document);
    }
    std::erase_if(changed_, [&](const FoundFile* file) {
      const auto known = missing.find(file->path.twin_key());
      if (known == missing.end()) return false;
      if (!same_name(base_.disk_path(*known->second), file->path) && is_out_of_sight(*known->second)) {
        taken_.add(known->first);
        return false;
      }
      track(*known->second, *file);
      missing.erase(known);
      return true;
    });
  }

  /// A file that was renamed to the twin of one that keeps its place: its document keeps its own as well.
  void keep_twins_apart() {
    if (changed_.empty() && !any_renamed_) return;
    std::vector<std::pair<RelativePath, DocumentId>> moved;
    for (const auto& [document, entry] : local_.tracked) {
      if (any_renamed_ && is_moved(document, entry)) {
        moved.emplace_back(entry.path, document);
      } else {
        taken_.add(entry.path.twin_key());
      }
    }
    std::sort(moved.begin(), moved.end());
    std::map<std::string_view, const FoundFile*> unclaimed;
    for (const FoundFile* file : changed_) unclaimed.emplace(file->path.text(), file);
    std::set<const FoundFile*> claimed;
    for (const auto& [path, document] : moved) {
      std::string key = path.twin_key();
      if (!taken_.overlaps(key)) {
        taken_.add(std::move(key));
        continue;
      }
      local_.skipped.push_back({.path = path.string(), .reason = SkipReason::twin});
      local_.tracked.erase(document);
      const auto at_home = unclaimed.find(base_.disk_path(document).text());
      const bool is_new = at_home != unclaimed.end() && claimed.insert(at_home->second).second;
      if (!is_new) local_.set_aside.emplace(path, document);
      stay_at_home(document, is_new ? at_home->second : nullptr);
    }
    std::erase_if(changed_, [&](const FoundFile* file) { return claimed.contains(file); });
  }

  /// `there`: the file that stands there now; null: there is none.
  void stay_at_home(const DocumentId& document, const FoundFile* there) {
    if (there == nullptr) {
      local_.unsyncable.emplace(document, SkipReason::twin);
    } else {
      track(document, *there);
      taken_.add(base_.disk_path(document).twin_key());
    }
  }

  bool is_moved(const DocumentId& document, const Entry& entry) const {
    const RelativePath& home = base_.disk_path(document);
    return entry.path != home && utf8::nfc(entry.path.text()) != utf8::nfc(home.text());
  }

  void take_created() {
    std::sort(
        changed_.begin(), changed_.end(), [](const FoundFile* a, const FoundFile* b) { return a->path < b->path; });
    for (const FoundFile* file : changed_) {
      std::string key = file->path.twin_key();
      // Of the file itself, or of a folder: `A.md` and `a.md/x.md` are two names only where case tells them apart.
      if (!taken_.overlaps(key)) {
        taken_.add(std::move(key));
        local_.created.emplace_hint(local_.created.end(), file->path, file->hash);
      } else {
        local_.skipped.push_back({.path = file->path.string(), .reason = SkipReason::twin});
      }
    }
  }

  void find_unsyncable() {
    if (local_.tracked.size() == base_.documents.size()) return;
    for (const auto& [document, entry] : base_.documents) {
      if (local_.tracked.contains(document)) continue;
      if (const auto reason = why_missing(document)) local_.unsyncable.emplace(document, *reason);
    }
  }

  /// A missing document whose file has another name now, one that is not read: the number tells.
  void look_for_hidden() {
    const std::vector<DocumentId> gone = missing();
    if (gone.empty()) return;
    std::map<FileId, const HiddenFile*> hidden;  // by number
    std::vector<HiddenFile> files = options_.hidden ? options_.hidden() : std::vector<HiddenFile>();
    for (const FoundFile& file : found_.files) {
      if (is_busy(file)) files.push_back({.reason = SkipReason::busy, .id = file.id});
    }
    for (const HiddenFile& file : files) hidden.emplace(file.id.number(), &file);
    if (hidden.empty()) return;
    const std::map<DocumentId, FileId> numbers = known_numbers();
    std::map<FileId, FileId> known;  // by number
    for (const auto& [document, id] : numbers) known.emplace(id.number(), id);
    for (const DocumentId& document : gone) {
      const auto number = numbers.find(document);
      if (number == numbers.end()) continue;
      const auto file = hidden.find(number->second.number());
      // Nobody reads it, so that a number without a birth time is believed: what is kept in error is no loss.
      if (file == hidden.end() || is_same_file(number->second, file->second->id) == SameFile::no) continue;
      hold(document, file->second->reason);
    }
    // A name that cannot be looked at, or a folder that cannot be listed, may be what a missing file was renamed to.
    unknown_is_closed_ = std::any_of(files.begin(), files.end(), [](const HiddenFile& file) {
      return file.reason == SkipReason::unreadable && file.id.inode == 0;
    });
    unknown_is_busy_ = std::any_of(files.begin(), files.end(), [&](const HiddenFile& file) {
      const auto owner = known.find(file.id.number());
      return file.reason == SkipReason::busy &&
             (owner == known.end() || is_same_file(owner->second, file.id) == SameFile::no);
    });
  }

  bool is_busy(const FoundFile& file) const { return options_.busy && options_.busy(file.path); }

  /// Its file is there, or may be, under another name.
  void hold(const DocumentId& document, SkipReason reason) {
    local_.unsyncable.emplace(document, reason);
    if (reason != SkipReason::busy) return;
    waiting_keys_.push_back(base_.disk_path(document).twin_key());
    waiting_.add(waiting_keys_.back());
  }

  void wait_for_unknown() {
    if (!unknown_is_busy_ && !unknown_is_closed_) return;
    for (const DocumentId& document : missing())
      hold(document, unknown_is_busy_ ? SkipReason::busy : SkipReason::unreadable);
  }

  /// The place of one that waits is still its own on the service: what was renamed or made there here waits with it.
  void hold_what_follows() {
    if (waiting_keys_.empty()) return;
    std::multimap<std::string, DocumentId> moved;  // by the twin key of their new place
    for (const auto& [document, entry] : local_.tracked) {
      if (is_moved(document, entry)) moved.emplace(entry.path.twin_key(), document);
    }
    while (!waiting_keys_.empty()) {
      const std::string key = std::move(waiting_keys_.back());
      waiting_keys_.pop_back();
      visit_overlapping(moved, key, [&](const auto& each) {
        if (local_.tracked.erase(each->second) != 0) hold(each->second, SkipReason::busy);
      });
    }
    std::erase_if(changed_, [&](const FoundFile* file) { return waiting_.overlaps(file->path.twin_key()); });
  }

  const BaseTree& base_;
  const FoundTree& found_;
  const IdentifyOptions& options_;
  std::unordered_multimap<std::string_view, const DocumentId*> by_path_;
  std::vector<const FoundFile*> changed_;  // not yet known to be a document's
  Closed closed_;
  bool unknown_is_busy_ = false;               // a file is being written that may be any of those that are missing
  bool unknown_is_closed_ = false;             // nobody can look at what may be any of them
  OverlappingPaths waiting_;                   // the places of the documents that wait for a busy file
  std::vector<std::string> waiting_keys_;      // of them, those that `hold_what_follows` has still to look at
  OverlappingPaths taken_;                     // the places of the files that are synced
  std::map<DocumentId, WrittenFile> written_;  // since both sides agreed
  bool any_renamed_ = false;
  LocalTree local_;
};

}  // namespace

LocalTree identify(const BaseTree& base, const FoundTree& found, const IdentifyOptions& options) {
  return Identifier(base, found, options).identify();
}

}  // namespace ws::sync

#include "sync-engine/survey/cached_walk.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "sync-engine/model/change.hpp"

namespace ws::sync {
namespace {

constexpr const char* cache_name = "stat.cache";
/// Writing a cache costs as much as hashing this share of the files: below that the old cache is kept.
constexpr std::size_t entries_a_read = 64;
/// One lookup by key costs as much as reading this many rows in sequence.
constexpr std::size_t rows_a_look_up = 8;

using Files = std::map<DocumentId, FileId>;

CacheMark mark_of(const Session& session) {
  struct stat status {};
  if (::fstat(session.root.fd(), &status) != 0) return {};
  return {.root_inode = status.st_ino, .root_device = status.st_dev, .config = session.config.fingerprint()};
}

/// Whether every document has its file at its path; those with another text are added to `edited`.
bool places_agree(const Survey& survey, std::set<RelativePath>& edited) {
  for (const auto& [document, entry] : survey.local.tracked) {
    const SideChange here = local_change(document, survey.base, survey.local);
    if (here.change == Change::edited) edited.insert(entry.path);
    if (here.change != Change::edited && here.change != Change::unchanged) return false;
  }
  return true;
}

/// Whether a file is, or has the text of, the one that was at another's path: swapped names need the whole base. As no
/// file was added or removed, the other one is among `edits` too.
bool changed_places(const Survey& edits, const std::map<FileId, DocumentId>& files_before, const Files& files_now) {
  const bool other_file = std::any_of(files_now.begin(), files_now.end(), [&](const auto& now) {
    const auto before = files_before.find(now.second.number());
    return before != files_before.end() && before->second != now.first;
  });
  if (other_file) return true;
  std::multimap<Sha256, DocumentId> before;
  for (const auto& [document, entry] : edits.base.documents) before.emplace(entry.hash, document);
  return std::any_of(edits.local.tracked.begin(), edits.local.tracked.end(), [&](const auto& file) {
    const auto [first, end] = before.equal_range(file.second.hash);
    return std::any_of(first, end, [&](const auto& known) { return known.second != file.first; });
  });
}

bool nothing_came_or_went(const Survey& survey) {
  const LocalTree& local = survey.local;
  return local.created.empty() && local.unsyncable.empty() && local.tracked.size() == survey.base.documents.size() &&
         local.skipped.size() == survey.scan.skipped().size();  // no twins, which only a comparison finds
}

Result<Scan> walk(const Session& session, ScanOptions options) {
  StatCache cache = StatCache::load(session.own(cache_name));
  const CacheMark here = mark_of(session);
  // Another device or inode: a restore, a bind mount, a copy. The numbers in the cache are of something else.
  const bool same_folder = cache.mark().root_inode == here.root_inode && cache.mark().root_device == here.root_device;
  if (!same_folder || cache.mark().config != here.config) cache = {};
  options.max_file_bytes = session.config.max_file_bytes;
  options.kinds = &session.kinds;
  options.list_others = true;
  return scan(session.root, std::move(cache), options);
}

}  // namespace

Result<Scan> walk_tree(const Session& session, bool load_rules) {
  return walk(session,
              {.threads = session.options.threads, .load_rules = load_rules, .seen = [&session](std::uint64_t names) {
                 session.progress(Stage::scan, names, 0);
               }});
}

std::optional<SkipReason> why_not_synced(const Session& session, const Scan& scan, const RelativePath& path) {
  if (session.config.left_out.takes(path.text())) return SkipReason::left_out;
  if (is_manifest_path(path.text())) return SkipReason::reserved_name;
  if (!session.kinds.takes(path.text())) return SkipReason::ignored;
  return why_out_of_sight(session, scan, path);
}

std::optional<SkipReason> why_out_of_sight(const Session& session, const Scan& scan, const RelativePath& path) {
  if (session.config.portable_names && is_unportable(path)) return SkipReason::unportable_name;
  if (scan.is_in_tied_folder(path.text())) return SkipReason::tied_elsewhere;
  return scan.is_ignored(path) ? std::optional(SkipReason::ignored) : std::nullopt;
}

void hash_ahead(const Session& session) {
  const auto seen = walk(session, {.threads = 1});
  if (!seen || seen->same_as_cache()) return;
  // Nothing of it was compared with the base.
  static_cast<void>(seen->save(session.own(cache_name), mark_of(session)));
}

CacheMatch match_cache(const Scan& scan, std::uint64_t generation) {
  const CacheMark& mark = scan.cache_mark();
  if (mark.base_match == CacheMatch::no || mark.generation != generation || !scan.same_places()) return CacheMatch::no;
  return scan.same_as_cache() ? mark.base_match : CacheMatch::places;
}

Result<std::optional<std::map<DocumentId, FileId>>> files_as_agreed(Session& session, const Scan& scan) {
  if (session.config.portable_names) return std::optional<Files>{};  // a file may be refused for its name
  WS_LET(auto base, session.state.base_files());
  if (!base) return std::optional<Files>{};
  Files files;
  bool agreed = true;
  scan.each_file([&](const std::string& path, const CachedEntry& file) {
    const auto known = agreed ? base->find(path) : base->end();
    agreed = known != base->end() && known->second.hash.bytes() == file.hash;
    if (agreed) files.emplace(known->second.document, file.stamp.id());
  });
  agreed = agreed && files.size() == base->size();
  return agreed ? std::optional(std::move(files)) : std::nullopt;
}

Result<bool> load_edits(Session& session, Survey& survey) {
  const std::vector<FoundFile> files = survey.scan.not_agreed();
  if (files.size() > survey.scan.entry_count() / rows_a_look_up + entries_a_read) return false;
  Survey edits;
  std::map<FileId, DocumentId> files_before;  // by number
  Files files_now;
  for (const FoundFile& file : files) {
    WS_LET(std::optional<KnownDocument> known, session.state.find_base(file.path));
    if (!known) return false;
    edits.local.tracked.emplace(known->document, Entry{.path = file.path, .hash = file.hash});
    edits.base.documents.emplace(known->document, known->row.entry);
    if (known->row.displaced_to) edits.base.displaced_to.emplace(known->document, *known->row.displaced_to);
    WS_LET(const std::optional<FileId> before, session.state.find_file(known->document));
    if (before) files_before.emplace(before->number(), known->document);
    files_now.emplace(known->document, file.id);
    edits.base_rows.emplace(known->document, std::move(known->row));
  }
  if (changed_places(edits, files_before, files_now)) return false;
  // What this program put elsewhere, anew: neither its number nor its text tells of the swap.
  WS_LET(const auto written, session.state.written());
  const bool is_elsewhere = std::ranges::any_of(written, [&](const auto& each) {
    const auto seen = edits.local.tracked.find(each.first);
    return seen != edits.local.tracked.end() && seen->second.path != each.second.path;
  });
  if (is_elsewhere) return false;
  survey.local = std::move(edits.local);
  survey.local.skipped = survey.scan.skipped();
  survey.base = std::move(edits.base);
  survey.base_rows = std::move(edits.base_rows);
  return true;
}

bool is_as_agreed(const Survey& survey, const DocumentId& document) {
  return local_change(document, survey.base, survey.local).change == Change::unchanged;
}

Result<std::map<DocumentId, FileId>> find_unrecorded(Session& session, Survey& survey) {
  std::unordered_map<std::string_view, const DocumentId*> agreed;
  for (const auto& [document, entry] : survey.local.tracked) {
    if (is_as_agreed(survey, document)) agreed.emplace(entry.path.text(), &document);
  }
  Files files = survey.agreed ? std::move(*survey.agreed) : Files();
  if (!agreed.empty()) {
    survey.scan.each_file([&](const std::string& path, const CachedEntry& file) {
      if (const auto known = agreed.find(path); known != agreed.end()) files.emplace(*known->second, file.stamp.id());
    });
  }
  if (files.empty()) return files;
  WS_LET(const auto written, session.state.written());
  WS_TRY(session.state.each_file([&](const DocumentId& document, const FileId& recorded) {
    const auto file = files.find(document);
    if (file != files.end() && file->second == recorded && !written.contains(document)) files.erase(file);
  }));
  return files;
}

void save_cache(
    const Session& session, const Survey& survey, std::uint64_t generation, CacheExtent extent, bool all_recorded) {
  const Scan& scan = survey.scan;
  std::set<RelativePath> edited;
  // Detached documents are not compared by the cache: they are reported by every run.
  const bool all_compared =
      survey.local.unsyncable.empty() && (extent == CacheExtent::at_edits || nothing_came_or_went(survey));
  // A displaced file returns to its path as soon as that is free, though nothing else changed. That a file is seen
  // again is still to be remembered.
  const bool as_base = survey.base.displaced_to.empty() && survey.base.left_out.empty();
  const bool same_places = all_compared && as_base && all_recorded && places_agree(survey, edited);
  CacheMark mark = mark_of(session);
  mark.generation = generation;
  mark.base_match = !same_places ? CacheMatch::no : edited.empty() ? CacheMatch::all : CacheMatch::places;
  if (scan.same_as_cache() && scan.cache_mark() == mark) return;
  if (extent == CacheExtent::at_edits && scan.files_hashed() * entries_a_read <= scan.entry_count()) return;
  static_cast<void>(scan.save(session.own(cache_name), mark, edited));
}

bool is_text_of_note(const RootFolder& root, const RelativePath& path, std::uint64_t max_bytes) {
  const Descriptor folder = root.open_beneath(path.folder(), O_RDONLY | O_DIRECTORY);
  const std::string name(last_part(path.text()));
  std::string buffer;
  return folder && std::holds_alternative<HashedFile>(hash_file(folder.get(), name.c_str(), max_bytes, buffer));
}

}  // namespace ws::sync

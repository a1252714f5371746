#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/ascii.hpp"
#include "sync-engine/tree/walk.hpp"

namespace ws::sync {
namespace {

constexpr std::int64_t whole_second_ns = 1'000'000'000;
/// File systems that keep whole seconds may keep every other one only (FAT).
constexpr std::int64_t coarse_tick_ns = 2 * whole_second_ns;

std::string join(const std::string& folder, std::string_view name) {
  std::string path;
  path.reserve(folder.size() + 1 + name.size());
  path = folder;
  if (!path.empty()) path += '/';
  path += name;
  return path;
}

/// False with errno where the name cannot be looked at.
bool stat_name(int folder, const char* name, struct statx& status) {
  return ::statx(folder, name, AT_SYMLINK_NOFOLLOW | AT_STATX_SYNC_AS_STAT, stamp_mask, &status) == 0;
}

unsigned char type_of(unsigned mode) {
  if (S_ISDIR(mode)) return DT_DIR;
  if (S_ISLNK(mode)) return DT_LNK;
  return S_ISREG(mode) ? DT_REG : DT_FIFO;
}

bool is_tied_folder(int folder) {
  struct statx status {};
  return stat_name(folder, ".ws/source.json", status) || (errno != ENOENT && errno != ENOTDIR);
}

void add_entry(ScannedFolder& folder, std::string_view name, CachedEntry entry) {
  entry.name_offset = static_cast<std::uint32_t>(folder.names.size());
  entry.name_bytes = static_cast<std::uint16_t>(name.size());
  folder.names += name;
  folder.entries.push_back(entry);
}

CachedEntry unsyncable(SkipReason skip_reason) {
  return {.kind = EntryKind::unsyncable, .skip_reason = static_cast<std::uint8_t>(skip_reason)};
}

}  // namespace

struct Walk::Visit {
  ScannedFolder folder = {};
  Descriptor fd = {};
  const CachedFolder* known = nullptr;
  std::span<const CachedEntry> cached = {};
  std::size_t cursor = 0;
  std::size_t taken = 0;    ///< so many entries of the cache stand as they are, or replaced, one for one
  bool left_cache = false;  ///< the names are others, or in another order: the folder has entries of its own
  bool rules_differ = false;
  bool has_rules_file = false;
  bool has_gitignore = false;
  bool is_tied = false;        ///< it has a `.ws/` of its own, and is not the root
  bool is_repository = false;  ///< it has a `.git` of its own, and git's rules hold
  std::vector<std::string> below = {};
  std::unordered_map<std::string_view, const CachedEntry*> by_name = {};  ///< filled when the order is another

  const CachedEntry* find(const StatCache& cache, std::string_view name) {
    if (cursor < cached.size() && cache.name(cached[cursor]) == name) return &cached[cursor++];
    if (by_name.empty()) {
      for (const CachedEntry& entry : cached) by_name.emplace(cache.name(entry), &entry);
    }
    const auto found = by_name.find(name);
    if (found == by_name.end()) return nullptr;
    cursor = static_cast<std::size_t>(found->second - cached.data()) + 1;
    return found->second;
  }
};

Result<void> Walk::visit(const std::string& path, Worker& worker) {
  Visit visit;
  visit.folder.path = path;
  visit.fd = root_.open_beneath(path, O_RDONLY | O_DIRECTORY);
  visit.known = cache_.find_folder(path);
  if (visit.known != nullptr) visit.cached = cache_.entries(*visit.known);
  visit.left_cache = visit.known == nullptr;
  WS_LET(const bool listed, list(visit, worker));
  if (!listed) {
    if (path.empty()) return disk_failure("list", root_.path().string());
    // A folder that cannot be listed hides what is in it; nothing there counts as deleted.
    CachedEntry entry = unsyncable(SkipReason::unreadable);
    entry.whole_folder = 1;
    take(visit, "", entry, nullptr);
  } else if (visit.is_repository || (visit.is_tied && is_tied_folder(visit.fd.get()))) {
    // Its notes go to the source that it is tied to, and to no other.
    CachedEntry entry = unsyncable(SkipReason::tied_elsewhere);
    entry.whole_folder = 1;
    visit.folder.others.clear();
    take(visit, "", entry, visit.find(cache_, ""));
  } else {
    WS_TRY(look_at_all(visit, worker));
    if (gave_up_) return {};
  }
  close(visit, worker);
  return {};
}

Result<void> Walk::look_at_all(Visit& visit, Worker& worker) {
  WS_TRY(look_at_rules(visit));
  for (const Listed& each : worker.listed) {
    const char* const name = worker.names.data() + each.offset;
    if (each.type == DT_DIR) {
      look_at_folder(visit, {name, each.bytes});
    } else {
      look_at_entry(visit, worker, name, each);
    }
    if (gave_up_) return {};
    if (++worker.uncounted == names_a_portion) count(worker);
  }
  return {};
}

void Walk::close(Visit& visit, Worker& worker) {
  ScannedFolder& folder = visit.folder;
  if (visit.rules_differ || visit.taken != visit.cached.size()) leave_cache(visit);
  if (!visit.left_cache) folder.same = visit.known;
  worker.all_same = worker.all_same && folder.same != nullptr && folder.replaced.empty();
  worker.same_places = worker.same_places && folder.same != nullptr;
  for (const ReplacedEntry& each : folder.replaced) {
    const bool file_as_before = visit.cached[each.place].kind == EntryKind::file && each.entry.kind == EntryKind::file;
    worker.same_places = worker.same_places && file_as_before;
  }
  add_tasks(std::move(visit.below));
  worker.folders.push_back(std::move(folder));
}

/// Where programs and desktops put what a person deletes: that is no new name of it.
bool holds_what_is_thrown_away(std::string_view folder) {
  static constexpr std::string_view beginnings[] = {".trash", ".recycle", ".deleted", ".stversions"};
  return std::ranges::any_of(
      beginnings, [&](std::string_view each) { return equal_ignoring_case(folder.substr(0, each.size()), each); });
}

/// Reads all names that matter into `worker.listed`; false with errno where the folder cannot be read.
Result<bool> Walk::list(Visit& visit, Worker& worker) {
  worker.listed.clear();
  worker.names.clear();
  if (!visit.fd) return false;
  const bool markdown_alone = options_.kinds == nullptr || options_.kinds->is_markdown_alone();
  while (true) {
    const ssize_t count = ::getdents64(visit.fd.get(), worker.listing.data(), worker.listing.size());
    if (count < 0) return false;
    if (count == 0) return true;
    for (ssize_t place = 0; place < count;) {
      const auto* entry = reinterpret_cast<const dirent64*>(worker.listing.data() + place);
      place += entry->d_reclen;
      const char* name = static_cast<const char*>(entry->d_name);
      if (name[0] == '.') {
        visit.has_rules_file = visit.has_rules_file || name == ignore_file_name;
        visit.is_tied = visit.is_tied || (!visit.folder.path.empty() && std::string_view(name) == ".ws");
        if (options_.git != nullptr) look_at_git_name(visit, name, entry->d_type);
        if (entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN)
          visit.folder.hidden_names.append(name, std::strlen(name) + 1);
        if (entry->d_type == DT_DIR && !dangerous_part(name) && !holds_what_is_thrown_away(name))
          visit.folder.hidden_names.append(name).append("/", 2);
        if (markdown_alone || dangerous_part(name)) continue;  // `.git`, `.ws`, `.` and `..` too
      }
      unsigned char type = entry->d_type;
      if (type == DT_REG && !is_wanted(visit, name)) {
        if (name[0] != '.') {
          ++worker.not_included;
          if (options_.list_others) visit.folder.others.append(name, std::strlen(name) + 1);
        }
        continue;
      }
      if (type == DT_UNKNOWN) {
        struct statx status {};
        type = stat_name(visit.fd.get(), name, status) ? type_of(status.stx_mode) : static_cast<unsigned char>(DT_FIFO);
      }
      if (type != DT_DIR && type != DT_LNK && !is_wanted(visit, name)) continue;
      const std::size_t bytes = std::strlen(name);
      worker.listed.push_back({.offset = worker.names.size(), .bytes = bytes, .type = type});
      worker.names.append(name, bytes + 1);
    }
  }
}

void Walk::look_at_git_name(Visit& visit, std::string_view name, unsigned char type) const {
  visit.is_repository = visit.is_repository || (name == ".git" && !visit.folder.path.empty());
  const bool may_be_file = type == DT_REG || type == DT_UNKNOWN;
  visit.has_gitignore = visit.has_gitignore || (name == ".gitignore" && may_be_file && options_.git->ignores);
}

bool Walk::is_wanted(const Visit& visit, const char* name) const {
  if (options_.kinds == nullptr || options_.kinds->is_markdown_alone()) return is_markdown(name);
  return options_.kinds->takes(join(visit.folder.path, name));
}

/// By the rules that have been read so far: those above are among them.
bool Walk::is_ignored(const Visit& visit, std::string_view name) const {
  return rules_->has_rules() ? rules_->is_ignored(join(visit.folder.path, name)) : rules_->is_ignored(name);
}

/// Decides whether the cache's ignore decisions still hold for this folder.
Result<void> Walk::look_at_rules(Visit& visit) {
  FileStamp before;
  if (visit.known != nullptr) before = visit.known->ignore_stamp;
  if (visit.has_rules_file) {
    any_rules_ = true;
    struct statx status {};
    if (!stat_name(visit.fd.get(), ".wsignore", status))
      return disk_failure("read", join(visit.folder.path, ".wsignore"));
    visit.folder.ignore_stamp = stamp_of(status);
  }
  if (mode_ == IgnoreMode::evaluate) {
    WS_TRY(read_rules(visit));
    // A stamp that may still be written over within its tick says nothing later.
    if (!is_trusted(visit.folder.ignore_stamp)) visit.folder.ignore_stamp.reserved = 1;
    visit.rules_differ = visit.folder.ignore_stamp != before;
    return {};
  }
  if (visit.folder.ignore_stamp != before) {
    gave_up_ = true;
    stop(std::nullopt);
  }
  return {};
}

/// Git's rules first: what comes later decides.
Result<void> Walk::read_rules(const Visit& visit) {
  const std::string& path = visit.folder.path;
  std::string text;
  if (options_.git != nullptr && path.empty() && !options_.git->exclude.empty()) text = options_.git->exclude + "\n";
  if (visit.has_gitignore) {
    WS_LET(const std::string rules, read_ignore_file(visit.fd.get(), path, ".gitignore"));
    text += rules + "\n";
  }
  if (visit.has_rules_file) {
    WS_LET(const std::string rules, read_ignore_file(visit.fd.get(), path));
    text += rules;
  }
  if (!text.empty()) rules_->add(path, text);
  return {};
}

void Walk::look_at_folder(Visit& visit, std::string_view name) {
  if (dangerous_part(name)) {
    CachedEntry entry = unsyncable(SkipReason::dangerous_name);
    entry.whole_folder = 1;
    return take(visit, name, entry, visit.find(cache_, name));
  }
  std::string path = join(visit.folder.path, name);
  bool ignored = false;
  if (mode_ == IgnoreMode::evaluate) {
    ignored = rules_->is_ignored(path + "/");
  } else {
    // Folders that are walked have no entry of their own: only ignored ones have.
    const bool at_cursor = visit.cursor < visit.cached.size() && cache_.name(visit.cached[visit.cursor]) == name;
    ignored = at_cursor && visit.cached[visit.cursor].kind == EntryKind::ignored_folder;
    if (!ignored && cache_.find_folder(path) == nullptr && cache_.folder_count() != 0) {
      if (any_rules_) {
        gave_up_ = true;
        return stop(std::nullopt);
      }
      ignored = rules_->is_ignored(path + "/");
    }
  }
  if (!ignored) {
    visit.below.push_back(std::move(path));
    return;
  }
  take(visit, name, {.kind = EntryKind::ignored_folder}, visit.find(cache_, name));
}

void Walk::look_at_entry(Visit& visit, Worker& worker, const char* name, const Listed& listed) {
  const std::string_view text(name, listed.bytes);
  const CachedEntry* const cached = visit.find(cache_, text);
  if (listed.type == DT_LNK) return look_at_link(visit, name, cached);
  if (cached == nullptr && dangerous_part(text)) {
    return take(visit, text, unsyncable(SkipReason::dangerous_name), cached);
  }
  if (mode_ == IgnoreMode::trust_cache && cached != nullptr) {
    if (cached->kind == EntryKind::ignored) return take(visit, text, *cached, cached);
    if (cached->kind == EntryKind::unsyncable &&
        cached->skip_reason == static_cast<std::uint8_t>(SkipReason::dangerous_name)) {
      return take(visit, text, *cached, cached);
    }
  } else {
    if (mode_ == IgnoreMode::trust_cache && any_rules_) {
      gave_up_ = true;
      return stop(std::nullopt);
    }
    if (is_ignored(visit, text)) return take(visit, text, {.kind = EntryKind::ignored}, cached);
  }
  look_at_file(visit, worker, name, cached);
}

/// Nothing is read through a link, but whether it leads to a folder: notes in there are left alone, and told of.
void Walk::look_at_link(Visit& visit, const char* name, const CachedEntry* cached) {
  CachedEntry link{.kind = EntryKind::link};
  struct statx status {};
  constexpr int flags = AT_NO_AUTOMOUNT | AT_STATX_SYNC_AS_STAT;
  const bool is_folder =
      ::statx(visit.fd.get(), name, flags, STATX_TYPE, &status) == 0 && S_ISDIR(status.stx_mode) && name[0] != '.';
  if (is_folder) {
    link.whole_folder = 1;
    const bool trusts = mode_ == IgnoreMode::trust_cache && cached != nullptr && cached->kind == EntryKind::link &&
                        cached->whole_folder != 0;
    if (mode_ == IgnoreMode::trust_cache && !trusts && any_rules_) {
      gave_up_ = true;
      return stop(std::nullopt);
    }
    if (trusts) {
      link.skip_reason = cached->skip_reason;
    } else if (is_ignored(visit, name) || rules_->is_ignored(join(visit.folder.path, name) + "/")) {
      link.skip_reason = static_cast<std::uint8_t>(SkipReason::ignored);
    }
  }
  take(visit, name, link, cached);
}

void Walk::look_at_file(Visit& visit, Worker& worker, const char* name, const CachedEntry* cached) {
  // One that the cache cannot vouch for is opened and read whatever its stamp says.
  if (cached != nullptr && cached->trusted != 0) {
    struct statx status {};
    if (!stat_name(visit.fd.get(), name, status)) {
      return take(visit, name, unsyncable(errno == ENOENT ? SkipReason::busy : SkipReason::unreadable), cached);
    }
    if (cached->stamp == stamp_of(status)) return take(visit, name, *cached, cached);
  }
  take_read(visit, name, read(visit, worker, name), cached);
}

CachedEntry Walk::read(Visit& visit, Worker& worker, const char* name) {
  ++worker.hashed;
  const auto outcome = hash_file(visit.fd.get(), name, options_.max_file_bytes, worker.text);
  if (const auto* hashed = std::get_if<HashedFile>(&outcome)) {
    return {.stamp = hashed->stamp,
            .hash = hashed->hash.bytes(),
            .kind = EntryKind::file,
            .trusted = is_trusted(hashed->stamp)};
  }
  const auto& unhashed = std::get<UnhashedFile>(outcome);
  const SkipReason skip_reason = unhashed.reason;
  CachedEntry entry = unsyncable(skip_reason);
  // What depends on the bytes alone holds as long as the stamp does; the rest is asked again each time.
  if (is_about_content(skip_reason)) {
    entry.stamp = unhashed.stamp;
    entry.trusted = is_trusted(unhashed.stamp);
  }
  return entry;
}

bool Walk::is_trusted(const FileStamp& stamp) const {
  const bool coarse = stamp.modified_ns % whole_second_ns == 0 && stamp.changed_ns % whole_second_ns == 0;
  return std::max(stamp.modified_ns, stamp.changed_ns) + (coarse ? coarse_tick_ns : tick_ns_) <= started_ns_;
}

/// Notes an entry; `cached` is the cache's of the same name, or null.
void Walk::take(Visit& visit, std::string_view name, const CachedEntry& entry, const CachedEntry* cached) {
  const bool same = cached != nullptr && cached->kind == entry.kind && cached->skip_reason == entry.skip_reason &&
                    cached->whole_folder == entry.whole_folder;
  if (same && !visit.left_cache && cached == visit.cached.data() + visit.taken) {
    ++visit.taken;
    return;
  }
  take_read(visit, name, entry, cached);
}

/// Notes an entry that had to be read: news, even where it turns out to be as it was.
void Walk::take_read(Visit& visit, std::string_view name, const CachedEntry& entry, const CachedEntry* cached) {
  if (!visit.left_cache && cached != nullptr && cached == visit.cached.data() + visit.taken) {
    visit.folder.replaced.push_back({.place = visit.taken++, .entry = entry});
    return;
  }
  leave_cache(visit);
  add_entry(visit.folder, name, entry);
}

/// From here on the folder has entries of its own.
void Walk::leave_cache(Visit& visit) const {
  if (std::exchange(visit.left_cache, true)) return;
  auto replaced = visit.folder.replaced.begin();
  for (std::size_t i = 0; i < visit.taken; ++i) {
    const bool is_replaced = replaced != visit.folder.replaced.end() && replaced->place == i;
    add_entry(visit.folder, cache_.name(visit.cached[i]), is_replaced ? (replaced++)->entry : visit.cached[i]);
  }
  visit.folder.replaced.clear();
}

}  // namespace ws::sync

#include "sync-engine/tree/scan.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sync-engine/tree/walk.hpp"

namespace ws::sync {
namespace {

std::string join(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.empty() && !name.empty()) path += '/';
  path += name;
  return path;
}

/// Calls `visit(name, entry)` for every entry of a folder.
template <class Visit>
void each_entry(const ScannedFolder& folder, const StatCache& cache, Visit visit) {
  if (folder.same == nullptr) {
    const std::string_view names = folder.names;
    for (const CachedEntry& entry : folder.entries) visit(names.substr(entry.name_offset, entry.name_bytes), entry);
    return;
  }
  auto replaced = folder.replaced.begin();
  const auto known = cache.entries(*folder.same);
  for (std::size_t i = 0; i < known.size(); ++i) {
    const bool is_replaced = replaced != folder.replaced.end() && replaced->place == i;
    visit(cache.name(known[i]), is_replaced ? (replaced++)->entry : known[i]);
  }
}

/// Of a list of names, each with a NUL behind it.
template <class Visit>
void each_name(const std::string& names, Visit visit) {
  for (std::size_t at = 0; at < names.size(); at += std::strlen(names.c_str() + at) + 1) visit(names.c_str() + at);
}

/// Through a link, but nothing is read or mounted for it. Without an inode where there is no such file.
FileId number_of(int folder_fd, const std::string& name) {
  struct statx status {};
  if (::statx(folder_fd, name.c_str(), AT_NO_AUTOMOUNT | AT_STATX_SYNC_AS_STAT, stamp_mask, &status) != 0) return {};
  return stamp_of(status).id();
}

/// The numbers of the files below an ignored folder, which the walk left out; hidden names aside.
void add_ignored(const RootFolder& root, std::string ignored, std::vector<HiddenFile>& files) {
  std::vector<std::string> folders{std::move(ignored)};
  std::vector<std::string> names;
  while (!folders.empty()) {
    const std::string path = std::move(folders.back());
    folders.pop_back();
    const Descriptor folder = root.open_beneath(path, O_PATH | O_DIRECTORY);
    names.clear();
    if (!list_folder(folder.get(), names)) {
      // What cannot be listed hides whatever could be moved into it.
      const bool takes_files = folder && ::faccessat(folder.get(), ".", W_OK, AT_EACCESS) == 0;
      if (takes_files) files.push_back({.reason = SkipReason::unreadable});
      continue;
    }
    for (const std::string& name : names) {
      struct statx status {};
      constexpr int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_SYNC_AS_STAT;
      if (name.front() == '.' || ::statx(folder.get(), name.c_str(), flags, stamp_mask, &status) != 0) continue;
      if (S_ISDIR(status.stx_mode)) folders.push_back(join(path, name));
      if (S_ISREG(status.stx_mode)) files.push_back({.reason = SkipReason::ignored, .id = stamp_of(status).id()});
    }
  }
}

/// The paths of a folder's files, one after the other in one buffer.
class FolderPaths {
 public:
  explicit FolderPaths(const ScannedFolder& folder) : path_(folder.path) {
    if (!path_.empty()) path_ += '/';
    folder_bytes_ = path_.size();
  }
  /// Good until the next call.
  const std::string& of(std::string_view name) {
    path_.resize(folder_bytes_);
    path_ += name;
    return path_;
  }

 private:
  std::string path_;
  std::size_t folder_bytes_ = 0;
};

/// What a person is told of; empty for what is passed over in silence.
std::optional<SkipReason> shown(std::string_view name, const CachedEntry& entry) {
  if (entry.kind == EntryKind::unsyncable) return static_cast<SkipReason>(entry.skip_reason);
  if (entry.kind != EntryKind::link) return std::nullopt;
  const bool is_folder = entry.whole_folder != 0 && static_cast<SkipReason>(entry.skip_reason) != SkipReason::ignored;
  return is_folder || is_markdown(name) ? std::optional(SkipReason::symlink) : std::nullopt;
}

}  // namespace

Result<Scan> scan(const RootFolder& root, StatCache cache, const ScanOptions& options) {
  Scan done;
  done.cache_ = std::move(cache);
  const bool evaluate = options.load_rules || done.cache_.folder_count() == 0;
  IgnoreMode mode = evaluate ? IgnoreMode::evaluate : IgnoreMode::trust_cache;
  while (true) {
    Walk walk(root, done.cache_, options, mode);
    WS_TRY(walk.run(done));
    if (!walk.gave_up()) return done;
    mode = IgnoreMode::evaluate;
  }
}

std::size_t Scan::entry_count() const {
  std::size_t count = 0;
  for (const ScannedFolder& folder : folders_) {
    count += folder.same != nullptr ? folder.same->entry_count : folder.entries.size();
  }
  return count;
}

std::vector<Skipped> Scan::skipped() const {
  std::vector<Skipped> skipped;
  for (const ScannedFolder& folder : folders_) {
    each_entry(folder, cache_, [&](std::string_view name, const CachedEntry& entry) {
      if (const auto skip_reason = shown(name, entry)) skipped.push_back({join(folder.path, name), *skip_reason});
    });
  }
  std::sort(skipped.begin(), skipped.end());
  return skipped;
}

std::vector<FoundFile> Scan::not_agreed() const {
  std::vector<FoundFile> files;
  const auto add = [&](const ScannedFolder& folder, std::string_view name, const CachedEntry& entry) {
    auto path = RelativePath::parse(join(folder.path, name));
    if (path) files.push_back({.path = std::move(*path), .hash = Sha256(entry.hash), .id = entry.stamp.id()});
  };
  for (const ScannedFolder& folder : folders_) {
    const auto known = cache_.entries(*folder.same);
    for (const ReplacedEntry& each : folder.replaced) {
      const CachedEntry& before = known[each.place];
      const bool agreed =
          before.agreed != 0 && before.hash == each.entry.hash && before.stamp.id() == each.entry.stamp.id();
      if (!agreed) add(folder, cache_.name(before), each.entry);
    }
    if (cache_mark().base_match == CacheMatch::all) continue;
    auto replaced = folder.replaced.begin();
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (replaced != folder.replaced.end() && replaced->place == i) {
        ++replaced;
      } else if (known[i].kind == EntryKind::file && known[i].agreed == 0) {
        add(folder, cache_.name(known[i]), known[i]);
      }
    }
  }
  return files;
}

void Scan::each_file(const std::function<void(const std::string& path, const CachedEntry& file)>& visit) const {
  for (const ScannedFolder& folder : folders_) {
    FolderPaths paths(folder);
    each_entry(folder, cache_, [&](std::string_view name, const CachedEntry& entry) {
      if (entry.kind == EntryKind::file) visit(paths.of(name), entry);
    });
  }
}

void Scan::each_other(const std::function<void(const std::string& path)>& visit) const {
  for (const ScannedFolder& folder : folders_) {
    FolderPaths paths(folder);
    each_name(folder.others, [&](const char* name) { visit(paths.of(name)); });
  }
}

bool Scan::any_rules() const {
  return std::ranges::any_of(folders_, [](const ScannedFolder& folder) { return folder.ignore_stamp != FileStamp{}; });
}

FoundTree Scan::found() const {
  FoundTree tree;
  tree.files.reserve(entry_count());
  for (const ScannedFolder& folder : folders_) {
    FolderPaths paths(folder);
    each_entry(folder, cache_, [&](std::string_view name, const CachedEntry& entry) {
      if (entry.kind == EntryKind::file) {
        const std::string& path = paths.of(name);
        if (auto parsed = RelativePath::parse(path)) {
          tree.files.push_back({.path = std::move(*parsed), .hash = Sha256(entry.hash), .id = entry.stamp.id()});
        } else {
          tree.skipped.push_back({path, SkipReason::dangerous_name});
        }
        return;
      }
      std::string path = join(folder.path, name);
      switch (entry.kind) {
        case EntryKind::file: return;
        case EntryKind::unsyncable:
          return tree.skipped.push_back({std::move(path), static_cast<SkipReason>(entry.skip_reason)});
        case EntryKind::ignored:
        case EntryKind::ignored_folder: return tree.closed.push_back({std::move(path), SkipReason::ignored});
        case EntryKind::link:
          return (shown(name, entry) ? tree.skipped : tree.closed).push_back({std::move(path), SkipReason::symlink});
      }
    });
  }
  return tree;
}

std::vector<HiddenFile> Scan::hidden(const RootFolder& root) const {
  std::vector<HiddenFile> files;
  for (const ScannedFolder& folder : folders_) {
    Descriptor fd;
    each_entry(folder, cache_, [&](std::string_view name, const CachedEntry& entry) {
      if (entry.kind == EntryKind::file) return;
      if (entry.kind == EntryKind::ignored_folder) return add_ignored(root, join(folder.path, name), files);
      if (entry.whole_folder != 0) {
        const auto reason = static_cast<SkipReason>(entry.skip_reason);
        if (reason == SkipReason::unreadable) files.push_back({.reason = reason});
        return;
      }
      if (entry.kind == EntryKind::link && !is_markdown(name)) return;
      if (!fd) fd = root.open_beneath(folder.path, O_RDONLY | O_DIRECTORY);
      const SkipReason reason = entry.kind == EntryKind::unsyncable ? static_cast<SkipReason>(entry.skip_reason)
                                : entry.kind == EntryKind::link     ? SkipReason::symlink
                                                                    : SkipReason::ignored;
      files.push_back({.reason = reason, .id = number_of(fd.get(), std::string(name))});
    });
    // After the links: where one leads to it, that says more.
    each_name(folder.hidden_names, [&](std::string name) {
      if (name.back() == '/') return add_ignored(root, join(folder.path, name.substr(0, name.size() - 1)), files);
      if (!fd) fd = root.open_beneath(folder.path, O_RDONLY | O_DIRECTORY);
      const FileId id = number_of(fd.get(), name);
      if (id.inode != 0) files.push_back({.reason = SkipReason::ignored, .id = id});
    });
  }
  return files;
}

bool Scan::is_ignored(const RelativePath& path) const {
  // Without the rules at hand (a walk that took over the cache's decisions) the entries still answer for what is there.
  if (rules_loaded_) return rules_->is_ignored(path.text());
  bool ignored = false;
  for (const ScannedFolder& folder : folders_) {
    each_entry(folder, cache_, [&](std::string_view name, const CachedEntry& entry) {
      if (entry.kind != EntryKind::ignored && entry.kind != EntryKind::ignored_folder) return;
      const std::string closed = join(folder.path, name);
      ignored = ignored || path.text() == closed || path.text().starts_with(closed + "/");
    });
  }
  return ignored;
}

bool Scan::is_in_tied_folder(std::string_view path) const {
  if (!tied_) {
    tied_.emplace();
    for (const Skipped& each : skipped()) {
      if (each.reason == SkipReason::tied_elsewhere) tied_->push_back(each.path + "/");
    }
  }
  return std::ranges::any_of(*tied_, [&](const std::string& folder) { return path.starts_with(folder); });
}

Result<void> Scan::save(const std::filesystem::path& file,
                        const CacheMark& mark,
                        const std::set<RelativePath>& edited) const {
  std::set<std::string_view> differing;
  for (const RelativePath& path : edited) differing.insert(path.text());
  StatCacheWriter writer(folders_.size(), entry_count());
  for (const ScannedFolder& folder : folders_) {
    writer.begin_folder(folder.path, folder.ignore_stamp);
    FolderPaths paths(folder);
    each_entry(folder, cache_, [&](std::string_view name, CachedEntry entry) {
      const bool may_agree = entry.kind == EntryKind::file && mark.base_match != CacheMatch::no;
      entry.agreed = may_agree && (differing.empty() || !differing.contains(paths.of(name))) ? 1 : 0;
      writer.add(name, entry);
    });
  }
  return writer.write(file, mark);
}

}  // namespace ws::sync

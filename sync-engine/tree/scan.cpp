#include "sync-engine/tree/scan.hpp"

#include <algorithm>
#include <utility>

#include "sync-engine/tree/walk.hpp"

namespace ws::sync {
namespace {

std::string join(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.empty() && !name.empty()) path += '/';
  path += name;
  return path;
}

/// Calls `visit(folder path, name, entry)` for every entry of a walk.
template <class Visit>
void each_entry(const std::vector<ScannedFolder>& folders, const StatCache& cache, Visit visit) {
  for (const ScannedFolder& folder : folders) {
    if (folder.same != nullptr) {
      for (const CachedEntry& entry : cache.entries(*folder.same)) visit(folder.path, cache.name(entry), entry);
      continue;
    }
    const std::string_view names = folder.names;
    for (const CachedEntry& entry : folder.entries) {
      visit(folder.path, names.substr(entry.name_offset, entry.name_bytes), entry);
    }
  }
}

/// What a person is told of; empty for what is passed over in silence.
std::optional<Hindrance> shown(std::string_view name, const CachedEntry& entry) {
  if (entry.kind == EntryKind::hindered) return static_cast<Hindrance>(entry.hindrance);
  if (entry.kind == EntryKind::link && is_markdown(name)) return Hindrance::symlink;
  return std::nullopt;
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

std::size_t Scan::file_count() const {
  std::size_t count = 0;
  each_entry(folders_, cache_, [&](std::string_view, std::string_view, const CachedEntry& entry) {
    if (entry.kind == EntryKind::file) ++count;
  });
  return count;
}

std::vector<Skipped> Scan::skipped() const {
  std::vector<Skipped> skipped;
  each_entry(folders_, cache_, [&](std::string_view folder, std::string_view name, const CachedEntry& entry) {
    if (const auto hindrance = shown(name, entry)) skipped.push_back({join(folder, name), *hindrance});
  });
  std::sort(skipped.begin(), skipped.end());
  return skipped;
}

FoundTree Scan::found() const {
  FoundTree tree;
  each_entry(folders_, cache_, [&](std::string_view folder, std::string_view name, const CachedEntry& entry) {
    std::string path = join(folder, name);
    switch (entry.kind) {
      case EntryKind::file:
        if (auto parsed = RelativePath::parse(path)) {
          tree.files.push_back({.path = std::move(*parsed),
                                .hash = Sha256(entry.hash),
                                .id = {.inode = entry.stamp.inode, .device = entry.stamp.device}});
        } else {
          tree.skipped.push_back({std::move(path), Hindrance::dangerous_name});
        }
        return;
      case EntryKind::hindered:
        tree.skipped.push_back({std::move(path), static_cast<Hindrance>(entry.hindrance)});
        return;
      case EntryKind::ignored:
      case EntryKind::ignored_folder: tree.closed.push_back({std::move(path), Hindrance::ignored}); return;
      case EntryKind::link:
        (is_markdown(name) ? tree.skipped : tree.closed).push_back({std::move(path), Hindrance::symlink});
        return;
    }
  });
  return tree;
}

bool Scan::is_ignored(const RelativePath& path) const {
  // Without the rules at hand (a walk that took over the cache's decisions) the entries still answer for what is there.
  if (rules_loaded_) return rules_->is_ignored(path.text());
  bool ignored = false;
  each_entry(folders_, cache_, [&](std::string_view folder, std::string_view name, const CachedEntry& entry) {
    if (entry.kind != EntryKind::ignored && entry.kind != EntryKind::ignored_folder) return;
    const std::string closed = join(folder, name);
    ignored = ignored || path.text() == closed || path.text().starts_with(closed + "/");
  });
  return ignored;
}

Result<void> Scan::save(const std::filesystem::path& file, const CacheMark& mark) const {
  StatCacheWriter writer;
  for (const ScannedFolder& folder : folders_) {
    writer.begin_folder(folder.path, folder.ignore_stamp);
    if (folder.same != nullptr) {
      for (const CachedEntry& entry : cache_.entries(*folder.same)) writer.add(cache_.name(entry), entry);
      continue;
    }
    const std::string_view names = folder.names;
    for (const CachedEntry& entry : folder.entries) {
      writer.add(names.substr(entry.name_offset, entry.name_bytes), entry);
    }
  }
  return writer.write(file, mark);
}

}  // namespace ws::sync

/// Walks the tree: which Markdown files there are, and their hashes.
///
/// Folders are opened by descriptor beneath the root; a link is never followed. A file is read only where the stat
/// cache cannot vouch for it: mode, size, both times, inode and device equal, and both times older than the walk that
/// hashed it by a clock tick. Two threads share the folders.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/reconcile/identify.hpp"
#include "sync-engine/tree/file_kinds.hpp"
#include "sync-engine/tree/ignore.hpp"
#include "sync-engine/tree/root_folder.hpp"
#include "sync-engine/tree/stat_cache.hpp"

namespace ws::sync {

inline constexpr std::uint64_t default_max_file_bytes = std::uint64_t{1} << 20U;

struct ScanOptions {
  unsigned threads = 2;
  std::uint64_t max_file_bytes = default_max_file_bytes;
  const FileKinds* kinds = nullptr;  ///< null: Markdown alone; outlives the scan
  bool load_rules = false;           ///< read every `.wsignore` even where the cache would do: for `is_ignored`
};

/// One folder as the walk found it.
struct ScannedFolder {
  std::string path = {};
  std::string names = {};
  std::vector<CachedEntry> entries = {};
  FileStamp ignore_stamp = {};
  const CachedFolder* same = nullptr;  ///< all as in the cache; then `names` and `entries` are empty
};

class Scan;

/// Fails with `disk` where the root or a `.wsignore` cannot be read. Anything else that cannot be read is `closed`.
Result<Scan> scan(const RootFolder& root, StatCache cache, const ScanOptions& options = {});

/// The outcome of a walk. Holds the cache that it compared with.
class Scan {
 public:
  /// Every name is as the cache has it, and nothing had to be read.
  bool same_as_cache() const { return same_; }
  const CacheMark& cache_mark() const { return cache_.mark(); }
  std::uint64_t files_hashed() const { return hashed_; }
  std::size_t file_count() const;

  /// What is left alone, for people. Cheap.
  std::vector<Skipped> skipped() const;
  /// All of it. Fails never; a path that breaks a rule is among the skipped.
  FoundTree found() const;
  /// Whether every rule was read, so that `is_ignored` knows of paths that are not on disk too.
  bool rules_loaded() const { return rules_loaded_; }
  bool is_ignored(const RelativePath& path) const;
  /// Writes the cache anew.
  Result<void> save(const std::filesystem::path& file, const CacheMark& mark) const;

 private:
  friend class Walk;
  friend Result<Scan> scan(const RootFolder& root, StatCache cache, const ScanOptions& options);
  StatCache cache_;
  std::vector<ScannedFolder> folders_;
  std::unique_ptr<git::IgnoreRules> rules_;
  bool rules_loaded_ = false;
  bool same_ = false;
  std::uint64_t hashed_ = 0;
};

}  // namespace ws::sync

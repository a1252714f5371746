/// Walks the tree: which Markdown files there are, and their hashes.
///
/// Folders are opened by descriptor beneath the root; a link is never followed. A file is read only where the stat
/// cache cannot vouch for it: mode, size, both times, inode and device equal, and both times older than the walk that
/// hashed it by a clock tick. Two threads share the folders.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/model/found_files.hpp"
#include "sync-engine/tree/file_kinds.hpp"
#include "sync-engine/tree/stat_cache.hpp"

namespace ws::sync {

inline constexpr std::uint64_t default_max_file_bytes = std::uint64_t{1} << 20U;

/// The folder as git sees it: a folder with a `.git` of its own, a repository in the repository, is left alone as one
/// that is tied by itself.
struct GitRules {
  bool ignores = true;       ///< the `.gitignore` of each folder; a link of that name is passed over, as git does
  std::string exclude = {};  ///< rules for the whole tree, of less weight than those: `info/exclude`
};

struct ScanOptions {
  unsigned threads = 2;
  std::uint64_t max_file_bytes = default_max_file_bytes;
  const FileKinds* kinds = nullptr;  ///< null: Markdown alone; outlives the scan
  bool list_others = false;          ///< notes the names of files of no kind that is synced
  bool load_rules = false;           ///< read every `.wsignore` even where the cache would do: for `is_ignored`
  const GitRules* git = nullptr;     ///< for a folder without a cache: what git leaves out is left out
  /// Told how many names were looked at, ten times a second, by one thread at a time.
  std::function<void(std::uint64_t names)> seen = {};
  std::chrono::milliseconds seen_from{300};  ///< after so long: a walk that is over by then is none to speak of
};

/// An entry in the place of the one that the cache has for the same name.
struct ReplacedEntry {
  std::size_t place = 0;  ///< among the folder's entries
  CachedEntry entry = {};
};

/// One folder as the walk found it.
struct ScannedFolder {
  std::string path = {};
  std::string names = {};
  std::vector<CachedEntry> entries = {};
  FileStamp ignore_stamp = {};
  /// The names are as in the cache, and so are the entries but for `replaced`; `names` and `entries` are empty.
  const CachedFolder* same = nullptr;
  std::vector<ReplacedEntry> replaced = {};  ///< in order of place
  std::string others = {};                   ///< names of files of no kind that is synced, each with a NUL behind it
  std::string hidden_names = {};             ///< names that begin with a dot, of folders with a slash, likewise
};

class Scan;

/// Fails with `disk` where the root or a `.wsignore` cannot be read. Anything else that cannot be read is `closed`.
Result<Scan> scan(const RootFolder& root, StatCache cache, const ScanOptions& options = {});

/// The outcome of a walk. Holds the cache that it compared with.
class Scan {
 public:
  /// Every name is as the cache has it, and nothing had to be read.
  bool same_as_cache() const { return same_; }
  /// Every name is as the cache has it, and those that had to be read are files as before.
  bool same_places() const { return same_places_; }
  /// Where the places are the same: the files that are not known to be the base's by the cache's account, or are others
  /// than it saw.
  std::vector<FoundFile> not_agreed() const;
  const CacheMark& cache_mark() const { return cache_.mark(); }
  std::uint64_t files_hashed() const { return hashed_; }
  /// Files that are not hidden, in folders that are not ignored, of no kind that is synced.
  std::uint64_t not_included() const { return not_included_; }
  std::size_t entry_count() const;

  /// What is left alone, for people. Cheap.
  std::vector<Skipped> skipped() const;
  /// Every file, in no order: a tenth of what `found` costs.
  void each_file(const std::function<void(const std::string& path, const CachedEntry& file)>& visit) const;
  /// All of it. Fails never; a path that breaks a rule is among the skipped.
  FoundTree found() const;
  /// Where `list_others` was set: the files of no kind that is synced, hidden ones and those in ignored folders aside.
  /// Rules about single files are not applied to them.
  void each_other(const std::function<void(const std::string& path)>& visit) const;
  /// Whether any folder has rules of its own about what is ignored.
  bool any_rules() const;
  /// The numbers of all that is left alone, looked up now: of a link those of the file that it leads to. Ignored and
  /// hidden folders are walked for it, but for those where programs keep what was thrown away.
  std::vector<HiddenFile> hidden(const RootFolder& root) const;
  /// Whether every rule was read, so that `is_ignored` knows of paths that are not on disk too.
  bool rules_loaded() const { return rules_loaded_; }
  bool is_ignored(const RelativePath& path) const;
  /// Whether it lies in a folder that is tied by itself.
  bool is_in_tied_folder(std::string_view path) const;
  /// Writes the cache anew. `edited`: the files whose text is not the base's, where the mark says that there are some.
  Result<void> save(const std::filesystem::path& file,
                    const CacheMark& mark,
                    const std::set<RelativePath>& edited = {}) const;

 private:
  friend class Walk;
  friend Result<Scan> scan(const RootFolder& root, StatCache cache, const ScanOptions& options);
  StatCache cache_;
  std::vector<ScannedFolder> folders_;
  std::unique_ptr<IgnoreRules> rules_;
  mutable std::optional<std::vector<std::string>> tied_;  ///< such folders, found when first asked for
  bool rules_loaded_ = false;
  bool same_ = false;
  bool same_places_ = false;
  std::uint64_t hashed_ = 0;
  std::uint64_t not_included_ = 0;
};

}  // namespace ws::sync

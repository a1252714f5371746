/// What the last walk saw of each file, so that the next one need not read it. Disposable: without it the answers are
/// the same, only slower.
///
/// One binary file, mapped and checked in one go: a header, the folders, their entries in the order in which the folder
/// lists them (so that a walk that meets the same names never searches), and all names in one block. A wrong magic
/// number, version, size or checksum: there is no cache.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api-client/base/result.hpp"
#include "api-client/base/sha256.hpp"
#include "sync-engine/tree/hash.hpp"

namespace ws::sync {

/// What an entry of a folder is to us.
enum class EntryKind : std::uint8_t { file, unsyncable, ignored, link, ignored_folder };

/// One name in a folder, as it lies in the file.
struct CachedEntry {
  FileStamp stamp = {};
  Sha256::Bytes hash = {};
  std::uint32_t name_offset = 0;
  std::uint16_t name_bytes = 0;
  EntryKind kind = EntryKind::file;
  std::uint8_t skip_reason = 0;   ///< a `SkipReason`, of a unsyncable one; `ignored`: of a link that rules name
  std::uint8_t trusted = 0;       ///< both times were older than the walk's start by a clock tick
  std::uint8_t whole_folder = 0;  ///< the name is of a folder that is unsyncable as a whole, or of a link to a folder
  std::uint8_t agreed = 0;        ///< of a file: the text is the base's, where the mark says that the places are
  std::uint8_t reserved[5] = {};
};

struct CachedFolder {
  std::uint32_t path_offset = 0;
  std::uint32_t path_bytes = 0;
  std::uint32_t first_entry = 0;
  std::uint32_t entry_count = 0;
  FileStamp ignore_stamp = {};  ///< of its `.wsignore`; all zero: none
};

/// How the files stood to the base. `places`: none was new, none missing, none elsewhere; whose text was the base's is
/// said by each entry's `agreed`. `all`: and every text was.
enum class CacheMatch : std::uint64_t { no, all, places };

/// What the walk's owner knew when the cache was written.
struct CacheMark {
  std::uint64_t generation = 0;  ///< of the state
  CacheMatch base_match = CacheMatch::no;
  std::uint64_t root_inode = 0;
  std::uint64_t root_device = 0;
  std::uint64_t config = 0;  ///< fingerprint of what the tree's config said
  bool operator==(const CacheMark&) const = default;
};

class StatCache {
 public:
  StatCache() = default;  ///< empty
  /// Empty where there is no usable one.
  static StatCache load(const std::filesystem::path& file);
  StatCache(StatCache&& other) noexcept;
  StatCache& operator=(StatCache&& other) noexcept;
  StatCache(const StatCache&) = delete;
  StatCache& operator=(const StatCache&) = delete;
  ~StatCache();

  const CacheMark& mark() const { return mark_; }
  std::size_t folder_count() const { return folders_.size(); }
  std::size_t entry_count() const { return entries_.size(); }
  const CachedFolder* find_folder(std::string_view path) const;
  std::span<const CachedEntry> entries(const CachedFolder& folder) const;
  std::string_view name(const CachedEntry& entry) const { return names_.substr(entry.name_offset, entry.name_bytes); }

 private:
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  CacheMark mark_ = {};
  std::span<const CachedFolder> folders_ = {};
  std::span<const CachedEntry> entries_ = {};
  std::string_view names_ = {};
  std::unordered_map<std::string_view, const CachedFolder*> by_path_ = {};
};

/// Collects a new cache and writes it by rename. Not durable on purpose: a lost one costs time only.
class StatCacheWriter {
 public:
  /// Room for so many, and more.
  StatCacheWriter(std::size_t folders, std::size_t entries);
  void begin_folder(std::string_view path, const FileStamp& ignore_stamp);
  void add(std::string_view name, CachedEntry entry);
  Result<void> write(const std::filesystem::path& file, const CacheMark& mark) const;

 private:
  std::vector<CachedFolder> folders_;
  std::vector<CachedEntry> entries_;
  std::string names_;
};

}  // namespace ws::sync

#include "sync-engine/tree/stat_cache.hpp"

#include <array>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sync-engine/disk/root_folder.hpp"

namespace ws::sync {
namespace {

constexpr std::array<char, 8> magic = {'W', 'S', 'S', 'T', 'A', 'T', '0', '4'};

struct Header {
  std::array<char, 8> magic = {};
  std::uint64_t checksum = 0;  ///< of all that follows
  CacheMark mark = {};
  std::uint64_t folders = 0;
  std::uint64_t entries = 0;
  std::uint64_t name_bytes = 0;
};

// The file is these structs byte by byte: no padding may hide in them.
static_assert(sizeof(CachedEntry) == 104 && std::is_trivially_copyable_v<CachedEntry>);
static_assert(sizeof(CachedFolder) == 72 && std::is_trivially_copyable_v<CachedFolder>);
static_assert(sizeof(Header) == 80 && std::is_trivially_copyable_v<Header>);
constexpr std::size_t checked_from = 16;

/// Four independent lanes of multiply and rotate over each part: some 10 GB/s. It finds rot and torn writes, not
/// malice.
std::uint64_t checksum(std::initializer_list<std::string_view> parts) {
  constexpr std::uint64_t prime = 0x9E37'79B1'85EB'CA87U;
  std::uint64_t sum = 0;
  for (std::string_view part : parts) {
    std::array<std::uint64_t, 4> lanes = {1, 2, 3, part.size()};
    while (part.size() >= 32) {
      std::array<std::uint64_t, 4> words{};
      std::memcpy(words.data(), part.data(), 32);
      for (std::size_t i = 0; i < 4; ++i) {
        lanes[i] = (lanes[i] ^ words[i]) * prime;
        lanes[i] ^= lanes[i] >> 29U;
      }
      part.remove_prefix(32);
    }
    for (const std::uint64_t lane : lanes) sum = (sum ^ lane) * prime;
    for (const char c : part) sum = (sum ^ static_cast<unsigned char>(c)) * prime;
    sum ^= sum >> 32U;
  }
  return sum;
}

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

StatCache::StatCache(StatCache&& other) noexcept { *this = std::move(other); }

StatCache& StatCache::operator=(StatCache&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(mark_, other.mark_);
  std::swap(folders_, other.folders_);
  std::swap(entries_, other.entries_);
  std::swap(names_, other.names_);
  std::swap(by_path_, other.by_path_);
  return *this;
}

StatCache::~StatCache() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_bytes_);
}

StatCache StatCache::load(const std::filesystem::path& file) {
  StatCache cache;
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!descriptor || ::fstat(descriptor.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size < sizeof(Header)) return {};
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, descriptor.get(), 0);
  if (mapped == MAP_FAILED) return {};
  cache.mapped_ = mapped;
  cache.mapped_bytes_ = size;
  const std::string_view data(static_cast<const char*>(mapped), size);
  Header header;
  std::memcpy(&header, data.data(), sizeof header);
  if (header.magic != magic) return {};
  // Each count is bounded by the file before they are added up, so the sum cannot wrap.
  if (header.folders > size || header.entries > size || header.name_bytes > size) return {};
  const std::size_t folder_bytes = header.folders * sizeof(CachedFolder);
  const std::size_t entry_bytes = header.entries * sizeof(CachedEntry);
  if (sizeof header + folder_bytes + entry_bytes + header.name_bytes != size) return {};
  const std::string_view folders = data.substr(sizeof header, folder_bytes);
  const std::string_view entries = data.substr(sizeof header + folder_bytes, entry_bytes);
  const std::string_view names = data.substr(sizeof header + folder_bytes + entry_bytes);
  const std::string_view head = data.substr(checked_from, sizeof header - checked_from);
  if (checksum({head, folders, entries, names}) != header.checksum) return {};
  cache.mark_ = header.mark;
  cache.folders_ = {reinterpret_cast<const CachedFolder*>(folders.data()), header.folders};
  cache.entries_ = {reinterpret_cast<const CachedEntry*>(entries.data()), header.entries};
  cache.names_ = names;
  cache.by_path_.reserve(header.folders);
  for (const CachedFolder& folder : cache.folders_) {
    cache.by_path_.emplace(cache.names_.substr(folder.path_offset, folder.path_bytes), &folder);
  }
  return cache;
}

const CachedFolder* StatCache::find_folder(std::string_view path) const {
  const auto found = by_path_.find(path);
  return found == by_path_.end() ? nullptr : found->second;
}

std::span<const CachedEntry> StatCache::entries(const CachedFolder& folder) const {
  return entries_.subspan(folder.first_entry, folder.entry_count);
}

StatCacheWriter::StatCacheWriter(std::size_t folders, std::size_t entries) {
  constexpr std::size_t usual_name_bytes = 24;
  folders_.reserve(folders);
  entries_.reserve(entries);
  names_.reserve((folders + entries) * usual_name_bytes);
}

void StatCacheWriter::begin_folder(std::string_view path, const FileStamp& ignore_stamp) {
  folders_.push_back({.path_offset = static_cast<std::uint32_t>(names_.size()),
                      .path_bytes = static_cast<std::uint32_t>(path.size()),
                      .first_entry = static_cast<std::uint32_t>(entries_.size()),
                      .ignore_stamp = ignore_stamp});
  names_ += path;
}

void StatCacheWriter::add(std::string_view name, CachedEntry entry) {
  entry.name_offset = static_cast<std::uint32_t>(names_.size());
  entry.name_bytes = static_cast<std::uint16_t>(name.size());
  names_ += name;
  entries_.push_back(entry);
  ++folders_.back().entry_count;
}

Result<void> StatCacheWriter::write(const std::filesystem::path& file, const CacheMark& mark) const {
  Header header{.magic = magic,
                .mark = mark,
                .folders = folders_.size(),
                .entries = entries_.size(),
                .name_bytes = names_.size()};
  const std::string_view head(reinterpret_cast<const char*>(&header), sizeof header);
  const std::string_view folders = bytes_of(folders_);
  const std::string_view entries = bytes_of(entries_);
  header.checksum = checksum({head.substr(checked_from), folders, entries, names_});
  return replace_disposable(file, {head, folders, entries, names_});
}

}  // namespace ws::sync

#include "sync-engine/attachments/local_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sync-engine/state/columns.hpp"

namespace ws::sync {
namespace {

constexpr const char* files_cache = "attachments.cache";
constexpr std::string_view cache_magic = "WSattach1\n";
constexpr std::size_t max_cache_bytes = std::size_t{256} << 20U;
constexpr std::int64_t whole_second = 1'000'000'000;
constexpr std::int64_t fine_tick = 4'000'000;
constexpr std::int64_t coarse_tick = 2 * whole_second;

LocalAttachment hidden_file(SkipReason why, std::uint64_t size_bytes = 0) {
  return {.size_bytes = size_bytes, .hidden = why};
}

SkipReason skip_reason_of(int error) {
  if (error == ELOOP || error == EXDEV) return SkipReason::symlink;
  return SkipReason::unreadable;
}

template <class T>
bool take(std::string_view& bytes, T& value) {
  if (bytes.size() < sizeof(T)) return false;
  std::memcpy(&value, bytes.data(), sizeof(T));
  bytes.remove_prefix(sizeof(T));
  return true;
}

template <class T>
void put(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::unordered_map<std::string, SeenFile> read_cache(const Session& session) {
  std::unordered_map<std::string, SeenFile> files;
  const auto text = session.ws.read(files_cache, max_cache_bytes);
  if (!text || !text->starts_with(cache_magic)) return files;
  std::string_view bytes = *text;
  Sha256::Bytes sum{};
  if (bytes.size() < cache_magic.size() + sum.size()) return files;
  const std::string_view told = bytes.substr(bytes.size() - sum.size());
  bytes.remove_suffix(sum.size());
  if (bytes_of(Sha256::of(bytes)) != told) return files;
  bytes.remove_prefix(cache_magic.size());
  while (!bytes.empty()) {
    SeenFile file;
    Sha256::Bytes hash{};
    std::uint32_t size = 0;
    if (!take(bytes, file.stamp) || !take(bytes, hash) || !take(bytes, size) || bytes.size() < size) return {};
    file.hash = Sha256(hash);
    files.emplace(bytes.substr(0, size), file);
    bytes.remove_prefix(size);
  }
  return files;
}

}  // namespace

LocalFiles::LocalFiles(Session& session) : session_(session) {
  // The clock that the kernel stamps files with.
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &time);
  started_ns_ = time.tv_sec * whole_second + time.tv_nsec;
}

void LocalFiles::load() {
  if (!std::exchange(is_loaded_, true)) cached_ = read_cache(session_);
}

bool LocalFiles::is_trusted(const FileStamp& stamp) const {
  const bool is_coarse = stamp.modified_ns % whole_second == 0 && stamp.changed_ns % whole_second == 0;
  return std::max(stamp.modified_ns, stamp.changed_ns) + (is_coarse ? coarse_tick : fine_tick) <= started_ns_;
}

std::optional<LocalAttachment> LocalFiles::look_at(const std::string& disk, std::uint64_t max_bytes) {
  load();
  const std::string folder(parent_folder(disk));
  const std::string name(last_part(disk));
  if (!std::exchange(has_folder_, true) || folder != folder_) {
    folder_ = folder;
    folder_fd_ = session_.root.open_beneath(folder, O_RDONLY | O_DIRECTORY);
    folder_errno_ = folder_fd_ ? 0 : errno;
  }
  if (!folder_fd_) {
    const bool is_missing = folder_errno_ == ENOENT || folder_errno_ == ENOTDIR;
    return is_missing ? std::nullopt : std::optional(hidden_file(skip_reason_of(folder_errno_)));
  }
  struct statx status {};
  constexpr int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_SYNC_AS_STAT;
  if (::statx(folder_fd_.get(), name.c_str(), flags, stamp_mask, &status) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? std::nullopt : std::optional(hidden_file(SkipReason::unreadable));
  }
  if (S_ISDIR(status.stx_mode)) return std::nullopt;
  if (S_ISLNK(status.stx_mode)) return hidden_file(SkipReason::symlink);
  if (!S_ISREG(status.stx_mode)) return hidden_file(SkipReason::special);
  const FileStamp stamp = stamp_of(status);
  if (stamp.size_bytes == 0) return hidden_file(SkipReason::empty);
  if (stamp.size_bytes > max_bytes) return hidden_file(SkipReason::too_large, stamp.size_bytes);
  if (const auto known = cached_.find(disk); known != cached_.end() && known->second.stamp == stamp) {
    seen_.insert_or_assign(disk, known->second);
    return LocalAttachment{.size_bytes = stamp.size_bytes, .hash = known->second.hash};
  }
  return hash(folder_fd_.get(), name, disk, stamp);
}

std::optional<LocalAttachment> LocalFiles::hash(int folder,
                                                const std::string& name,
                                                const std::string& disk,
                                                const FileStamp& stamp) {
  is_same_ = false;
  const Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return errno == ENOENT ? std::nullopt : std::optional(hidden_file(SkipReason::unreadable));
  Sha256Stream stream;
  std::array<char, std::size_t{128} << 10U> buffer;
  std::uint64_t bytes = 0;
  while (true) {
    const ssize_t count = read_some(file.get(), buffer.data(), buffer.size());
    if (count < 0) return hidden_file(SkipReason::unreadable);
    if (count == 0) break;
    stream.update({buffer.data(), static_cast<std::size_t>(count)});
    bytes += static_cast<std::uint64_t>(count);
    if (bytes > stamp.size_bytes) return hidden_file(SkipReason::busy);
  }
  struct statx after {};
  const bool is_there = ::statx(file.get(), "", AT_EMPTY_PATH | AT_STATX_SYNC_AS_STAT, stamp_mask, &after) == 0;
  if (!is_there || stamp_of(after) != stamp) return hidden_file(SkipReason::busy);
  const SeenFile seen{.stamp = stamp, .hash = stream.finish()};
  seen_.insert_or_assign(disk, seen);
  return LocalAttachment{.size_bytes = bytes, .hash = seen.hash};
}

const SeenFile* LocalFiles::seen(const std::string& disk) const {
  const auto found = seen_.find(disk);
  return found == seen_.end() ? nullptr : &found->second;
}

void LocalFiles::save() {
  load();
  if (is_same_ && seen_.size() == cached_.size()) return;
  std::string bytes(cache_magic);
  for (const auto& [path, file] : seen_) {
    if (!is_trusted(file.stamp)) continue;
    put(bytes, file.stamp);
    put(bytes, file.hash.bytes());
    put(bytes, static_cast<std::uint32_t>(path.size()));
    bytes += path;
  }
  bytes += bytes_of(Sha256::of(bytes));
  static_cast<void>(session_.ws.write(files_cache, bytes));
}

}  // namespace ws::sync

#include "sync-engine/attachments/local_files.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <functional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sync-engine/state/columns.hpp"

namespace ws::sync {
namespace {

constexpr const char* files_cache = "attachments.cache";
constexpr std::string_view cache_magic = "WSattach2\n";
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

struct CachedFile {
  std::string_view path = {};
  SeenFile file = {};  ///< with an empty stamp: no file was there
};

/// The cache, whose text outlives it.
struct CachedFiles {
  std::uint64_t inputs = 0;  ///< of a survey that found nothing to do; 0: of none
  std::uint64_t synced = 0;  ///< how many of the files it took for attachments
  std::vector<CachedFile> files = {};
};

/// Nothing of what is damaged.
CachedFiles files_in(std::string_view bytes) {
  CachedFiles cached;
  if (!take_bytes(bytes, cached.inputs) || !take_bytes(bytes, cached.synced)) return {};
  while (!bytes.empty()) {
    CachedFile file;
    Sha256::Bytes hash{};
    std::uint32_t size = 0;
    const bool is_whole = take_bytes(bytes, file.file.stamp) && take_bytes(bytes, hash) && take_bytes(bytes, size);
    if (!is_whole || bytes.size() < size) return {};
    file.file.hash = Sha256(hash);
    file.path = bytes.substr(0, size);
    bytes.remove_prefix(size);
    cached.files.push_back(file);
  }
  return cached;
}

/// For fewer files another thread is not worth its start.
constexpr std::size_t files_a_thread = 500;

std::uint64_t mixed(std::uint64_t state, std::uint64_t value) {
  state = (state ^ value) * 0x9E3779B97F4A7C15ULL;
  return state ^ (state >> 32U);
}

std::uint64_t number_of(std::string_view text) { return std::hash<std::string_view>()(text); }

std::uint64_t number_of(const Sha256& hash) {
  std::uint64_t number = 0;
  std::memcpy(&number, hash.bytes().data(), sizeof number);
  return number;
}

/// Empty: there is none, or it cannot be told.
std::optional<FileStamp> stamp_at(int folder, const char* name) {
  struct statx status {};
  constexpr int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_SYNC_AS_STAT;
  if (::statx(folder, name, flags, stamp_mask, &status) != 0 || !S_ISREG(status.stx_mode)) return std::nullopt;
  return stamp_of(status);
}

/// Whether nothing has the name; a folder that cannot be opened may hold anything.
bool is_missing(const Descriptor& folder, const char* name) {
  struct stat status {};
  const bool is_there = folder && ::fstatat(folder.get(), name, &status, AT_SYMLINK_NOFOLLOW) == 0;
  return !is_there && (errno == ENOENT || errno == ENOTDIR);
}

bool are_unchanged(const RootFolder& root, std::span<const CachedFile> files) {
  Descriptor folder;
  std::optional<std::string_view> opened;
  for (const CachedFile& file : files) {
    const std::string_view above = parent_folder(file.path);
    if (opened != above) {
      folder = root.open_beneath(above, O_RDONLY | O_DIRECTORY);
      opened = above;
    }
    const std::string name(last_part(file.path));
    const FileStamp& known = file.file.stamp;
    const bool is_absent = known == FileStamp{};
    if (is_absent ? !is_missing(folder, name.c_str()) : !folder || stamp_at(folder.get(), name.c_str()) != known)
      return false;
  }
  return true;
}

}  // namespace

LocalFiles::LocalFiles(Session& session) : session_(session) {
  // The clock that the kernel stamps files with.
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &time);
  started_ns_ = time.tv_sec * whole_second + time.tv_nsec;
}

void LocalFiles::load() {
  if (std::exchange(is_loaded_, true)) return;
  const auto text = session_.ws.read_cache(files_cache, cache_magic);
  const CachedFiles cached = files_in(text ? std::string_view(*text) : std::string_view());
  clean_inputs_ = cached.inputs;
  for (const CachedFile& each : cached.files) {
    if (each.file.stamp != FileStamp{}) cached_.emplace(each.path, each.file);
  }
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
  const auto sha256 = Sha256::of_file(file.get(), stamp.size_bytes);
  if (!sha256) return hidden_file(errno == EFBIG ? SkipReason::busy : SkipReason::unreadable);
  struct statx after {};
  const bool is_there = ::statx(file.get(), "", AT_EMPTY_PATH | AT_STATX_SYNC_AS_STAT, stamp_mask, &after) == 0;
  if (!is_there || stamp_of(after) != stamp) return hidden_file(SkipReason::busy);
  const SeenFile seen{.stamp = stamp, .hash = *sha256};
  seen_.insert_or_assign(disk, seen);
  return LocalAttachment{.size_bytes = stamp.size_bytes, .hash = seen.hash};
}

const SeenFile* LocalFiles::seen(const std::string& disk) const {
  const auto found = seen_.find(disk);
  return found == seen_.end() ? nullptr : &found->second;
}

bool LocalFiles::was_seen(const std::string& disk) {
  load();
  return cached_.contains(disk);
}

void LocalFiles::save(const std::optional<CleanSurvey>& clean) {
  load();
  const std::uint64_t inputs = clean && are_trusted(clean->files) ? clean->inputs : 0;
  // One that was clean is still so: while it is not, somebody changed what it has read.
  if (is_same_ && seen_.size() == cached_.size() && (inputs == 0 || inputs == clean_inputs_)) return;
  std::map<std::string_view, SeenFile> files;  // in order of folder
  for (const auto& [path, file] : seen_) {
    if (is_trusted(file.stamp)) files.emplace(path, file);
  }
  if (inputs != 0) {
    for (const std::string& path : clean->nowhere) files.emplace(path, SeenFile{});
  }
  std::string bytes;
  put_bytes(bytes, inputs);
  put_bytes(bytes, inputs == 0 ? std::uint64_t{0} : std::uint64_t{clean->files.size()});
  for (const auto& [path, file] : files) {
    put_bytes(bytes, file.stamp);
    put_bytes(bytes, file.hash.bytes());
    put_bytes(bytes, static_cast<std::uint32_t>(path.size()));
    bytes += path;
  }
  session_.ws.write_cache(files_cache, cache_magic, bytes);
}

bool LocalFiles::are_trusted(const std::vector<std::string>& files) const {
  return std::ranges::all_of(files, [&](const std::string& path) {
    const SeenFile* const file = seen(path);
    return file != nullptr && is_trusted(file->stamp);
  });
}

std::optional<std::uint64_t> survey_inputs(Session& session, const Scan& scan) {
  if (scan.any_rules()) return std::nullopt;  // the look itself reads them
  const TreeConfig& config = session.config;
  std::string settings = fmt::format("{} {} {} {}\n",
                                     config.fingerprint(),
                                     static_cast<int>(config.attachments),
                                     config.says_attachments,
                                     config.attachments_max_bytes);
  for (const std::string& glob : config.attachments_exclude) settings += glob + "\n";
  std::uint64_t inputs = mixed(1, number_of(settings));
  const auto changes = session.attachments().changes();
  if (!changes) return std::nullopt;
  inputs = mixed(inputs, *changes);
  // A sum: the walk lists them in no order.
  std::uint64_t names = 0;
  scan.each_file([&](const std::string& path, const CachedEntry& file) {
    names += mixed(number_of(path), number_of(Sha256(file.hash)));
  });
  scan.each_other([&](const std::string& path) { names += mixed(number_of(path), 1); });
  return mixed(inputs, names);
}

std::optional<std::uint64_t> find_clean_survey(const Session& session, std::uint64_t inputs) {
  const auto text = session.ws.read_cache(files_cache, cache_magic);
  const CachedFiles cached = files_in(text ? std::string_view(*text) : std::string_view());
  if (cached.inputs == 0 || cached.inputs != inputs) return std::nullopt;
  const std::span<const CachedFile> files(cached.files);
  const std::size_t threads =
      std::clamp<std::size_t>(files.size() / files_a_thread, 1, std::max(1U, session.options.threads));
  std::atomic<bool> all_same = true;
  const auto look = [&](std::size_t part) {
    const std::size_t first = files.size() * part / threads;
    if (!are_unchanged(session.root, files.subspan(first, files.size() * (part + 1) / threads - first)))
      all_same = false;
  };
  std::vector<std::thread> others;
  for (std::size_t part = 1; part < threads; ++part) others.emplace_back(look, part);
  look(0);
  for (std::thread& other : others) other.join();
  return all_same ? std::optional(cached.synced) : std::nullopt;
}

}  // namespace ws::sync

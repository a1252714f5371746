#include "sync-engine/binding/ws_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <iterator>
#include <sstream>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/files.hpp"
#include "api-client/base/host_name.hpp"
#include "sync-engine/state/columns.hpp"

namespace ws::sync {
namespace {

enum class Kind { file, file_in_place, folder };

struct KnownEntry {
  const char* name;
  Kind kind;
};

// `file`: replaced as a whole, so that a second name (a hard link) keeps the old text. `file_in_place`: what is written
// to it would be written to its other name too.
constexpr KnownEntry known_entries[] = {
    {"source.json", Kind::file},
    {"source.pending", Kind::file},
    {"config.yaml", Kind::file},
    {".gitignore", Kind::file},
    {"stat.cache", Kind::file},
    {"links.cache", Kind::file},
    {"lock", Kind::file_in_place},
    {"watch.lock", Kind::file_in_place},
    {"state.db", Kind::file_in_place},
    {"state.db-wal", Kind::file_in_place},
    {"state.db-shm", Kind::file_in_place},
    {"state.db-journal", Kind::file_in_place},
    {"attachments.cache", Kind::file},
    {"attachments", Kind::folder},
    {"tmp", Kind::folder},
    {"conflicts", Kind::folder},
    {"history.git", Kind::folder},
};

tl::unexpected<Failure> refused(const std::filesystem::path& path, std::string_view what, const char* code) {
  return fail(Failure{.kind = Failure::Kind::disk,
                      .what = fmt::format("{} {}", path.string(), what),
                      .hint = "remove it if you did not put it there; in a folder that came from elsewhere remove .ws "
                              "and run `ws sync init --source ID`",
                      .code = code});
}

Result<void> check_kind(const struct stat& found, Kind kind, const std::filesystem::path& path) {
  if (S_ISLNK(found.st_mode)) return refused(path, "is a symbolic link, which could lead anywhere", "linked_marker");
  if (kind == Kind::folder) {
    return S_ISDIR(found.st_mode) ? Result<void>() : refused(path, "is not a folder", "not_ours");
  }
  if (!S_ISREG(found.st_mode)) return refused(path, "is not a regular file", "not_ours");
  if (kind == Kind::file_in_place && found.st_nlink > 1) {
    return refused(path, "has a second name (a hard link), and would be changed there too", "not_ours");
  }
  return {};
}

constexpr std::chrono::milliseconds poll_interval{50};
constexpr int max_removed = 10;
constexpr const char* lock_name = ".ws/lock";
constexpr const char* watch_lock_name = ".ws/watch.lock";

/// When this process started, in clock ticks since boot (proc(5): field 22 of /proc/PID/stat). A later process with the
/// same number started at another time.
std::string start_time_of_self() {
  const Descriptor file(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> buffer{};
  const ssize_t count = file ? ::read(file.get(), buffer.data(), buffer.size()) : 0;
  std::string_view text(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  const std::size_t name_end = text.rfind(')');  // the name may hold spaces and parentheses
  if (name_end == std::string_view::npos) return "0";
  text.remove_prefix(name_end + 1);
  for (int field = 2; field < 21 && !text.empty(); ++field) {
    text.remove_prefix(std::min(text.find(' ', 1), text.size()));
  }
  if (!text.empty()) text.remove_prefix(1);
  return std::string(text.substr(0, text.find(' ')));
}

/// What the holder wrote: its process, when that started, and of a watch the machine and the time.
std::vector<std::string> holder_of(int file) {
  std::array<char, 512> buffer{};
  const ssize_t count = ::pread(file, buffer.data(), buffer.size(), 0);
  std::istringstream words(std::string(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0));
  std::vector<std::string> parts(std::istream_iterator<std::string>(words), {});
  parts.resize(std::max<std::size_t>(parts.size(), 4), "?");
  return parts;
}

std::string name_of_machine() {
  const std::string name = host_name();
  return name.empty() ? "?" : name;
}

/// Whether the path still names this file: a lock on a removed file excludes nobody.
bool is_file_at(int file, const RootFolder& root, const char* name) {
  struct stat mine {};
  struct stat there {};
  const Descriptor now = root.open_beneath(name, O_PATH | O_NOFOLLOW);
  return now && ::fstat(file, &mine) == 0 && ::fstat(now.get(), &there) == 0 && mine.st_ino == there.st_ino &&
         mine.st_dev == there.st_dev;
}

/// The file is truncated and written in place, so a hard link to it would lose its text.
Result<void> check_lock_file(int file, const std::string& path) {
  struct stat found {};
  if (::fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_nlink <= 1) return {};
  return fail(Failure::Kind::disk, path + " is not a lock file of ws", "remove it");
}

/// The file with its lock, and in it who holds it. `busy` says what it is that another process, by what it wrote, does.
Result<Descriptor> lock_beneath(const RootFolder& root,
                                const char* name,
                                std::chrono::milliseconds wait,
                                const std::string& about,
                                const std::function<Failure(const std::vector<std::string>& holder)>& busy) {
  const std::string path = (root.path() / name).string();
  Descriptor file;
  // Bounded: some file systems report another inode number with each call.
  for (int removed = 0; true;) {
    if (!file) {
      file = root.open_beneath(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
      if (!file) return disk_failure("open", path);
      WS_TRY(check_lock_file(file.get(), path));
    }
    if (lock_file(file.get(), WaitForLock::no)) {
      if (is_file_at(file.get(), root, name) || ++removed == max_removed) break;
      file = Descriptor();
      continue;
    }
    if (errno != EWOULDBLOCK) return disk_failure("lock", path);
    if (wait <= std::chrono::milliseconds(0)) {
      Failure failure = busy(holder_of(file.get()));
      failure.kind = Failure::Kind::disk;
      failure.code = "tree_locked";
      failure.call.retryable = true;
      return fail(std::move(failure));
    }
    std::this_thread::sleep_for(std::min(wait, poll_interval));
    wait -= poll_interval;
  }
  const std::string text = fmt::format("{} {}{}\n", ::getpid(), start_time_of_self(), about);
  if (::ftruncate(file.get(), 0) != 0 || ::pwrite(file.get(), text.data(), text.size(), 0) < 0) {
    return disk_failure("write", path);
  }
  return file;
}

}  // namespace

Result<WsFolder> WsFolder::open(const RootFolder& root, const TrustedFolders& trusted) {
  const std::filesystem::path path = root.path() / ".ws";
  Descriptor fd(::openat(root.fd(), ".ws", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) {
    const int error = errno;
    if (error == ENOENT) {
      return fail(Failure{.kind = Failure::Kind::disk,
                          .what = fmt::format("{} does not exist", path.string()),
                          .hint = "check that the folder is mounted; restore it, or run `ws sync init --source ID`",
                          .code = "marker_missing"});
    }
    struct stat found {};
    if (::fstatat(root.fd(), ".ws", &found, AT_SYMLINK_NOFOLLOW) == 0) WS_TRY(check_kind(found, Kind::folder, path));
    errno = error;
    return disk_failure("open", path.string());
  }
  WsFolder opened(RootFolder::adopt(path, std::move(fd), root.resolution()));
  WS_TRY(opened.check(root.path(), trusted));
  return opened;
}

Result<WsFolder> WsFolder::open(const std::filesystem::path& root, const TrustedFolders& trusted) {
  WS_LET(const RootFolder folder, RootFolder::open(root));
  return open(folder, trusted);
}

Result<WsFolder> WsFolder::make(const std::filesystem::path& root, const TrustedFolders& trusted) {
  WS_LET(const RootFolder folder, RootFolder::open(root));
  if (::mkdirat(folder.fd(), ".ws", 0700) != 0 && errno != EEXIST) return disk_failure("make", (root / ".ws").string());
  WS_LET(WsFolder made, open(folder, trusted));
  for (const char* name : {"tmp", "conflicts"}) {
    if (::mkdirat(made.folder_.fd(), name, 0700) != 0 && errno != EEXIST) {
      return disk_failure("make", (made.path() / name).string());
    }
  }
  return made;
}

Result<void> WsFolder::check(const std::filesystem::path& root, const TrustedFolders& trusted) const {
  struct stat found {};
  if (::fstat(folder_.fd(), &found) != 0) return disk_failure("look at", path().string());
  WS_TRY(check_owner(found, path(), root, trusted));
  for (const KnownEntry& entry : known_entries) {
    if (::fstatat(folder_.fd(), entry.name, &found, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) continue;
      return disk_failure("look at", (path() / entry.name).string());
    }
    WS_TRY(check_kind(found, entry.kind, path() / entry.name));
    WS_TRY(check_owner(found, path() / entry.name, root, trusted));
  }
  return {};
}

std::filesystem::path WsFolder::through(const char* name) const { return path_through(folder_.fd(), path()) / name; }

bool WsFolder::has(const char* name) const {
  struct stat found {};
  return ::fstatat(folder_.fd(), name, &found, AT_SYMLINK_NOFOLLOW) == 0;
}

bool WsFolder::is_empty_file(const char* name) const {
  struct stat found {};
  return ::fstatat(folder_.fd(), name, &found, AT_SYMLINK_NOFOLLOW) == 0 && found.st_size == 0;
}

Result<std::string> WsFolder::read(const char* name, std::size_t max_bytes) const {
  const std::filesystem::path shown = path() / name;
  const Descriptor file = folder_.open_beneath(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (!file && errno == ENOENT) return fail(Failure::Kind::not_found, fmt::format("{} does not exist", shown.string()));
  if (!file) return disk_failure("open", shown.string());
  struct stat found {};
  if (::fstat(file.get(), &found) != 0) return disk_failure("read", shown.string());
  WS_TRY(check_kind(found, Kind::file, shown));
  return read_open_file(file.get(), shown, max_bytes);
}

Result<void> WsFolder::write(const char* name, std::string_view text) const {
  struct stat found {};
  const bool is_there = ::fstatat(folder_.fd(), name, &found, AT_SYMLINK_NOFOLLOW) == 0;
  // A mode that somebody gave it is kept.
  return write_file_at(folder_.fd(), name, text, is_there ? std::nullopt : std::optional(0600U), path() / name);
}

void WsFolder::remove(const char* name) const { ::unlinkat(folder_.fd(), name, 0); }

std::optional<std::string> WsFolder::read_cache(const char* name, std::string_view magic) const {
  constexpr std::size_t max_bytes = std::size_t{256} << 20U;
  auto text = read(name, max_bytes);
  const std::size_t sum = Sha256::Bytes().size();
  if (!text || !text->starts_with(magic) || text->size() < magic.size() + sum) return std::nullopt;
  const Sha256 told = hash_of(std::string_view(*text).substr(text->size() - sum));
  text->resize(text->size() - sum);
  if (Sha256::of(*text) != told) return std::nullopt;
  text->erase(0, magic.size());
  return std::move(*text);
}

void WsFolder::write_cache(const char* name, std::string_view magic, std::string_view content) const {
  const Sha256 sum = Sha256::of(fmt::format("{}{}", magic, content));
  static_cast<void>(replace_disposable(through(name), {magic, content, bytes_of(sum)}));
}

Result<TreeLock> TreeLock::take(const RootFolder& root, std::chrono::milliseconds wait) {
  WS_LET(Descriptor file, lock_beneath(root, lock_name, wait, "", [&](const std::vector<std::string>& holder) {
           return Failure{
               .what = fmt::format("another ws (process {}) is running in {}", holder[0], root.path().string()),
               .hint = "wait for it, then run the same command again; --wait-lock SECONDS waits"};
         }));
  return TreeLock(std::move(file));
}

bool TreeLock::is_held(const RootFolder& root) {
  const Descriptor file = root.open_beneath(lock_name, O_RDONLY | O_NOFOLLOW);
  return file && is_file_locked(file.get());
}

Result<TreeLock> TreeLock::take_for_watch(const RootFolder& root, Time now) {
  const std::string about = fmt::format(" {} {}", name_of_machine(), to_rfc3339(now));
  const auto busy = [&](const std::vector<std::string>& holder) {
    return Failure{.what = fmt::format("{} is watched already: by process {} on {}, since {}",
                                       root.path().string(),
                                       holder[0],
                                       holder[2],
                                       holder[3]),
                   .hint = "one watch is enough; stop that one to start another"};
  };
  WS_LET(Descriptor file, lock_beneath(root, watch_lock_name, std::chrono::milliseconds(0), about, busy));
  return TreeLock(std::move(file));
}

}  // namespace ws::sync

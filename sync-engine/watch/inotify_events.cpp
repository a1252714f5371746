#include "sync-engine/watch/inotify_events.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include <linux/magic.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {
namespace {

namespace fs = std::filesystem;

// IN_MODIFY: a file that is written on and on is not quiet, though nobody closes it.
constexpr std::uint32_t watched = IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                                  IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW |
                                  IN_EXCL_UNLINK;
constexpr std::size_t queue_bytes = std::size_t{64} << 10U;
// <linux/magic.h> of Debian 12 does not have these.
constexpr std::uint32_t bcachefs_magic = 0xca451a4e;
constexpr std::uint32_t zfs_magic = 0x2fc12fc1;

std::string path_below(const std::string& folder, std::string_view name) {
  return folder.empty() ? std::string(name) : folder + "/" + std::string(name);
}

FileEventKind kind_of(std::uint32_t mask) {
  if ((mask & (IN_DELETE | IN_MOVED_FROM)) != 0) return FileEventKind::removed;
  if ((mask & IN_MOVED_TO) != 0) return FileEventKind::replaced;
  if ((mask & IN_CLOSE_WRITE) != 0) return FileEventKind::closed;
  return (mask & IN_MODIFY) != 0 ? FileEventKind::written : FileEventKind::changed;
}

/// Others may change what is on a share, without a word to this system. A file system that is not known counts as one.
bool is_local(const fs::path& root) {
  struct statfs status {};
  if (::statfs(root.c_str(), &status) != 0) return false;
  switch (static_cast<std::uint32_t>(status.f_type)) {
    case BTRFS_SUPER_MAGIC:
    case EXT4_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case bcachefs_magic:
    case XFS_SUPER_MAGIC:
    case zfs_magic: return true;
    default: return false;
  }
}

/// SIGINT and SIGTERM wait outside until the end of the scope, or until a call that lets them in.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held{};
    ::sigemptyset(&held);
    ::sigaddset(&held, SIGINT);
    ::sigaddset(&held, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  const sigset_t* before() const { return &before_; }

 private:
  sigset_t before_ = {};
};

}  // namespace

Result<std::unique_ptr<InotifyEvents>> InotifyEvents::open(const fs::path& root,
                                                           FileKinds kinds,
                                                           const std::atomic<bool>* cancelled) {
  Descriptor queue(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!queue) return disk_failure("watch", root.string());
  struct stat status {};
  if (::stat(root.c_str(), &status) != 0) return disk_failure("watch", root.string());
  std::unique_ptr<InotifyEvents> events(new InotifyEvents(root, std::move(kinds), std::move(queue), cancelled));
  events->device_ = status.st_dev;
  events->is_local_ = is_local(root);
  events->add("");
  if (events->folders_.empty() && !events->is_full_) return disk_failure("watch", root.string());
  return events;
}

bool InotifyEvents::is_told(const std::string& path, bool is_folder) const {
  const std::string_view name = last_part(path);
  if (name == ignore_file_name) return true;
  if (dangerous_part(name)) return false;  // `.ws`, `.git`
  if (is_folder) return name.front() != '.' || !kinds_.is_markdown_alone();
  return name.front() != '.' || kinds_.takes(path);
}

/// From boot, the time asleep included.
Instant InotifyEvents::now() const {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::milliseconds(time.tv_nsec / 1'000'000);
}

/// A signal that comes between the look at `cancelled` and the wait ends the wait: it is let in only there.
void InotifyEvents::sleep(std::chrono::milliseconds at_most) const {
  const SignalsHeld held;
  if (cancelled_ != nullptr && cancelled_->load()) return;
  std::array<pollfd, 2> awaited{pollfd{.fd = queue_.get(), .events = POLLIN, .revents = 0},
                                pollfd{.fd = other_fd_, .events = POLLIN, .revents = 0}};  // a negative one is skipped
  const timespec time{.tv_sec = static_cast<std::time_t>(at_most.count() / 1000),
                      .tv_nsec = static_cast<long>(at_most.count() % 1000) * 1'000'000};
  static_cast<void>(::ppoll(awaited.data(), awaited.size(), &time, held.before()));
}

Result<EventBatch> InotifyEvents::wait(std::chrono::milliseconds at_most) {
  if (at_most.count() > 0) sleep(at_most);
  EventBatch batch;
  WS_TRY(read_queue(batch));
  if (batch.overflowed) {
    folders_.clear();
    add("");
  }
  batch.incomplete = std::exchange(tells_full_, false);
  return batch;
}

Result<void> InotifyEvents::read_queue(EventBatch& batch) {
  alignas(inotify_event) std::array<char, queue_bytes> buffer{};
  while (true) {
    const ssize_t count = read_some(queue_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EAGAIN) return {};
    if (count <= 0) return disk_failure("watch", root_.string());
    for (ssize_t place = 0; place < count;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + place, sizeof event);
      const char* const name = buffer.data() + place + sizeof event;
      take(event, {name, ::strnlen(name, event.len)}, batch);
      place += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
}

void InotifyEvents::take(const inotify_event& event, std::string_view name, EventBatch& batch) {
  if ((event.mask & IN_Q_OVERFLOW) != 0) {
    batch.overflowed = true;
    return;
  }
  const auto folder = folders_.find(event.wd);
  if (folder == folders_.end()) return;
  batch.any = true;
  if ((event.mask & IN_IGNORED) != 0) {
    folders_.erase(folder);
    return;
  }
  const bool is_folder = (event.mask & IN_ISDIR) != 0;
  // What happened to a watched folder itself is told by the folder above it; the root has none.
  if (name.empty()) {
    if (folder->second.empty()) batch.changed.push_back({});
    return;
  }
  const std::string path = path_below(folder->second, name);
  if (!is_told(path, is_folder)) return;
  FileEventKind kind = kind_of(event.mask);
  // Of two files that change places the kernel tells last that the name went: it has the other file.
  struct stat there {};
  const bool is_back = kind == FileEventKind::removed && ::lstat((root_ / path).c_str(), &there) == 0;
  if (is_back && !is_folder) kind = FileEventKind::changed;
  const bool is_other = !is_folder && last_part(path) != ignore_file_name && !kinds_.takes(path);
  batch.changed.push_back({.path = path, .kind = kind, .is_other = is_other});
  // What was moved within the tree is no delete of its old name; a note that became an editor's backup is one.
  if ((event.mask & IN_MOVED_TO) != 0 && event.cookie == move_ && move_ != 0 && is_other == moved_from_.is_other) {
    batch.changed.back().kind = FileEventKind::moved;
    batch.changed.push_back(std::exchange(moved_from_, {}));
    move_ = 0;
  }
  if ((event.mask & IN_MOVED_FROM) != 0) {
    move_ = event.cookie;
    moved_from_ = {.path = path, .is_other = is_other};
  }
  if (!is_folder) return;
  if ((event.mask & (IN_DELETE | IN_MOVED_FROM)) != 0) forget(path);
  if ((event.mask & (IN_CREATE | IN_MOVED_TO)) != 0) add(path);
}

/// The folder and all below it. What was put there before its watch stood is covered by the folder's own change.
void InotifyEvents::add(const std::string& folder) {
  std::vector<std::string> left = {folder};
  while (!left.empty()) {
    const std::string one = std::move(left.back());
    left.pop_back();
    add_one(one);
    // One that vanishes meanwhile, or cannot be read, ends no more than its own listing.
    std::error_code error;
    for (auto entry = fs::directory_iterator(root_ / one, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      std::error_code gone;
      if (!entry->is_directory(gone) || entry->is_symlink(gone)) continue;
      std::string path = path_below(one, entry->path().filename().string());
      if (is_told(path, true)) left.push_back(std::move(path));
    }
  }
}

void InotifyEvents::add_one(const std::string& folder) {
  const int watch = ::inotify_add_watch(queue_.get(), (root_ / folder).c_str(), watched);
  if (watch >= 0) {
    folders_[watch] = folder;
    struct stat status {};
    if (::stat((root_ / folder).c_str(), &status) == 0 && status.st_dev != device_) is_local_ = false;
  } else if (errno == ENOSPC || errno == ENOMEM) {
    tells_full_ = !std::exchange(is_full_, true) || tells_full_;
  }
}

void InotifyEvents::forget(const std::string& folder) {
  const std::string inside = folder + "/";
  std::erase_if(folders_, [&](const auto& entry) {
    if (entry.second != folder && !entry.second.starts_with(inside)) return false;
    ::inotify_rm_watch(queue_.get(), entry.first);
    return true;
  });
}

}  // namespace ws::sync

#include "sync-engine/binding/tree_lock.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ws::sync {
namespace {

constexpr std::chrono::milliseconds poll_interval{50};
constexpr int max_removed = 10;
constexpr const char* lock_name = ".ws/lock";

/// Field 22 of /proc/PID/stat: two processes with one number are told apart by it.
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

std::string holder_of(int file) {
  std::array<char, 64> buffer{};
  const ssize_t count = ::pread(file, buffer.data(), buffer.size(), 0);
  std::string text(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  return text.substr(0, text.find(' '));
}

/// Whether the path still names this file: a lock on a removed file excludes nobody.
bool is_file_at(int file, const RootFolder& root) {
  struct stat mine {};
  struct stat there {};
  const Descriptor now = root.open_beneath(lock_name, O_PATH | O_NOFOLLOW);
  return now && ::fstat(file, &mine) == 0 && ::fstat(now.get(), &there) == 0 && mine.st_ino == there.st_ino &&
         mine.st_dev == there.st_dev;
}

/// The file is truncated and written in place, so a hard link to it would lose its text.
Result<void> check_lock_file(int file, const std::string& path) {
  struct stat found {};
  if (::fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_nlink <= 1) return {};
  return fail(Failure::Kind::disk, path + " is not a lock file of ws", "remove it");
}

}  // namespace

Result<TreeLock> TreeLock::take(const RootFolder& root, std::chrono::milliseconds wait) {
  const std::string path = (root.path() / lock_name).string();
  Descriptor file;
  // Bounded: some file systems report another inode number with each call.
  for (int removed = 0; true;) {
    if (!file) {
      file = root.open_beneath(lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0666);
      if (!file) return disk_failure("open", path);
      WS_TRY(check_lock_file(file.get(), path));
    }
    if (lock_file(file.get(), WaitForLock::no)) {
      if (is_file_at(file.get(), root) || ++removed == max_removed) break;
      file = Descriptor();
      continue;
    }
    if (errno != EWOULDBLOCK) return disk_failure("lock", path);
    if (wait <= std::chrono::milliseconds(0)) {
      Failure failure{
          .kind = Failure::Kind::disk,
          .what = fmt::format("another ws (process {}) is running in {}", holder_of(file.get()), root.path().string()),
          .hint = "wait for it, or give --wait-lock SECONDS"};
      failure.code = "tree_locked";
      failure.call.retryable = true;
      return fail(std::move(failure));
    }
    std::this_thread::sleep_for(std::min(wait, poll_interval));
    wait -= poll_interval;
  }
  const std::string text = fmt::format("{} {}\n", ::getpid(), start_time_of_self());
  if (::ftruncate(file.get(), 0) != 0 || ::pwrite(file.get(), text.data(), text.size(), 0) < 0) {
    return disk_failure("write", path);
  }
  return TreeLock(std::move(file));
}

}  // namespace ws::sync

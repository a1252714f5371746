#include "sync-engine/tree_lock.hpp"

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
constexpr int most_removed = 10;

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

/// Whether the file at the path is this one: a lock on one that was removed meanwhile keeps nobody out.
bool is_file_at(int file, const std::filesystem::path& path) {
  struct stat mine {};
  struct stat there {};
  return ::fstat(file, &mine) == 0 && ::lstat(path.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
         mine.st_dev == there.st_dev;
}

}  // namespace

Result<TreeLock> TreeLock::take(const std::filesystem::path& root, std::chrono::milliseconds wait) {
  const std::filesystem::path path = root / ".ws" / "lock";
  Descriptor file;
  // A file system that numbers its files anew with each look would have us here for ever.
  for (int removed = 0; true;) {
    if (!file) file = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!file) return disk_failure("open", path.string());
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
      if (is_file_at(file.get(), path) || ++removed == most_removed) break;
      file = Descriptor();
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return disk_failure("lock", path.string());
    if (wait <= std::chrono::milliseconds(0)) {
      Failure failure{
          .kind = Failure::Kind::disk,
          .what = fmt::format("another ws (process {}) is at work in {}", holder_of(file.get()), root.string()),
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
    return disk_failure("write", path.string());
  }
  return TreeLock(std::move(file));
}

}  // namespace ws::sync

#include "sync-engine/disk/unnamed_file.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

namespace ws::sync {
namespace {

/// Half of the descriptors that the process may open, after raising its limit (RLIMIT_NOFILE).
std::size_t max_unnamed_files() {
  constexpr rlim_t max_wanted = 65'536;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t wanted = std::min(limit.rlim_max, max_wanted);
  if (limit.rlim_cur < wanted) {
    const rlimit raised{.rlim_cur = wanted, .rlim_max = limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit.rlim_cur = wanted;
  }
  return static_cast<std::size_t>(std::min(limit.rlim_cur, wanted) / 2);
}

/// In the whole process, like the limit.
std::atomic<std::size_t> open_unnamed_files = 0;

}  // namespace

UnnamedFile::~UnnamedFile() {
  if (file_) --open_unnamed_files;
}

UnnamedFile UnnamedFile::make(int folder) {
  static const std::size_t most = max_unnamed_files();
  if (open_unnamed_files >= most) return {};
  Descriptor file(::openat(folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666));
  if (!file) return {};
  ++open_unnamed_files;
  return UnnamedFile(std::move(file));
}

int UnnamedFile::link(int folder, const char* to) const {
  if (::linkat(file_.get(), "", folder, to, AT_EMPTY_PATH) == 0) return 0;
  // Kernels before 6.10 require a capability for that (ENOENT), but not through /proc: open(2), O_TMPFILE.
  if (errno != ENOENT) return -1;
  const std::string through = fmt::format("/proc/self/fd/{}", file_.get());
  return ::linkat(AT_FDCWD, through.c_str(), folder, to, AT_SYMLINK_FOLLOW);
}

}  // namespace ws::sync

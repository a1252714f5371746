// Part of ws and ws-mock where WS_COVERAGE counts which of their lines run. libgcov adds a process's counts to files
// that all share; killed in the middle of it, the process would spoil them. So a child in a session of its own does it.
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

extern "C" void __gcov_dump();

namespace {

/// Not where a test counts or fails system calls, or forbids long files.
bool may_write() {
  rlimit longest_file{};
  ::getrlimit(RLIMIT_FSIZE, &longest_file);
  return longest_file.rlim_cur == RLIM_INFINITY && std::getenv("LD_PRELOAD") == nullptr;
}

void on_end(int status, void* /*unused*/) {
  std::fflush(nullptr);
  if (may_write() && ::fork() == 0) {
    ::setsid();
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, stream);
    ::close_range(STDERR_FILENO + 1, ~0U, 0);
    __gcov_dump();
  }
  ::_exit(status);  // without the counts that libgcov writes when a process ends
}

/// The first that is registered is called last.
[[gnu::constructor(101)]] void register_it() { ::on_exit(on_end, nullptr); }

}  // namespace

/// Waits for a program that is stopped by the shim.
#pragma once

#include <sys/types.h>
#include <sys/wait.h>

namespace ws::test {

/// Waits until it is stopped; returns false if it has exited (its status can still be read by `Running::wait`).
inline bool is_stopped(pid_t pid) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED | WEXITED | WNOWAIT) != 0) return false;
  if (info.si_code != CLD_STOPPED) return false;
  ::waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED);
  return true;
}

}  // namespace ws::test

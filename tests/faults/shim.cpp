// Intercepts the calls of a program that change files below one folder: counts and logs them, and at a chosen call
// kills or stops the program or returns an error. Loaded by LD_PRELOAD.
//
// A seccomp filter (SECCOMP_RET_TRAP) passes the calls to a signal handler in this library, wherever they come from:
// the program, SQLite, libgit2, the C library's stdio, or `syscall` (the only way to call openat2).
//
//   WS_FAULT_ROOT   only paths beneath this folder count
//   WS_FAULT_LOG    a line a call: "NUMBER NAME PATH"; the first line is "ready"
//   WS_FAULT_READS  not empty: opening for reading counts as well
//   WS_FAULT_POINT  the number, from 1, of the call at which WS_FAULT_MODE happens:
//     kill-before, kill-after   SIGKILL
//     stop-before               SIGSTOP; the test goes on with SIGCONT
//     stop-flushes              the same before and after each fsync, fdatasync and syncfs (no number needed)
//     fail:ERRNO                the call fails once and does nothing
//     fail-from:ERRNO           so does every later one that makes something (a disk that is full)
//     short                     a write takes half of its bytes
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)

// The only instruction from which the filter allows calls. It moves the arguments from the C calling convention to the
// kernel's.
asm(R"(
  .text
  .p2align 12
  .globl ws_shim_call
  .hidden ws_shim_call
ws_shim_call:
  movq %rdi, %rax
  movq %rsi, %rdi
  movq %rdx, %rsi
  movq %rcx, %rdx
  movq %r8, %r10
  movq %r9, %r8
  movq 8(%rsp), %r9
  syscall
  ret
  .globl ws_shim_call_end
  .hidden ws_shim_call_end
ws_shim_call_end:
  nop
)");
extern "C" long ws_shim_call(long number, long a, long b, long c, long d, long e, long f);
extern "C" const char ws_shim_call_end;

namespace {

using Arguments = std::array<long, 6>;
using Path = std::array<char, 8192>;

long raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  return ws_shim_call(number, a, b, c, d, e, f);
}
long address(const void* pointer) { return reinterpret_cast<long>(pointer); }

enum class Kind { open, write, flush, make, change };

/// The positions of a call's paths among its arguments: a descriptor, or a folder's descriptor and a name. -1: none.
struct Trapped {
  long number = 0;
  const char* name = "";
  Kind kind = Kind::change;
  int descriptor = -1;
  int folder = -1;
  int path = -1;
  int other_folder = -1;
  int other_path = -1;
};

constexpr std::array trapped = {
    Trapped{.number = SYS_open, .name = "open", .kind = Kind::open, .path = 0},
    Trapped{.number = SYS_creat, .name = "creat", .kind = Kind::open, .path = 0},
    Trapped{.number = SYS_openat, .name = "openat", .kind = Kind::open, .folder = 0, .path = 1},
    Trapped{.number = SYS_openat2, .name = "openat2", .kind = Kind::open, .folder = 0, .path = 1},
    Trapped{.number = SYS_write, .name = "write", .kind = Kind::write, .descriptor = 0},
    Trapped{.number = SYS_pwrite64, .name = "pwrite", .kind = Kind::write, .descriptor = 0},
    Trapped{.number = SYS_writev, .name = "writev", .kind = Kind::write, .descriptor = 0},
    Trapped{.number = SYS_pwritev, .name = "pwritev", .kind = Kind::write, .descriptor = 0},
    Trapped{.number = SYS_pwritev2, .name = "pwritev2", .kind = Kind::write, .descriptor = 0},
    Trapped{.number = SYS_sendfile, .name = "sendfile", .kind = Kind::make, .descriptor = 0},
    Trapped{.number = SYS_copy_file_range, .name = "copy_file_range", .kind = Kind::make, .descriptor = 2},
    Trapped{.number = SYS_fallocate, .name = "fallocate", .kind = Kind::make, .descriptor = 0},
    Trapped{.number = SYS_fsync, .name = "fsync", .kind = Kind::flush, .descriptor = 0},
    Trapped{.number = SYS_fdatasync, .name = "fdatasync", .kind = Kind::flush, .descriptor = 0},
    Trapped{.number = SYS_syncfs, .name = "syncfs", .kind = Kind::flush, .descriptor = 0},
    Trapped{.number = SYS_rename, .name = "rename", .path = 0, .other_path = 1},
    Trapped{.number = SYS_renameat, .name = "renameat", .folder = 0, .path = 1, .other_folder = 2, .other_path = 3},
    Trapped{.number = SYS_renameat2, .name = "renameat2", .folder = 0, .path = 1, .other_folder = 2, .other_path = 3},
    Trapped{.number = SYS_unlink, .name = "unlink", .path = 0},
    Trapped{.number = SYS_unlinkat, .name = "unlinkat", .folder = 0, .path = 1},
    Trapped{.number = SYS_rmdir, .name = "rmdir", .path = 0},
    Trapped{.number = SYS_mkdir, .name = "mkdir", .kind = Kind::make, .path = 0},
    Trapped{.number = SYS_mkdirat, .name = "mkdirat", .kind = Kind::make, .folder = 0, .path = 1},
    Trapped{.number = SYS_link, .name = "link", .kind = Kind::make, .path = 0, .other_path = 1},
    Trapped{.number = SYS_linkat,
            .name = "linkat",
            .kind = Kind::make,
            .folder = 0,
            .path = 1,
            .other_folder = 2,
            .other_path = 3},
    Trapped{.number = SYS_symlink, .name = "symlink", .kind = Kind::make, .path = 1},
    Trapped{.number = SYS_symlinkat, .name = "symlinkat", .kind = Kind::make, .folder = 1, .path = 2},
    Trapped{.number = SYS_truncate, .name = "truncate", .path = 0},
    Trapped{.number = SYS_ftruncate, .name = "ftruncate", .descriptor = 0},
    Trapped{.number = SYS_chmod, .name = "chmod", .path = 0},
    Trapped{.number = SYS_fchmod, .name = "fchmod", .descriptor = 0},
    Trapped{.number = SYS_fchmodat, .name = "fchmodat", .folder = 0, .path = 1},
    Trapped{.number = SYS_chown, .name = "chown", .path = 0},
    Trapped{.number = SYS_fchown, .name = "fchown", .descriptor = 0},
    Trapped{.number = SYS_fchownat, .name = "fchownat", .folder = 0, .path = 1},
    Trapped{.number = SYS_utime, .name = "utime", .path = 0},
    Trapped{.number = SYS_utimes, .name = "utimes", .path = 0},
    Trapped{.number = SYS_utimensat, .name = "utimensat", .folder = 0, .path = 1},
    Trapped{.number = SYS_setxattr, .name = "setxattr", .path = 0},
    Trapped{.number = SYS_fsetxattr, .name = "fsetxattr", .descriptor = 0},
};

enum class Mode { none, kill_before, kill_after, stop_before, stop_flushes, fail_once, fail_from, short_write };

struct Settings {
  std::string_view root = {};
  int log = -1;
  bool reads = false;
  long point = 0;
  Mode mode = Mode::none;
  int error = 0;
};
Settings settings;
std::atomic<long> count{0};

void append(Path& path, std::size_t& length, const char* text) {
  while (*text != '\0' && length + 1 < path.size()) path[length++] = *text++;
  path[length] = '\0';
}

/// The path of a descriptor; AT_FDCWD: the working directory. Returns its length, 0 if it has no path.
std::size_t name_of(long descriptor, Path& path) {
  std::array<char, 64> link{};
  if (descriptor == AT_FDCWD) {
    std::snprintf(link.data(), link.size(), "/proc/self/cwd");
  } else {
    std::snprintf(link.data(), link.size(), "/proc/self/fd/%ld", descriptor);
  }
  const long length = raw(SYS_readlink, address(link.data()), address(path.data()), static_cast<long>(path.size()) - 1);
  if (length <= 0) return 0;
  path[static_cast<std::size_t>(length)] = '\0';
  return static_cast<std::size_t>(length);
}

/// Resolves a path through a descriptor ("/proc/self/fd/3/lock"), which libraries that open by path are given.
long descriptor_in(const char*& name) {
  constexpr std::string_view through = "/proc/self/fd/";
  if (std::strncmp(name, through.data(), through.size()) != 0) return -1;
  const char* at = name + through.size();
  long descriptor = 0;
  for (; *at >= '0' && *at <= '9'; ++at) descriptor = descriptor * 10 + (*at - '0');
  if (*at != '/') return -1;
  name = at + 1;
  return descriptor;
}

/// The path as the call names it; links and dots are not resolved.
void path_of(const Arguments& arguments, int folder, int place, Path& path) {
  const char* name = reinterpret_cast<const char*>(arguments[static_cast<std::size_t>(place)]);
  std::size_t length = 0;
  path[0] = '\0';
  if (name == nullptr) name = "";
  if (const long through = descriptor_in(name); through >= 0) {
    length = name_of(through, path);
    append(path, length, "/");
  } else if (name[0] != '/') {
    length = name_of(folder < 0 ? AT_FDCWD : static_cast<int>(arguments[static_cast<std::size_t>(folder)]), path);
    if (name[0] != '\0') append(path, length, "/");
  }
  append(path, length, name);
}

bool is_beneath(const Path& path) {
  const std::string_view text(path.data());
  return text.starts_with(settings.root) && (text.size() == settings.root.size() || text[settings.root.size()] == '/');
}

bool counts(const Trapped& call, const Arguments& arguments) {
  if (call.kind != Kind::open || settings.reads || call.number == SYS_creat) return true;
  long flags = arguments[static_cast<std::size_t>(call.path) + 1];
  if (call.number == SYS_openat2) flags = static_cast<long>(reinterpret_cast<const open_how*>(arguments[2])->flags);
  return (flags & (O_CREAT | O_TRUNC)) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

void log_line(const char* text, std::size_t length) {
  raw(SYS_write, settings.log, address(text), static_cast<long>(length));
}

void note(long number, const Trapped& call, const Path& path, const Path& other) {
  std::array<char, 20000> line{};
  const int length = std::snprintf(line.data(),
                                   line.size(),
                                   other[0] == '\0' ? "%ld %s %s\n" : "%ld %s %s -> %s\n",
                                   number,
                                   call.name,
                                   path.data(),
                                   other.data());
  log_line(line.data(), static_cast<std::size_t>(length));
}

void signal_self(int signal) { raw(SYS_kill, raw(SYS_getpid), signal); }

bool takes_room(const Trapped& call, const Arguments& arguments) {
  if (call.kind == Kind::open) return counts(call, arguments);
  return call.kind == Kind::write || call.kind == Kind::make || call.kind == Kind::flush;
}

/// Performs a write with half of the bytes; a write of one byte is done in full.
long write_short(const Trapped& call, const Arguments& a) {
  if (call.number == SYS_write || call.number == SYS_pwrite64) {
    return raw(call.number, a[0], a[1], std::max(a[2] / 2, 1L), a[3], a[4], a[5]);
  }
  const auto* parts = reinterpret_cast<const iovec*>(a[1]);
  const iovec half{.iov_base = parts->iov_base, .iov_len = std::max<std::size_t>(parts->iov_len / 2, 1)};
  return raw(call.number, a[0], address(&half), 1, a[3], a[4], a[5]);
}

long carry_out(const Trapped& call, const Arguments& a, bool here, long number) {
  const bool fails =
      (here && settings.mode == Mode::fail_once) ||
      (settings.mode == Mode::fail_from && settings.point != 0 && number >= settings.point && takes_room(call, a));
  if (fails) return -settings.error;
  if (here && settings.mode == Mode::kill_before) signal_self(SIGKILL);
  if (here && settings.mode == Mode::stop_before) signal_self(SIGSTOP);
  const bool stops = call.kind == Kind::flush && settings.mode == Mode::stop_flushes;
  if (stops) signal_self(SIGSTOP);
  const bool cut = here && settings.mode == Mode::short_write && call.kind == Kind::write;
  const long result = cut ? write_short(call, a) : raw(call.number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (stops) signal_self(SIGSTOP);
  if (here && settings.mode == Mode::kill_after) signal_self(SIGKILL);
  return result;
}

long act(long number, const Arguments& arguments) {
  const auto* const call =
      std::find_if(trapped.begin(), trapped.end(), [number](const Trapped& each) { return each.number == number; });
  const auto plain = [&] {
    return raw(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
  };
  if (call == trapped.end() || !counts(*call, arguments)) return plain();
  Path path{};
  Path other{};
  if (call->descriptor >= 0) {
    name_of(static_cast<int>(arguments[static_cast<std::size_t>(call->descriptor)]), path);
  } else {
    path_of(arguments, call->folder, call->path, path);
  }
  if (call->other_path >= 0) path_of(arguments, call->other_folder, call->other_path, other);
  if (!is_beneath(path) && !is_beneath(other)) return plain();
  const long place = ++count;
  note(place, *call, path, other);
  return carry_out(*call, arguments, place == settings.point, place);
}

void on_trap(int, siginfo_t* info, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const Arguments arguments = {registers[REG_RDI],
                               registers[REG_RSI],
                               registers[REG_RDX],
                               registers[REG_R10],
                               registers[REG_R8],
                               registers[REG_R9]};
  registers[REG_RAX] = act(info->si_syscall, arguments);
}

constexpr sock_filter statement(unsigned code, std::uint32_t value) {
  return {.code = static_cast<std::uint16_t>(code), .jt = 0, .jf = 0, .k = value};
}
constexpr sock_filter jump(unsigned code, std::uint32_t value, std::size_t yes, std::size_t no) {
  return {.code = static_cast<std::uint16_t>(BPF_JMP | code | BPF_K),
          .jt = static_cast<std::uint8_t>(yes),
          .jf = static_cast<std::uint8_t>(no),
          .k = value};
}
constexpr sock_filter load(std::size_t offset) {
  return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

/// Allows our own calls and traps those in the table.
bool install_filter() {
  const auto first = reinterpret_cast<std::uint64_t>(&ws_shim_call);
  const auto last = reinterpret_cast<std::uint64_t>(&ws_shim_call_end);
  const auto low = static_cast<std::uint32_t>(first);
  const auto low_end = static_cast<std::uint32_t>(last);
  constexpr std::size_t size = trapped.size();
  std::array<sock_filter, 9 + size + 1> program{};
  std::size_t at = 0;
  program[at++] = load(offsetof(seccomp_data, arch));
  program[at++] = jump(BPF_JEQ, AUDIT_ARCH_X86_64, 0, 6 + size);  // any other architecture: allow
  program[at++] = load(offsetof(seccomp_data, instruction_pointer) + 4);
  program[at++] = jump(BPF_JEQ, static_cast<std::uint32_t>(first >> 32U), 0, 3);
  program[at++] = load(offsetof(seccomp_data, instruction_pointer));
  program[at++] = jump(BPF_JGE, low, 0, 1);
  program[at++] = jump(BPF_JGT, low_end, 0, 1 + size);  // within our code: allow
  program[at++] = load(offsetof(seccomp_data, nr));
  for (std::size_t i = 0; i < size; ++i) {
    program[at++] = jump(BPF_JEQ, static_cast<std::uint32_t>(trapped[i].number), size - i, 0);
  }
  program[at++] = statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  program[at++] = statement(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  const sock_fprog whole{.len = static_cast<unsigned short>(at), .filter = program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole, 0, 0) == 0;
}

void read_mode(std::string_view mode) {
  const auto error = [&] { return std::atoi(mode.substr(mode.find(':') + 1).data()); };
  if (mode == "kill-before") settings.mode = Mode::kill_before;
  if (mode == "kill-after") settings.mode = Mode::kill_after;
  if (mode == "stop-before") settings.mode = Mode::stop_before;
  if (mode == "stop-flushes") settings.mode = Mode::stop_flushes;
  if (mode == "short") settings.mode = Mode::short_write;
  if (mode.starts_with("fail:")) settings.mode = Mode::fail_once;
  if (mode.starts_with("fail-from:")) settings.mode = Mode::fail_from;
  if (mode.starts_with("fail")) settings.error = error();
}

__attribute__((constructor)) void start() {
  const char* root = std::getenv("WS_FAULT_ROOT");
  const char* log = std::getenv("WS_FAULT_LOG");
  if (root == nullptr || log == nullptr) return;
  settings.root = root;
  settings.log = ::open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const char* reads = std::getenv("WS_FAULT_READS");
  settings.reads = reads != nullptr && *reads != '\0';
  if (const char* point = std::getenv("WS_FAULT_POINT")) settings.point = std::atol(point);
  if (const char* mode = std::getenv("WS_FAULT_MODE")) read_mode(mode);
  struct sigaction action {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  ::sigaction(SIGSYS, &action, nullptr);
  if (settings.log < 0 || !install_filter()) return;
  log_line("ready\n", 6);
}

}  // namespace

#endif

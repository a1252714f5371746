#include "tests/property/kill_at_step.hpp"

#include <atomic>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api-client/base/descriptor.hpp"

namespace ws::property {
namespace {

/// 0: calls are not counted.
std::atomic<std::uint64_t> steps_left{0};
/// A file is put in its place by `renameat2`. 0: these are not counted.
std::atomic<std::uint64_t> places_left{0};
/// Called at the last step. Empty: SIGKILL.
std::function<void()> at_last_step;

void take_step() {
  std::uint64_t left = steps_left.load();
  if (left == 0) return;
  while (!steps_left.compare_exchange_weak(left, left - 1)) {
  }
  if (left != 1) return;
  if (!at_last_step) ::kill(::getpid(), SIGKILL);
  at_last_step();
}

/// The step after the last of these is the last one.
void count_place() {
  std::uint64_t left = places_left.load();
  while (left != 0 && !places_left.compare_exchange_weak(left, left - 1)) {
  }
  if (left == 1) steps_left = 1;
}

/// The C library's function of that name.
template <class Function>
Function* original(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace ws::property

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): names of the C library
#define WS_COUNTED(type, name, parameters, arguments)                         \
  extern "C" type name parameters {                                           \
    static auto* const real = ws::property::original<type parameters>(#name); \
    ws::property::take_step();                                                \
    return real arguments;                                                    \
  }

WS_COUNTED(ssize_t, write, (int fd, const void* data, size_t size), (fd, data, size))
WS_COUNTED(ssize_t, pwrite, (int fd, const void* data, size_t size, off_t at), (fd, data, size, at))
WS_COUNTED(ssize_t, pwrite64, (int fd, const void* data, size_t size, off64_t at), (fd, data, size, at))
WS_COUNTED(int, ftruncate, (int fd, off_t size), (fd, size))
WS_COUNTED(int, ftruncate64, (int fd, off64_t size), (fd, size))
WS_COUNTED(int, fsync, (int fd), (fd))
WS_COUNTED(int, fdatasync, (int fd), (fd))
WS_COUNTED(int, syncfs, (int fd), (fd))
WS_COUNTED(int, rename, (const char* from, const char* to), (from, to))
WS_COUNTED(int, renameat, (int a, const char* from, int b, const char* to), (a, from, b, to))
WS_COUNTED(int, linkat, (int a, const char* from, int b, const char* to, int how), (a, from, b, to, how))
WS_COUNTED(int, unlink, (const char* path), (path))
WS_COUNTED(int, unlinkat, (int folder, const char* path, int how), (folder, path, how))
WS_COUNTED(int, mkdir, (const char* path, mode_t mode), (path, mode))
WS_COUNTED(int, mkdirat, (int folder, const char* path, mode_t mode), (folder, path, mode))
WS_COUNTED(int, rmdir, (const char* path), (path))
WS_COUNTED(int, fchmodat, (int folder, const char* path, mode_t mode, int how), (folder, path, mode, how))
#undef WS_COUNTED
extern "C" int renameat2(int a, const char* from, int b, const char* to, unsigned how) {
  static auto* const real = ws::property::original<decltype(renameat2)>("renameat2");
  ws::property::take_step();
  const int result = real(a, from, b, to, how);
  ws::property::count_place();
  return result;
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace ws::property {
namespace {

/// A pair of sockets that is closed on the other side when the child or the test ends, so that neither waits forever.
class Line {
 public:
  explicit Line(int socket) : socket_(socket) {}
  ~Line() { ::close(socket_); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void say(const std::string& text) {
    const std::uint64_t size = text.size();
    send_all(reinterpret_cast<const char*>(&size), sizeof size);
    send_all(text.data(), text.size());
  }
  bool hear(std::string& text) {
    std::uint64_t size = 0;
    if (!receive_all(reinterpret_cast<char*>(&size), sizeof size)) return false;
    text.resize(size);
    return receive_all(text.data(), text.size());
  }

 private:
  void send_all(const char* data, std::size_t size) {
    while (size > 0) {
      const ssize_t count = retry_eintr([&] { return ::send(socket_, data, size, MSG_NOSIGNAL); });
      if (count <= 0) return;
      data += count;
      size -= static_cast<std::size_t>(count);
    }
  }
  bool receive_all(char* data, std::size_t size) {
    while (size > 0) {
      const ssize_t count = retry_eintr([&] { return ::recv(socket_, data, size, 0); });
      if (count <= 0) return false;
      data += count;
      size -= static_cast<std::size_t>(count);
    }
    return true;
  }

  int socket_;
};

void say_headers(Line& line, const http::Headers& headers) {
  line.say(std::to_string(headers.size()));
  for (const auto& [name, value] : headers) {
    line.say(name);
    line.say(value);
  }
}

bool hear_headers(Line& line, http::Headers& headers) {
  std::string count;
  if (!line.hear(count)) return false;
  headers.resize(std::stoul(count));
  for (auto& [name, value] : headers) {
    if (!line.hear(name) || !line.hear(value)) return false;
  }
  return true;
}

http::Response ask_parent(Line& line, const http::Request& request) {
  take_step();
  line.say(request.method);
  line.say(request.url);
  say_headers(line, request.headers);
  line.say(request.body);
  http::Response response;
  std::string status;
  if (!line.hear(status) || !hear_headers(line, response.headers) || !line.hear(response.body)) ::_exit(3);
  response.status = std::stoi(status);
  take_step();
  return response;
}

/// Sent instead of a method name: the child waits to be told how to continue.
constexpr const char* halted = "halted";

void halt(Line& line) {
  line.say(halted);
  std::string word;
  if (!line.hear(word)) ::_exit(3);
  if (word == "die") ::kill(::getpid(), SIGKILL);
}

bool serve_child(Line& line, const Ask& service, const std::function<Then()>& meanwhile) {
  http::Request request;
  if (!line.hear(request.method)) return false;
  if (request.method == halted) {
    line.say(meanwhile() == Then::dies ? "die" : "go on");
    return true;
  }
  if (!line.hear(request.url)) return false;
  if (!hear_headers(line, request.headers) || !line.hear(request.body)) return false;
  const http::Response response = service(request);
  line.say(std::to_string(response.status));
  say_headers(line, response.headers);
  line.say(response.body);
  return true;
}

ChildEnd run_in_child(const Moment& moment,
                      const Ask& service,
                      const std::function<void(Ask ask)>& work,
                      const std::function<Then()>& meanwhile) {
  int ends[2] = {};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) std::abort();
  if (child == 0) {
    ::close(ends[0]);
    Line line(ends[1]);
    if (meanwhile) at_last_step = [&line] { halt(line); };
    (moment.after_places ? places_left : steps_left) = moment.count;
    work([&line](const http::Request& request) { return ask_parent(line, request); });
    steps_left = 0;
    places_left = 0;
    ::_exit(0);
  }
  ::close(ends[1]);
  Line line(ends[0]);
  while (serve_child(line, service, meanwhile)) {
  }
  int status = 0;
  retry_eintr([&] { return ::waitpid(child, &status, 0); });
  return WIFSIGNALED(status) ? ChildEnd::killed : ChildEnd::finished;
}

}  // namespace

ChildEnd run_and_kill(const Moment& moment, const Ask& service, const std::function<void(Ask ask)>& work) {
  return run_in_child(moment, service, work, {});
}

ChildEnd run_and_halt(std::uint64_t step,
                      const Ask& service,
                      const std::function<void(Ask ask)>& work,
                      const std::function<Then()>& meanwhile) {
  return run_in_child({.count = step}, service, work, meanwhile);
}

}  // namespace ws::property

#include "server-mock/application/serve.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/process.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/user_environment.hpp"
#include "server-mock/application/stop_on_signal.hpp"
#include "server-mock/output/print.hpp"

namespace ws::mock {
namespace {

constexpr time_t patience_seconds = 3;

/// The arguments of connect(2).
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;
};

Result<SocketAddress> socket_address(const http::Address& address) {
  SocketAddress result;
  if (!address.unix_path.empty()) {
    sockaddr_un local = {};
    local.sun_family = AF_UNIX;
    if (address.unix_path.size() >= sizeof local.sun_path)
      return fail(Failure::Kind::usage, "the socket's path is too long");
    std::memcpy(local.sun_path, address.unix_path.data(), address.unix_path.size());
    std::memcpy(&result.storage, &local, sizeof local);
    result.size = sizeof local;
    return result;
  }
  std::string host = address.host;
  if (host == "0.0.0.0" || host == "localhost") host = "127.0.0.1";
  if (host == "::") host = "::1";
  sockaddr_in four = {};
  sockaddr_in6 six = {};
  if (::inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(address.port);
    std::memcpy(&result.storage, &four, sizeof four);
    result.size = sizeof four;
  } else if (::inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(address.port);
    std::memcpy(&result.storage, &six, sizeof six);
    result.size = sizeof six;
  } else {
    return fail(Failure::Kind::usage, fmt::format("{} is not an IP address", host));
  }
  return result;
}

// The command of `ws-mock exec`: signals are forwarded to it, and the server stops when it ends.

sigset_t handled_signals() {
  sigset_t all;
  ::sigemptyset(&all);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD}) ::sigaddset(&all, signal);
  return all;
}

/// As process 1 of a container, this program is the parent of every process there that has lost its own.
void reap_others(pid_t own) {
  while (true) {
    siginfo_t ended{};
    const int found = retry_eintr([&] { return ::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT); });
    if (found != 0 || ended.si_pid == 0 || ended.si_pid == own) return;
    ::waitpid(ended.si_pid, nullptr, WNOHANG);
  }
}

/// HUP, INT, QUIT, TERM, USR1, USR2 and CHLD are blocked in this thread, and in threads that it starts, during the
/// object's lifetime; a separate thread receives them. Only one object may exist at a time.
class ChildProcess {
 public:
  /// `server` must outlive it.
  explicit ChildProcess(http::Server& server) : server_(server) {
    const sigset_t handled = handled_signals();
    ::pthread_sigmask(SIG_BLOCK, &handled, &before_);
  }

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  ~ChildProcess() {
    if (waiter_.joinable()) waiter_.join();
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  /// Fails as `Process::start`.
  Result<void> start(const std::vector<std::string>& command, const ProcessOptions& options) {
    WS_LET(process_, Process::start(command, options));
    waiter_ = std::thread([this] { forward_signals(); });
    return {};
  }

  /// Waits for the command; if the server stops first, sends it SIGTERM. Returns its exit code.
  int wait() {
    if (!has_ended_) process_->signal(SIGTERM);
    waiter_.join();
    return exit_;
  }

 private:
  void forward_signals() {
    const sigset_t handled = handled_signals();
    while (true) {
      reap_others(process_->pid());
      if (const std::optional<int> exit = process_->poll()) {
        exit_ = *exit;
        has_ended_ = true;
        server_.stop();
        return;
      }
      siginfo_t info{};
      const int signal = ::sigwaitinfo(&handled, &info);
      if (signal <= 0 || signal == SIGCHLD) continue;
      // The terminal sends Ctrl-C to the whole foreground process group, so the command has already received it.
      if (info.si_code == SI_KERNEL) continue;
      process_->signal(signal);
    }
  }

  http::Server& server_;
  sigset_t before_{};
  std::optional<Process> process_ = {};
  std::thread waiter_ = {};
  std::atomic<bool> has_ended_ = false;
  int exit_ = 0;
};

/// The ready file: exists while the server is ready.
class ReadyFile {
 public:
  ReadyFile() = default;
  ReadyFile(const ReadyFile&) = delete;
  ReadyFile& operator=(const ReadyFile&) = delete;
  ~ReadyFile() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove(path_, ignored);
  }

  /// Written by rename, so that no reader sees a part of it, and with mode 0600, since it holds keys. Not synced to
  /// disk: it has no use after this process has ended. Into a stream it is written, and stays.
  Result<void> write(const std::string& path, const std::string& text) {
    if (is_stream(path)) return write_named_file(path, text);
    const std::string temporary = fmt::format("{}.{}", path, ::getpid());
    const auto failed = [&] {
      return fail(Failure::Kind::disk,
                  fmt::format("cannot write the ready file {}: {}", path, std::generic_category().message(errno)));
    };
    ::unlink(temporary.c_str());  // left by a killed process with the same pid
    const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0) return failed();
    const ssize_t written = ::write(file, text.data(), text.size());
    ::close(file);
    if (written != static_cast<ssize_t>(text.size()) || std::rename(temporary.c_str(), path.c_str()) != 0) {
      auto failure = failed();
      ::unlink(temporary.c_str());
      return failure;
    }
    path_ = path;
    return {};
  }

 private:
  std::string path_ = {};
};

std::string ready_text(const http::Server& server,
                       const Application& application,
                       const ServeSettings& settings,
                       const std::string& ca_file) {
  const ControlOptions& control = settings.application.control;
  const std::string base_url = server.base_url();
  const std::string& token = application.sandbox().built_in.token;
  const std::string& unix_path = settings.server.listen.unix_path;
  const Json ready = {{"base_url", base_url},
                      {"port", unix_path.empty() ? Json(server.port()) : Json(nullptr)},
                      {"unix", unix_path.empty() ? Json(nullptr) : Json(std::filesystem::absolute(unix_path).string())},
                      {"pid", ::getpid()},
                      {"token", text_or_null(token)},
                      {"control_url", control.is_on ? Json(base_url + "/_mock") : Json(nullptr)},
                      {"control_token", text_or_null(control.token)},
                      {"ca_file", text_or_null(ca_file)}};
  return dump(ready, 2) + "\n";
}

/// For a person who has started the server by hand and does not know it.
std::string help_on_terminal(const std::string& base_url, const ServeSettings& settings) {
  std::string help = fmt::format("  page       {}/\n", base_url);
  if (settings.application.control.is_on) help += fmt::format("  inspector  {}/_mock\n", base_url);
  help += fmt::format("  log in     {}\n", ShellCommand{"ws", "login", "--base-url=", base_url}.text());
  if (settings.application.sandbox.data == ":memory:")
    return help + "  Ctrl-C ends it and its world (--data FILE keeps it)";
  return help + "  Ctrl-C ends it";
}

/// The path of the CA file: beside the ready file, or a temporary file for a command. Empty: not needed.
Result<std::string> ca_path(const ServeSettings& settings) {
  const bool is_beside = !settings.ready_file.empty() && !is_stream(settings.ready_file);
  if (is_beside) return std::filesystem::absolute(settings.ready_file).string() + ".pem";
  if (settings.command.empty() && settings.ready_file.empty()) return std::string();
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) return fail(Failure::Kind::disk, "there is no folder for temporary files: " + error.message());
  return (folder / fmt::format("ws-mock-{}.pem", ::getpid())).string();
}

/// `ca_file`: the generated certificate; empty if the certificate was given.
int run_beside(const std::vector<std::string>& command,
               http::Server& server,
               const Application& application,
               const std::string& ca_file) {
  ProcessOptions process = {
      .environment = {{"WS_BASE_URL", server.base_url()}, {"WS_TOKEN", application.sandbox().built_in.token}},
      .without = user_environment};
  // `ws`, OpenSSL, Python and Go read the first variable, other tools the others.
  for (const char* name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"}) {
    if (!ca_file.empty()) process.environment.emplace_back(name, ca_file);
  }
  ChildProcess child(server);
  if (const auto started = child.start(command, process); !started) {
    tell(fmt::format("ws-mock: {}", started.error().what));
    return started.error().code == "program_not_found" ? not_found_exit : not_executable_exit;
  }
  server.run();
  return child.wait();
}

}  // namespace

Result<void> check_health(const http::Address& address, std::string_view scheme) {
  WS_LET(const SocketAddress target, socket_address(address));
  const auto silent = [&](std::string_view doing) {
    return fail(
        Failure::Kind::unreachable,
        fmt::format("{} does not answer: {}: {}", address.url(scheme, address.port), doing, std::strerror(errno)));
  };
  const Descriptor socket(::socket(target.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience = {.tv_sec = patience_seconds, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&target.storage), target.size) != 0)
    return silent("connect");
  const std::string request =
      fmt::format("GET /_mock/health HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n\r\n", address.port);
  constexpr std::string_view begin = "HTTP/1.1 ";
  std::string line(begin.size() + 3, '\0');  // up to the status code
  if (scheme == "https") {
    line = http::ask_over_tls(socket.get(), request, line.size());
    if (line.empty()) return silent("no answer over TLS");
  } else {
    if (!write_all(socket.get(), request)) return silent("send");
    for (std::size_t had = 0; had < line.size();) {
      const ssize_t got = read_some(socket.get(), line.data() + had, line.size() - had);
      if (got <= 0) return silent("receive");
      had += static_cast<std::size_t>(got);
    }
  }
  // 400 is what a port that speaks TLS answers to plain HTTP.
  const std::string_view status = line.starts_with(begin) ? std::string_view(line).substr(begin.size()) : "";
  if (status.size() == 3 && status.front() >= '1' && status.front() <= '4' && status != "400") return {};
  return fail(Failure::Kind::service,
              fmt::format("{} answers, but is not a mock server", address.url(scheme, address.port)));
}

Result<int> serve(const ServeSettings& settings) {
  WS_LET(const std::unique_ptr<Application> application, Application::open(settings.application));
  return serve(settings, *application);
}

Result<int> serve(const ServeSettings& settings, Application& application) {
  http::Handler* handler = &application;
  if (settings.handler) {
    WS_LET(handler, settings.handler(application));
  }
  WS_LET(const std::unique_ptr<http::Server> server, http::Server::listen(settings.server, *handler));
  std::optional<StopOnSignal> stop;
  if (settings.command.empty())
    stop.emplace(
        server_signals, [&server] { server->stop(); }, server_patience);
  application.set_base_url(server->base_url());
  application.on_shutdown([&server] { server->stop(); });
  if (application.sandbox().world->file.is_on_network()) {
    tell(fmt::format(
        "ws-mock: {} is on a network file system: another machine could use it at the same time, and both would "
        "damage it",
        settings.application.sandbox.data));
  }
  WS_LET(const std::int64_t lost, count_lost_blobs(*application.sandbox().world));
  if (lost > 0) {
    const std::string& data = settings.application.sandbox.data;
    tell(fmt::format(
        "ws-mock: {} {} in {} without bytes: {}.assets, which belongs beside it, is missing or not complete",
        lost,
        lost == 1 ? "file is" : "files are",
        data,
        data));
  }
  ReadyFile trusted;
  ReadyFile ready;
  std::string ca_file;
  if (settings.trust == TrustFile::written) {
    WS_LET(ca_file, ca_path(settings));
    if (!ca_file.empty()) WS_TRY(trusted.write(ca_file, settings.server.tls->certificate_pem));
  }
  if (!settings.ready_file.empty()) {
    WS_TRY(ready.write(settings.ready_file, ready_text(*server, application, settings, ca_file)));
  }
  if (settings.announce != AnnounceUrl::no) announce(server->base_url());
  const bool is_for_browsers = settings.server.listen.unix_path.empty();
  if (settings.announce == AnnounceUrl::with_help && is_for_browsers && ::isatty(STDOUT_FILENO) == 1) {
    announce(help_on_terminal(server->base_url(), settings));
  }
  if (!settings.command.empty()) {
    const int code = run_beside(settings.command, *server, application, ca_file);
    return settings.after_command ? settings.after_command(application, code) : Result<int>(code);
  }
  server->run();
  return 0;
}

}  // namespace ws::mock

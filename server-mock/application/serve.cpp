#include "server-mock/application/serve.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "server-mock/application/child_process.hpp"
#include "server-mock/application/stop_on_signal.hpp"

namespace ws::mock {
namespace {

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
  /// disk: it has no use after this process has ended.
  Result<void> write(const std::string& path, const std::string& text) {
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

/// The path of the CA file: beside the ready file, or a temporary file for a command. Empty: not needed.
Result<std::string> ca_path(const ServeSettings& settings) {
  if (!settings.ready_file.empty()) return std::filesystem::absolute(settings.ready_file).string() + ".pem";
  if (settings.command.empty()) return std::string();
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
  ::setenv("WS_BASE_URL", server.base_url().c_str(), 1);
  ::setenv("WS_TOKEN", application.sandbox().built_in.token.c_str(), 1);
  // `ws`, OpenSSL, Python and Go read the first variable, other tools the others.
  for (const char* name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"}) {
    if (!ca_file.empty()) ::setenv(name, ca_file.c_str(), 1);
  }
  ChildProcess child(server);
  if (const auto started = child.start(command); !started) {
    fmt::print(stderr, "ws-mock: {}\n", started.error().what);
    return started.error().code == "program_not_found" ? not_found_exit : not_executable_exit;
  }
  server.run();
  return child.wait();
}

}  // namespace

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
    fmt::print(stderr,
               "ws-mock: {} is on a network file system: another machine could use it at the same time, and both would "
               "damage it\n",
               settings.application.sandbox.data);
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
  if (settings.announce == AnnounceUrl::yes) {
    fmt::print("{}\n", server->base_url());
    std::fflush(stdout);
  }
  if (!settings.command.empty()) return run_beside(settings.command, *server, application, ca_file);
  server->run();
  return 0;
}

}  // namespace ws::mock

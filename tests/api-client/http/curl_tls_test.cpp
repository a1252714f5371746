// Certificates and proxies: whom the transport trusts and through whom it goes.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <catch2/catch.hpp>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api-client/http/curl.hpp"
#include "tests/support/hostile_server.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace ws;
using namespace ws::http;
using ws::test::answer;
using ws::test::HostileServer;
using ws::test::Seen;

namespace {

/// A program with its output in a pipe; killed at the end.
class Program {
 public:
  explicit Program(std::vector<std::string> words) {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::dup2(ends[1], STDERR_FILENO);
      ::close(ends[0]);
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      ::execvp(arguments[0], arguments.data());
      std::_Exit(127);
    }
    ::close(ends[1]);
    output_ = ::fdopen(ends[0], "r");
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (process_ > 0) ::kill(process_, SIGKILL);
    wait();
    std::fclose(output_);
  }
  /// The first line that starts with `prefix`, less the prefix; empty where there is none.
  std::string line_after(const std::string& prefix) {
    std::array<char, 512> line{};
    while (std::fgets(line.data(), static_cast<int>(line.size()), output_) != nullptr) {
      std::string text(line.data());
      while (!text.empty() && text.back() == '\n') text.pop_back();
      if (text.substr(0, prefix.size()) == prefix) return text.substr(prefix.size());
    }
    return {};
  }
  int wait() {
    int status = -1;
    if (process_ > 0) ::waitpid(process_, &status, 0);
    process_ = -1;
    return status;
  }

 private:
  pid_t process_ = -1;
  std::FILE* output_ = nullptr;
};

/// openssl's little server with a certificate of its own for `name`.
class TlsServer {
 public:
  explicit TlsServer(const std::string& name, const std::vector<std::string>& flags = {}) {
    const std::string key = (folder_ / "key.pem").string();
    const int made = Program({"openssl",
                              "req",
                              "-x509",
                              "-newkey",
                              "ec",
                              "-pkeyopt",
                              "ec_paramgen_curve:P-256",
                              "-nodes",
                              "-days",
                              "2",
                              "-subj",
                              "/CN=ws test",
                              "-addext",
                              "subjectAltName=" + name,
                              "-keyout",
                              key,
                              "-out",
                              certificate()})
                         .wait();
    REQUIRE(made == 0);
    std::vector<std::string> words = {
        "openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-cert", certificate(), "-key", key};
    words.insert(words.end(), flags.begin(), flags.end());
    server_ = std::make_unique<Program>(std::move(words));
    const std::string address = server_->line_after("ACCEPT ");
    port_ = address.substr(address.rfind(':') + 1);
    REQUIRE_FALSE(port_.empty());
  }
  std::string url() const { return "https://127.0.0.1:" + port_ + "/"; }
  std::string certificate() const { return (folder_ / "certificate.pem").string(); }

 private:
  test::TemporaryFolder folder_;
  std::unique_ptr<Program> server_;
  std::string port_;
};

Outcome get(const std::string& url, const CurlOptions& options = {}) {
  auto transport = make_curl_transport(options);
  REQUIRE(transport);
  return (*transport)->send({.url = url, .timeout = std::chrono::seconds{10}});
}

bool is_tls_failure(const Outcome& outcome, std::string_view words = {}) {
  const auto* const error = std::get_if<TransportError>(&outcome);
  if (error != nullptr) UNSCOPED_INFO(error->reason.what);
  return error != nullptr && error->stage == TransportError::Stage::tls &&
         error->reason.what.find(words) != std::string::npos;
}

/// Sets a variable of the environment for one test.
class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* const before = std::getenv(name_.c_str())) before_ = before;
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (before_) {
      ::setenv(name_.c_str(), before_->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }

 private:
  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("tls: HTTP/1.1 is spoken, also with a server that would rather have HTTP/2", "[http]") {
  // The server would choose h2 if it were offered, and then nothing it says could be read.
  const TlsServer server("IP:127.0.0.1", {"-alpn", "h2,http/1.1"});
  const Outcome outcome = get(server.url(), {.ca_file = server.certificate()});
  REQUIRE(std::holds_alternative<Response>(outcome));
  CHECK(std::get<Response>(outcome).status == 200);
}

TEST_CASE("curl: a certificate that nobody vouches for ends the handshake, the request is not sent", "[http]") {
  const TlsServer server("IP:127.0.0.1");
  CHECK(is_tls_failure(get(server.url()), "the certificate of the server is not trusted: self"));
  const Outcome trusted = get(server.url(), {.ca_file = server.certificate()});
  REQUIRE(std::holds_alternative<Response>(trusted));
  CHECK(std::get<Response>(trusted).status == 200);
  const Variable variable("SSL_CERT_FILE", server.certificate());
  CHECK(std::holds_alternative<Response>(get(server.url())));
}

TEST_CASE("curl: a certificate of another name is refused, even from somebody trusted", "[http]") {
  const TlsServer server("DNS:other.example");
  CHECK(is_tls_failure(get(server.url(), {.ca_file = server.certificate()}),
                       "the certificate of the server is for another name"));
}

TEST_CASE("curl: a server without TLS is told so", "[http]") {
  const auto refuses = [](int) { return std::optional(answer(400, "{}")); };
  const HostileServer server([](const Seen&) { return answer(400, "{}"); }, refuses);
  std::string url = server.url("/v1");
  CHECK(is_tls_failure(get(url.insert(4, "s")), "the server does not speak TLS on this port"));
}

TEST_CASE("curl: a list of certificates that is not there is a failure of the handshake", "[http]") {
  const TlsServer server("IP:127.0.0.1");
  CHECK(is_tls_failure(get(server.url(), {.ca_file = "/nonexistent/certificates.pem"})));
}

TEST_CASE("curl: a proxy of the environment is used, but never for this machine", "[http]") {
  HostileServer proxy([](const Seen&) { return answer(502, "no further"); });
  HostileServer server([](const Seen&) { return answer(200, "direct"); });
  const Variable variable("https_proxy", proxy.origin());
  const Variable none("NO_PROXY", "");
  CHECK(std::holds_alternative<TransportError>(get("https://service.invalid/v1")));
  REQUIRE(proxy.requests().size() == 1);
  CHECK(proxy.requests()[0].method == "CONNECT");
  CHECK(proxy.requests()[0].target == "service.invalid:443");
  const Outcome near = get(server.url("/v1"));
  REQUIRE(std::holds_alternative<Response>(near));
  CHECK(std::get<Response>(near).body == "direct");
  CHECK(proxy.requests().size() == 1);
}

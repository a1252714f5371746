// HTTPS as real clients see it: curl and openssl against the real program.
#include "server-mock/http/tls/tls.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/server-mock/http/server/scripted_server.hpp"
#include "tests/support/mock_process.hpp"

using namespace ws::test;
using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

nlohmann::json ready(const MockProcess& mock) {
  std::ifstream stream(mock.ready_file());
  return nlohmann::json::parse(stream);
}

Ended curl(const std::string& ca_file, std::vector<std::string> more) {
  std::vector<std::string> arguments = {"curl", "-sS", "--max-time", "20", "--cacert", ca_file};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_command({.arguments = std::move(arguments)});
}

}  // namespace

TEST_CASE("tls: a self-signed certificate is trusted with the ca_file, under each of its names", "[server-mock]") {
  MockProcess mock({"--tls-self-signed"});
  CHECK_THAT(mock.base_url(), Catch::Matchers::StartsWith("https://127.0.0.1:"));
  const std::string ca_file = ready(mock).at("ca_file");
  const std::string bearer = "Authorization: Bearer " + mock.token();
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    const std::string url = "https://" + host + ":" + std::to_string(mock.port());
    const Ended ended = curl(ca_file, {"-4", "-H", bearer, url + "/v1/me", url + "/v1/me"});
    INFO(ended.err);
    CHECK(ended.exit == 0);
    CHECK_THAT(ended.out, Contains("identity"));
  }
  const Ended distrusting = run_command({.arguments = {"curl", "-sS", mock.base_url() + "/v1/me"}});
  CHECK(distrusting.exit == 60);
  const Ended large = curl(ca_file, {"--compressed", "-H", bearer, mock.base_url() + "/openapi.json"});
  CHECK(large.out.size() > 100'000);
  mock.end(SIGTERM);
  CHECK_FALSE(std::filesystem::exists(ca_file));
}

TEST_CASE("tls: 1.2 and 1.3 are spoken, 1.1 is not", "[server-mock]") {
  MockProcess mock({"--tls-self-signed"});
  const auto shakes_hands = [&](const char* version) {
    return run_command(
               {.arguments =
                    {"openssl", "s_client", version, "-brief", "-connect", "127.0.0.1:" + std::to_string(mock.port())}})
               .exit == 0;
  };
  CHECK(shakes_hands("-tls1_2"));
  CHECK(shakes_hands("-tls1_3"));
  CHECK_FALSE(shakes_hands("-tls1_1"));
}

TEST_CASE("tls: certificate files are used, errors in them are reported", "[server-mock]") {
  const TemporaryFolder folder;
  const auto made = ws::mock::http::make_tls_identity();
  const auto other = ws::mock::http::make_tls_identity();
  REQUIRE(made);
  REQUIRE(other);
  CHECK(made->certificate_pem != other->certificate_pem);
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  };
  const std::string certificate = write("cert.pem", made->certificate_pem);
  const std::string key = write("key.pem", made->key_pem);
  const std::string foreign = write("other.pem", other->key_pem);
  MockProcess mock({"--tls", certificate + "," + key});
  CHECK(curl(certificate, {mock.base_url() + "/_mock/health"}).exit == 0);
  CHECK(ready(mock).at("ca_file").is_null());
  const auto refused = [&](const std::string& value) {
    const Ended ended = run_command({.arguments = {program("ws-mock"), "--tls", value}});
    CHECK(ended.exit == 2);
    return ended.err;
  };
  CHECK_THAT(refused(certificate), Contains("CERT,KEY"));
  CHECK_THAT(refused(key + "," + key), Contains("no certificate"));
  CHECK_THAT(refused(certificate + "," + certificate), Contains("no private key"));
  CHECK_THAT(refused(certificate + "," + foreign), Contains("does not belong"));
}

TEST_CASE("tls: plain HTTP is told that the port speaks TLS", "[server-mock]") {
  MockProcess mock({"--tls-self-signed"});
  RawConnection plain(mock.port());
  plain.send("GET /v1/me HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const RawConnection::Rest rest = plain.read_rest();
  CHECK_THAT(rest.bytes, Catch::Matchers::StartsWith("HTTP/1.1 400 "));
  CHECK_THAT(rest.bytes, Contains("use https:// instead of http://"));
  CHECK(rest.end == RawConnection::End::closed);
}

TEST_CASE("tls: plain HTTP and silent clients are disconnected", "[server-mock]") {
  using namespace ws::mock::test;
  const ws::mock::http::ServerOptions options = {.tls = ws::mock::http::make_tls_identity().value(), .slow = 200ms};
  ScriptedServer server(Script(), options);
  RawConnection plain(server.port());
  plain.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n" + std::string(100'000, 'x'));
  CHECK(plain.read_rest().end == RawConnection::End::closed);
  RawConnection silent(server.port());
  CHECK(silent.read_rest(5s).end != RawConnection::End::none);
}

TEST_CASE("tls: uploads, downloads and pipelines go through it whole", "[server-mock]") {
  using namespace ws::mock::test;
  const auto identity = ws::mock::http::make_tls_identity().value();
  const TemporaryFolder folder;
  const std::string ca_file = folder / "ca.pem";
  std::ofstream(ca_file) << identity.certificate_pem;
  Script script;
  script.answer = [](const ws::mock::http::Request& request) {
    auto response = text_answer(std::string(request.body));
    if (request.path == "/late")
      response.set_wire_fault({.delay = 100ms, .dribble_bytes = 20'000, .dribble_every = 1ms});
    if (request.path == "/reset") response.set_wire_fault({.end = ws::mock::http::WireFault::End::reset});
    if (request.path == "/cut") response.set_wire_fault({.truncate_at = 10});
    return response;
  };
  ScriptedServer server(script, {.tls = identity});
  const std::string url = "https://127.0.0.1:" + std::to_string(server.port());
  const std::string body(500'000, 'b');
  std::ofstream(folder / "body") << body;
  const std::string file = "@" + (folder / "body").string();
  const Ended twice = curl(ca_file, {"--data-binary", file, url + "/now", url + "/late"});
  CHECK(twice.exit == 0);
  CHECK(twice.out == body + body);
  CHECK(curl(ca_file, {"--data-binary", file, url + "/reset"}).exit != 0);
  const Ended cut = curl(ca_file, {"--data-binary", file, url + "/cut"});
  CHECK(cut.exit != 0);
  CHECK(cut.out.size() == 10);
}

TEST_CASE("tls: a self-signed certificate names every --listen and --allow-host, and health takes https",
          "[server-mock]") {
  MockProcess mock({"--tls-self-signed",
                    "--listen",
                    "0.0.0.0:0",
                    "--allow-host",
                    "mock",
                    "--allow-host",
                    "10.1.2.3",
                    "--public-url",
                    "https://pub.example:9443/w/",
                    "--control-token",
                    "sesame"});
  const std::string ca = ready(mock).at("ca_file");
  for (const std::string name : {"mock", "10.1.2.3", "pub.example", "localhost"}) {
    const std::string port = std::to_string(mock.port());
    CAPTURE(name);
    const Ended got = curl(ca,
                           {"--connect-to",
                            name + ":" + port + ":127.0.0.1:" + port,
                            "-H",
                            "Authorization: Bearer sesame",
                            "https://" + name + ":" + port + "/_mock/health"});
    CHECK(got.exit == 0);
    CHECK_THAT(got.out, Contains("\"status\""));
  }
  const auto health = [&](const std::string& url) {
    return run_command({.arguments = {program("ws-mock"), "health", url}}).exit;
  };
  CHECK(health("https://127.0.0.1:" + std::to_string(mock.port())) == 0);
  CHECK(health("http://127.0.0.1:" + std::to_string(mock.port())) != 0);
  const Ended started = curl(ca,
                             {"-X",
                              "POST",
                              "-H",
                              "Content-Type: application/json",
                              "-d",
                              R"({"client_name": "a test", "cli_version": "1", "scopes": ["documents:read"]})",
                              mock.base_url() + "/v1/auth/device-authorizations"});
  CAPTURE(started.out);
  CHECK_THAT(started.out, Contains("https://pub.example:9443/w/device"));
}

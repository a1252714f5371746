// `ws-mock record` before a real mock.
#include <algorithm>
#include <csignal>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/json.hpp"
#include "tests/support/mock_process.hpp"

using namespace ws;
using namespace ws::test;

namespace {

/// The proxy, from its first line on standard output to a signal.
struct Recording {
  explicit Recording(const MockProcess& to, std::vector<std::string> flags = {})
      : process({.arguments = arguments(to, std::move(flags))}) {
    REQUIRE(process.wait_for("\n"));
    const std::string& out = process.so_far().out;
    port = static_cast<std::uint16_t>(std::stoi(out.substr(out.rfind(':') + 1)));
  }
  std::vector<std::string> arguments(const MockProcess& to, std::vector<std::string> flags) const {
    std::vector<std::string> all = {
        program("ws-mock"), "record", "--to", to.base_url(), "--out", (folder / "out.jsonl").string()};
    all.insert(all.end(), flags.begin(), flags.end());
    return all;
  }
  std::string file() const { return (folder / "out.jsonl").string(); }
  std::string end() {
    process.signal(SIGTERM);
    CHECK(process.wait().exit == 0);
    return ws::read_file(file()).value();
  }

  TemporaryFolder folder;
  Running process;
  std::uint16_t port = 0;
};

}  // namespace

TEST_CASE("record: what passes is what the service answers, and no key is in the file", "[compare]") {
  const MockProcess service;
  Recording recording(service);
  const RawAnswer through = ask(recording.port, {.target = "/v1/documents?limit=2", .token = service.token()});
  const RawAnswer direct = service.ask({.target = "/v1/documents?limit=2", .token = service.token()});
  CHECK(through.status == 200);
  CHECK(through.body == direct.body);
  const RawAnswer made = ask(recording.port,
                             {.method = "POST",
                              .target = "/v1/documents",
                              .token = service.token(),
                              .json = R"({"title": "Recorded", "content": "# Recorded\n"})"});
  CHECK(made.status == 201);
  CHECK(ask(recording.port, {.target = "/v1/me"}).status == 401);
  const std::string text = recording.end();
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
  CHECK(text.find(service.token()) == std::string::npos);
  CHECK(text.find("<key:1:") != std::string::npos);
  // The form of the journal: method, path, query and operation stand where the service's own journal has them.
  const Json first = parse_bounded(text.substr(0, text.find('\n'))).value();
  const Json own = parse_bounded(service.ask({.target = "/_mock/requests"}).body)->at("data").at(0);
  for (const char* member : {"method", "path", "query", "operation", "status", "fault", "sandbox"}) {
    CAPTURE(member);
    CHECK(first.at(member) == own.at(member));
  }
  CHECK(first.at("request_headers").at("authorization").get<std::string>().starts_with("<key:1:"));
  const Ended alike = run_command({.arguments = {program("ws-mock"), "diff", "--recording", recording.file()}});
  CAPTURE(alike.out, alike.err);
  CHECK(alike.exit == 0);
}

TEST_CASE("record: an upload goes through it, and its address is nowhere in the file", "[compare]") {
  const MockProcess service;
  Recording recording(service);
  const RawAnswer started = ask(recording.port,
                                {.method = "POST",
                                 .target = "/v1/files/uploads",
                                 .token = service.token(),
                                 .json = R"({"file_name": "a.txt", "mime_type": "text/plain", "size_bytes": 5})"});
  REQUIRE(started.status == 201);
  const Json upload = parse_bounded(started.body).value();
  const std::string url = upload.at("upload_url");
  const std::string own = "http://127.0.0.1:" + std::to_string(recording.port);
  REQUIRE(url.substr(0, own.size()) == own);
  CHECK(
      ask(recording.port,
          {.method = "PUT", .target = url.substr(own.size()), .json = "12345", .headers = {"Content-Type: text/plain"}})
          .status == 200);
  const RawAnswer finished = ask(recording.port,
                                 {.method = "POST",
                                  .target = "/v1/files/uploads:finalize",
                                  .token = service.token(),
                                  .json = dump({{"upload_id", upload.at("upload_id")},
                                                {"blob_name", upload.at("blob_name")},
                                                {"file_name", "a.txt"},
                                                {"mime_type", "text/plain"},
                                                {"size_bytes", 5}})});
  CHECK(finished.status == 201);
  const std::string text = recording.end();
  CHECK(text.find(upload.at("blob_name").get<std::string>()) == std::string::npos);
  const Ended alike = run_command({.arguments = {program("ws-mock"), "diff", "--recording", recording.file()}});
  CAPTURE(alike.out, alike.err);
  CHECK(alike.exit == 0);
}

TEST_CASE("record: --shapes-only writes no value", "[compare]") {
  const MockProcess service;
  Recording recording(service, {"--shapes-only"});
  CHECK(ask(recording.port, {.target = "/v1/me", .token = service.token()}).status == 200);
  const std::string text = recording.end();
  CHECK(text.find("\"email\":\"string\"") != std::string::npos);
  CHECK(text.find("@example.com") == std::string::npos);
}

TEST_CASE("record: it has the guards of the server", "[compare]") {
  const MockProcess service;
  Recording recording(service);
  const std::string key = "Authorization: Bearer " + service.token();
  const auto status = [&](const std::vector<std::string>& headers, const std::string& target = "/v1/me") {
    std::string bytes = "GET " + target + " HTTP/1.1\r\n";
    for (const std::string& line : headers) bytes += line + "\r\n";
    RawConnection client(recording.port);
    client.send(bytes + "\r\n");
    const auto answer = client.read();
    return answer ? answer->status : 0;
  };
  CHECK(status({"Host: localhost", key}) == 200);
  CHECK(status({"Host: evil.test", key}) == 403);
  CHECK(status({"Host: localhost", "Origin: http://evil.test"}) == 403);
  CHECK(status({"Host: localhost", "X: " + std::string(70'000, 'x')}) == 431);
  CHECK(status({key}) == 400);
  // What would make the address of another host of ours.
  CHECK(status({"Host: localhost", key}, "@evil.test/://") == 400);
  CHECK(ask(recording.port, {.method = "PUT", .target = "/_upload/0", .json = "1"}).status == 404);
  RawConnection old(recording.port);
  old.send("GET /v1/me HTTP/1.0\r\nAuthorization: Bearer " + service.token() + "\r\n\r\n");
  CHECK(old.read()->status == 200);
  RawConnection any(recording.port);
  any.send("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(any.read()->status == 204);
  recording.end();
}

TEST_CASE("record: an answer to HEAD is passed with its length, and is no violation", "[compare]") {
  const MockProcess service;
  Recording recording(service);
  RawConnection client(recording.port);
  client.send(render({.method = "HEAD", .target = "/v1/documents", .token = service.token()}));
  const auto answer = client.read(AnswerTo::head);
  REQUIRE(answer);
  CHECK(answer->status == 200);
  const RawAnswer whole = ask(recording.port, {.target = "/v1/documents", .token = service.token()});
  CHECK(answer->header("content-length") == std::to_string(whole.body.size()));
  recording.end();
  CHECK(recording.process.so_far().err.find("not JSON") == std::string::npos);
}

TEST_CASE("record: large bodies pass both ways, and a long poll waits", "[compare]") {
  const MockProcess service;
  Recording recording(service);
  const RawAnswer started =
      ask(recording.port,
          {.method = "POST",
           .target = "/v1/files/uploads",
           .token = service.token(),
           .json = R"({"file_name": "a.bin", "mime_type": "text/plain", "size_bytes": 9000000})"});
  REQUIRE(started.status == 201);
  const Json upload = parse_bounded(started.body).value();
  const std::string url = upload.at("upload_url");
  const std::string bytes(9'000'000, 'b');
  CHECK(ask(recording.port,
            {.method = "PUT",
             .target = url.substr(url.find("/_upload")),
             .json = bytes,
             .headers = {"Content-Type: text/plain"}})
            .status == 200);
  const RawAnswer finished = ask(recording.port,
                                 {.method = "POST",
                                  .target = "/v1/files/uploads:finalize",
                                  .token = service.token(),
                                  .json = dump({{"upload_id", upload.at("upload_id")},
                                                {"blob_name", upload.at("blob_name")},
                                                {"file_name", "a.bin"},
                                                {"mime_type", "text/plain"},
                                                {"size_bytes", 9'000'000}})});
  REQUIRE(finished.status == 201);
  const std::string content = parse_bounded(finished.body)->at("links").at("content");
  const RawAnswer back = ask(recording.port, {.target = content.substr(content.find("/v1")), .token = service.token()});
  CHECK(back.status == 200);
  CHECK(back.body == bytes);
  recording.end();
}

TEST_CASE("record: beyond loopback it needs a token, and a key goes over plain http to named hosts alone",
          "[compare]") {
  const MockProcess service;
  TemporaryFolder folder;
  const auto run =
      [&](std::vector<std::string> flags, const std::string& to, std::map<std::string, std::string> more = {}) {
        flags.insert(flags.begin(), {program("ws-mock"), "record", "--to", to, "--out", (folder / "o.jsonl").string()});
        return run_command({.arguments = flags, .environment = std::move(more), .timeout = std::chrono::seconds(20)});
      };
  CHECK(run({"--listen", "0.0.0.0:0"}, service.base_url()).exit == 2);
  CHECK(run({}, "http://name.test:4000").exit == 2);
  CHECK(run({}, "http://name.test:4000", {{"WS_ALLOW_HTTP", "other.test"}}).exit == 2);
  CHECK(run({"--idle-exit", "200ms"}, "http://name.test:4000", {{"WS_ALLOW_HTTP", "name.test"}}).exit == 0);
  const Ended diff = run_command({.arguments = {program("ws-mock"), "diff", "--against", "http://name.test"},
                                  .environment = {{"WS_TOKEN", "wsk_1"}}});
  CHECK(diff.exit == 2);
  CHECK(diff.err.find("WS_ALLOW_HTTP=name.test:80") != std::string::npos);
  Recording open(service, {"--listen", "0.0.0.0:0", "--control-token", "sesame"});
  CHECK(ask(open.port, {.target = "/v1/me", .token = service.token()}).status == 407);
  CHECK(
      ask(open.port, {.target = "/v1/me", .token = service.token(), .headers = {"Proxy-Authorization: Bearer sesame"}})
          .status == 200);
  CHECK(open.end().find("sesame") == std::string::npos);
}

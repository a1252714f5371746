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
  CHECK(ask(recording.port, {.method = "PUT", .target = url.substr(own.size()), .json = "12345"}).status == 200);
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

// Files in the real program: what survives a kill, what is left on the disk, how much memory a large one takes.
#include <csignal>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "tests/support/mock_process.hpp"

using namespace ws::test;
using nlohmann::json;

namespace {

json post(const MockProcess& mock, const std::string& path, const json& body, int status = 201) {
  const RawAnswer answer = mock.ask({.method = "POST", .target = path, .token = mock.token(), .json = body.dump()});
  INFO(answer.body);
  REQUIRE(answer.status == status);
  return json::parse(answer.body);
}

json start(const MockProcess& mock, std::size_t size) {
  json started = post(mock, "/v1/files/uploads", {{"file_name", "a.bin"}, {"size_bytes", size}});
  const std::string url = started.at("upload_url");
  started["path"] = url.substr(url.find("/uploads/"));
  return started;
}

json finish(const MockProcess& mock, const json& started, std::size_t size) {
  return post(mock,
              "/v1/files/uploads:finalize",
              {{"upload_id", started.at("upload_id")},
               {"blob_name", started.at("blob_name")},
               {"file_name", "a.bin"},
               {"size_bytes", size}});
}

std::string put_head(const json& started, std::size_t size) {
  return "PUT " + started.at("path").get<std::string>() +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\nContent-Length: " +
         std::to_string(size) + "\r\n\r\n";
}

int put(const MockProcess& mock, const json& started, const std::string& bytes) {
  RawConnection connection(mock.port());
  connection.send(put_head(started, bytes.size()));
  connection.send(bytes);
  return connection.read().value().status;
}

std::string content(const MockProcess& mock, const json& asset) {
  return mock.ask({.target = asset.at("links").at("content"), .token = mock.token()}).body;
}

std::ptrdiff_t count_files(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

/// The most memory that the process ever had, in MiB.
[[maybe_unused]] double peak_mib(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

}  // namespace

TEST_CASE("files: a server says at start that the bytes beside its data are missing", "[server-mock]") {
  const TemporaryFolder folder;
  const std::vector<std::string> flags = {"--data", (folder / "world.db").string()};
  {
    MockProcess mock(flags);
    const json started = start(mock, 5);
    REQUIRE(put(mock, started, "bytes") == 200);
    finish(mock, started, 5);
    CHECK_THAT(mock.end(SIGTERM).err, !Catch::Matchers::Contains("without bytes"));
  }
  std::filesystem::remove_all((folder / "world.db").string() + ".assets");
  MockProcess mock(flags);
  CHECK_THAT(mock.end(SIGTERM).err,
             Catch::Matchers::Contains("1 file is in ") && Catch::Matchers::Contains("world.db.assets"));
}

TEST_CASE("files: an answered PUT and an answered finalize survive SIGKILL", "[server-mock]") {
  const TemporaryFolder folder;
  const std::vector<std::string> flags = {"--data", (folder / "world.db").string()};
  const std::string bytes(300'000, 'b');
  json started;
  {
    MockProcess mock(flags);
    started = start(mock, bytes.size());
    CHECK(put(mock, started, bytes) == 200);
    mock.end(SIGKILL);
  }
  json asset;
  {
    MockProcess mock(flags);
    asset = finish(mock, started, bytes.size());
    mock.end(SIGKILL);
  }
  MockProcess mock(flags);
  CHECK(content(mock, asset) == bytes);
}

TEST_CASE("files: an interrupted upload leaves no files, after a disconnect or SIGKILL", "[server-mock]") {
  const TemporaryFolder folder;
  const std::vector<std::string> flags = {"--data", (folder / "world.db").string()};
  const std::filesystem::path files = folder / "world.db.assets";
  const auto cut_off = [&](MockProcess& mock) {
    const json started = start(mock, 1'000'000);
    auto connection = std::make_unique<RawConnection>(mock.port());
    connection->send(put_head(started, 1'000'000) + std::string(500'000, 'x'));
    while (!std::filesystem::exists(files) || count_files(files) == 0) mock.ask({.target = "/_mock/health"});
    return connection;
  };
  {
    MockProcess mock(flags);
    cut_off(mock).reset();
    while (count_files(files) > 0) mock.ask({.target = "/_mock/health"});
    const auto open = cut_off(mock);
    mock.end(SIGKILL);
    CHECK(count_files(files) == 1);
  }
  MockProcess mock(flags);
  CHECK(count_files(files) == 0);
}

TEST_CASE("files: a large file goes up and down without passing through memory", "[server-mock]") {
  MockProcess mock;
  const std::string bytes(std::size_t{64} << 20U, 'b');
  const json started = start(mock, bytes.size());
  CHECK(put(mock, started, bytes) == 200);
  const json asset = finish(mock, started, bytes.size());
  CHECK(ws::Sha256::of(content(mock, asset)) == ws::Sha256::of(bytes));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  CHECK(peak_mib(mock.process().pid()) < 40);  // with the text that is searched
#endif
}

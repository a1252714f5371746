// The file of --data: one process, our own files alone, for its owner alone.
#include <csignal>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/sqlite.hpp"
#include "tests/support/mock_process.hpp"

using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

Ended start(std::vector<std::string> flags) {
  flags.insert(flags.end(), {"--log", "off"});
  return run_command({.program = program("ws-mock"), .arguments = std::move(flags)});
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int mode_of(const std::filesystem::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<int>(status.st_mode & 0777U) : -1;
}

void check_refused(const std::filesystem::path& path, const std::string& why) {
  const std::string before = std::filesystem::is_regular_file(path) ? bytes_of(path) : "";
  const Ended ended = start({"--data", path.string()});
  INFO(ended.err);
  CHECK(ended.exit == 14);
  CHECK_THAT(ended.err, Contains(path.filename().string()) && Contains(why));
  if (!before.empty()) CHECK(bytes_of(path) == before);
  CHECK(!std::filesystem::exists(path.string() + "-wal"));
}

}  // namespace

TEST_CASE("data: a second process is refused, naming the first's pid, a dead process holds no lock", "[server-mock]") {
  TemporaryFolder folder;
  const std::string data = (folder / "world.db").string();
  for (int round = 0; round < 2; ++round) {
    MockProcess first({"--data", data});
    const Ended second = start({"--data", data});
    CHECK(second.exit == 14);
    CHECK_THAT(second.err, Contains("world.db") && Contains(fmt::format("process {}", first.process().pid())));
    std::filesystem::create_hard_link(data, folder / "second-name.db");
    const Ended linked = start({"--data", (folder / "second-name.db").string()});
    CHECK(linked.exit == 14);
    CHECK_THAT(linked.err, Contains(fmt::format("process {}", first.process().pid())));
    std::filesystem::remove(folder / "second-name.db");
    CHECK_FALSE(std::filesystem::exists(data + ".lock"));  // no lock that could be removed
    CHECK(first.ask({.target = "/v1/me", .token = first.token()}).status == 200);
    first.end(SIGKILL);
  }
}

TEST_CASE("data: files of other programs are refused and not changed", "[server-mock]") {
  TemporaryFolder folder;
  std::ofstream(folder / "notes.txt") << std::string(5000, 'x');
  check_refused(folder / "notes.txt", "not a database");
  std::ofstream(folder / "short.txt") << "x";
  check_refused(folder / "short.txt", "not a database");
  {
    auto foreign = ws::sqlite::Database::open((folder / "foreign.db").string()).value();
    REQUIRE(foreign.execute("create table songs (id integer); pragma user_version = 3"));
  }
  check_refused(folder / "foreign.db", "another program's");
  {
    auto foreign = ws::sqlite::Database::open((folder / "log.db").string()).value();
    REQUIRE(foreign.execute("pragma journal_mode = wal; create table songs (id integer)"));
  }
  check_refused(folder / "log.db", "another program's");
  {
    auto newer = ws::sqlite::Database::open((folder / "newer.db").string()).value();
    REQUIRE(newer.execute("create table a (id integer); pragma application_id = 1465077067; pragma user_version = 99"));
  }
  check_refused(folder / "newer.db", "version 99");
}

TEST_CASE("data: a link, a FIFO, a folder, a place that cannot be written", "[server-mock]") {
  TemporaryFolder folder;
  std::filesystem::create_symlink(folder / "elsewhere.db", folder / "link.db");
  check_refused(folder / "link.db", "symbolic link");
  CHECK(!std::filesystem::exists(folder / "elsewhere.db"));
  REQUIRE(::mkfifo((folder / "fifo.db").c_str(), 0600) == 0);
  check_refused(folder / "fifo.db", "not a regular file");
  std::filesystem::create_directory(folder / "folder.db");
  check_refused(folder / "folder.db", "a folder");
  check_refused(folder / "nowhere" / "world.db", "No such file");
  check_refused("/proc/world.db", "cannot use");
}

TEST_CASE("data: all files are for their owner alone, whatever the umask, also those that were not", "[server-mock]") {
  TemporaryFolder folder;
  const std::string data = (folder / "world.db").string();
  const mode_t umask_before = ::umask(0);
  {
    MockProcess mock({"--data", data, "--journal-file", (folder / "journal").string()});
    CHECK(mode_of(mock.ready_file()) == 0600);
    for (const char* name : {"world.db", "world.db-wal", "world.db-shm", "journal"}) {
      CAPTURE(name);
      CHECK(mode_of(folder / name) == 0600);
    }
    mock.end(SIGKILL);
  }
  for (const char* name : {"world.db", "world.db-wal", "world.db-shm"}) ::chmod((folder / name).c_str(), 0644);
  {
    MockProcess mock({"--data", data});
    for (const char* name : {"world.db", "world.db-wal", "world.db-shm"}) {
      CAPTURE(name);
      CHECK(mode_of(folder / name) == 0600);
    }
  }
  ::umask(umask_before);
}

TEST_CASE("data: fixtures for a file that has a world are refused, unless it is to be replaced", "[server-mock]") {
  TemporaryFolder folder;
  const std::string data = (folder / "world.db").string();
  std::ofstream(folder / "world.yaml") << "documents: [{title: one}]\n";
  const std::vector<std::string> flags = {"--data", data, "--fixtures", (folder / "world.yaml").string()};
  const auto titles = [](const MockProcess& mock) {
    return mock.ask({.target = "/v1/documents", .token = mock.token()}).body;
  };
  { CHECK_THAT(titles(MockProcess(flags)), Contains("one")); }
  const Ended refused = start(flags);
  CHECK(refused.exit == 2);
  CHECK_THAT(refused.err, Contains("world.db") && Contains("leave out --fixtures") && Contains("--reset"));
  { CHECK_THAT(titles(MockProcess({"--data", data})), Contains("one")); }
  std::ofstream(folder / "world.yaml") << "documents: [{title: two}]\n";
  std::vector<std::string> again = flags;
  again.emplace_back("--reset");
  { CHECK_THAT(titles(MockProcess(again)), Contains("two") && !Contains("one")); }
  CHECK(start({"--reset"}).exit == 2);
}

TEST_CASE("data: keys are random and persistent without --seed, with --seed they are predictable, with a warning",
          "[server-mock]") {
  TemporaryFolder folder;
  const std::string data = (folder / "world.db").string();
  std::string token;
  {
    MockProcess mock({"--data", data});
    token = mock.token();
    CHECK(token != MockProcess().token());
    CHECK(token != MockProcess({"--data", (folder / "other.db").string()}).token());
  }
  MockProcess again({"--data", data});
  CHECK(again.token() == token);
  CHECK(again.ask({.target = "/v1/me", .token = token}).status == 200);
  MockProcess seeded({"--data", (folder / "seeded.db").string(), "--seed", "1"});
  CHECK(seeded.token() == MockProcess().token());
  CHECK_THAT(seeded.end(SIGTERM).err, Contains("--seed 1"));
  const std::vector<std::string> open = {"--listen", "0.0.0.0:0", "--control-token", "t"};
  CHECK(MockProcess(open).token() != MockProcess(open).token());
}

TEST_CASE("data: if it is killed while filling the file, the next start fills it anew", "[server-mock]") {
  TemporaryFolder folder;
  std::ofstream fixtures(folder / "large.yaml");
  fixtures << "documents:\n";
  for (int i = 0; i < 3000; ++i) fixtures << "  - {title: d" << i << ", content: text}\n";
  fixtures.close();
  const std::string data = (folder / "world.db").string();
  const int signal = GENERATE(SIGINT, SIGKILL);
  Running starting({.program = program("ws-mock"),
                    .arguments = {"--data", data, "--fixtures", (folder / "large.yaml").string(), "--log", "off"}});
  while (!std::filesystem::exists(data)) ::usleep(1000);
  starting.signal(signal);
  CHECK(starting.wait().exit == 128 + signal);
  MockProcess mock({"--data", data});
  CHECK(mock.ask({.target = "/v1/me", .token = mock.token()}).status == 200);
}

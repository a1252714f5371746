#include "api-client/base/process.hpp"

#include <csignal>
#include <filesystem>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/files.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace ws;

TEST_CASE("process: its exit code, or 128 and the signal that ended it", "[base]") {
  CHECK(Process::start_shell("exit 3", {})->wait() == 3);
  CHECK(Process::start_shell("exit \"$1\"", {"4"})->wait() == 4);
  CHECK(Process::start_shell("kill -TERM $$", {})->wait() == 128 + SIGTERM);
}

TEST_CASE("process: a signal that this process ignores has its default action in the program", "[base]") {
  auto* const before = std::signal(SIGPIPE, SIG_IGN);
  CHECK(Process::start_shell("kill -PIPE $$", {})->wait() == 128 + SIGPIPE);
  std::signal(SIGPIPE, before);
}

TEST_CASE("process: it has the streams, the variables and no file beside", "[base]") {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "out";
  const Descriptor out(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const int inherited = ::open("/dev/null", O_RDONLY);
  // `ls` itself opens the folder as 3.
  const auto process =
      Process::start_shell("echo $WS_WORD; exec ls /proc/self/fd",
                           {},
                           {.out = out.get(), .environment = {{"WS_WORD", "here"}}, .streams_only = true});
  REQUIRE(process);
  CHECK(process->wait() == 0);
  ::close(inherited);
  CHECK(*read_file(path) == "here\n0\n1\n2\n3\n");
}

TEST_CASE("process: a script without #! is run by the shell, a missing program is refused", "[base]") {
  const test::TemporaryFolder folder;
  const std::filesystem::path script = folder.path() / "script";
  REQUIRE(write_file(script, "exit 5\n", 0700));
  CHECK(Process::start({script.string()})->wait() == 5);
  const auto missing = Process::start({"ws-no-such-program"});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().kind == Failure::Kind::usage);
  CHECK_FALSE(find_program(folder.path().string()));
}

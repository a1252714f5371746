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

TEST_CASE("process: what it printed is kept, the last of it if it is much", "[base]") {
  const auto end = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"}, {}, {});
  REQUIRE(end);
  CHECK(end->exit == 3);
  CHECK(end->by == RunEnd::By::itself);
  CHECK_FALSE(end->is_signal);
  CHECK(end->out == "out\n");
  CHECK(end->err == "err\n");
  const auto much = run_process({"sh", "-c", "seq 100000; kill -9 $$"}, {}, {.output_bytes = 13});
  REQUIRE(much);
  CHECK(much->out == "99999\n100000\n");
  CHECK(much->is_signal);
}

TEST_CASE("process: over its time the whole group is ended, by SIGTERM and then by SIGKILL", "[base]") {
  const RunLimits limits = {.time = std::chrono::milliseconds(200), .grace = std::chrono::milliseconds(200)};
  const auto polite =
      run_process({"sh", "-c", "trap 'echo bye; exit 4' TERM; while :; do sleep 0.05; done"}, {}, limits);
  REQUIRE(polite);
  CHECK(polite->by == RunEnd::By::limit);
  CHECK(polite->out == "bye\n");
  CHECK(polite->exit == 4);
  const auto deaf = run_process({"sh", "-c", "trap '' TERM; sleep 60 & echo $!; wait; sleep 60"}, {}, limits);
  REQUIRE(deaf);
  CHECK(deaf->exit == 128 + SIGKILL);
  const int child = std::stoi(deaf->out);
  // It is nobody's child any more: process 1 may take a moment to reap it.
  const auto gone = Process::start_shell(
      "for i in $(seq 100); do kill -0 $1 2>/dev/null || exit 0; grep -q '^State:.Z' "
      "/proc/$1/status && exit 0; sleep 0.05; done; exit 1",
      {std::to_string(child)});
  CHECK(gone->wait() == 0);
}

TEST_CASE("process: what the program left in its group is killed, a stop ends it", "[base]") {
  const auto left = run_process({"sh", "-c", "sleep 60 & exit 0"}, {}, {});
  REQUIRE(left);
  CHECK(left->exit == 0);
  const std::atomic<bool> stop = true;
  const auto stopped = run_process({"sleep", "60"}, {}, {.stop = &stop});
  REQUIRE(stopped);
  CHECK(stopped->by == RunEnd::By::stop);
  CHECK(run_process({"/no/such/program"}, {}, {}).error().code == "program_not_found");
  CHECK(run_process({"/etc/passwd"}, {}, {}).error().code == "program_not_executable");
}

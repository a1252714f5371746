// `ws try`: the whole story, and that nothing of it is left.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <catch2/catch.hpp>

#include "tests/support/on_terminal.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/two_people.hpp"
#include "tests/support/widest_line.hpp"

using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

namespace fs = std::filesystem;

/// A person's machine with nothing set up, whose temporary files are looked at afterwards.
struct Newcomer {
  TemporaryFolder home;
  fs::path temporary = home / "tmp";

  Newcomer() { fs::create_directories(temporary); }

  Command command(std::vector<std::string> words) const {
    words.insert(words.begin(), program("ws"));
    return {.arguments = std::move(words),
            .environment = {{"HOME", home.path().string()},
                            {"TMPDIR", temporary.string()},
                            // A key of the user's is neither used nor told.
                            {"WS_TOKEN", "wsk_mine_0000000000000000000000"},
                            {"WS_BASE_URL", "http://127.0.0.1:1"}},
            .folder = home.path()};
  }

  bool has_server() const {
    for (const auto& process : fs::directory_iterator("/proc")) {
      std::ifstream file(process.path() / "cmdline");
      const std::string words(std::istreambuf_iterator<char>(file), {});
      if (words.find(temporary.string()) != std::string::npos) return true;
    }
    return false;
  }

  /// No file, and no server; one whose parent was ended needs a moment.
  void check_nothing_is_left() const {
    for (int tries = 0; tries < 300 && has_server(); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK_FALSE(has_server());
    CHECK(fs::is_empty(temporary));
    CHECK(std::distance(fs::directory_iterator(home.path()), {}) == 1);
  }
};

}  // namespace

TEST_CASE("try: the story is played on a terminal of 80 columns, and nothing of it is left", "[cli]") {
  const Newcomer newcomer;
  Command played = newcomer.command({"try", "--yes", "--color", "never"});
  const Screen screen = run_on_terminal(played, 80, 24);
  INFO(screen.text);
  CHECK(screen.exit == 0);
  CHECK(widest_line(screen.text) <= 80);
  for (const char* said : {"1/8 A first sync",
                           "jonas$ ws sync",
                           "merged",
                           "(exit code 7)",
                           "ws sync resolve soup.md --keep mine",
                           "edited 1 link",
                           "This is run 9",
                           "(exit code 11)",
                           "8/8 A fault",
                           "bread.md"})
    CHECK_THAT(screen.text, Contains(said));
  // Mira's undo brought her line back, and left what Jonas wrote since.
  const std::string shown = screen.text.substr(screen.text.rfind("cat dinner/soup.md"));
  CHECK_THAT(shown, Contains("# Spicy soup") && Contains("- carrots"));
  newcomer.check_nothing_is_left();
}

TEST_CASE("try: it waits for Enter, and ends where somebody has seen enough", "[cli]") {
  const Newcomer newcomer;
  Command played = newcomer.command({"try"});
  played.input = "\n\nq\n";
  const Screen screen = run_on_terminal(played, 80, 24);
  CHECK(screen.exit == 0);
  CHECK_THAT(screen.text, Contains("2/8 A second person") && !Contains("3/8"));
  newcomer.check_nothing_is_left();
}

TEST_CASE("try: a signal, a reader that goes away, and a server that cannot start leave nothing", "[cli]") {
  const Newcomer newcomer;
  SECTION("SIGINT at each scene") {
    const std::string at = GENERATE("1/8", "3/8", "4/8", "7/8");
    Running running(newcomer.command({"try", "--yes"}));
    REQUIRE(running.wait_for(at));
    running.signal(SIGINT);
    CHECK(running.wait().exit == 130);
  }
  SECTION("a reader that goes away") {
    const Ended ended = run_command({.arguments = {"sh", "-c", program("ws") + " try --yes | head -n 3"},
                                     .environment = newcomer.command({}).environment,
                                     .folder = newcomer.home.path()});
    CHECK(ended.exit == 0);
  }
  SECTION("without ws-mock") {
    const fs::path alone = newcomer.temporary / "bin";
    fs::create_directories(alone);
    fs::copy_file(program("ws"), alone / "ws");
    Command command = newcomer.command({"try", "--yes"});
    command.arguments.front() = (alone / "ws").string();
    command.environment["PATH"] = "/usr/bin:/bin";
    const Ended ended = run_command(command);
    CHECK(ended.exit == 2);
    CHECK_THAT(ended.err, Contains("ws-mock is neither beside ws nor in PATH"));
    fs::remove_all(alone);
  }
  newcomer.check_nothing_is_left();
}

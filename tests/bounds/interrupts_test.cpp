// Ctrl-C and SIGTERM while the program computes: it ends at once, and the next run finds everything whole.
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/bounds/freezing_texts.hpp"
#include "tests/cli/workflow/stage.hpp"
#include "tests/support/hostile_server.hpp"

namespace ws::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// The program ends by itself a second after the signal; the rest is for a machine that others use too.
constexpr std::chrono::seconds at_once{6};

void end_by(Running& running, int signal) {
  const auto sent = steady_clock::now();
  running.signal(signal);
  CHECK(running.wait().exit == 128 + signal);
  CHECK(steady_clock::now() - sent < at_once);
}

}  // namespace

TEST_CASE("interrupts: a text that is rendered or searched by jq ends with the signal", "[bounds]") {
  // 16 MiB of marks: many seconds of cmark and of layout.
  const std::string text = repeated("*a_ `b` [c](d) ", std::size_t{16} << 20U);
  const HostileServer server([&](const Seen&) {
    return answer(200, "{\"id\":\"" + std::string(nobody) + "\",\"title\":\"t\",\"content\":\"" + text + "\"}");
  });
  const At person(server.origin());
  const int signal = GENERATE(SIGINT, SIGTERM);
  const auto command = GENERATE(std::vector<std::string>{"docs", "get", nobody, "--render"},
                                std::vector<std::string>{"docs", "get", nobody, "--jq", "[limit(1e9; repeat(1))]"});
  Running running(person.command(command));
  while (server.requests().empty()) std::this_thread::sleep_for(milliseconds{10});
  std::this_thread::sleep_for(milliseconds{300});
  end_by(running, signal);
}

TEST_CASE("interrupts: a sync that hashes and merges ends with the signal, and loses nothing", "[bounds]") {
  const MockProcess server;
  const Person mine(server);
  const Person theirs(server);
  const std::string source =
      text_at(parse(mine.ws({"sync", "init", "tree", "--yes", "--json"}, mine.home()).out), "source_id");
  const auto here = mine.home() / "tree";
  const std::string name = "paragraphs.md";
  std::string text;
  for (int i = 0; i < 1'000; ++i) text += "The paragraph of number " + std::to_string(i) + "\n\n";
  constexpr int documents = 2;
  const auto write_all = [&](const std::filesystem::path& folder, unsigned seed) {
    for (int i = 0; i < documents; ++i) {
      write_text(folder / (std::to_string(i) + name), seed == 0 ? text : shuffled_lines(text, seed));
    }
  };
  write_all(here, 0);
  REQUIRE(mine.ws({"sync"}, here).exit == 0);
  REQUIRE(theirs.ws({"sync", "init", "--source", source, "tree", "--yes"}, theirs.home()).exit == 0);
  const auto there = theirs.home() / "tree";
  REQUIRE(theirs.ws({"sync"}, there).exit == 0);
  write_all(there, 1);
  REQUIRE(theirs.ws({"sync"}, there).exit == 0);
  write_all(here, 2);
  const std::string edited = read_text(here / ("0" + name));
  // Wherever the signals fall: at the start, in the middle of the merges, at the end.
  for (const int after : {30, 300, 1000}) {
    Running running(mine.command({"sync"}, here));
    std::this_thread::sleep_for(milliseconds{after});
    const auto sent = steady_clock::now();
    running.signal(after == 300 ? SIGTERM : SIGINT);
    const int exit = running.wait().exit;
    CHECK((exit == 130 || exit == 143 || exit == 7));
    CHECK(steady_clock::now() - sent < at_once);
    CHECK(read_text(here / ("0" + name)) == edited);
  }
  CHECK(mine.ws({"sync"}, here).exit == 7);
  for (int i = 0; i < documents; ++i) CHECK(read_text(here / (std::to_string(i) + name)) == edited);
  CHECK(mine.ws({"sync", "resolve", "--all", "--keep", "local"}, here).exit == 0);
  CHECK(mine.ws({"sync"}, here).exit == 0);
  CHECK(theirs.ws({"sync"}, there).exit == 0);
  CHECK(texts_of(there) == texts_of(here));
}

}  // namespace ws::test

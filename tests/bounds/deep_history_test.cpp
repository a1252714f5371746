// Histories with trees of more levels than ws writes: refused with the bound by everything that reads them.
#include <string>

#include <catch2/catch.hpp>

#include "tests/bounds/freezing_texts.hpp"
#include "tests/cli/workflow/stage.hpp"
#include "tests/support/random_cases.hpp"

namespace ws::test {

TEST_CASE("bounds: log, restore and gc refuse a history with a tree of too many levels", "[bounds]") {
  const std::size_t levels = GENERATE(300U, number_from_environment("WS_BOUNDS", 0) > 0 ? 30'000U : 3'000U);
  const MockProcess server;
  const Person person(server);
  REQUIRE(person.ws({"sync", "init", "tree", "--yes"}, person.home()).exit == 0);
  const auto tree = person.home() / "tree";
  for (const char* text : {"one\n", "two\n"}) {
    write_text(tree / "a.md", text);
    REQUIRE(person.ws({"sync"}, tree).exit == 0);
  }
  const std::string commit =
      "commit refs/heads/main\ncommitter ws <ws@localhost> 1795000000 +0000\ndata 4\ndeep\n"
      "from refs/heads/main^0\nM 100644 inline " +
      repeated("d/", 2 * levels) + "x.md\ndata 5\ndeep\n\n";
  REQUIRE(run_command({.arguments = {"git", "-C", (tree / ".ws/history.git").string(), "fast-import", "--quiet"},
                       .input = commit})
              .exit == 0);
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"sync", "log"}, {"sync", "log", "a.md"}, {"sync", "restore", "a.md"}, {"sync", "gc"}}) {
    const Ended ended = person.ws(command, tree);
    CAPTURE(levels, command, ended.err);
    CHECK(ended.exit == 15);
    CHECK(ended.err.find("the history holds a tree of more than 200 levels") != std::string::npos);
    CHECK(ended.err.find("Move .ws/history.git out of the way") != std::string::npos);
  }
  CHECK(read_text(tree / "a.md") == "two\n");
  CHECK(person.ws({"sync"}, tree).exit == 0);
  // The way out that the message names.
  std::filesystem::rename(tree / ".ws/history.git", person.home() / "moved.git");
  for (const char* text : {"three\n", "four\n"}) {
    write_text(tree / "a.md", text);
    CHECK(person.ws({"sync"}, tree).exit == 0);
  }
  CHECK(person.ws({"sync", "restore", "a.md"}, tree).exit == 0);
  CHECK(read_text(tree / "a.md") == "three\n");
}

}  // namespace ws::test

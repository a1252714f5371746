// The last word of a command is its exit code: 0 alone says that all was done and that nothing is left to decide. One
// story with the real `ws`.
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/faults/fault_world.hpp"

using namespace ws::test;

namespace {

namespace fs = std::filesystem;

constexpr int done = 0;
constexpr int undecided = 7;  // an open conflict, or the guard
constexpr int partial = 13;

}  // namespace

TEST_CASE("exits: what a command left open or undone, its exit code says", "[processes]") {
  FaultWorld world;
  world.bind_trees();
  const auto exit_of = [&](const Words& arguments) {
    const Ended ended = world.ws(arguments);
    UNSCOPED_INFO(ended.out << ended.err);
    return ended.exit;
  };
  const auto undo_leaves = [&](const std::string& path, int exit) {
    const Ended ended = world.ws({"sync", "undo", "--json"});
    INFO(ended.out << ended.err);
    CHECK(ended.exit == exit);
    const auto told = nlohmann::json::parse(ended.out);
    CHECK(told.at("left").size() == (path.empty() ? 0 : 1));
    if (!path.empty()) CHECK(told.at("left").at(0).at("path") == path);
  };
  const auto write = [&](const fs::path& tree, const std::string& name, const std::string& text) {
    write_text(tree / name, "# " + name + "\n\n" + text + "\n");
  };
  const Words status = {"sync", "status", "--exit-code"};
  const Words run = {"sync", "run"};

  for (const char* const name : {"a.md", "b.md", "c.md", "d.md"}) write(world.tree, name, "one");
  CHECK(exit_of(status) == partial);
  CHECK(exit_of(run) == done);
  CHECK(exit_of(status) == done);

  // An undo that cannot take all of it back, and one that can.
  write(world.tree, "a.md", "two");
  write(world.tree, "b.md", "two");
  CHECK(exit_of(run) == done);
  write(world.tree, "b.md", "three");
  undo_leaves("b.md", partial);
  CHECK(exit_of(run) == done);
  write(world.tree, "c.md", "two");
  CHECK(exit_of(run) == done);
  undo_leaves("", done);

  // A conflict, until it is decided.
  REQUIRE(world.ws_there(run).exit == done);
  write(world.other, "c.md", "theirs");
  REQUIRE(world.ws_there(run).exit == done);
  write(world.tree, "c.md", "ours");
  CHECK(exit_of(run) == undecided);
  CHECK(exit_of(run) == undecided);
  CHECK(exit_of(status) == undecided);
  CHECK(exit_of({"sync", "resolve", "c.md", "--keep", "local"}) == done);
  CHECK(exit_of(run) == done);

  // More than half is gone, until that is confirmed.
  for (const char* const name : {"a.md", "b.md", "d.md"}) fs::remove(world.tree / name);
  CHECK(exit_of(run) == undecided);
  CHECK(exit_of({"sync", "run", "--yes"}) == undecided);
  CHECK(exit_of({"sync", "run", "--allow-deletes"}) == done);
  CHECK(exit_of(status) == done);
}

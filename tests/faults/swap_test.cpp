// The tree is changed while `ws` works in it: a folder is replaced by a link to the outside, a file by a link, a FIFO,
// a folder or another text, before each call of a pull, a restore and a resolve. Nothing outside changes, and the late
// edit is kept.
#include <functional>
#include <iostream>

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/faults/scenarios.hpp"
#include "tests/faults/stopped.hpp"

using namespace ws::test;
namespace fs = std::filesystem;

namespace {

constexpr long stops_in_ci = 3;  ///< per kind of swap; WS_FAULTS=all: every call
constexpr const char* late = "a late edit\n";

fs::path outside_of(const FaultWorld& world) { return world.tree.parent_path() / "outside"; }

/// Creates files outside with the same names and texts as those that the command is about to change.
void make_outside(const FaultWorld& world, const std::string& file) {
  fs::copy(
      world.tree / "folder", outside_of(world), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  write_text(outside_of(world) / file, read_text(world.tree / file));
}

Texts outside(const FaultWorld& world) {
  return snapshot_of(outside_of(world), [](const std::string&) { return true; });
}

/// Removes whatever is at `path`; it is kept beside the tree.
void make_way(const FaultWorld& world, const fs::path& path) {
  std::error_code ignored;
  fs::create_directories(world.tree.parent_path() / "aside");
  fs::rename(path, world.tree.parent_path() / "aside" / path.filename(), ignored);
}

struct Swap {
  std::string name = {};
  std::function<void(const FaultWorld&)> act = {};
};

std::vector<Swap> every_swap(const std::string& file) {
  const auto edit = [file](const FaultWorld& world) { return world.tree / file; };
  return {
      {"the folder becomes a link",
       [](const FaultWorld& world) {
         make_way(world, world.tree / "folder");
         fs::create_directory_symlink(outside_of(world), world.tree / "folder");
       }},
      {"the folder to be becomes a link",
       [](const FaultWorld& world) {
         make_way(world, world.tree / "renamed");
         fs::create_directory_symlink(outside_of(world), world.tree / "renamed");
       }},
      {"the file becomes a link",
       [edit, file](const FaultWorld& world) {
         make_way(world, edit(world));
         fs::create_symlink(outside_of(world) / file, edit(world));
       }},
      {"the file becomes a fifo",
       [edit](const FaultWorld& world) {
         make_way(world, edit(world));
         ::mkfifo(edit(world).c_str(), 0600);
       }},
      {"the file becomes a folder",
       [edit](const FaultWorld& world) {
         make_way(world, edit(world));
         write_text(edit(world) / "in.md", late);
       }},
      {"a late edit", [edit](const FaultWorld& world) { write_text(edit(world), late); }},
      {"a late edit by rename",
       [edit, file](const FaultWorld& world) {
         write_text(world.tree / (file + ".new"), late);
         fs::rename(world.tree / (file + ".new"), edit(world));
       }},
  };
}

/// Runs the command, stops it before call number `point`, and calls `swap`. Returns false if the command ended before.
bool run_with(const FaultWorld& world, const Words& arguments, long point, const Swap& swap, Ended& ended) {
  const TemporaryFolder logs;
  Command command = world.command(arguments, {.point = point, .mode = "stop-before", .reads = true}, logs / "log");
  Running running(command);
  const bool stopped = is_stopped(running.pid());
  if (stopped) {
    swap.act(world);
    running.signal(SIGCONT);
  }
  ended = running.wait();
  return stopped;
}

void check_kept(const FaultWorld& world, const Undisturbed& undisturbed, const Swap& swap) {
  std::set<std::string> kept = world.kept();
  if (swap.name.starts_with("a late edit")) CHECK(kept.contains(late));
  for (const auto& [path, text] : texts_of(world.tree.parent_path())) kept.insert(text);  // what was moved aside
  for (const std::string& text : undisturbed.before) {
    CAPTURE(text);
    CHECK(kept.contains(text));
  }
}

/// A sample that always includes the point right before the file is replaced, after the last check.
std::set<long> stops_at(const Words& calls, const std::string& file, unsigned seed) {
  const std::vector<long> sample = spread(static_cast<long>(calls.size()), stops_in_ci, seed);
  std::set<long> points(sample.begin(), sample.end());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].starts_with("rename") && calls[i].ends_with("/" + file)) points.insert(static_cast<long>(i) + 1);
  }
  return points;
}

/// For a scenario with one step, which works on `file`.
void swap_everywhere(const std::string& name, const std::string& file) {
  if (!shim_works()) {
    WARN("skipped: this machine has no seccomp, or is no x86-64");
    return;
  }
  const Scenario& scenario = scenario_named(name);
  FaultWorld world;
  const Undisturbed undisturbed = run_undisturbed(world, scenario);
  std::set<int> expected_again = scenario.steps[0].again;
  expected_again.insert({0, 7, 13, 14});
  world.reset();
  const Words arguments = arguments_of(world, scenario.steps[0]);
  const Words calls = world.ws(arguments, {.reads = true}).calls;
  world.reset();
  make_outside(world, file);
  const Texts before = outside(world);
  long swaps = 0;
  for (const Swap& swap : every_swap(file)) {
    for (const long point : stops_at(calls, file, fault_seed() + static_cast<unsigned>(swaps))) {
      CAPTURE(name, swap.name, point, calls[static_cast<std::size_t>(point) - 1], fault_seed());
      world.reset();
      fs::remove_all(world.tree.parent_path() / "aside");
      Ended ended;
      // A run makes one call less if a folder of the history already exists.
      if (!run_with(world, arguments, point, swap, ended)) continue;
      CAPTURE(ended.out, ended.err);
      CHECK(std::set<int>{0, 7, 13, 14}.contains(ended.exit));
      CHECK(outside(world) == before);
      const Ended again = world.ws(arguments);
      CAPTURE(again.out, again.err);
      CHECK(expected_again.contains(again.exit));
      CHECK(outside(world) == before);
      check_kept(world, undisturbed, swap);
      ++swaps;
    }
  }
  CHECK(swaps > 0);
  std::cout << name << ": swaps: " << swaps << " at " << calls.size() << " points\n";
}

}  // namespace

TEST_CASE("swaps: whatever takes a place during a pull, nothing outside changes and nothing is lost",
          "[faults][swaps]") {
  swap_everywhere("pull", "edit.md");
}
TEST_CASE("swaps: the same while a conflict ends for the remote text", "[faults][swaps]") {
  swap_everywhere("resolve remote", "clash.md");
}
TEST_CASE("swaps: the same in a restore", "[faults][swaps]") { swap_everywhere("restore", "edit.md"); }

TEST_CASE("swaps: what is ours in .ws replaced by a link leads nowhere", "[faults][swaps]") {
  FaultWorld world;
  const Scenario& scenario = scenario_named("pull");
  scenario.prepare(world);
  world.save();
  for (const char* name : {"", "tmp", "lock"}) {
    CAPTURE(name);
    world.reset();
    fs::remove_all(outside_of(world));
    const fs::path ours = (world.tree / ".ws" / name).parent_path() / (*name == '\0' ? "" : name);
    const fs::path place = *name == '\0' ? world.tree / ".ws" : ours;
    fs::rename(place, outside_of(world));
    fs::create_symlink(outside_of(world), place);
    const Texts before = texts_of(world.tree);
    // The lock and the database are opened before the tree is read.
    const auto all = [](const std::string& path) { return !path.starts_with("state.db") && path != "lock"; };
    const bool folder = fs::is_directory(outside_of(world));
    const Texts there = folder ? snapshot_of(outside_of(world), all) : Texts{};
    const Ended ended = world.ws({"sync", "pull"});
    CAPTURE(ended.out, ended.err);
    CHECK(ended.exit == 14);
    CHECK(texts_of(world.tree) == before);
    if (folder) CHECK(snapshot_of(outside_of(world), all) == there);
  }
}

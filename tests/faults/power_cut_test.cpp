// The power goes: what is on the disk then is taken from under a mounted ext4 at every sync point, with the mount
// options that promise least, and `ws sync` is run on it. Nothing empty or torn is ever taken for an edit.
#include <algorithm>
#include <iostream>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "tests/faults/scenarios.hpp"
#include "tests/faults/stopped.hpp"

using namespace ws::test;
namespace fs = std::filesystem;

namespace {

constexpr long power_cuts_in_ci = 10;  ///< of one scenario; WS_FAULTS=all: every one

/// A small ext4 in a file, mounted so that a rename may overtake the bytes that it names.
class Disk {
 public:
  Disk() {
    fs::create_directories(mount_point());
    const std::string make = "truncate -s 16M " + image().string() + " && mkfs.ext4 -q -b 1024 " + image().string();
    works_ = ::geteuid() == 0 && run_command({.arguments = {"sh", "-c", make}}).exit == 0 && mount(image());
  }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  ~Disk() { unmount(); }

  bool works() const { return works_; }
  fs::path mount_point() const { return folder_ / "disk"; }
  fs::path image() const { return folder_ / "image"; }
  /// What a power cut at this moment would leave.
  fs::path copy(const std::string& name) const {
    const fs::path to = folder_ / name;
    run_command({.arguments = {"cp", "--sparse=always", image(), to}});
    return to;
  }
  bool mount(const fs::path& which) {
    const Ended ended = run_command(
        {.arguments = {"mount", "-o", "loop,noauto_da_alloc,data=writeback,commit=300", which, mount_point()}});
    mounted_ = ended.exit == 0;
    return mounted_;
  }
  void unmount() {
    if (mounted_) run_command({.arguments = {"umount", mount_point()}});
    mounted_ = false;
  }

 private:
  TemporaryFolder folder_;
  bool works_ = false;
  bool mounted_ = false;
};

/// Runs the step; at every sync point, before it and after it, the disk and the service are kept as they are then.
std::vector<fs::path> cut_at_every_flush(FaultWorld& world, Disk& disk, const ScenarioStep& step) {
  std::vector<fs::path> copies;
  const TemporaryFolder logs;
  Running running(world.command(arguments_of(world, step), {.mode = "stop-flushes"}, logs / "calls"));
  while (is_stopped(running.pid())) {
    const std::string name = "cut-" + std::to_string(copies.size());
    copies.push_back(disk.copy(name));
    world.control("PUT", "snapshots/" + name);
    running.signal(SIGCONT);
  }
  CHECK(running.wait().exit == step.exit);
  return copies;
}

void power_cut_everywhere(const std::string& name) {
  Disk disk;
  if (!disk.works() || !shim_works()) {
    WARN("skipped: loop mounts, or seccomp on x86-64, are not to be had here");
    return;
  }
  const Scenario& scenario = scenario_named(name);
  FaultWorld world(disk.mount_point());
  const Undisturbed undisturbed = run_undisturbed(world, scenario);
  world.reset();
  run_command({.arguments = {"sync"}});
  const std::vector<fs::path> copies = cut_at_every_flush(world, disk, scenario.steps[0]);
  disk.unmount();
  REQUIRE(copies.size() >= 10);
  const std::vector<long> chosen = spread(static_cast<long>(copies.size()), power_cuts_in_ci, fault_seed());
  for (const long place : chosen) {
    const fs::path& copy = copies[static_cast<std::size_t>(place) - 1];
    CAPTURE(name, place, copies.size(), fault_seed());
    world.control("POST", "snapshots/" + copy.filename().string() + ":restore");
    REQUIRE(disk.mount(copy));
    CHECK(wrong_at_once(world, undisturbed) == Words{});
    CHECK(wrong_after_rerun(world, scenario, undisturbed, 0) == Words{});
    disk.unmount();
  }
  std::cout << name << ": " << copies.size() << " copies at " << copies.size() / 2 << " sync points, " << chosen.size()
            << " tried\n";
}

}  // namespace

TEST_CASE("a power cut in a pull", "[faults][power]") { power_cut_everywhere("pull"); }
TEST_CASE("a power cut in a run with everything, a conflict too", "[faults][power]") { power_cut_everywhere("run"); }
TEST_CASE("a power cut while a conflict ends for the remote text", "[faults][power]") {
  power_cut_everywhere("resolve remote");
}
TEST_CASE("a power cut in a restore", "[faults][power]") { power_cut_everywhere("restore"); }

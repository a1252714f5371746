// Power cuts: at every sync point the image of a mounted ext4 is copied, with the mount options that guarantee least,
// and `ws sync` is run on the copy. An empty or torn file is never treated as an edit.
#include <algorithm>
#include <iostream>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "tests/faults/scenarios.hpp"
#include "tests/faults/stopped.hpp"

using namespace ws::test;
namespace fs = std::filesystem;

namespace {

constexpr long power_cuts_in_ci = 3;  ///< per scenario; WS_FAULTS=all: every point

/// A small ext4 in a file, mounted so that a rename can reach the disk before the renamed file's data.
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
  /// The image as a power cut at this moment would leave it.
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

/// Runs the step; before and after every sync point, and at the end, saves the disk image and the service's state.
std::vector<fs::path> cut_at_every_flush(FaultWorld& world, Disk& disk, const ScenarioStep& step) {
  std::vector<fs::path> copies;
  const auto keep = [&] {
    const std::string name = "cut-" + std::to_string(copies.size());
    copies.push_back(disk.copy(name));
    world.control("PUT", "snapshots/" + name);
  };
  const TemporaryFolder logs;
  Running running(world.command(arguments_of(world, step), {.mode = "stop-flushes"}, logs / "calls"));
  while (is_stopped(running.pid())) {
    keep();
    running.signal(SIGCONT);
  }
  CHECK(running.wait().exit == step.exit);
  keep();
  return copies;
}

/// After the power cut, run the same command again; or first edit the files once more, after any cut or only after the
/// end of the run. There is no other writer.
enum class AfterCut { again, edits, edits_at_the_end };

struct PowerCut {
  const Scenario& scenario;
  const Undisturbed& undisturbed;
  std::size_t step = 0;
  AfterCut then = AfterCut::again;
};

void check_after(FaultWorld& world, const PowerCut& cut) {
  CHECK(wrong_at_once(world, cut.undisturbed) == Words{});
  if (cut.then == AfterCut::again) {
    CHECK(wrong_after_rerun(world, cut.scenario, cut.undisturbed, cut.step) == Words{});
  } else {
    CHECK(wrong_after_edits(world) == Words{});
  }
}

/// The numbers of the copies to test: a sample, and always the last.
std::set<long> chosen_of(long copies, AfterCut then) {
  if (then == AfterCut::edits_at_the_end) return {copies};
  const std::vector<long> sample = spread(copies, power_cuts_in_ci, fault_seed());
  std::set<long> chosen(sample.begin(), sample.end());
  chosen.insert(copies);
  return chosen;
}

void power_cut_everywhere(const std::string& name, AfterCut then = AfterCut::again) {
  Disk disk;
  if (!disk.works() || !shim_works()) {
    WARN("skipped: loop mounts, or seccomp on x86-64, are not to be had here");
    return;
  }
  const Scenario& scenario = scenario_named(name);
  FaultWorld world(disk.mount_point());
  const Undisturbed undisturbed = run_undisturbed(world, scenario);
  for (std::size_t step = 0; step < scenario.steps.size(); ++step) {
    if (step > 0) REQUIRE(disk.mount(disk.image()));
    world.reset();
    for (std::size_t i = 0; i < step; ++i)
      REQUIRE(world.ws(arguments_of(world, scenario.steps[i])).exit == scenario.steps[i].exit);
    run_command({.arguments = {"sync"}});
    const std::vector<fs::path> copies = cut_at_every_flush(world, disk, scenario.steps[step]);
    disk.unmount();
    const auto last = static_cast<long>(copies.size());
    REQUIRE(last > 1);
    const std::set<long> chosen = chosen_of(last, then);
    for (const long place : chosen) {
      const fs::path& copy = copies[static_cast<std::size_t>(place) - 1];
      CAPTURE(name, step, place, last, fault_seed());
      world.control("POST", "snapshots/" + copy.filename().string() + ":restore");
      REQUIRE(disk.mount(copy));
      check_after(world, {scenario, undisturbed, step, then});
      disk.unmount();
    }
    std::cout << name << ": " << last << " copies at " << last / 2 << " sync points, " << chosen.size() << " tried\n";
    for (const fs::path& copy : copies) fs::remove(copy);
  }
}

}  // namespace

TEST_CASE("a power cut in init", "[faults][power]") { power_cut_everywhere("init"); }
TEST_CASE("a power cut in a pull", "[faults][power]") { power_cut_everywhere("pull"); }
TEST_CASE("a power cut in a push and its commit", "[faults][power]") { power_cut_everywhere("push"); }
TEST_CASE("a power cut in a run with everything, a conflict too", "[faults][power]") { power_cut_everywhere("run"); }
TEST_CASE("a power cut while a conflict ends for the remote text", "[faults][power]") {
  power_cut_everywhere("resolve remote");
}
TEST_CASE("a power cut while a conflict ends with both texts", "[faults][power]") {
  power_cut_everywhere("resolve both");
}
TEST_CASE("a power cut while the history is cleaned up: what stays is whole", "[faults][power]") {
  power_cut_everywhere("gc");
}
TEST_CASE("a power cut in a run, then edits: nobody collides with themselves", "[faults][power]") {
  power_cut_everywhere("alone", AfterCut::edits);
}
TEST_CASE("a power cut right after a pull, then edits: what it brought is known to be from there", "[faults][power]") {
  power_cut_everywhere("pull", AfterCut::edits_at_the_end);
}
TEST_CASE("a power cut in an undo that makes many files", "[faults][power]") { power_cut_everywhere("undo of many"); }
TEST_CASE("a power cut in a restore", "[faults][power]") { power_cut_everywhere("restore"); }

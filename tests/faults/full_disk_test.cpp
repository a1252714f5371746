// A disk without room for one document of a pull: the others are written, that one is reported, and once there is room
// the same command completes the pull.
#include <random>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tests/faults/scenarios.hpp"

using namespace ws::test;
using Catch::Matchers::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t large_bytes = 900'000;
constexpr std::uintmax_t room_bytes = 600'000;  ///< free space left; enough for the growth of history and state

/// A small file system in memory.
class SmallDisk {
 public:
  SmallDisk() {
    fs::create_directories(path());
    const Ended ended = run_command({.arguments = {"mount", "-t", "tmpfs", "-o", "size=8M", "tmpfs", path()}});
    works_ = ::geteuid() == 0 && ended.exit == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (works_) run_command({.arguments = {"umount", path()}});
  }

  bool works() const { return works_; }
  fs::path path() const { return folder_ / "small"; }
  void fill(std::uintmax_t room = room_bytes) const {
    struct statvfs status {};
    REQUIRE(::statvfs(path().c_str(), &status) == 0);
    const std::uintmax_t left = std::uintmax_t{status.f_bavail} * status.f_frsize;
    REQUIRE(left > room);
    write_text(path() / "ballast", std::string(left - room, 'b'));
  }
  void make_room() const { fs::remove(path() / "ballast"); }

 private:
  TemporaryFolder folder_;
  bool works_ = false;
};

/// Many equal lines; or random words, which the history cannot compress to fit on the disk.
std::string large_text(bool of_chance) {
  if (!of_chance) return std::string(large_bytes, '=');
  std::mt19937 chance(fault_seed());
  std::string text;
  while (text.size() < large_bytes) {
    text += static_cast<char>(' ' + chance() % 95);
    if (text.size() % 80 == 0) text += '\n';
  }
  return text;
}

}  // namespace

TEST_CASE("a full disk: one document has no room, the others come, and it follows once there is room",
          "[faults][errors]") {
  const SmallDisk disk;
  if (!disk.works()) {
    WARN("skipped: a tmpfs cannot be mounted here");
    return;
  }
  const bool of_chance = GENERATE(false, true);
  CAPTURE(of_chance);
  FaultWorld world(disk.path());
  world.bind_trees();
  write_text(world.tree / "edit.md", "old\n");
  REQUIRE(world.ws({"sync"}).exit == 0);
  REQUIRE(world.ws_there({"sync"}).exit == 0);
  write_text(world.other / "edit.md", "new\n");
  write_text(world.other / "a.md", "before it\n");
  write_text(world.other / "large.md", large_text(of_chance));
  write_text(world.other / "z.md", "after it\n");
  REQUIRE(world.ws_there({"sync"}).exit == 0);
  const Texts all = texts_of(world.other);
  Texts small = all;
  small.erase("large.md");

  disk.fill();
  for (int run = 0; run < 2; ++run) {
    const Ended ended = world.ws({"sync", "--json"});
    CAPTURE(run, ended.out, ended.err);
    CHECK(ended.exit == 13);
    CHECK(texts_of(world.tree) == small);
    CHECK(world.served() == all);
    CHECK_THAT(ended.out, Contains("large.md") && Contains("No space left on device"));
    CHECK(fs::is_empty(world.tree / ".ws" / "tmp"));
  }
  disk.make_room();
  const Ended completed = world.ws({"sync"});
  CAPTURE(completed.out, completed.err);
  CHECK(completed.exit == 0);
  CHECK(texts_of(world.tree) == all);
  CHECK(world.ws({"sync"}).out.empty());
  CHECK(world.served() == all);
}

TEST_CASE(
    "a full disk: what a sync received is no part of the rename that comes after it, and a rename says what it knows",
    "[faults][errors]") {
  const SmallDisk disk;
  if (!disk.works()) {
    WARN("skipped: a tmpfs cannot be mounted here");
    return;
  }
  FaultWorld world(disk.path());
  world.bind_trees();
  write_text(world.tree / "a.md", "a\n");
  REQUIRE(world.ws({"sync"}).exit == 0);
  REQUIRE(world.ws_there({"sync"}).exit == 0);
  for (std::uintmax_t room = 60; room <= 132; room += 8) {
    const std::string kib = std::to_string(room);
    for (const char* name : {"x.md", "y.md", "z.md"}) write_text(world.other / name, kib + "\n");
    REQUIRE(world.ws_there({"sync"}).exit == 0);
    write_text(world.tree / ("t" + kib + ".md"), "t\n");
    disk.fill(room * 1024);
    static_cast<void>(world.ws({"sync"}));
    const Ended moved = world.ws({"sync", "mv", "t" + kib + ".md", "u" + kib + ".md", "--json"});
    disk.make_room();
    CAPTURE(room, moved.out, moved.err);
    if (moved.exit != 0 && fs::exists(world.tree / ("u" + kib + ".md")))
      CHECK_THAT(moved.err, !Contains("\"applied\":\"no\""));
    REQUIRE(world.ws({"sync"}).exit == 0);
    for (const json& run : json::parse(world.ws({"sync", "log", "--runs", "--json"}).out)["data"]) {
      CAPTURE(run.dump());
      if (run["command"].get<std::string>().find(" mv ") != std::string::npos)
        CHECK(run.dump().find("received") == std::string::npos);
    }
    REQUIRE(world.ws_there({"sync"}).exit == 0);
  }
}

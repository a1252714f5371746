// Whatever the moment at which a run ends, the next one finishes it: no text lost, no false conflict, nothing twice.
#include <functional>

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

using test::FakeRemote;
using test::SyncedFolder;
using test::Tree;

/// A tree with one of everything to do, on both sides.
void prepare(FakeRemote& remote, SyncedFolder& here) {
  for (const char* name : {"same.md", "push.md", "pull.md", "gone-here.md", "gone-there.md", "moved.md", "merged.md"}) {
    here.write(name, std::string(name) + "\none\ntwo\nthree\n");
  }
  here.write("swap-a.md", "a\n");
  here.write("swap-b.md", "b\n");
  here.write("nest-m.md", "m\n");
  here.write("nest-n.md", "n\n");
  for (const char* name : {"empty.md", "q.md", "p.md"}) here.write(name, "alike\n");
  here.run();
  here.write("push.md", "pushed\n");
  here.write("new-here.md", "new here\n");
  here.write("merged.md", "MERGED\none\ntwo\nthree\n");
  here.remove("gone-here.md");
  remote.edit("merged.md", "merged.md\none\ntwo\nTHREE\n");
  remote.edit("pull.md", "pulled\n");
  remote.create("new/there.md", "new there\n");
  remote.archive("gone-there.md");
  remote.move("moved.md", "elsewhere/moved.md");
  remote.move("swap-a.md", "x.md");
  remote.move("swap-b.md", "swap-a.md");
  remote.move("x.md", "swap-b.md");
  // Each becomes a folder above the other.
  remote.move("nest-m.md", "x.md");
  remote.move("nest-n.md", "nest-m.md/nest-n.md");
  remote.move("x.md", "nest-n.md/nest-m.md");
  // The same text comes to the place that it leaves.
  remote.move("empty.md", "empty-2.md");
  remote.create("empty.md", "alike\n");
  remote.move("q.md", "r.md");
  remote.move("p.md", "q.md");
}

const Tree expected = {{"same.md", "same.md\none\ntwo\nthree\n"},
                       {"push.md", "pushed\n"},
                       {"pull.md", "pulled\n"},
                       {"elsewhere/moved.md", "moved.md\none\ntwo\nthree\n"},
                       {"merged.md", "MERGED\none\ntwo\nTHREE\n"},
                       {"new-here.md", "new here\n"},
                       {"new/there.md", "new there\n"},
                       {"nest-m.md/nest-n.md", "n\n"},
                       {"nest-n.md/nest-m.md", "m\n"},
                       {"empty.md", "alike\n"},
                       {"empty-2.md", "alike\n"},
                       {"q.md", "alike\n"},
                       {"r.md", "alike\n"},
                       {"swap-a.md", "b\n"},
                       {"swap-b.md", "a\n"}};

void check_finished(FakeRemote& remote, SyncedFolder& here) {
  const Report finished = here.run();
  CAPTURE(test::lines(finished));
  CHECK(finished.clean);
  CHECK(finished.conflicts.empty());
  CHECK(here.tree() == expected);
  CHECK(remote.tree() == expected);
  CHECK(remote.conflicts().empty());
  CHECK(here.run().rows.empty());
}

}  // namespace

TEST_CASE("engine: a request that fails, before or after it took effect, is made good by the next run",
          "[sync-engine]") {
  const bool after = GENERATE(false, true);
  for (int point = 0;; ++point) {
    CAPTURE(point, after);
    FakeRemote remote;
    SyncedFolder here(remote);
    prepare(remote, here);
    int count = 0;
    bool met = false;
    remote.fault = [&](const std::string&, bool is_after) -> std::optional<Failure> {
      if (is_after != after || count++ != point) return std::nullopt;
      met = true;
      return Failure{.kind = after ? Failure::Kind::unknown_outcome : Failure::Kind::unreachable, .what = "cut"};
    };
    const auto cut = here.engine().run();
    if (cut) CHECK(cut->ended_by.has_value() == met);
    remote.fault = {};
    check_finished(remote, here);
    if (!met) break;
  }
}

TEST_CASE("engine: killed at any step on disk, the next run ends where an undisturbed one does", "[sync-engine]") {
  for (int point = 1;; ++point) {
    CAPTURE(point);
    FakeRemote remote;
    SyncedFolder here(remote);
    prepare(remote, here);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      int steps = 0;
      EngineOptions options;
      options.threads = 1;
      options.progress = [&](const Progress& progress) {
        // As SIGKILL: nothing is unwound. The service is this process's own copy, so only its reads may have happened.
        if (progress.stage == Stage::write && ++steps == point) ::_exit(1);
        if (progress.stage == Stage::push || progress.stage == Stage::commit) ::_exit(2);
      };
      static_cast<void>(here.engine(std::move(options)).run());
      ::_exit(3);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    check_finished(remote, here);
    REQUIRE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 2) break;  // every step on disk has had its turn
    REQUIRE(WEXITSTATUS(status) == 1);
    REQUIRE(point < 100);
  }
}

TEST_CASE("engine: an answer to a commit that was lost makes nothing twice", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  remote.fault = [](const std::string& request, bool after) -> std::optional<Failure> {
    if (request != "commit" || !after) return std::nullopt;
    return Failure{.kind = Failure::Kind::unknown_outcome, .what = "no answer"};
  };
  const Report lost = here.run();
  REQUIRE(lost.ended_by);
  CHECK(lost.ended_by->kind == Failure::Kind::unknown_outcome);
  remote.fault = {};
  const Report again = here.run();
  CHECK(test::lines(again) == std::vector<std::string>{"push_create a.md"});  // it is told, by whichever run knows
  CHECK(again.clean);
  CHECK(remote.tree() == Tree{{"a.md", "a\n"}});
}

TEST_CASE("engine: an edit made after a commit whose answer was lost is an edit, not a conflict", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  remote.fault = [](const std::string& request, bool after) -> std::optional<Failure> {
    if (request != "commit" || !after) return std::nullopt;
    return Failure{.kind = Failure::Kind::unknown_outcome, .what = "no answer"};
  };
  here.run();
  remote.fault = {};
  here.write("a.md", "edited since\n");
  const Report again = here.run();
  CHECK(test::lines(again) == std::vector<std::string>{"push_create a.md", "push_update a.md"});
  CHECK(again.clean);
  CHECK(remote.tree() == Tree{{"a.md", "edited since\n"}});
}

TEST_CASE("engine: three trees with random edits converge, and no text is lost", "[sync-engine][property]") {
  SeededRandom random(42);
  for (int world = 0; world < 12; ++world) {
    CAPTURE(world);
    FakeRemote remote;
    SyncedFolder a(remote, 1);
    SyncedFolder b(remote, 2);
    SyncedFolder c(remote, 3);
    SyncedFolder* folders[] = {&a, &b, &c};
    int next = 0;
    for (int step = 0; step < 15; ++step) {
      SyncedFolder& folder = *folders[random.below(3)];
      const std::string name = std::string(1, static_cast<char>('a' + random.below(4))) + ".md";
      switch (random.below(4)) {
        case 0: folder.write(name, "text " + std::to_string(next++) + "\n"); break;
        case 1: folder.write("d/" + name, "text " + std::to_string(next++) + "\n"); break;
        case 2:
          if (folder.read(name)) folder.remove(name);
          break;
        default: folder.run({.on_conflict = Keep::both, .allow_deletes = true});
      }
    }
    for (int round = 0; round < 3; ++round) {
      for (SyncedFolder* folder : folders) folder->run({.on_conflict = Keep::both, .allow_deletes = true});
    }
    CHECK(a.tree() == remote.tree());
    CHECK(b.tree() == remote.tree());
    CHECK(c.tree() == remote.tree());
    for (SyncedFolder* folder : folders) CHECK(folder->run().rows.empty());
  }
}

}  // namespace ws::sync

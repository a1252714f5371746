// What the service will not take, or should not be believed: told, kept, and never asked for again and again.
#include <utility>

#include <catch2/catch.hpp>

#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

using test::FakeRemote;
using test::lines;
using test::Lines;
using test::SyncedFolder;
using test::Tree;

/// A folder with three documents, in step.
struct ThreeFiles {
  FakeRemote remote;
  SyncedFolder here{remote};
  ThreeFiles() {
    for (const char* file : {"a.md", "b.md", "c.md"}) here.write(file, std::string(file) + "\n");
    here.run();
    remote.requests.clear();
  }
};

}  // namespace

TEST_CASE("refusals: a document that the service takes from nobody here is detached, and not sent again",
          "[sync-engine]") {
  const std::string code = GENERATE("forbidden", "not_found", "gone");
  CAPTURE(code);
  ThreeFiles three;
  auto& [remote, here] = three;
  remote.refused["a.md"] = code;
  here.write("a.md", "mine\n");
  here.write("b.md", "edited\n");
  const Report first = here.run();
  REQUIRE(first.rows.size() == 2);
  CHECK(first.rows[0].state == Row::State::failed);
  CHECK(first.rows[0].error->code == "cannot_push");
  CHECK(first.rows[1].state == Row::State::done);
  CHECK(remote.text_at("b.md") == "edited\n");

  const std::size_t pushes = remote.times_asked("push");
  const Report second = here.run();
  CHECK(second.rows.empty());
  REQUIRE(second.detached.size() == 1);
  CHECK(second.detached[0].path.text() == "a.md");
  CHECK(second.detached[0].reason == "refused");
  CHECK(remote.times_asked("push") == pushes);
  CHECK(here.read("a.md") == "mine\n");
  CHECK(remote.text_at("a.md") == "a.md\n");

  SECTION("deleted here: nothing of it is deleted there") {
    here.remove("a.md");
    here.run();
    CHECK(here.run().rows.empty());
    CHECK(remote.text_at("a.md") == "a.md\n");
  }
  SECTION("a new text is tried once, and goes where it is allowed again") {
    here.write("a.md", "mine again\n");
    CHECK(here.run().rows.size() == 1);
    CHECK(here.run().rows.empty());
    remote.refused.clear();
    CHECK(here.run().rows.empty());
    here.write("a.md", "at last\n");
    CHECK(lines(here.run()) == Lines{"push_update a.md"});
    CHECK(remote.text_at("a.md") == "at last\n");
    CHECK(here.run().detached.empty());
  }
  SECTION("archived there it is a conflict like any other") {
    remote.archive("a.md");
    const Report report = here.run();
    REQUIRE(report.conflicts.size() == 1);
    CHECK(report.conflicts[0].kind() == ConflictKind::edit_delete);
    CHECK(here.read("a.md") == "mine\n");
  }
}

TEST_CASE("refusals: an edit that was refused is told for as long as it is, by every run", "[sync-engine]") {
  ThreeFiles three;
  auto& [remote, here] = three;
  remote.refused["a.md"] = "forbidden";
  here.write("a.md", "mine\n");
  CHECK(here.run().rows.size() == 1);
  for (int run = 0; run < 3; ++run) {
    CHECK(here.run().detached.size() == 1);
    CHECK(here.status().detached.size() == 1);
  }
}

TEST_CASE("refusals: a document with a dangerous name is told by every run, until it has another", "[sync-engine]") {
  ThreeFiles three;
  auto& [remote, here] = three;
  const std::string nul = std::string("n") + '\0' + ".md";
  remote.ignores_filter = GENERATE(false, true);
  remote.create("../out.md", "outside\n");
  remote.create(nul, "cut\n");
  const std::vector<Skipped> both{{"../out.md", SkipReason::dangerous_name}, {nul, SkipReason::dangerous_name}};
  CHECK(here.status().skipped == both);  // which writes nothing
  CHECK(here.run().skipped == both);
  CHECK(here.run().skipped == both);
  CHECK(here.status({.offline = true}).skipped == both);
  CHECK(here.status().clean);
  here.write("a.md", "edited\n");
  CHECK(here.status({.offline = true}).skipped == both);
  CHECK(here.run().skipped == both);

  remote.move("../out.md", "in.md");
  const Report moved = here.run();
  CHECK(lines(moved) == Lines{"pull_create in.md"});
  CHECK(moved.skipped == std::vector<Skipped>{both[1]});
  remote.archive(nul);
  CHECK(here.run().skipped.empty());
  CHECK(here.status().skipped.empty());
}

TEST_CASE("refusals: a document without a place is told by its id until it has one", "[sync-engine]") {
  ThreeFiles three;
  auto& [remote, here] = three;
  const std::string id = remote.create("", "text\n");
  CHECK(here.run().skipped == std::vector<Skipped>{{id, SkipReason::no_path}});
  CHECK(here.status().skipped.size() == 1);
  remote.move("", "d.md");
  CHECK(lines(here.run()) == Lines{"pull_create d.md"});
  CHECK(here.run().skipped.empty());
}

TEST_CASE("refusals: a known document that gets a dangerous name stays where it is, and is told", "[sync-engine]") {
  ThreeFiles three;
  auto& [remote, here] = three;
  remote.move("a.md", ".git/config");
  for (int run = 0; run < 2; ++run) {
    const Report report = here.run();
    CHECK(report.rows.empty());
    CHECK(report.skipped == std::vector<Skipped>{{".git/config", SkipReason::dangerous_name}});
    CHECK(here.read("a.md") == "a.md\n");
  }
  remote.move(".git/config", "d.md");
  CHECK(lines(here.run()) == Lines{"pull_move d.md"});
  CHECK(here.run().skipped.empty());
}

TEST_CASE("refusals: an answer for another source stops at the guard, whatever it says", "[sync-engine]") {
  ThreeFiles three;
  auto& [remote, here] = three;
  here.write("a.md", "mine\n");
  remote.edit("b.md", "theirs\n");
  remote.archive("c.md");
  remote.answers_for = "01900000-0000-7000-8000-00000000ffff";
  const Tree before = here.tree();
  for (int run = 0; run < 2; ++run) {
    const Report report = here.run();
    REQUIRE(report.guard);
    CHECK(report.guard->foreign_source);
    CHECK_FALSE(report.clean);
    CHECK(report.rows.empty());
    CHECK(here.tree() == before);
    CHECK(remote.text_at("a.md") == "a.md\n");
  }
  CHECK(here.status().guard);
  SECTION("it was a mistake: nothing of it was taken over") {
    remote.answers_for.clear();
    CHECK(here.run().clean);
  }
  SECTION("confirmed, it goes on") { CHECK(here.run({.allow_deletes = true}).clean); }
  CHECK(here.tree() == Tree{{"a.md", "mine\n"}, {"b.md", "theirs\n"}});
  CHECK(remote.tree() == here.tree());
}

TEST_CASE("refusals: a listing of nothing stops at the guard, for a single document too", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  here.run();
  remote.ignores_filter = true;
  remote.hidden = {"a.md"};
  const Report report = here.run();
  REQUIRE(report.guard);
  CHECK(report.guard->empty_listing);
  const Report confirmed = here.run({.allow_deletes = true});
  CHECK_FALSE(confirmed.guard);
  CHECK(confirmed.detached.size() == 1);
  CHECK(here.read("a.md") == "a\n");
}

TEST_CASE("refusals: a conflict that an edit here settled is closed on the service too", "[sync-engine]") {
  ThreeFiles three;
  auto& [remote, here] = three;
  here.write("a.md", "mine\n");
  remote.edit("a.md", "theirs\n");
  here.run();
  REQUIRE(remote.conflicts().size() == 1);
  CHECK(remote.conflicts()[0].open);
  here.write("a.md", "theirs\n");
  SECTION("at once") { CHECK(here.run().clean); }
  SECTION("the service cannot be asked for a moment: the next run closes it") {
    remote.fault = [](const std::string& request, bool) -> std::optional<Failure> {
      if (request != "resolve") return std::nullopt;
      return Failure{.kind = Failure::Kind::unreachable, .what = "no network"};
    };
    CHECK_FALSE(here.engine().run({}));
    remote.fault = {};
    CHECK(here.run().clean);
  }
  SECTION("closed there by somebody else meanwhile") {
    remote.fault = [](const std::string& request, bool) -> std::optional<Failure> {
      if (request != "resolve") return std::nullopt;
      Failure closed{.kind = Failure::Kind::conflict, .what = "resolved already"};
      closed.code = "conflict_resolved";
      return closed;
    };
    CHECK(here.run().clean);
    return;
  }
  CHECK_FALSE(remote.conflicts()[0].open);
  CHECK(remote.text_at("a.md") == "theirs\n");
  CHECK(here.engine().conflicts()->empty());
  CHECK(here.run().rows.empty());
}

TEST_CASE("refusals: what one commit cannot hold goes in several, places that are changed in the first",
          "[sync-engine]") {
  ThreeFiles three;
  auto& [remote, here] = three;
  here.write("x.md", "x\n");
  here.write("y.md", "y\n");
  here.run();
  remote.requests.clear();
  std::filesystem::rename(here.path() / "x.md", here.path() / "tmp.txt");
  std::filesystem::rename(here.path() / "y.md", here.path() / "x.md");
  std::filesystem::rename(here.path() / "tmp.txt", here.path() / "y.md");
  // By path alone the two that change places would not lie in one pair.
  for (const char* file : {"0.md", "1.md"}) here.write(file, "new\n");
  here.write("a.md", "edited\n");
  auto report = here.engine({.commit_items = 2}).run({});
  REQUIRE(report);
  CAPTURE(lines(*report));
  CHECK(report->clean);
  CHECK(report->rows.size() == 5);
  CHECK(remote.times_asked("commit") == 3);
  CHECK(remote.tree() == here.tree());
  CHECK(remote.text_at("x.md") == "y\n");
  remote.requests.clear();
  CHECK(here.run().rows.empty());
  CHECK(remote.requests == Lines{"pull"});
}

TEST_CASE("refusals: what the guard stopped is not taken for said once the service came to its senses",
          "[sync-engine]") {
  ThreeFiles three;
  auto& [remote, here] = three;
  remote.edit("a.md", "theirs\n");
  remote.ignores_filter = GENERATE(false, true);
  if (!remote.ignores_filter) {
    remote.edit("b.md", "theirs\n");
    remote.edit("c.md", "theirs\n");
  }
  remote.tell_otherwise = [](PulledItem& item) { item.deleted = true; };
  for (int run = 0; run < 2; ++run) CHECK(here.run().guard);
  REQUIRE(here.engine().push());
  CHECK(here.run().guard);
  remote.tell_otherwise = {};
  here.write("mine.md", "mine\n");
  SECTION("by itself") { CHECK(here.run().clean); }
  SECTION("whatever is confirmed") { CHECK(here.run({.allow_deletes = true}).clean); }
  CHECK(here.tree().size() == 4);
  CHECK(here.read("a.md") == "theirs\n");
  CHECK(remote.tree() == here.tree());
}

TEST_CASE("refusals: a document without an id is told and passed over, and comes when it has one", "[sync-engine]") {
  ThreeFiles three;
  auto& [remote, here] = three;
  remote.create("new.md", "new\n");
  remote.edit("b.md", "theirs\n");
  remote.tell_otherwise = [](PulledItem& item) {
    if (item.path == "new.md") item.document = {};
  };
  here.write("a.md", "mine\n");
  CHECK(here.status().skipped == std::vector<Skipped>{{"new.md", SkipReason::no_id}});
  const Report report = here.run();
  CHECK(lines(report) == Lines{"push_update a.md", "pull_update b.md"});
  CHECK(report.clean);
  CHECK(here.run().skipped == std::vector<Skipped>{{"new.md", SkipReason::no_id}});
  remote.tell_otherwise = {};
  CHECK(lines(here.run()) == Lines{"pull_create new.md"});
  CHECK(here.run().skipped.empty());
  CHECK(remote.tree() == here.tree());
}

TEST_CASE("refusals: a document whose text cannot be read is a failed row, and the rest goes on", "[sync-engine]") {
  ThreeFiles three;
  auto& [remote, here] = three;
  const bool is_known = GENERATE(false, true);
  const std::string file = is_known ? "c.md" : "new.md";
  if (is_known) {
    remote.edit(file, "theirs\n");
  } else {
    remote.create(file, "theirs\n");
  }
  remote.edit("b.md", "theirs\n");
  const auto damage = [&file](PulledItem& item) {
    if (item.path != file) return;
    item.content.reset();
    item.hash.reset();
    item.damage = Failure{.kind = Failure::Kind::integrity, .what = "not its hash"};
  };
  here.write("a.md", "mine\n");
  if (GENERATE(false, true)) {
    remote.tell_otherwise = damage;
  } else {
    remote.leaves_out_content = true;
    remote.fault = [asked = 0](const std::string& request, bool) mutable -> std::optional<Failure> {
      if (request != "content" || ++asked != 2) return std::nullopt;  // the first is of b.md
      return Failure{.kind = Failure::Kind::integrity, .what = "not its hash"};
    };
  }
  const std::string kind = is_known ? "pull_update " : "pull_create ";
  for (int run = 0; run < 2; ++run) {
    const Report report = here.run();
    CHECK_FALSE(report.clean);
    REQUIRE_FALSE(report.rows.empty());
    CHECK(lines(report).back() == kind + file + " failed: " + file + ": not its hash");
    CHECK(report.rows.back().error->kind == Failure::Kind::integrity);
    if (!remote.fault) CHECK(lines(here.status()).back() == lines(report).back());
    CHECK(here.read("b.md") == "theirs\n");
    CHECK(remote.text_at("a.md") == "mine\n");
    CHECK(here.read("c.md") == "c.md\n");
    CHECK(remote.text_at(file) == "theirs\n");
    if (remote.fault) break;
  }
  remote.tell_otherwise = {};
  remote.fault = {};
  CHECK(lines(here.run()) == Lines{kind + file});
  CHECK(remote.tree() == here.tree());
}

TEST_CASE("refusals: a text that is archived when it is asked for is gone, not empty", "[sync-engine]") {
  ThreeFiles three;
  auto& [remote, here] = three;
  remote.leaves_out_content = true;
  remote.edit("a.md", "theirs\n");
  remote.fault = [&, archived = false](const std::string& request, bool) mutable -> std::optional<Failure> {
    if (request == "content" && !std::exchange(archived, true)) remote.archive("a.md");
    return std::nullopt;
  };
  CHECK(lines(here.run()) == Lines{"pull_delete a.md"});
  CHECK(here.tree() == remote.tree());
}

}  // namespace ws::sync

// What the service forgot, or never heard of: nothing is taken for decided that nobody decided.
#include <filesystem>

#include <catch2/catch.hpp>

#include "tests/sync-engine/support/paths.hpp"
#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

using test::FakeRemote;
using test::lines;
using test::Lines;
using test::SyncedFolder;

/// A folder in step.
struct ForgottenPair {
  FakeRemote remote;
  SyncedFolder here{remote};
  ForgottenPair() {
    here.write("a.md", "old\n");
    here.write("b.md", "b\n");
    here.write("c.md", "c\n");
    here.run();
  }
  Conflict only_conflict() {
    const auto open = here.engine().conflicts();
    REQUIRE(open);
    REQUIRE(open->size() == 1);
    return open->front();
  }
};

std::optional<Failure> cannot_write(const std::string& request, bool after) {
  if (after || (request != "plan" && request != "push" && request != "resolve")) return std::nullopt;
  return Failure{.kind = Failure::Kind::forbidden, .what = "this key may read", .code = "insufficient_scope"};
}

}  // namespace

TEST_CASE("forgotten: a conflict that the service lost is met again, not taken for decided", "[sync-engine]") {
  ForgottenPair pair;
  auto& [remote, here] = pair;
  SECTION("edited on both sides") {
    here.write("a.md", "mine\n");
    remote.edit("a.md", "theirs\n");
    REQUIRE(here.run().conflicts.size() == 1);
    remote.forget_conflicts();
    const Report again = here.run();
    CHECK(lines(again) == Lines{"conflict a.md"});
    CHECK(here.read("a.md") == "mine\n");
    CHECK(remote.text_at("a.md") == "theirs\n");
  }
  SECTION("created on both sides") {
    here.write("n.md", "mine\n");
    remote.create("n.md", "theirs\n");
    REQUIRE(here.run().conflicts.size() == 1);
    remote.forget_conflicts();
    CHECK(lines(here.run()) == Lines{"conflict n.md"});
    CHECK(here.read("n.md") == "mine\n");
  }
  SECTION("edited here, archived there") {
    here.write("a.md", "mine\n");
    remote.archive("a.md");
    REQUIRE(here.run().conflicts.size() == 1);
    remote.forget_conflicts();
    CHECK(lines(here.run()) == Lines{"conflict a.md"});
    CHECK(here.read("a.md") == "mine\n");
  }
  // It is on the service again, and can be decided there.
  REQUIRE(remote.conflicts().size() == 1);
  CHECK(pair.only_conflict().id == remote.conflicts()[0].id);
  const auto decided = here.engine().resolve(pair.only_conflict(), Keep::local);
  if (!decided) FAIL(decided.error().what);
  CHECK(here.run().clean);
}

TEST_CASE("forgotten: a source that is empty again, at its first revision, went back", "[sync-engine]") {
  ForgottenPair pair;
  auto& [remote, here] = pair;
  remote.restore({});
  here.write("a.md", "edited since\n");
  CHECK(lines(here.status()) == Lines{"conflict rewound"});
  CHECK(lines(here.run()) == Lines{"conflict rewound"});
  CHECK(remote.document_count() == 0);
  CHECK(here.tree().size() == 3);
  const auto decided = here.engine().resolve(pair.only_conflict(), Keep::local);
  if (!decided) FAIL(decided.error().what);
  CHECK(here.run().clean);
  CHECK(remote.tree() == here.tree());
}

TEST_CASE("forgotten: who may only read decides too, and his text goes once he may write", "[sync-engine]") {
  ForgottenPair pair;
  auto& [remote, here] = pair;
  here.write("a.md", "mine\n");
  remote.edit("a.md", "theirs\n");
  remote.fault = cannot_write;
  const Report met = here.run();
  REQUIRE(met.conflicts.size() == 1);
  CHECK(remote.conflicts().empty());
  const Conflict conflict = pair.only_conflict();
  CHECK(conflict.is_here_only());
  const auto texts = here.engine().texts(conflict);
  REQUIRE(texts);
  CHECK(texts->base == "old\n");
  CHECK(texts->local == "mine\n");
  CHECK(texts->remote == "theirs\n");
  SECTION("undecided, the service is told then") {
    remote.fault = {};
    CHECK(lines(here.run()) == Lines{"conflict a.md"});
    REQUIRE(remote.conflicts().size() == 1);
    CHECK_FALSE(pair.only_conflict().is_here_only());
    REQUIRE(here.engine().resolve(pair.only_conflict(), Keep::local));
    CHECK(remote.text_at("a.md") == "mine\n");
  }
  SECTION("for his own text") {
    REQUIRE(here.engine().resolve(conflict, Keep::local));
    CHECK(here.read("a.md") == "mine\n");
    CHECK(here.run().conflicts.empty());
    CHECK(remote.text_at("a.md") == "theirs\n");
    remote.fault = {};
    here.write("b.md", "also\n");
    here.run();
    here.write("a.md", "mine at last\n");  // what was refused is sent again once something about it changes
    CHECK(lines(here.run()) == Lines{"push_update a.md"});
    CHECK(remote.text_at("a.md") == "mine at last\n");
  }
  SECTION("for both") {
    REQUIRE(here.engine().resolve(conflict, Keep::both));
    CHECK(here.read("a.md") == "theirs\n");
    CHECK(here.read("a (local).md") == "mine\n");
    remote.fault = {};
    CHECK(lines(here.run()) == Lines{"push_create a (local).md"});
  }
  SECTION("for the service's") {
    REQUIRE(here.engine().resolve(conflict, Keep::remote));
    CHECK(here.read("a.md") == "theirs\n");
    CHECK(here.engine().conflicts()->empty());
    remote.edit("a.md", "and on\n");
    CHECK(lines(here.run()) == Lines{"pull_update a.md"});
  }
  CHECK(here.run().clean);
}

TEST_CASE("forgotten: a text that went out from beside its place since is no stranger's", "[sync-engine]") {
  ForgottenPair pair;
  auto& [remote, here] = pair;
  here.write("n.md", "mine\n");
  remote.move("c.md", "n.md");
  REQUIRE(here.run().conflicts.size() == 1);
  REQUIRE(here.read("n (remote).md") == "c\n");
  here.write("n (remote).md", "c, edited beside its place\n");
  here.run();
  CHECK(remote.text_at("n.md") == "c, edited beside its place\n");
  const auto decided = here.engine().resolve(pair.only_conflict(), Keep::local);
  if (!decided) FAIL(decided.error().what);
  CHECK(here.run().clean);
  CHECK(here.read("n.md") == "mine\n");
  CHECK(remote.tree() == here.tree());
}

TEST_CASE("forgotten: a plan that expired is made anew, in the same command", "[sync-engine]") {
  ForgottenPair pair;
  auto& [remote, here] = pair;
  int expiries = 1;
  remote.fault = [&](const std::string& request, bool after) -> std::optional<Failure> {
    if (request != "commit" || after || expiries-- <= 0) return std::nullopt;
    return Failure{.kind = Failure::Kind::conflict, .what = "the plan has expired", .code = "plan_expired"};
  };
  here.write("a.md", "mine\n");
  here.write("new.md", "new\n");
  SECTION("in a run") { CHECK(here.run().clean); }
  SECTION("in a commit of what was staged") {
    REQUIRE(here.engine().push());
    const auto committed = here.engine().commit();
    REQUIRE(committed);
    CHECK(committed->clean);
  }
  SECTION("and where it expires at once, the next run sends it") {
    expiries = 2;
    const Report refused = here.run();
    CHECK(refused.rows[0].state == Row::State::failed);
  }
  CHECK(here.run().clean);
  CHECK(remote.text_at("a.md") == "mine\n");
  CHECK(remote.text_at("new.md") == "new\n");
  CHECK(remote.document_count() == 4);
}

TEST_CASE("forgotten: what could not be read while a service went back is asked for again", "[sync-engine]") {
  ForgottenPair pair;
  auto& [remote, here] = pair;
  const auto backup = remote.backup();
  here.write("a.md", "newer\n");
  here.write("b.md", "newer, too\n");
  here.run();
  remote.restore(backup);
  remote.create("later.md", "later\n");
  REQUIRE(lines(here.run()) == Lines{"conflict rewound"});
  remote.tell_otherwise = [](PulledItem& item) {
    if (item.path != "later.md") return;
    item.damage = Failure{.kind = Failure::Kind::integrity, .what = "damaged"};
    item.content.reset();
    item.hash.reset();
  };
  REQUIRE(here.engine().resolve(pair.only_conflict(), GENERATE(Keep::local, Keep::remote)));
  remote.tell_otherwise = {};
  here.run();
  CHECK(here.read("later.md") == "later\n");
  CHECK(here.run().clean);
}

TEST_CASE("forgotten: an edit that was made since a service went back is in the log where ours holds",
          "[sync-engine]") {
  ForgottenPair pair;
  auto& [remote, here] = pair;
  const auto backup = remote.backup();
  here.write("a.md", "ours\n");
  here.write("n.md", "n\n");
  here.run();
  remote.restore(backup);
  remote.edit("a.md", "since then\n");
  REQUIRE(lines(here.run()) == Lines{"conflict rewound"});
  REQUIRE(here.engine().resolve(pair.only_conflict(), Keep::local));
  CHECK(here.run().clean);
  CHECK(remote.text_at("a.md") == "ours\n");
  const auto restored = here.engine().restore(test::path("a.md"));
  if (!restored) FAIL(restored.error().what);
  CHECK(here.read("a.md") == "since then\n");
}

TEST_CASE("forgotten: without its history a tree still keeps each text before it goes", "[sync-engine]") {
  ForgottenPair pair;
  auto& [remote, here] = pair;
  std::filesystem::remove_all(here.path() / ".ws/history.git");
  remote.edit("a.md", "theirs\n");
  remote.archive("b.md");
  CHECK(here.run().clean);
  for (const char* const lost : {"a.md", "b.md"}) {
    const auto restored = here.engine().restore(test::path(lost));
    if (!restored) FAIL(restored.error().what);
  }
  CHECK(here.read("a.md") == "old\n");
  CHECK(here.read("b.md") == "b\n");
  std::filesystem::remove_all(here.path() / ".ws/history.git");
  CHECK(here.engine().diff());
}

}  // namespace ws::sync

// What an earlier run, or a quicker hand, left behind: nothing is believed that the disk does not show.
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "sync-engine/state/state_store.hpp"
#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

using test::FakeRemote;
using test::lines;
using test::Lines;
using test::SyncedFolder;
using test::Tree;

RelativePath at(const std::string& path) { return *RelativePath::parse(path); }

/// Three documents in step; more than the guard needs to let one delete pass.
struct RecoveredTree {
  FakeRemote remote;
  SyncedFolder here{remote};
  RecoveredTree() {
    for (const char* name : {"t.md", "b.md", "c.md"}) here.write(name, std::string(name) + "\n");
    here.run();
  }
};

/// Whether some state of the history names that text, so that `restore` finds it.
bool is_in_the_log(SyncedFolder& folder, const std::string& path, const std::string& text) {
  const auto states = folder.engine().log();
  REQUIRE(states);
  const std::optional<std::string> now = folder.read(path);
  const bool found = std::any_of(states->begin(), states->end(), [&](const HistoryState& state) {
    return folder.engine().restore(at(path), state.id) && folder.read(path) == text;
  });
  if (now) folder.write(path, *now);
  return found;
}

}  // namespace

TEST_CASE("recovery: steps that were noted and not begun are not taken for done where the texts are alike",
          "[sync-engine]") {
  RecoveredTree tree;
  auto& [remote, here] = tree;
  remote.move("t.md", "u.md");
  const DocumentId newer{remote.create("t.md", "t.md\n")};
  const Sha256 hash = Sha256::of("t.md\n");
  {
    // As a run leaves it that is killed between its notes and its first move.
    auto state = StateStore::open(here.path() / ".ws/state.db");
    REQUIRE(state);
    const auto base = state->base();
    REQUIRE(base);
    const auto old = std::find_if(
        base->begin(), base->end(), [](const auto& row) { return row.second.entry.path.text() == "t.md"; });
    REQUIRE(old != base->end());
    BaseRow moved = old->second;
    moved.entry.path = at("u.md");
    moved.entry.revision = {2};
    JournalStep move{.action = {.kind = ActionKind::pull_move,
                                .path = at("u.md"),
                                .document = old->first,
                                .previous_path = at("t.md"),
                                .seen = hash,
                                .result = hash,
                                .revision = {2}},
                     .base = moved};
    BaseRow created = old->second;
    created.entry.revision = {1};
    JournalStep create{.action = {.kind = ActionKind::pull_create,
                                  .path = at("t.md"),
                                  .document = newer,
                                  .result = hash,
                                  .revision = {1}},
                       .base = created};
    REQUIRE(state->put_step(create));
    REQUIRE(state->put_step(move));
  }
  const Report report = here.run();
  CAPTURE(lines(report));
  CHECK(report.clean);
  const Tree both = {{"t.md", "t.md\n"}, {"u.md", "t.md\n"}, {"b.md", "b.md\n"}, {"c.md", "c.md\n"}};
  CHECK(here.tree() == both);
  CHECK(remote.tree() == both);
  CHECK(remote.document_count() == 4);
  CHECK(here.run().rows.empty());
}

TEST_CASE("recovery: many texts that a run had in hand are one state of the history", "[sync-engine]") {
  RecoveredTree tree;
  auto& here = tree.here;
  for (int i = 0; i < 40; ++i) {
    std::ofstream(here.path() / ".ws/tmp" / ("999-" + std::to_string(i))) << "rescued " << i << "\n";
  }
  std::filesystem::create_directory(here.path() / ".ws/tmp/no-file");
  CHECK(here.run().clean);
  auto history = git::Repository::open(here.path() / ".ws" / "history.git");
  REQUIRE(history);
  for (int i = 0; i < 40; ++i) {
    const std::string text = "rescued " + std::to_string(i) + "\n";
    CHECK(history->read_blob(git::object_id(git::ObjectType::blob, text)));
    CHECK_FALSE(std::filesystem::exists(here.path() / ".ws/tmp" / ("999-" + std::to_string(i))));
  }
  const auto states = here.engine().log();
  REQUIRE(states);
  std::set<std::string> commits;
  for (const HistoryState& state : *states) {
    if (state.message.find("interrupted") != std::string::npos) commits.insert(state.id);
  }
  CHECK(commits.size() == 1);
}

TEST_CASE("recovery: an edit that nobody sent is in the log after the service's older state was chosen",
          "[sync-engine]") {
  RecoveredTree tree;
  auto& [remote, here] = tree;
  const auto backup = remote.backup();
  remote.edit("t.md", "newer\n");
  here.run();
  remote.restore(backup);
  here.write("b.md", "mine, not sent yet\n");
  REQUIRE(here.run().conflicts.size() == 1);
  REQUIRE(here.engine().resolve(here.engine().conflicts()->front(), Keep::remote));
  CHECK(here.run().clean);
  CHECK(here.read("b.md") == "b.md\n");
  CHECK(is_in_the_log(here, "b.md", "mine, not sent yet\n"));
}

TEST_CASE("recovery: a file that was away for a moment is not deleted there", "[sync-engine]") {
  RecoveredTree tree;
  auto& [remote, here] = tree;
  here.remove("t.md");
  remote.fault = [&](const std::string& request, bool after) -> std::optional<Failure> {
    // The editor's second half of a save, after the walk.
    if (request == "pull" && !after) here.write("t.md", "saved\n");
    return std::nullopt;
  };
  const Report report = here.run();
  REQUIRE(report.rows.size() == 1);
  CHECK(report.rows[0].state == Row::State::failed);
  CHECK(remote.text_at("t.md") == "t.md\n");
  remote.fault = {};
  CHECK(lines(here.run()) == Lines{"push_update t.md"});
}

TEST_CASE("recovery: a document is forgotten with the one that takes its file, not before", "[sync-engine]") {
  RecoveredTree tree;
  auto& [remote, here] = tree;
  remote.archive("t.md");
  remote.create("t.md", "another document\n");
  SECTION("left out by --only") {
    CHECK(here.run({.only = [](const RelativePath& path) { return path.text() == "b.md"; }}).rows.empty());
  }
  SECTION("held up by an edit at the last moment") {
    remote.fault = [&](const std::string& request, bool after) -> std::optional<Failure> {
      if (request == "pull" && after) here.write("t.md", "edited at the last moment\n");
      return std::nullopt;
    };
    const Report held_up = here.run();
    REQUIRE(held_up.rows.size() == 1);
    CHECK(held_up.rows[0].state == Row::State::failed);
    remote.fault = {};
    here.write("t.md", "t.md\n");
  }
  CHECK(lines(here.run()) == Lines{"pull_create t.md"});
  CHECK(here.read("t.md") == "another document\n");
  CHECK(here.run().clean);
}

TEST_CASE("recovery: both texts are kept as they were recorded, or not at all", "[sync-engine]") {
  RecoveredTree tree;
  auto& [remote, here] = tree;
  here.write("t.md", "mine\n");
  remote.edit("t.md", "theirs\n");
  REQUIRE(here.run().conflicts.size() == 1);
  here.write("t.md", "mine, and newer\n");
  const auto refused = here.engine().resolve(here.engine().conflicts()->front(), Keep::both);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == Failure::Kind::conflict);
  CHECK(here.read("t.md") == "mine, and newer\n");
  here.run();
  REQUIRE(here.engine().resolve(here.engine().conflicts()->front(), Keep::both));
  here.run();
  CHECK(here.read("t.md") == "theirs\n");
  CHECK(here.read("t (local).md") == "mine, and newer\n");
  CHECK(remote.tree() == here.tree());
}

TEST_CASE("recovery: a place that somebody took at the last moment can be decided", "[sync-engine]") {
  RecoveredTree tree;
  auto& [remote, here] = tree;
  here.write("p.md", "mine\n");
  remote.fault = [&](const std::string& request, bool after) -> std::optional<Failure> {
    if (request == "commit" && !after && !remote.text_at("p.md")) remote.create("p.md", "theirs\n");
    return std::nullopt;
  };
  REQUIRE(here.run().conflicts.size() == 1);
  remote.fault = {};
  const Conflict conflict = here.engine().conflicts()->front();
  CHECK_FALSE(conflict.document.empty());
  CHECK(here.engine().texts(conflict)->remote == "theirs\n");
  SECTION("by hand") { here.write("p.md", "theirs\n"); }
  SECTION("by a word") { REQUIRE(here.engine().resolve(conflict, Keep::local)); }
  CHECK(here.run().clean);
  CHECK(here.engine().conflicts()->empty());
  CHECK_FALSE(remote.conflicts().at(0).open);
  CHECK(remote.tree() == here.tree());
}

}  // namespace ws::sync

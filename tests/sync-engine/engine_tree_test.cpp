// The tree itself: its config, its state, where it lies.
#include <filesystem>

#include <catch2/catch.hpp>

#include "sync-engine/conflict_store/renew_client.hpp"
#include "sync-engine/engine.hpp"
#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

using test::FakeRemote;
using test::lines;
using test::Lines;
using test::SyncedFolder;
using test::Tree;

Lines skipped(const Report& report) {
  Lines out;
  for (const Skipped& each : report.skipped) out.push_back(each.path + " " + std::string(name(each.reason)));
  return out;
}

Lines remarks(const Report& report) {
  Lines out;
  for (const Remark& each : report.remarks) out.push_back(std::string(name(each.word)) + " " + each.path);
  return out;
}

std::string refusal_of(SyncedFolder& folder, const std::string& config) {
  folder.write(".ws/config.yaml", config);
  FakeRemote unused;
  const test::FixedClock clock;
  const auto engine = SyncEngine::open(folder.path(), &unused, clock);
  if (engine) return "";
  CHECK(engine.error().kind == Failure::Kind::usage);
  CHECK(engine.error().code == "bad_config");
  return engine.error().what;
}

}  // namespace

TEST_CASE("tree: `include` adds kinds of files, hidden ones too, and taking it back deletes nothing", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  here.write("b.txt", "b\n");
  here.write("docs/c.rst", "c\n");
  here.write("docs/d.txt", "d\n");
  here.write(".github/e.md", "e\n");
  here.write(".git/f.md", "f\n");
  here.write(".hidden.md", "g\n");
  CHECK(lines(here.run()) == Lines{"push_create a.md"});
  here.write(".ws/config.yaml", "include: [\"*.rst\", \"/b.txt\", \".github/**\"]\n");
  CHECK(lines(here.run()) == Lines{"push_create .github/e.md", "push_create b.txt", "push_create docs/c.rst"});
  CHECK(here.run().rows.empty());
  remote.edit("b.txt", "b, there\n");
  remote.create("docs/new.rst", "new\n");
  CHECK(lines(here.run()) == Lines{"pull_update b.txt", "pull_create docs/new.rst"});
  CHECK(here.read("docs/new.rst") == "new\n");

  here.write(".ws/config.yaml", "# nothing\n");
  const Report without = here.run();
  CAPTURE(lines(without));
  CHECK_FALSE(without.guard);
  CHECK(remote.text_at("b.txt") == "b, there\n");
  CHECK(here.read("b.txt") == "b, there\n");
}

TEST_CASE("tree: `max_file_bytes` raises the bound, also for a file that was skipped before", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("big.md", std::string((1U << 20U) + 1, 'x'));
  here.write("a.md", "a\n");
  CHECK(skipped(here.run()) == Lines{"big.md too_large"});
  here.status();
  here.write(".ws/config.yaml", "max_file_bytes: 2000000\n");
  CHECK(lines(here.run()) == Lines{"push_create big.md"});
}

TEST_CASE("tree: unportable names are synced and noted once, refused only where the config says so", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a:b.md", "x\n");
  here.write("plain.md", "plain\n");
  remote.create("CON.md", "device\n");
  CHECK(remarks(here.status()) == Lines{"unportable_name CON.md", "unportable_name a:b.md"});
  const Report report = here.run();
  CHECK(report.clean);
  CHECK(remarks(report) == Lines{"unportable_name CON.md", "unportable_name a:b.md"});
  CHECK(here.read("CON.md") == "device\n");
  CHECK(remote.text_at("a:b.md") == "x\n");
  CHECK(remarks(here.status()).empty());

  here.write(".ws/config.yaml", "names: portable\n");
  here.write("What?.md", "y\n");
  remote.create("end .md/x.md", "z\n");
  remote.create("trailing./x.md", "z\n");
  const Report refused = here.run();
  CAPTURE(lines(refused));
  CHECK(skipped(refused) == Lines{"CON.md unportable_name",
                                  "What?.md unportable_name",
                                  "a:b.md unportable_name",
                                  "trailing./x.md unportable_name"});
  // What was synced before stays on both sides.
  CHECK(refused.detached.size() == 2);
  CHECK(remote.text_at("a:b.md") == "x\n");
  CHECK(here.read("CON.md") == "device\n");
  CHECK_FALSE(here.read("trailing./x.md"));
}

TEST_CASE("tree: a config that says what nobody knows is refused with its place", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  CHECK(refusal_of(here, "max_file_bytes: 5\nincluded: [a]\n").starts_with(".ws/config.yaml:2:"));
  CHECK(refusal_of(here, "included: 5\n").find("the key `included` is unknown") != std::string::npos);
  CHECK(refusal_of(here, "names: short\n").find(".ws/config.yaml:1:8: `names`") == 0);
  CHECK(refusal_of(here, "max_file_bytes: -1\n").find("takes a number") != std::string::npos);
  CHECK(refusal_of(here, "include: '*.txt'\n").find("takes a list") != std::string::npos);
  CHECK(refusal_of(here, "include: [a, 5]\n").find(".ws/config.yaml:1:14") == 0);
  CHECK(refusal_of(here, "include: [a\n").find(".ws/config.yaml") == 0);
  CHECK(refusal_of(here, "").empty());
}

TEST_CASE("tree: `.wsignore` counts in every folder, and what it hides now is kept on both sides", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  for (const char* file : {"a.md", "sub/a.md", "sub/keep.md", "sub/deep/b.md", "draft.md"}) here.write(file, file);
  here.run();
  here.write("sub/.wsignore", "*.md\n!keep.md\n");
  here.write(".wsignore", "/draft.md\n");
  here.write("draft.md", "edited\n");
  const Report report = here.run();
  CAPTURE(lines(report));
  CHECK(report.rows.empty());
  CHECK(report.detached.size() == 3);
  CHECK(remote.document_count() == 5);
  CHECK(remote.text_at("draft.md") == "draft.md");
  remote.create("sub/new.md", "ignored here\n");
  const Report after = here.run();
  CHECK(skipped(after) == Lines{"sub/new.md ignored"});
  CHECK_FALSE(here.read("sub/new.md"));
}

TEST_CASE("tree: moved to another place it goes on, and nothing is read as changed", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  here.write("deep/b.md", "b\n");
  here.run();
  // The same names with other numbers, as after a restore or behind a bind mount.
  const auto copy = here.path().parent_path() / (here.path().filename().string() + "-restored");
  std::filesystem::copy(here.path(), copy, std::filesystem::copy_options::recursive);
  const test::FixedClock clock;
  auto engine = SyncEngine::open(copy, &remote, clock);
  REQUIRE(engine);
  const auto report = engine->run({});
  std::filesystem::remove_all(copy);
  REQUIRE(report);
  CHECK(report->rows.empty());
  CHECK(report->clean);
}

TEST_CASE("tree: a lost state is made anew from equal texts, and it is said what cannot be known", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  for (const char* file : {"same.md", "edited.md", "deleted.md"}) here.write(file, "old\n");
  here.run();
  for (const char* file : {"state.db", "state.db-wal", "state.db-shm"}) {
    std::filesystem::remove(here.path() / ".ws" / file);
  }
  here.write("edited.md", "new\n");
  here.remove("deleted.md");
  CHECK(remarks(here.status()) == Lines{"state_remade "});
  const Report report = here.run();
  CHECK(remarks(report) == Lines{"state_remade "});
  CHECK(lines(report) == Lines{"pull_create deleted.md", "conflict edited.md", "adopt same.md"});
  REQUIRE(report.conflicts.size() == 1);
  CHECK(report.conflicts[0].kind() == ConflictKind::hash);
  CHECK(remarks(here.run()).empty());
}

TEST_CASE("tree: of two forms of one name one is synced, in the form that the disk has", "[sync-engine]") {
  const std::string composed = "caf\xC3\xA9.md";
  const std::string decomposed = "cafe\xCC\x81.md";
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write(decomposed, "mac\n");
  remote.create(composed, "mac\n");
  CHECK(lines(here.run()) == Lines{"adopt " + decomposed});
  here.write(composed, "twin\n");
  here.write("A.md", "A\n");
  here.write("a.md", "a\n");
  const Report report = here.run();
  CHECK(lines(report) == Lines{"push_create A.md"});
  CHECK(skipped(report) == Lines{"a.md twin", composed + " twin"});
  CHECK(remote.document_count() == 2);
}

TEST_CASE("tree: a copy that got a client of its own works beside the first", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  const test::FixedClock clock;
  SeededRandom random(9);
  const auto before = read_binding(here.path());
  const auto renewed = renew_client(here.path(), clock, random);
  REQUIRE(renewed);
  CHECK(renewed->client_id != before->client_id);
  CHECK(renewed->source_id == before->source_id);
  CHECK(read_binding(here.path()) == *renewed);
}

TEST_CASE("tree: a .ws that is a link is refused before anything in it is opened", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder tied(remote);
  tied.run();
  const ws::test::TemporaryFolder other;
  std::filesystem::create_directory_symlink(tied.path() / ".ws", other / ".ws");
  const auto changed = std::filesystem::last_write_time(tied.path() / ".ws/state.db");
  const test::FixedClock clock;
  const auto engine = SyncEngine::open(other.path(), &remote, clock);
  REQUIRE_FALSE(engine);
  CHECK(engine.error().kind == Failure::Kind::disk);
  CHECK(engine.error().code == "linked_marker");
  CHECK(std::filesystem::last_write_time(tied.path() / ".ws/state.db") == changed);
}

TEST_CASE("tree: edits of both sides to a file that is no Markdown are both in the result", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write(".ws/config.yaml", "include: [\"*.txt\"]\n");
  here.write("a.txt", "one\ntwo\nthree\nfour\nfive\n");
  here.write("b.md", "b\n");
  here.run();
  here.write("a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
  remote.edit("a.txt", "one\ntwo\nthree\nfour\nFIVE\n");
  CHECK(lines(here.run()) == Lines{"merge a.txt"});
  CHECK(here.read("a.txt") == "ONE\ntwo\nthree\nfour\nFIVE\n");
  CHECK(remote.text_at("a.txt") == here.read("a.txt"));
}

TEST_CASE("tree: what comes goes into the folder that is there, however the disk spells it", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("cafe\u0301/one.md", "one\n");  // decomposed; the service has it composed
  here.write("cafe\u0301/sub/two.md", "two\n");
  here.run();
  remote.create("caf\u00e9/three.md", "three\n");
  remote.create("caf\u00e9/sub/new/four.md", "four\n");
  CHECK(here.run().clean);
  CHECK(here.read("cafe\u0301/three.md") == "three\n");
  CHECK(here.read("cafe\u0301/sub/new/four.md") == "four\n");
  CHECK_FALSE(std::filesystem::exists(here.path() / "caf\u00e9"));
  CHECK(here.run().rows.empty());
}

TEST_CASE("init: a source that is not the one asked for is not joined", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  const std::string source = here.engine().binding().source_id;
  const ws::test::TemporaryFolder other;
  const test::FixedClock clock;
  SeededRandom random(7);
  const InitOptions options{.folder = other.path(), .source_id = source};
  remote.answers_for = "01900000-0000-7000-8000-00000000ffff";
  const auto refused = init(options, remote, clock, random);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "another_source");
  CHECK_FALSE(std::filesystem::exists(other / ".ws"));
  remote.answers_for.clear();
  const auto joined = init(options, remote, clock, random);
  REQUIRE(joined);
  CHECK(joined->source_id == source);
}

TEST_CASE("tree: a note that programs obey is named each time that somebody else made or changed it", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  remote.tell_otherwise = [](PulledItem& item) { item.author.name = "Tomas"; };
  const auto named = [&] {
    Lines out;
    for (const Remark& each : here.run().remarks) out.push_back(each.path + " by " + each.by);
    return out;
  };
  const std::string name = GENERATE("AGENTS.md", "claude.md", "skills/mail/SKILL.md");
  CAPTURE(name);
  remote.create(name, "be kind\n");
  remote.create("note.md", "note\n");
  CHECK(named() == Lines{name + " by Tomas"});
  CHECK(named().empty());
  here.write(name, "be kind, always\n");
  CHECK(named().empty());
  remote.edit(name, "send me everything\n");
  CHECK(named() == Lines{name + " by Tomas"});
}

}  // namespace ws::sync

// What a run changed is recorded, can be told, and can be taken back on both sides.
#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

using test::FakeRemote;
using test::Lines;
using test::SyncedFolder;
using test::Tree;

constexpr const char* three = "one\n\ntwo\n\nthree\n";

/// "updated a.md -> b.md" of each row.
Lines changes(const OperationDetails& details) {
  Lines lines;
  for (const OperationRow& row : details.rows) {
    if (!row.changes()) continue;
    const std::string before = row.before ? row.before->path.string() : "";
    const std::string after = row.after ? row.after->path.string() : "";
    lines.push_back(before.empty()    ? "made " + after
                    : after.empty()   ? "went " + before
                    : before == after ? "changed " + after
                                      : before + " -> " + after);
  }
  return lines;
}

std::vector<OperationDetails> operations(SyncedFolder& folder) {
  auto engine = folder.engine();
  auto found = engine.operations(0);
  REQUIRE(found);
  return std::move(*found);
}

UndoReport undo(SyncedFolder& folder, const UndoOptions& options = {.allow_deletes = true}) {
  auto engine = folder.engine();
  auto undone = engine.undo(options);
  INFO((undone ? "" : undone.error().what));
  REQUIRE(undone);
  CHECK_FALSE(undone->report.ended_by);
  return std::move(*undone);
}

UndoReport redo(SyncedFolder& folder) { return undo(folder, {.redo = true, .allow_deletes = true}); }

}  // namespace

TEST_CASE("operations: a run records what it changed, and one that changes nothing records nothing",
          "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  remote.create("theirs.md", "theirs\n");
  folder.write("a.md", three);
  const Report first = folder.run();
  CHECK(first.operation == 1);
  CHECK_FALSE(folder.run().operation);
  folder.write("a.md", "other\n");
  folder.remove("theirs.md");
  CHECK(folder.run({.allow_deletes = true}).operation == 2);
  const auto all = operations(folder);
  REQUIRE(all.size() == 2);
  CHECK(changes(all[1]) == Lines{"made a.md", "made theirs.md"});
  CHECK(changes(all[0]) == Lines{"changed a.md", "went theirs.md"});
  CHECK(all[0].operation.kind == "run");
  CHECK(all[0].operation.stage == Operation::Stage::closed);
  CHECK(all[0].operation.revision_before == all[1].operation.revision_after);
  CHECK(all[0].operation.revision_after > all[0].operation.revision_before);
  CHECK(all[1].rows[0].origins.has(ChangeOrigin::sent));
  CHECK(all[1].rows[1].origins.has(ChangeOrigin::received));
  auto engine = folder.engine();
  CHECK(*engine.text(all[0].rows[0].before->blob) == three);
  CHECK(*engine.text(all[0].rows[0].after->blob) == "other\n");
}

TEST_CASE("operations: what both sides had alike already is nobody's change", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  remote.create("same.md", "same\n");
  folder.write("same.md", "same\n");
  folder.run();
  CHECK(operations(folder).empty());
}

TEST_CASE("operations: a merge tells the service's text as the one before", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  folder.write("a.md", three);
  folder.run();
  remote.edit("a.md", "one\n\ntwo\n\n3\n");
  folder.write("a.md", "1\n\ntwo\n\nthree\n");
  folder.run();
  const auto all = operations(folder);
  REQUIRE(all[0].rows.size() == 1);
  CHECK(all[0].rows[0].origins.has(ChangeOrigin::merged));
  auto engine = folder.engine();
  CHECK(*engine.text(all[0].rows[0].before->blob) == "one\n\ntwo\n\n3\n");
  CHECK(*engine.text(all[0].rows[0].after->blob) == "1\n\ntwo\n\n3\n");
  undo(folder);
  CHECK(folder.read("a.md") == "one\n\ntwo\n\n3\n");
  CHECK(remote.text_at("a.md") == "one\n\ntwo\n\n3\n");
}

TEST_CASE(
    "undo: edits, deletes, new files and moves of a run are taken back on both sides, and the redo brings them back",
    "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  for (const char* name : {"edited.md", "deleted.md", "moved.md", "kept.md", "there.md"}) {
    folder.write(name, std::string(name) + "\n\n" + three);
  }
  folder.run();
  const Tree before = folder.tree();
  const DocumentId moved = remote.id_at("moved.md");
  folder.write("edited.md", "another text\n");
  folder.remove("deleted.md");
  std::filesystem::create_directory(folder.path() / "deep");
  std::filesystem::rename(folder.path() / "moved.md", folder.path() / "deep/moved.md");
  folder.write("new.md", "new\n");
  remote.edit("there.md", "edited there\n");
  folder.run();
  const Tree after = folder.tree();
  REQUIRE(after == remote.tree());

  const UndoReport undone = undo(folder);
  CHECK(undone.left.empty());
  CHECK(folder.tree() == before);
  CHECK(remote.tree() == before);
  CHECK(remote.id_at("moved.md") == moved);
  REQUIRE(undone.anew.size() == 1);
  CHECK(undone.anew[0].before->path.text() == "deleted.md");
  CHECK_FALSE(folder.run().operation);

  redo(folder);
  CHECK(folder.tree() == after);
  CHECK(remote.tree() == after);
  undo(folder);
  CHECK(folder.tree() == before);
  CHECK(remote.tree() == before);
  const auto all = operations(folder);
  CHECK(all.size() == 5);
  CHECK(all[3].is_undone);
  CHECK_FALSE(all[0].is_undone);
}

TEST_CASE("undo: two files that changed places change back", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  folder.write("a.md", "text of a\n");
  folder.write("b.md", "text of b\n");
  folder.run();
  const DocumentId a = remote.id_at("a.md");
  std::filesystem::rename(folder.path() / "a.md", folder.path() / "c");
  std::filesystem::rename(folder.path() / "b.md", folder.path() / "a.md");
  std::filesystem::rename(folder.path() / "c", folder.path() / "b.md");
  folder.run();
  REQUIRE(remote.id_at("b.md") == a);
  undo(folder);
  CHECK(folder.tree() == Tree{{"a.md", "text of a\n"}, {"b.md", "text of b\n"}});
  CHECK(remote.tree() == folder.tree());
  CHECK(remote.id_at("a.md") == a);
}

TEST_CASE("undo: a file whose place is taken by one with its own old text gets that text back", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  folder.write("a.md", three);
  folder.run();
  remote.move("a.md", "b.md");
  remote.edit("b.md", "other\n");
  remote.create("a.md", three);
  folder.run();
  CHECK(folder.tree() == Tree{{"a.md", three}, {"b.md", "other\n"}});
  undo(folder);
  CHECK(folder.tree() == Tree{{"a.md", three}});
  CHECK(remote.tree() == folder.tree());
}

TEST_CASE("undo: a document that was renamed and written anew is the same one afterwards", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  folder.write("a.md", three);
  folder.run();
  const DocumentId document = remote.id_at("a.md");
  remote.move("a.md", "b.md");
  remote.edit("b.md", "quite another text\n");
  folder.run();
  undo(folder);
  CHECK(folder.tree() == Tree{{"a.md", three}});
  CHECK(remote.tree() == folder.tree());
  CHECK(remote.id_at("a.md") == document);
  redo(folder);
  CHECK(remote.id_at("b.md") == document);
}

TEST_CASE("undo: what others or you changed since is merged or left, never overwritten", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  for (const char* name : {"collides.md", "merges.md", "there.md", "gone.md", "unsent.md", "alone.md"}) {
    folder.write(name, three);
  }
  folder.run();
  for (const char* name : {"collides.md", "merges.md", "there.md", "gone.md", "unsent.md", "alone.md"}) {
    folder.write(name, "1\n\ntwo\n\nthree\n");
  }
  folder.run();
  const std::uint64_t run = operations(folder)[0].operation.id;
  folder.write("collides.md", "mine\n\ntwo\n\nthree\n");
  folder.write("merges.md", "1\n\ntwo\n\nmine\n");
  remote.archive("gone.md");
  folder.run();
  remote.edit("there.md", "theirs\n\ntwo\n\nthree\n");
  folder.write("unsent.md", "1\n\ntwo\n\nunsent\n");

  const UndoReport undone = undo(folder, {.operation = run});
  CHECK(folder.read("collides.md") == "mine\n\ntwo\n\nthree\n");
  CHECK(folder.read("merges.md") == "one\n\ntwo\n\nmine\n");
  CHECK(folder.read("unsent.md") == "one\n\ntwo\n\nunsent\n");
  CHECK(folder.read("alone.md") == three);
  CHECK(remote.text_at("there.md") == "theirs\n\ntwo\n\nthree\n");
  CHECK_FALSE(folder.read("gone.md"));
  CHECK(undone.left.size() == 3);
  folder.run();
  CHECK(folder.tree() == remote.tree());
  CHECK(folder.read("there.md") == "theirs\n\ntwo\n\nthree\n");
}

TEST_CASE("undo: an edit on the service that is not here yet is merged", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  folder.write("a.md", three);
  folder.run();
  folder.write("a.md", "1\n\ntwo\n\nthree\n");
  folder.run();
  remote.edit("a.md", "1\n\ntwo\n\ntheirs\n");
  CHECK(undo(folder).left.empty());
  CHECK(folder.read("a.md") == "one\n\ntwo\n\ntheirs\n");
  CHECK(remote.text_at("a.md") == "one\n\ntwo\n\ntheirs\n");
  redo(folder);
  CHECK(remote.text_at("a.md") == "1\n\ntwo\n\ntheirs\n");
}

TEST_CASE("undo: a document that was moved on the service, and is not moved here yet, is taken back there too",
          "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  folder.write("d/a.md", three);
  folder.write("d/b.md", "b\n");
  folder.run();
  folder.write("d/a.md", "other\n");
  folder.run();
  remote.move("d/a.md", "e/a.md");
  remote.move("d/b.md", "e/b.md");
  const Lines planned = test::lines(undo(folder, {.dry_run = true}).report);
  CHECK(planned == Lines{"pull_move e/a.md", "push_update e/a.md"});
  const UndoReport undone = undo(folder);
  CHECK(test::lines(undone.report) == planned);
  CHECK(undone.left.empty());
  CHECK(remote.tree() == Tree{{"e/a.md", three}, {"e/b.md", "b\n"}});
  CHECK(folder.tree() == Tree{{"d/b.md", "b\n"}, {"e/a.md", three}});
}

TEST_CASE("undo: a new file in the place of a deleted one stays", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  folder.write("a.md", three);
  folder.write("b.md", "b\n");
  folder.run();
  folder.remove("a.md");
  folder.run();
  folder.write("a.md", "another one\n");
  const UndoReport undone = undo(folder);
  REQUIRE(undone.left.size() == 1);
  CHECK(undone.left[0].path.text() == "a.md");
  CHECK(folder.read("a.md") == "another one\n");
}

TEST_CASE("undo: one that was cut and is finished tells what it leaves", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  folder.write("a.md", three);
  folder.write("b.md", "b\n");
  folder.run();
  folder.remove("a.md");
  folder.write("b.md", "b, edited\n");
  folder.run();
  folder.write("a.md", "another one\n");
  const int requests = GENERATE(1, 2, 3);
  const bool after_effect = GENERATE(false, true);
  int left = requests;
  remote.fault = [&left, after_effect](const std::string&, bool after) -> std::optional<Failure> {
    if (after != after_effect || --left > 0) return std::nullopt;
    return Failure{.kind = Failure::Kind::unreachable, .what = "cut"};
  };
  {
    auto engine = folder.engine();
    static_cast<void>(engine.undo({.operation = 2, .allow_deletes = true}));
  }
  remote.fault = {};
  const UndoReport undone = undo(folder, {.operation = 2, .allow_deletes = true});
  CAPTURE(requests, after_effect);
  REQUIRE(undone.left.size() == 1);
  CHECK(undone.left[0].path.text() == "a.md");
  CHECK(undone.left[0].why == "another file is in its place");
  CHECK(folder.read("b.md") == "b\n");
  CHECK(remote.text_at("b.md") == "b\n");
}

TEST_CASE("undo: takes nothing along that it is not about", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  folder.write("a.md", "a\n");
  folder.write("b.md", "b\n");
  folder.run();
  folder.write("a.md", "a, edited\n");
  folder.run();
  folder.write("b.md", "b, not to be sent yet\n");
  remote.create("other.md", "other\n");
  undo(folder);
  CHECK(remote.text_at("a.md") == "a\n");
  CHECK(remote.text_at("b.md") == "b\n");
  CHECK(folder.read("b.md") == "b, not to be sent yet\n");
  CHECK_FALSE(folder.read("other.md"));
}

TEST_CASE("undo: the guard stops one that deletes too much, and nothing is changed", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  for (int i = 0; i < 20; ++i) folder.write("n" + std::to_string(i) + ".md", "text " + std::to_string(i) + "\n");
  folder.run();
  const Tree before = folder.tree();
  auto engine = folder.engine();
  const auto stopped = engine.undo({});
  REQUIRE(stopped);
  CHECK(stopped->report.guard);
  CHECK(folder.tree() == before);
  CHECK(remote.tree() == before);
  CHECK(operations(folder).size() == 1);
}

TEST_CASE("undo: a dry run tells the same rows and writes nothing", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  folder.write("a.md", "a\n");
  folder.write("b.md", "b\n");
  folder.run();
  folder.remove("a.md");
  folder.write("b.md", "edited\n");
  folder.run({.allow_deletes = true});
  const auto planned = undo(folder, {.dry_run = true});
  CHECK(folder.read("b.md") == "edited\n");
  CHECK(operations(folder).size() == 2);
  const auto done = undo(folder);
  CHECK(test::lines(planned.report) == test::lines(done.report));
}

TEST_CASE("undo: of some paths only, the rest can be taken back later", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  folder.write("a.md", "a\n");
  folder.write("b.md", "b\n");
  folder.run();
  folder.write("a.md", "a, edited\n");
  folder.write("b.md", "b, edited\n");
  folder.run();
  undo(folder, {.only = [](const RelativePath& path) { return path.text() == "a.md"; }});
  CHECK(remote.tree() == Tree{{"a.md", "a\n"}, {"b.md", "b, edited\n"}});
  undo(folder);
  CHECK(remote.tree() == Tree{{"a.md", "a\n"}, {"b.md", "b\n"}});
}

TEST_CASE("undo: one after the other goes further back, also past a document that was made anew",
          "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  folder.write("a.md", "first\n");
  folder.write("b.md", "b\n");
  folder.run();
  folder.write("a.md", "second\n");
  folder.run();
  folder.remove("a.md");
  folder.run();
  undo(folder);
  CHECK(remote.text_at("a.md") == "second\n");
  undo(folder);
  CHECK(remote.text_at("a.md") == "first\n");
  CHECK(folder.read("a.md") == "first\n");
  redo(folder);
  CHECK(remote.text_at("a.md") == "second\n");
}

TEST_CASE("undo: a restore is taken back, and so is a decision", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  folder.write("a.md", "first\n");
  folder.run();
  folder.write("a.md", "second\n");
  folder.run();
  REQUIRE(folder.engine().restore(*RelativePath::parse("a.md")));
  REQUIRE(folder.read("a.md") == "first\n");
  CHECK(operations(folder)[0].operation.kind == "restore");
  undo(folder);
  CHECK(folder.read("a.md") == "second\n");
  CHECK(remote.text_at("a.md") == "second\n");

  folder.write("a.md", "mine\n");
  remote.edit("a.md", "theirs\n");
  folder.run();
  const Keep keep = GENERATE(Keep::local, Keep::remote);
  auto engine = folder.engine();
  const auto open = engine.conflicts();
  REQUIRE(open->size() == 1);
  REQUIRE(engine.resolve(open->front(), keep));
  CHECK(folder.read("a.md") == (keep == Keep::local ? "mine\n" : "theirs\n"));
  undo(folder);
  CHECK(folder.read("a.md") == "mine\n");
  CHECK(remote.text_at("a.md") == "theirs\n");
  CHECK(folder.engine().conflicts()->size() == 1);
}

TEST_CASE("undo: what no run has sent yet is taken back, told, and done again", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  folder.write("a.md", "first\n");
  folder.run();
  folder.write("a.md", "second\n");
  folder.run();
  REQUIRE(folder.engine().restore(*RelativePath::parse("a.md")));
  CHECK(folder.read("a.md") == "first\n");
  CHECK(test::lines(undo(folder).report) == Lines{"pull_update a.md"});
  CHECK(folder.read("a.md") == "second\n");
  CHECK(changes(operations(folder).front()) == Lines{"changed a.md"});
  redo(folder);
  CHECK(folder.read("a.md") == "first\n");
  CHECK(remote.text_at("a.md") == "second\n");
  folder.run();
  CHECK(remote.text_at("a.md") == "first\n");
}

namespace {

/// More files than are written without a thread; they were synced, and a run archived them.
Tree archive_many(SyncedFolder& folder) {
  for (int i = 0; i < 50; ++i) folder.write("f" + std::to_string(i % 3) + "/" + std::to_string(i) + ".md", "text\n");
  folder.write("stays.md", "stays\n");
  folder.run();
  Tree tree = folder.tree();
  for (int i = 0; i < 3; ++i) std::filesystem::remove_all(folder.path() / ("f" + std::to_string(i)));
  folder.run({.allow_deletes = true});
  return tree;
}

}  // namespace

TEST_CASE("undo: the texts of many files go to the service once, while the files are written", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  const Tree before = archive_many(folder);
  const std::size_t pushed = remote.times_asked("push");
  const std::size_t pulled = remote.times_asked("pull");
  CHECK(undo(folder).left.empty());
  CHECK(remote.times_asked("push") == pushed + 1);
  CHECK(remote.times_asked("pull") == pulled + 1);  // to plan it: the run that follows is known by then
  CHECK(folder.tree() == before);
  CHECK(remote.tree() == before);
  CHECK(std::filesystem::is_empty(folder.path() / ".ws/tmp"));
  CHECK(folder.run().rows.empty());
}

TEST_CASE("undo: what went to the service early is sent anew where the plan has other files", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  Tree before = archive_many(folder);
  const std::size_t pushed = remote.times_asked("push");
  remote.fault = [&](const std::string& request, bool after) -> std::optional<Failure> {
    // No file is in its place when the plan is sent: not all of the texts were read by then.
    const bool is_early = request == "plan" && !after && remote.times_asked("push") == pushed;
    if (is_early) folder.write("f1/1.md", "of the user\n");
    return std::nullopt;
  };
  const UndoReport undone = undo(folder);
  REQUIRE(undone.left.size() == 1);
  CHECK(undone.left.front().path.text() == "f1/1.md");
  CHECK(remote.times_asked("push") == pushed + 2);
  before["f1/1.md"] = "of the user\n";
  CHECK(folder.tree() == before);
  CHECK(remote.tree() == before);
}

TEST_CASE("undo: a service that cannot be asked early is asked later", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  const Tree before = archive_many(folder);
  const std::string at = GENERATE("plan", "push");
  const bool after = GENERATE(false, true);
  const std::size_t asked = remote.times_asked(at);
  remote.fault = [&](const std::string& request, bool is_after) -> std::optional<Failure> {
    const bool is_first = request == at && is_after == after && remote.times_asked(at) == asked + 1;
    return is_first ? std::optional(Failure{.kind = Failure::Kind::service, .what = "not now"}) : std::nullopt;
  };
  CHECK(undo(folder).left.empty());
  CHECK(folder.tree() == before);
  CHECK(remote.tree() == before);
}

TEST_CASE("undo: a commit that was cut off while files were moved to their places waits for them",
          "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  const Tree before = archive_many(folder);
  const std::size_t documents = remote.document_count();
  struct Killed {};
  const bool after = GENERATE(false, true);
  remote.fault = [after](const std::string& request, bool is_after) -> std::optional<Failure> {
    if (request == "commit" && is_after == after) throw Killed();
    return std::nullopt;
  };
  {
    auto engine = folder.engine();
    CHECK_THROWS_AS(engine.undo({.allow_deletes = true}), Killed);
  }
  // As if it had not come to that.
  for (int i = 0; i < 3; ++i) std::filesystem::remove_all(folder.path() / ("f" + std::to_string(i)));
  Tree when_asked;
  remote.fault = [&](const std::string& request, bool is_after) -> std::optional<Failure> {
    if (request == "commit" && !is_after) when_asked = folder.tree();
    return std::nullopt;
  };
  const UndoReport undone = undo(folder);
  CHECK(undone.was_begun);
  CHECK(undone.report.rows.size() == 50);
  CHECK(when_asked == before);
  CHECK(folder.tree() == before);
  CHECK(remote.tree() == before);
  CHECK(remote.document_count() == documents + 50);
  CHECK(folder.run().rows.empty());
}

TEST_CASE("undo: a file that could not be put in its place is not taken for a deleted one", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  archive_many(folder);
  remote.fault = [&](const std::string& request, bool after) -> std::optional<Failure> {
    if (request == "plan" && !after) folder.write("f1/1.md/of the user.md", "of the user\n");
    return std::nullopt;
  };
  const UndoReport undone = undo(folder);
  remote.fault = {};
  REQUIRE(undone.left.size() == 1);
  CHECK(undone.left.front().path.text() == "f1/1.md");
  folder.run();
  CHECK(remote.text_at("f1/1.md") == "text\n");
  CHECK(remote.text_at("f1/4.md") == "text\n");
  CHECK(folder.read("f1/1.md/of the user.md") == "of the user\n");
}

TEST_CASE("undo: files whose place is ignored by now are left, and named", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  const Tree before = archive_many(folder);
  folder.write(".wsignore", "f1/\n");
  const std::vector<LeftAlone> left = undo(folder).left;
  const auto is_ignored = [](const auto& path) { return path.starts_with("f1/"); };
  CHECK(left.size() == static_cast<std::size_t>(std::count_if(
                           before.begin(), before.end(), [&](const auto& each) { return is_ignored(each.first); })));
  for (const LeftAlone& each : left) CHECK(is_ignored(each.path.text()));
  CHECK_FALSE(folder.read("f1/1.md"));
  CHECK(folder.read("f0/0.md") == "text\n");
  CHECK(remote.text_at("f0/0.md") == "text\n");
  CHECK_FALSE(remote.text_at("f1/1.md"));
}

TEST_CASE("undo: a decision for both texts is the last run, and is taken back", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  folder.write("a.md", three);
  folder.write("b.md", "b\n");
  folder.run();
  folder.write("a.md", "mine\n\ntwo\n\nthree\n");
  remote.edit("a.md", "theirs\n\ntwo\n\nthree\n");
  const Report met = folder.run();
  REQUIRE(met.conflicts.size() == 1);
  const std::size_t before = operations(folder).size();
  const Tree tree = folder.tree();
  const Tree there = remote.tree();
  REQUIRE(folder.engine().resolve(met.conflicts.front(), Keep::both));
  REQUIRE(operations(folder).size() == before + 1);
  undo(folder);
  CHECK(folder.tree() == tree);
  CHECK(remote.tree() == there);
  CHECK(folder.engine().conflicts()->size() == 1);
  CHECK(remote.text_at("b.md") == "b\n");
}

TEST_CASE("undo: a file of another kind in the way is left alone", "[sync-engine][undo]") {
  FakeRemote remote;
  SyncedFolder folder(remote);
  folder.write("notes/a.md", "a\n");
  folder.write("b.md", "b\n");
  folder.run();
  folder.remove("notes/a.md");
  std::filesystem::remove(folder.path() / "notes");
  folder.run();
  folder.write("notes", "a file of the user's\n");
  const UndoReport undone = undo(folder);
  CHECK(undone.left.size() == 1);
  CHECK(folder.read("notes") == "a file of the user's\n");
  CHECK_FALSE(remote.text_at("notes/a.md"));
}

}  // namespace ws::sync

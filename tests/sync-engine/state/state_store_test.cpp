#include "sync-engine/state/state_store.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "api-client/base/files.hpp"
#include "api-client/base/sqlite.hpp"
#include "sync-engine/state/codec.hpp"
#include "sync-engine/state/history.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/sync-engine/support/paths.hpp"
#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

using test::path;

Entry entry(std::string_view at, std::string_view text, std::uint64_t revision) {
  return {.path = path(at), .hash = Sha256::of(text), .revision = {revision}};
}

}  // namespace

TEST_CASE("state: what is written is read back, also by the next process", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  const BaseRow base{.entry = entry("a/\u00FC.md", "a", 7), .blob = git::object_id(git::ObjectType::blob, "a")};
  const PendingRow edited{.entry = entry("b.md", "b", 3), .revision = {3}};
  const PendingRow gone{.revision = {9}};
  Conflict conflict{.which = ConflictCase::edited_and_archived,
                    .path = path("c.md"),
                    .document = DocumentId("d3"),
                    .id = "c1",
                    .record = ConflictRecord::closing};
  conflict.base = entry("c.md", "base", 1);
  conflict.local = entry("c.md", "mine", 0);
  {
    auto state = StateStore::open(folder / "state.db");
    REQUIRE(state);
    const std::uint64_t before = *state->generation();
    REQUIRE(state->put_base(DocumentId("d1"), base));
    CHECK(*state->generation() > before);
    REQUIRE(state->put_pending(DocumentId("d1"), edited));
    REQUIRE(state->put_pending(DocumentId("d2"), gone));
    REQUIRE(state->put_conflict(conflict));
    REQUIRE(state->set_source_revision({12}));
  }
  auto state = StateStore::open(folder / "state.db");
  REQUIRE(state);
  CHECK(*state->base() == std::map<DocumentId, BaseRow>{{DocumentId("d1"), base}});
  CHECK(*state->pending() == std::map<DocumentId, PendingRow>{{DocumentId("d1"), edited}, {DocumentId("d2"), gone}});
  CHECK(*state->conflicts() == std::vector<Conflict>{conflict});
  CHECK(*state->source_revision() == SourceRevision{12});
  CHECK(*state->has_pending_or_conflicts());
  REQUIRE(state->forget_base(DocumentId("d1")));
  CHECK(state->base()->empty());
}

TEST_CASE("state: journal steps and a staged commit survive a round trip", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  auto state = StateStore::open(folder / "state.db");
  REQUIRE(state);
  JournalStep step{.action = {.kind = ActionKind::pull_move, .path = path("b.md"), .document = DocumentId("d")}};
  step.action.previous_path = path("a.md");
  step.action.seen = Sha256::of("x");
  step.base = BaseRow{.entry = entry("b.md", "x", 4), .displaced_to = path("b (remote).md")};
  step.applies_remote = false;
  REQUIRE(state->put_step(step));
  const auto steps = state->steps();
  REQUIRE(steps);
  REQUIRE(steps->size() == 1);
  CHECK(steps->front().action == step.action);
  CHECK(steps->front().base == step.base);
  CHECK_FALSE(steps->front().applies_remote);

  CHECK_FALSE(state->staged()->has_value());
  StagedCommit staged{.request = {.source_id = "s", .plan_id = "p", .push_ids = {"1", "2"}, .message = "m\n\"q\""}};
  staged.items.push_back({.item = {.kind = ActionKind::push_update, .path = path("n.md"), .hash = Sha256::of("n")},
                          .disk_path = path("n (remote).md")});
  staged.under_way = true;
  REQUIRE(state->put_staged(staged));
  const auto read = state->staged();
  REQUIRE(read);
  REQUIRE(*read);
  CHECK(encode(**read) == encode(staged));
  REQUIRE(state->clear_staged());
  CHECK_FALSE(state->staged()->has_value());
}

TEST_CASE("state: that a document is out of sight is remembered until its base changes", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  auto state = StateStore::open(folder / "state.db");
  REQUIRE(state);
  const BaseRow row{.entry = entry("a.md", "a", 7)};
  REQUIRE(state->put_base(DocumentId("a"), row));
  CHECK(*state->base_files());
  REQUIRE(state->set_left_out(DocumentId("a"), true));
  CHECK(state->base()->begin()->second.left_out);
  CHECK_FALSE(*state->base_files());  // what is seen again is to be noted
  REQUIRE(state->put_base(DocumentId("a"), row));
  CHECK_FALSE(state->base()->begin()->second.left_out);
}

TEST_CASE("state: which file a document is, and a path that breaks a rule, are known by document", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  auto state = StateStore::open(folder / "state.db");
  REQUIRE(state);
  REQUIRE(state->put_base(DocumentId("d"), {.entry = entry("a.md", "a", 3)}));
  CHECK(state->files()->empty());
  const FileId file{.inode = 7, .device = 8, .born_ns = 9};
  CHECK(state->put_files({{DocumentId{"d"}, file}}));
  CHECK(*state->files() == std::map<DocumentId, FileId>{{DocumentId{"d"}, file}});
  CHECK(*state->find_file(DocumentId{"d"}) == file);
  CHECK(state->put_invalid_path(DocumentId{"e"}, ".git/config"));
  CHECK(state->invalid_paths() == InvalidPaths{{DocumentId{"e"}, ".git/config"}});
  CHECK(state->drop_invalid_path(DocumentId{"e"}));
  CHECK(state->invalid_paths()->empty());
}

TEST_CASE("state: what was written for a document is known until both sides agree on it again", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  const DocumentId document{"d"};
  const WrittenFile file{
      .path = path("d/n.md"), .id = {.inode = 7, .device = 8, .born_ns = 9}, .text = Sha256::of("x")};
  const std::map<DocumentId, WrittenFile> one = {{document, file}};
  {
    auto state = StateStore::open(folder / "state.db");
    REQUIRE(state);
    REQUIRE(state->put_base(document, {.entry = entry("n.md", "n", 1)}));
    REQUIRE(state->put_files({{document, {.inode = 1, .device = 8}}}));
    REQUIRE(state->put_written(document, file));
    CHECK(*state->written() == one);
  }
  auto state = StateStore::open(folder / "state.db");
  REQUIRE(state);
  CHECK(*state->written() == one);
  SECTION("the agreed file is the same one") { REQUIRE(state->put_files({{document, {.inode = 1, .device = 8}}})); }
  SECTION("the document is archived") { REQUIRE(state->forget_base(document)); }
  CHECK(state->written()->empty());
}

TEST_CASE("state: a change of the base is a row of the open operation", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  const BaseRow base{.entry = entry("a.md", "a", 7), .blob = git::object_id(git::ObjectType::blob, "a")};
  auto state = StateStore::open(folder / "state.db");
  REQUIRE(state);
  REQUIRE(state->put_base(DocumentId("d"), base));
  CHECK(*state->base() == std::map<DocumentId, BaseRow>{{DocumentId("d"), base}});
  CHECK(state->operations().list()->empty());
  state->operations().begin({.kind = "run", .command = "ws sync"});
  {
    auto transaction = state->begin();
    REQUIRE(transaction);
    REQUIRE(state->forget_base(DocumentId("d"), ChangeOrigin::received));
    REQUIRE(transaction->commit());
  }
  REQUIRE(state->operations().close({9}));
  const auto all = state->operations().list();
  REQUIRE(all);
  REQUIRE(all->size() == 1);
  CHECK(all->front().revision_after == SourceRevision{9});
  const auto rows = state->operations().rows(all->front().id);
  REQUIRE(rows);
  REQUIRE(rows->size() == 1);
  CHECK(rows->front().before == version_of(base));
  CHECK_FALSE(rows->front().after);
}

TEST_CASE("state: an operation whose transaction was rolled back is not there", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  auto state = StateStore::open(folder / "state.db");
  REQUIRE(state);
  state->operations().begin({.kind = "run"});
  const BaseRow base{.entry = entry("a.md", "a", 7)};
  {
    auto transaction = state->begin();
    REQUIRE(state->put_base(DocumentId("d"), base, ChangeOrigin::sent));
  }
  CHECK(state->operations().list()->empty());
  {
    auto transaction = state->begin();
    REQUIRE(state->put_base(DocumentId("d"), base, ChangeOrigin::sent));
    REQUIRE(transaction->commit());
  }
  const auto all = state->operations().list();
  REQUIRE(all->size() == 1);
  CHECK(state->operations().rows(all->front().id)->size() == 1);
}

TEST_CASE("state: a newer format is refused, not rewritten", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  {
    auto database = sqlite::Database::open((folder / "state.db").string());
    REQUIRE(database);
    REQUIRE(database->execute("create table future (x); pragma user_version = 99"));
  }
  const auto state = StateStore::open(folder / "state.db");
  REQUIRE_FALSE(state);
  CHECK(state.error().kind == Failure::Kind::disk);
  CHECK(state.error().code == "newer_format");
}

TEST_CASE("state: a format from before the first release is refused, and nothing of it is changed", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  {
    auto database = sqlite::Database::open((folder / "state.db").string());
    REQUIRE(database);
    REQUIRE(database->execute("create table numbers (x); create table base (x); pragma user_version = 12"));
  }
  const std::string before = *read_file((folder / "state.db").string(), 1U << 20U);
  const auto state = StateStore::open(folder / "state.db");
  REQUIRE_FALSE(state);
  CHECK(state.error().code == "older_format");
  CHECK(*read_file((folder / "state.db").string(), 1U << 20U) == before);
}

TEST_CASE("state: a note and a file at one path are two entries, each with a number that stays", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  auto state = StateStore::open(folder / "state.db");
  REQUIRE(state);
  const Attachment file{.size_bytes = 1, .hash = Sha256::of("f"), .media_type = "image/png", .asset = "a"};
  const auto numbers = [&] {
    auto database = sqlite::Database::open((folder / "state.db").string());
    auto rows = database->prepare("select entry, kind from base order by entry");
    std::map<std::int64_t, std::int64_t> found;
    while (*rows->step()) found.emplace(rows->integer(0), rows->integer(1));
    return found;
  };
  REQUIRE(state->attachments().put_base(path("a"), file));
  REQUIRE(state->put_base(DocumentId("d"), {.entry = entry("a", "a", 3)}));
  REQUIRE(state->attachments().put_base(path("a"), file));
  REQUIRE(state->put_base(DocumentId("d"), {.entry = entry("b", "b", 4)}));
  CHECK(numbers() == std::map<std::int64_t, std::int64_t>{{1, 1}, {2, 0}});
  CHECK(state->base()->size() == 1);
  CHECK(state->attachments().base()->size() == 1);
  REQUIRE(state->forget_base(DocumentId("d")));
  REQUIRE(state->put_base(DocumentId("d"), {.entry = entry("b", "b", 5)}));
  const auto now = numbers();
  CHECK(now.size() == 2);
  CHECK(now.at(1) == 1);
  CHECK(now.rbegin()->first > 2);
}

TEST_CASE("state: what is kept of files counts its changes, and only those", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  auto state = StateStore::open(folder / "state.db");
  REQUIRE(state);
  AttachmentStore files = state->attachments();
  REQUIRE(files.forget_base(path("a")));
  REQUIRE(files.set_note("word", ""));
  CHECK(*files.changes() == 0);
  REQUIRE(files.put_wanted(path("a")));
  CHECK(*files.changes() == 1);
  {
    auto transaction = state->begin();
    REQUIRE(files.put_wanted(path("b")));
  }
  CHECK(*files.changes() == 1);
  CHECK(files.wanted()->size() == 1);
}

TEST_CASE("history: a text that was overwritten is found by its hash in plain git's terms", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  test::FixedClock clock;
  git::ObjectId old;
  {
    History history(folder / "history.git", clock);
    const auto first = history.keep("first\n");
    REQUIRE(first);
    REQUIRE(history.record_after({{"a.md", *first}}, "one"));
    const auto local = history.keep("edited here\n");
    REQUIRE(local);
    old = *local;
    const auto theirs = history.keep("theirs\n");
    REQUIRE(theirs);
    REQUIRE(history.record_before({{"a.md", *local}}, {{"a.md", *theirs}}));
    const auto merged = history.keep("merged\n");
    REQUIRE(merged);
    REQUIRE(history.record_after({{"a.md", *merged}}, "merged"));
  }
  History again(folder / "history.git", clock);
  CHECK(*again.text(old) == "edited here\n");
  auto repository = git::Repository::open(folder / "history.git");
  REQUIRE(repository);
  const auto tip = repository->find_reference("refs/heads/main");
  REQUIRE(tip);
  REQUIRE(*tip);
}

}  // namespace ws::sync

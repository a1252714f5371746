#include "sync-engine/state/state_store.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

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
                    .document = {"d3"},
                    .id = "c1",
                    .record = ConflictRecord::closing};
  conflict.base = entry("c.md", "base", 1);
  conflict.local = entry("c.md", "mine", 0);
  {
    auto state = StateStore::open(folder / "state.db");
    REQUIRE(state);
    const std::uint64_t before = *state->generation();
    REQUIRE(state->put_base({"d1"}, base));
    CHECK(*state->generation() > before);
    REQUIRE(state->put_pending({"d1"}, edited));
    REQUIRE(state->put_pending({"d2"}, gone));
    REQUIRE(state->put_conflict(conflict));
    REQUIRE(state->set_source_revision({12}));
  }
  auto state = StateStore::open(folder / "state.db");
  REQUIRE(state);
  CHECK(*state->base() == std::map<DocumentId, BaseRow>{{{"d1"}, base}});
  CHECK(*state->pending() == std::map<DocumentId, PendingRow>{{{"d1"}, edited}, {{"d2"}, gone}});
  CHECK(*state->conflicts() == std::vector<Conflict>{conflict});
  CHECK(*state->source_revision() == SourceRevision{12});
  CHECK(*state->has_pending_or_conflicts());
  REQUIRE(state->forget_base({"d1"}));
  CHECK(state->base()->empty());
}

TEST_CASE("state: journal steps and a staged commit survive a round trip", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  auto state = StateStore::open(folder / "state.db");
  REQUIRE(state);
  JournalStep step{.action = {.kind = ActionKind::pull_move, .path = path("b.md"), .document = {"d"}}};
  step.action.previous_path = path("a.md");
  step.action.seen = Sha256::of("x");
  step.base = BaseRow{.entry = entry("b.md", "x", 4), .displaced_to = path("b (remote).md")};
  step.applies_remote = false;
  REQUIRE(state->put_step(step));
  const auto steps = state->steps();
  REQUIRE(steps);
  REQUIRE(steps->size() == 1);
  CHECK(encode(steps->front()) == encode(step));

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

/// What format 12 added, the column of the steps aside.
const std::string as_format_11 = "drop table written; alter table base drop column left_out; ";

/// What format 9 added to the documents that are waiting.
const std::string as_format_8 =
    as_format_11 +
    "drop table undo_left; alter table pending drop column author; alter table pending drop column author_id; "
    "alter table pending drop column changed_at; ";

TEST_CASE("state: a tree of format 8 keeps what is pending, by an unknown author", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  const PendingRow row{
      .entry = entry("a.md", "a", 7), .revision = {7}, .author = {.name = "Ada", .id = "u", .time = {}}};
  {
    auto state = StateStore::open(folder / "state.db");
    REQUIRE(state);
    REQUIRE(state->put_pending({"d"}, row));
    CHECK(*state->pending() == std::map<DocumentId, PendingRow>{{{"d"}, row}});
    auto database = sqlite::Database::open((folder / "state.db").string());
    REQUIRE(database);
    REQUIRE(database->execute(as_format_8 + "alter table undo_steps drop column document; pragma user_version = 8"));
  }
  auto state = StateStore::open(folder / "state.db");
  REQUIRE(state);
  PendingRow known = row;
  known.author = {};
  CHECK(*state->pending() == std::map<DocumentId, PendingRow>{{{"d"}, known}});
}

TEST_CASE("state: a tree of format 11 with names that are refused by now lists them as misnamed", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  const BaseRow kept{.entry = entry("a.md", "a", 7)};
  {
    auto state = StateStore::open(folder / "state.db");
    REQUIRE(state);
    REQUIRE(state->put_base({"a"}, kept));
    REQUIRE(state->put_base({"b"}, {.entry = entry("b.md", "b", 7)}));
    REQUIRE(state->put_pending({"c"}, {.entry = entry("c.md", "c", 7), .revision = {7}}));
    auto database = sqlite::Database::open((folder / "state.db").string());
    REQUIRE(database);
    REQUIRE(database->execute(
        as_format_11 +
        "alter table undo_steps drop column document; update base set path = 'b\u00AD.md' where document = 'b'; "
        "update pending set path = 'c\u06DD.md'; pragma user_version = 11"));
  }
  auto state = StateStore::open(folder / "state.db");
  REQUIRE(state);
  CHECK(*state->base() == std::map<DocumentId, BaseRow>{{{"a"}, kept}});
  CHECK(state->pending()->empty());
  CHECK(*state->invalid_paths() == InvalidPaths{{{"b"}, "b\u00AD.md"}, {{"c"}, "c\u06DD.md"}});
}

TEST_CASE("state: that a document is out of sight is remembered until its base changes", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  auto state = StateStore::open(folder / "state.db");
  REQUIRE(state);
  const BaseRow row{.entry = entry("a.md", "a", 7)};
  REQUIRE(state->put_base({"a"}, row));
  CHECK(*state->base_files());
  REQUIRE(state->set_left_out({"a"}, true));
  CHECK(state->base()->begin()->second.left_out);
  CHECK_FALSE(*state->base_files());  // what is seen again is to be noted
  REQUIRE(state->put_base({"a"}, row));
  CHECK_FALSE(state->base()->begin()->second.left_out);
}

TEST_CASE("state: the case of a conflict of format 10 is found once, by its kind, flags and sides", "[sync-engine]") {
  struct Earlier {
    std::string_view kind;
    bool in_the_way;
    std::string_view base, local, remote;  ///< paths; empty: no such side
    ConflictCase which;
  };
  using enum ConflictCase;
  const std::string beneath = "a.md/x.md";
  const std::vector<Earlier> all = {
      {"revision", false, "a.md", "a.md", "a.md", edited_on_both},
      {"revision", true, "a.md", "", "a.md", became_folder},
      {"hash", false, "", "a.md", "a.md", created_on_both},
      {"edit_delete", false, "a.md", "a.md", "", edited_and_archived},
      {"delete_edit", false, "a.md", "", "a.md", deleted_and_edited},
      {"path", false, "b.md", "a.md", "c.md", renamed_on_both},
      {"path", false, "c.md", "a.md", "C.md", renamed_on_both_kept_here},
      {"path", true, "b.md", "a.md", "a.md", two_documents},
      {"path", true, "", "a.md", "A.md", two_documents_kept_here},
      {"path", true, "b.md", "a.md", beneath, folder_there},
      {"path", true, "b.md", "a.md", "c.md", document_there},
      {"path", true, "", "", "a.md", not_synced},
      {"path", false, "b.md", "a.md", "", folder_at_old_name},
      {"path", true, "", "a.md", "", place_refused},
      {"rewound", false, "a.md", "a.md", "a.md", document_went_back},
  };
  ws::test::TemporaryFolder folder;
  {
    REQUIRE(StateStore::open(folder / "state.db"));
    auto database = sqlite::Database::open((folder / "state.db").string());
    REQUIRE(database);
    const auto side = [](std::string_view at, int revision) {
      if (at.empty()) return std::string("null");
      return fmt::format(
          R"({{"path":"{}","hash":"{}","revision":{}}})", at, Sha256::of(std::to_string(revision)).hex(), revision);
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto put = database->prepare("insert into conflicts values (?, ?)");
      REQUIRE(put);
      const std::string id = fmt::format("{:02}", i);
      REQUIRE(put->bind_all(id,
                            fmt::format(R"({{"id":"{}","kind":"{}","path":"a.md","document":"d","base":{},"local":{},)"
                                        R"("remote":{},"here_only":{},"in_the_way":{},"closing":{}}})",
                                        id,
                                        all[i].kind,
                                        side(all[i].base, 1),
                                        side(all[i].local, 0),
                                        side(all[i].remote, 2),
                                        i % 3 == 1,
                                        all[i].in_the_way,
                                        i % 3 == 2))
                  .run());
    }
    REQUIRE(database->execute(as_format_11 +
                              "alter table undo_steps drop column document; "
                              "insert into conflicts values ('broken', '{}'); pragma user_version = 10"));
  }
  auto state = StateStore::open(folder / "state.db");
  REQUIRE(state);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto found = state->find_conflict(fmt::format("{:02}", i));
    CAPTURE(i);
    REQUIRE(found);
    REQUIRE(*found);
    CHECK((*found)->row().word == row_of(all[i].which).word);
    CHECK((*found)->record == (i % 3 == 0   ? ConflictRecord::service
                               : i % 3 == 1 ? ConflictRecord::here
                                            : ConflictRecord::closing));
  }
  CHECK_FALSE(state->find_conflict("broken"));
  // It is stored so: the words of format 10 are gone.
  auto database = sqlite::Database::open((folder / "state.db").string());
  auto left = database->prepare("select count(*) from conflicts where value like '%in_the_way%'");
  REQUIRE(left);
  REQUIRE(left->step());
  CHECK(left->integer(0) == 0);
}

TEST_CASE("state: a tree of format 1 goes on with what it holds", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  {
    auto database = sqlite::Database::open((folder / "state.db").string());
    REQUIRE(database);
    REQUIRE(database->execute(
        "create table numbers (key text primary key, value integer not null) without rowid;"
        "create table base (document text primary key, path text not null, hash blob not null, revision integer not "
        "null, blob blob not null) without rowid;"
        "create table pending (document text primary key, path text, hash blob, revision integer not null, blob blob "
        "not null) without rowid;"
        "create table conflicts (id text primary key, value text not null) without rowid;"
        "create table staged (place integer primary key check (place = 1), value text not null);"
        "insert into base values ('d', 'a.md', zeroblob(32), 3, zeroblob(20)); pragma user_version = 1"));
  }
  auto state = StateStore::open(folder / "state.db");
  REQUIRE(state);
  const auto base = state->base();
  REQUIRE(base);
  REQUIRE(base->size() == 1);
  CHECK_FALSE(base->begin()->second.displaced_to);
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

TEST_CASE("state: a tree of format 6 knows its files by number, and no birth time", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  {
    REQUIRE(StateStore::open(folder / "state.db"));
    auto database = sqlite::Database::open((folder / "state.db").string());
    REQUIRE(database);
    REQUIRE(database->execute(
        "drop table files; create table files (document text primary key, inode integer not null, device integer not "
        "null) without rowid; insert into files values ('d', 7, 8); drop table operations; drop table operation_rows; "
        "drop table undo_steps; " +
        as_format_8 + "pragma user_version = 6"));
  }
  auto state = StateStore::open(folder / "state.db");
  REQUIRE(state);
  CHECK(*state->find_file(DocumentId{"d"}) == FileId{.inode = 7, .device = 8});
}

TEST_CASE("state: a tree of format 7 keeps what it holds, and records its runs from now on", "[sync-engine]") {
  ws::test::TemporaryFolder folder;
  const BaseRow base{.entry = entry("a.md", "a", 7), .blob = git::object_id(git::ObjectType::blob, "a")};
  {
    auto state = StateStore::open(folder / "state.db");
    REQUIRE(state);
    REQUIRE(state->put_base({"d"}, base));
    auto database = sqlite::Database::open((folder / "state.db").string());
    REQUIRE(database);
    REQUIRE(database->execute("drop table operations; drop table operation_rows; drop table undo_steps; " +
                              as_format_8 + "pragma user_version = 7"));
  }
  auto state = StateStore::open(folder / "state.db");
  REQUIRE(state);
  CHECK(*state->base() == std::map<DocumentId, BaseRow>{{{"d"}, base}});
  CHECK(state->operations().list()->empty());
  state->operations().begin({.kind = "run", .command = "ws sync"});
  {
    auto transaction = state->begin();
    REQUIRE(transaction);
    REQUIRE(state->forget_base({"d"}, ChangeOrigin::received));
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
    REQUIRE(state->put_base({"d"}, base, ChangeOrigin::sent));
  }
  CHECK(state->operations().list()->empty());
  {
    auto transaction = state->begin();
    REQUIRE(state->put_base({"d"}, base, ChangeOrigin::sent));
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

// What one commit holds, and how its answer is understood, however a service words it.
#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

using test::FakeRemote;
using test::lines;
using test::Lines;
using test::SyncedFolder;
using test::Tree;

/// Two documents in step, and nothing asked yet.
struct TwoFiles {
  FakeRemote remote;
  SyncedFolder here{remote};
  TwoFiles() {
    here.write("a.md", "text a\nwith lines\n");
    here.write("b.md", "another b\nmore of it\n");
    here.run();
    here.run();
    remote.requests.clear();
  }
  /// What somebody else does between our pull and our commit, once.
  void meanwhile(std::function<void()> what) {
    remote.fault = [this, what = std::move(what), done = false](const std::string& request,
                                                                bool after) mutable -> std::optional<Failure> {
      if (request != "commit" || after || std::exchange(done, true)) return std::nullopt;
      what();
      return std::nullopt;
    };
  }
  void move_b_onto_a() { std::filesystem::rename(here.path() / "b.md", here.path() / "a.md"); }
};

Failure unusable_answer() {
  return {.kind = Failure::Kind::unknown_outcome, .what = "the answer is not usable", .code = "unusable_answer"};
}

/// Every answer to a commit is complete, and of no use.
void garble_commits(FakeRemote& remote) {
  remote.fault = [](const std::string& request, bool after) -> std::optional<Failure> {
    return request == "commit" && after ? std::optional(unusable_answer()) : std::nullopt;
  };
}

}  // namespace

TEST_CASE("commit: a text goes to its own document, also where another file wants its place", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("q.md", "document\n");
  here.write("z.md", "z\n");
  here.run();
  here.write("p.md", "mine\n");
  remote.move("q.md", "p.md");
  const bool recorded = GENERATE(true, false);
  if (recorded) {
    REQUIRE(here.run().conflicts.size() == 1);
    here.write("p.md", "mine again\n");
    here.write("p (remote).md", "document, edited here\n");
  }
  const Report report = here.run();
  CAPTURE(lines(report));
  CHECK(std::none_of(
      report.rows.begin(), report.rows.end(), [](const Row& row) { return row.state == Row::State::failed; }));
  CHECK(report.conflicts.size() == 1);
  CHECK(remote.text_at("p.md") == (recorded ? "document, edited here\n" : "document\n"));
  CHECK(here.read("p.md") == (recorded ? "mine again\n" : "mine\n"));
  // The next run tells the service of the text that waited, and then there is nothing left to tell.
  here.run();
  REQUIRE(remote.conflicts().size() == 1);
  CHECK(remote.conflicts()[0].local == (recorded ? "mine again\n" : "mine\n"));
  remote.requests.clear();
  here.run();
  CHECK(remote.times_asked("push") == 0);
}

TEST_CASE("commit: what leaves a place and what takes it are told apart by their documents", "[sync-engine]") {
  TwoFiles two;
  auto& [remote, here] = two;
  const int words = GENERATE(0, 1, 2);
  CAPTURE(words);
  remote.words = [words](CommitAnswer& answer) {
    if (words > 0) std::reverse(answer.applied.begin(), answer.applied.end());
    for (AppliedItem& item : answer.applied) {
      if (words > 1) item.kind = ActionKind::unchanged;
    }
  };
  two.move_b_onto_a();
  const Report report = here.run();
  CAPTURE(lines(report));
  CHECK(report.clean);
  CHECK(report.rows.size() == 2);
  CHECK(remote.tree() == Tree{{"a.md", "another b\nmore of it\n"}});
  remote.requests.clear();
  CHECK(here.run().rows.empty());
  CHECK(remote.requests == Lines{"pull"});
}

TEST_CASE("commit: a conflict at a place with two documents is that of the document that it names", "[sync-engine]") {
  TwoFiles two;
  auto& [remote, here] = two;
  const std::string edited = GENERATE("a.md", "b.md");
  CAPTURE(edited);
  const std::string theirs = "theirs, of " + edited + "\n";
  two.meanwhile([&] { remote.edit(edited, theirs); });
  two.move_b_onto_a();
  const Report report = here.run();
  CAPTURE(lines(report));
  CHECK(std::none_of(
      report.rows.begin(), report.rows.end(), [](const Row& row) { return row.state == Row::State::failed; }));
  const std::vector<test::FakeConflict>& there = remote.conflicts();
  const auto known = here.engine().conflicts();
  REQUIRE(known);
  REQUIRE(known->size() == there.size());
  for (const Conflict& conflict : *known) {
    const auto same =
        std::find_if(there.begin(), there.end(), [&](const auto& each) { return each.id == conflict.id; });
    REQUIRE(same != there.end());
    CHECK(conflict.document.text() == same->document);
    CHECK(conflict.kind() == same->kind);
  }
  for (int run = 0; run < 3; ++run) here.run({.on_conflict = Keep::local});
  CHECK(here.tree() == remote.tree());
  CHECK(here.run().rows.empty());
  const Tree tree = here.tree();
  const auto is_there = [&](const std::string& text) {
    return std::any_of(tree.begin(), tree.end(), [&](const auto& file) { return file.second == text; });
  };
  // A document that was deleted here and edited there comes back; one that was moved here has the text from there.
  CHECK(is_there(theirs));
  CHECK(is_there("another b\nmore of it\n") == (edited == "a.md"));
}

TEST_CASE("commit: an item that was refused at a place with two is not taken for the other", "[sync-engine]") {
  TwoFiles two;
  auto& [remote, here] = two;
  remote.refused["a.md"] = "hash_mismatch";
  two.move_b_onto_a();
  const Report report = here.run();
  CAPTURE(lines(report));
  remote.refused.clear();
  here.run();
  CHECK(here.run().clean);
  CHECK(here.tree() == Tree{{"a.md", "another b\nmore of it\n"}});
  CHECK(remote.tree() == here.tree());
}

TEST_CASE("commit: a document that is refused when a plan is made anew is detached like any other", "[sync-engine]") {
  TwoFiles two;
  auto& [remote, here] = two;
  remote.fault = [&, first = true](const std::string& request, bool after) mutable -> std::optional<Failure> {
    if (request != "commit" || after || !std::exchange(first, false)) return std::nullopt;
    remote.refused["a.md"] = "forbidden";
    return Failure{.kind = Failure::Kind::conflict, .what = "the plan has expired", .code = "plan_expired"};
  };
  here.write("a.md", "mine\n");
  here.write("b.md", "edited\n");
  const Report report = here.run();
  REQUIRE(report.rows.size() == 2);
  REQUIRE(report.rows[0].error);
  CHECK(report.rows[0].error->code == "cannot_push");
  CHECK(report.rows[1].state == Row::State::done);
  CHECK(remote.text_at("b.md") == "edited\n");
  remote.requests.clear();
  const Report next = here.run();
  CHECK(next.detached.size() == 1);
  CHECK(remote.times_asked("push") == 0);
}

TEST_CASE("commit: an answer of no use is settled by a pull, and the commit is not repeated", "[sync-engine]") {
  TwoFiles two;
  auto& [remote, here] = two;
  here.write("a.md", "mine\n");
  here.write("new.md", "new\n");
  std::filesystem::rename(here.path() / "b.md", here.path() / "c.md");
  garble_commits(remote);
  const Report first = here.run();
  REQUIRE(first.ended_by);
  CHECK(first.ended_by->kind == Failure::Kind::unknown_outcome);
  CHECK(remote.document_count() == 3);
  CHECK(remote.times_asked("commit") == 1);

  SECTION("nothing is left to do, though no answer is ever of use") {
    remote.requests.clear();
    CHECK(here.run().rows.empty());
    CHECK(here.run().clean);
    CHECK(remote.times_asked("commit") == 0);
  }
  SECTION("what is edited before the next run is an edit, not a conflict") {
    remote.fault = {};
    here.write("a.md", "mine, edited since\n");
    here.write("new.md", "new, edited since\n");
    here.remove("c.md");
    const Report next = here.run();
    CHECK(lines(next) == Lines{"push_update a.md", "push_delete c.md", "push_update new.md"});
    CHECK(next.clean);
  }
  SECTION("every other command goes on") {
    CHECK(here.engine().pull());
    CHECK(here.engine().push());
  }
  CHECK(here.tree() == remote.tree());
}

TEST_CASE("commit: what did not arrive of an answer of no use is sent again", "[sync-engine]") {
  TwoFiles two;
  auto& [remote, here] = two;
  here.write("a.md", "mine\n");
  here.write("new.md", "new\n");
  here.remove("b.md");
  SECTION("nothing of it") {
    remote.fault = [](const std::string& request, bool after) -> std::optional<Failure> {
      return request == "commit" && !after ? std::optional(unusable_answer()) : std::nullopt;
    };
    CHECK(here.run().ended_by);
    CHECK(remote.document_count() == 2);
    remote.fault = {};
    CHECK(here.run().clean);
    CHECK(here.tree() == remote.tree());
  }
  SECTION("all but one, which somebody else edited in between") {
    bool edited = false;
    remote.fault = [&](const std::string& request, bool after) -> std::optional<Failure> {
      if (request == "commit" && !after && !std::exchange(edited, true)) remote.edit("a.md", "theirs\n");
      return request == "commit" && after ? std::optional(unusable_answer()) : std::nullopt;
    };
    CHECK(here.run().ended_by);
    remote.fault = {};
    const Report next = here.run();
    CHECK(next.conflicts.size() == 1);
    CHECK(remote.tree() == Tree{{"a.md", "theirs\n"}, {"new.md", "new\n"}});
    CHECK(remote.conflicts().size() == 1);
  }
  SECTION("and where the service cannot be asked the commit is repeated") {
    remote.fault = [&](const std::string& request, bool after) -> std::optional<Failure> {
      if (request == "commit" && after) return unusable_answer();
      if (request == "pull" && remote.times_asked("commit") > 0)
        return Failure{.kind = Failure::Kind::unreachable, .what = "no network"};
      return std::nullopt;
    };
    CHECK(here.run().ended_by);
    remote.fault = {};
    CHECK(here.run().clean);
    CHECK(here.tree() == remote.tree());
    CHECK(remote.times_asked("commit") == 2);
  }
}

TEST_CASE("commit: what a reset discards is published neither by it nor later", "[sync-engine]") {
  TwoFiles two;
  auto& [remote, here] = two;
  const Tree before = remote.tree();
  here.write("a.md", "mine\n");
  here.write("new.md", "new\n");
  const BringBack reset{.to = BringBack::To::service};
  SECTION("of a run that was cut") {
    const bool after = GENERATE(false, true);
    CAPTURE(after);
    remote.fault = [after](const std::string& request, bool is_after) -> std::optional<Failure> {
      if (request != "commit" || is_after != after) return std::nullopt;
      return Failure{.kind = after ? Failure::Kind::unknown_outcome : Failure::Kind::unreachable, .what = "cut"};
    };
    CHECK(here.run().ended_by);
    remote.fault = {};
    REQUIRE(here.engine().bring_back(reset));
    CHECK(remote.tree() ==
          (after ? Tree{{"a.md", "mine\n"}, {"b.md", before.at("b.md")}, {"new.md", "new\n"}} : before));
    CHECK(here.read("a.md") == remote.text_at("a.md"));
    CHECK(here.read("new.md") == "new\n");
    CHECK(here.run().clean);
    CHECK(here.tree() == remote.tree());
    CHECK(remote.text_at("a.md") == (after ? "mine\n" : before.at("a.md")));
  }
  SECTION("staged") {
    CHECK(here.engine().push());
    REQUIRE(here.engine().bring_back(reset));
    CHECK(here.engine().commit());
    CHECK(remote.tree() == before);
  }
}

TEST_CASE("commit: an edit of somebody else in between is pulled, however a service counts", "[sync-engine]") {
  TwoFiles two;
  auto& [remote, here] = two;
  remote.counts_documents = GENERATE(true, false);
  CAPTURE(remote.counts_documents);
  std::filesystem::rename(here.path() / "a.md", here.path() / "c.md");
  here.write("c.md", "text a\nwith lines\nand one more\n");
  const bool edited = GENERATE(true, false);
  if (edited) two.meanwhile([&] { remote.edit("b.md", "theirs\n"); });
  CHECK(here.run().rows.size() == 2);
  if (edited) CHECK(lines(here.run()) == Lines{"pull_update b.md"});
  CHECK(here.tree() == remote.tree());
  remote.requests.clear();
  CHECK(here.run().rows.empty());
  CHECK(remote.requests == Lines{"pull"});
}

TEST_CASE("commit: what was staged goes with the run that finds nothing to do", "[sync-engine]") {
  TwoFiles two;
  auto& [remote, here] = two;
  here.remove("a.md");
  here.write("b.md", "mine\n");
  REQUIRE(here.engine().push());
  here.write("a.md", "text a\nwith lines\n");
  here.write("b.md", "another b\nmore of it\n");
  CHECK(here.run().rows.empty());
  const auto committed = here.engine().commit();
  REQUIRE(committed);
  CHECK(committed->rows.empty());
  CHECK(remote.tree() == here.tree());
}

TEST_CASE("commit: a file that is there again is not deleted on the service", "[sync-engine]") {
  TwoFiles two;
  auto& [remote, here] = two;
  here.remove("a.md");
  here.write("b.md", "mine\n");
  SECTION("it came back") {
    REQUIRE(here.engine().push());
    here.write("a.md", "text a\nwith lines\n");
    const auto committed = here.engine().commit();
    REQUIRE(committed);
    REQUIRE(committed->rows.size() == 2);
    const auto kept = std::find_if(committed->rows.begin(), committed->rows.end(), [](const Row& row) {
      return row.action.path.text() == "a.md";
    });
    REQUIRE(kept != committed->rows.end());
    REQUIRE(kept->error);
    CHECK(kept->error->kind == Failure::Kind::conflict);
    CHECK_FALSE(committed->clean);
    CHECK(remote.tree() == Tree{{"a.md", "text a\nwith lines\n"}, {"b.md", "mine\n"}});
  }
  SECTION("it is all that was staged") {
    here.write("b.md", "another b\nmore of it\n");
    REQUIRE(here.engine().push());
    here.write("a.md", "text a\nwith lines\n");
    CHECK_FALSE(here.engine().commit()->clean);
    CHECK(here.engine().commit()->rows.empty());
    CHECK(remote.document_count() == 2);
  }
  SECTION("another document stands there by right") {
    two.move_b_onto_a();
    REQUIRE(here.engine().push());
    const auto committed = here.engine().commit();
    REQUIRE(committed);
    CHECK(committed->clean);
    CHECK(remote.document_count() == 1);
  }
  here.run();
  CHECK(here.run().clean);
  CHECK(here.tree() == remote.tree());
}

TEST_CASE("commit: many moves go in several, what changes places together stays together", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  for (int i = 0; i < 9; ++i) here.write("old/" + std::to_string(i) + ".md", "text " + std::to_string(i) + "\n");
  here.write("x.md", "x\n");
  here.write("y.md", "y\n");
  here.run();
  here.run();
  remote.requests.clear();
  std::filesystem::rename(here.path() / "old", here.path() / "new");
  std::filesystem::rename(here.path() / "x.md", here.path() / "tmp.txt");
  std::filesystem::rename(here.path() / "y.md", here.path() / "x.md");
  std::filesystem::rename(here.path() / "tmp.txt", here.path() / "y.md");
  // A place that is a folder by now: who leaves it goes with who comes below it.
  std::filesystem::rename(here.path() / "new/0.md", here.path() / "aside.md");
  std::filesystem::create_directories(here.path() / "old/0.md");
  std::filesystem::rename(here.path() / "new/1.md", here.path() / "old/0.md/1.md");
  std::size_t in_one = 0;
  std::size_t before = 0;
  remote.words = [&](CommitAnswer& answer) {
    CHECK(answer.conflicts.empty());
    in_one = std::max(in_one, answer.applied.size());
    before += answer.applied.size();
  };
  const auto report = here.engine({.commit_items = 3}).run({});
  REQUIRE(report);
  CAPTURE(lines(*report));
  CHECK(report->clean);
  CHECK(before == 11);
  CHECK(in_one <= 3);
  CHECK(remote.tree() == here.tree());
  CHECK(here.run().rows.empty());
}

TEST_CASE("commit: a conflict that only the service saw can be decided, and no text of it is lost", "[sync-engine]") {
  const Keep keep = GENERATE(Keep::local, Keep::remote);
  TwoFiles two;
  auto& [remote, here] = two;
  here.write("a.md", "mine\n");
  two.meanwhile([&] { remote.edit("a.md", "theirs\n"); });
  REQUIRE(here.run().conflicts.size() == 1);
  remote.fault = {};
  const Conflict open = here.engine().conflicts()->at(0);
  REQUIRE(open.remote);
  CHECK(open.remote->hash == Sha256::of("theirs\n"));
  CHECK(here.engine().texts(open)->remote == "theirs\n");
  REQUIRE(here.engine().resolve(open, keep));
  CHECK(here.run().clean);
  CHECK(here.read("a.md") == (keep == Keep::local ? "mine\n" : "theirs\n"));
  CHECK(remote.text_at("a.md") == here.read("a.md"));
  CHECK(here.run().rows.empty());
}

TEST_CASE("commit: a service that does not say the revision is asked for it", "[sync-engine]") {
  TwoFiles two;
  auto& [remote, here] = two;
  remote.words = [](CommitAnswer& answer) {
    for (AppliedItem& applied : answer.applied) applied.revision = {};
  };
  here.write("a.md", "mine\n");
  here.write("n.md", "new\n");
  CHECK(lines(here.run()) == Lines{"push_update a.md", "push_create n.md"});
  remote.words = {};
  CHECK(here.run().rows.empty());
  here.write("a.md", "mine again\n");
  here.remove("n.md");
  CHECK(lines(here.run()) == Lines{"push_update a.md", "push_delete n.md"});
  CHECK(here.run().clean);
  CHECK(remote.tree() == here.tree());
  CHECK(remote.conflicts().empty());
}

TEST_CASE("commit: another file's document is not taken for a new one", "[sync-engine]") {
  TwoFiles two;
  auto& [remote, here] = two;
  const DocumentId other = remote.id_at("b.md");
  remote.words = [&](CommitAnswer& answer) { answer.applied.at(0).document = other; };
  here.write("n.md", "new\n");
  const Report report = here.run();
  REQUIRE(report.rows.size() == 1);
  CHECK(report.rows[0].state == Row::State::failed);
  remote.words = {};
  CHECK(lines(here.run()) == Lines{"adopt n.md"});
  CHECK(here.run().rows.empty());
  CHECK(remote.tree() == here.tree());
  CHECK(remote.document_count() == 3);
}

TEST_CASE("commit: of what is staged only what is wanted goes, and the rest the next time", "[sync-engine]") {
  TwoFiles two;
  auto& [remote, here] = two;
  here.write("draft.md", "draft\n");
  here.write("public.md", "public\n");
  here.write("a.md", "text a, edited\n");
  REQUIRE(here.engine().push());
  here.write("public.md", "public, edited since\n");
  const auto wants = [](std::string_view name) {
    return [name](const RelativePath& path) { return path.text() == name; };
  };
  const auto planned = here.engine().commit({.dry_run = true, .only = wants("public.md")});
  REQUIRE(planned);
  CHECK(lines(*planned) == Lines{"push_create public.md"});
  CHECK(lines(*here.engine().commit({.only = wants("nothing.md")})).empty());
  const auto first = here.engine().commit({.only = wants("public.md")});
  REQUIRE(first);
  CHECK(lines(*first) == Lines{"push_create public.md"});
  CHECK(remote.text_at("public.md") == "public\n");
  CHECK_FALSE(remote.text_at("draft.md"));
  CHECK(lines(*here.engine().commit({.dry_run = true})) == Lines{"push_update a.md", "push_create draft.md"});
  CHECK(lines(*here.engine().commit()) == Lines{"push_update a.md", "push_create draft.md"});
  CHECK(remote.text_at("draft.md") == "draft\n");
  CHECK(lines(*here.engine().commit()).empty());
  CHECK(lines(here.run()) == Lines{"push_update public.md"});
}

TEST_CASE("commit: half of a swap does not go alone", "[sync-engine]") {
  TwoFiles two;
  auto& [remote, here] = two;
  std::filesystem::rename(here.path() / "a.md", here.path() / "c.md");
  std::filesystem::rename(here.path() / "b.md", here.path() / "a.md");
  std::filesystem::rename(here.path() / "c.md", here.path() / "b.md");
  REQUIRE(here.engine().push());
  const auto half = here.engine().commit({.only = [](const RelativePath& path) { return path.text() == "a.md"; }});
  REQUIRE(half);
  CHECK(half->rows.empty());
  CHECK(here.engine().commit()->rows.size() == 2);
  CHECK(here.run().clean);
  CHECK(remote.tree() == here.tree());
}

TEST_CASE("commit: a service that strips blanks or writes other line ends is followed, in one run", "[sync-engine]") {
  FakeRemote remote;
  remote.normalise = [](const std::string& text) {
    std::string stored;
    for (const char c : text) {
      while (c == '\n' && !stored.empty() && (stored.back() == ' ' || stored.back() == '\r')) stored.pop_back();
      stored += c;
    }
    return stored;
  };
  SyncedFolder here(remote);
  const auto check_rest = [&](const Tree& expected) {
    CHECK(here.tree() == expected);
    CHECK(remote.tree() == expected);
    const Report again = here.run();
    CHECK(again.clean);
    CHECK(lines(again).empty());
  };
  here.write("a.md", "one \ntwo\n");
  const Report created = here.run();
  CHECK(lines(created) == Lines{"push_create a.md", "pull_update a.md"});
  CHECK(created.clean);
  check_rest({{"a.md", "one\ntwo\n"}});
  here.write("a.md", "one\ntwo  \r\nthree\n");
  CHECK(here.run().clean);
  check_rest({{"a.md", "one\ntwo\nthree\n"}});
  // What was here before it was normalised is in the history.
  const auto log = here.engine().log({});
  REQUIRE(log);
  // Both sides edit, and the merge is normalised as well.
  here.write("a.md", "mine \none\ntwo\nthree\n");
  remote.edit("a.md", "one\ntwo\nthree\ntheirs\n");
  CHECK(here.run().clean);
  check_rest({{"a.md", "mine\none\ntwo\nthree\ntheirs\n"}});
  SECTION("another text is no other form") {
    remote.normalise = [](const std::string&) { return std::string("something else\n"); };
    here.write("a.md", "edited\n");
    const Report report = here.run();
    REQUIRE(report.rows.size() == 1);
    REQUIRE(report.rows[0].error);
    CHECK(report.rows[0].error->kind == Failure::Kind::integrity);
    CHECK(here.read("a.md") == "edited\n");
  }
}

TEST_CASE("engine: a merge that the service has already is no change there, and the next run writes nothing",
          "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  const auto dated = [](const std::string& date) { return "---\nupdated: " + date + "\n---\ntext\n"; };
  here.write("a.md", dated("2026-01-01"));
  here.write("b.md", "b\n");
  here.run();
  here.write("a.md", dated("2026-02-01"));
  here.write("b.md", "edited\n");
  remote.edit("a.md", dated("2026-03-01"));
  CHECK(lines(here.run()) == Lines{"merge a.md", "push_update b.md"});
  const auto state = here.read(".ws/state.db");
  CHECK(here.run().rows.empty());
  CHECK(here.read(".ws/state.db") == state);
}

}  // namespace ws::sync

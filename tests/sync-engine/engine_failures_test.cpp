// One document that fails never stops the others (I17), and what ends a run ends it before the next change.
#include <catch2/catch.hpp>

#include "sync-engine/engine.hpp"
#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

using test::FakeRemote;
using test::lines;
using test::Lines;
using test::SyncedFolder;
using test::Tree;

std::vector<Row> failed_rows(const Report& report) {
  std::vector<Row> failed;
  for (const Row& row : report.rows) {
    if (row.state == Row::State::failed) failed.push_back(row);
  }
  return failed;
}

}  // namespace

TEST_CASE("failures: a text that the service will not give fails alone, and alone is tried again", "[sync-engine]") {
  const auto kind = GENERATE(Failure::Kind::service, Failure::Kind::forbidden, Failure::Kind::not_found);
  CAPTURE(static_cast<int>(kind));
  FakeRemote remote;
  SyncedFolder here(remote);
  for (const char* file : {"a.md", "b.md", "c.md"}) here.write(file, file);
  here.run();
  for (const char* file : {"a.md", "b.md", "c.md"}) remote.edit(file, std::string("new ") + file);
  remote.leaves_out_content = true;
  int asked = 0;
  remote.fault = [&](const std::string& request, bool after) -> std::optional<Failure> {
    if (request != "content" || after || ++asked != 2) return std::nullopt;
    return Failure{.kind = kind, .what = "not this one"};
  };
  const Report report = here.run();
  CHECK(here.read("a.md") == "new a.md");
  CHECK(here.read("b.md") == "b.md");
  CHECK(here.read("c.md") == "new c.md");
  REQUIRE(report.detached.size() == 1);
  CHECK(report.detached[0].path.text() == "b.md");
  CHECK(remote.document_count() == 3);
  remote.fault = {};
  CHECK(lines(here.run()) == Lines{"pull_update b.md"});
  CHECK(here.read("b.md") == "new b.md");
  CHECK(here.run().rows.empty());
}

TEST_CASE("failures: a text that the service will not give is asked for again, whatever was pushed meanwhile",
          "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  SyncedFolder other(remote);
  here.write("a.md", "a\n");
  here.run();
  other.run();
  other.write("b.md", "b\n");
  other.run();
  here.write("c.md", "c\n");
  remote.leaves_out_content = true;
  remote.fault = [](const std::string& request, bool) -> std::optional<Failure> {
    if (request != "content") return std::nullopt;
    return Failure{.kind = Failure::Kind::service, .what = "not this one"};
  };
  CHECK(lines(here.run()) == Lines{"push_create c.md"});
  remote.fault = {};
  CHECK(lines(here.run()) == Lines{"pull_create b.md"});
  CHECK(here.tree() == remote.tree());
}

TEST_CASE("failures: an edit that comes between plan and write keeps its place, the rest goes on", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  for (const char* file : {"a.md", "b.md", "c.md"}) here.write(file, file);
  here.run();
  for (const char* file : {"a.md", "b.md", "c.md"}) remote.edit(file, std::string("new ") + file);
  remote.fault = [&](const std::string& request, bool after) -> std::optional<Failure> {
    if (request == "pull" && after) here.write("b.md", "late\n");
    return std::nullopt;
  };
  const Report report = here.run();
  remote.fault = {};
  const std::vector<Row> failed = failed_rows(report);
  REQUIRE(failed.size() == 1);
  CHECK(failed[0].action.path.text() == "b.md");
  CHECK(failed[0].error->kind == Failure::Kind::conflict);
  CHECK(here.read("a.md") == "new a.md");
  CHECK(here.read("b.md") == "late\n");
  CHECK(here.read("c.md") == "new c.md");
}

TEST_CASE("failures: an edit that comes between plan and push waits for the next run, the rest goes", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  for (const char* file : {"a.md", "b.md", "c.md"}) here.write(file, file);
  remote.fault = [&](const std::string& request, bool) -> std::optional<Failure> {
    if (request == "plan") here.write("b.md", "late\n");
    return std::nullopt;
  };
  const Report report = here.run();
  remote.fault = {};
  const std::vector<Row> failed = failed_rows(report);
  REQUIRE(failed.size() == 1);
  CHECK(failed[0].action.path.text() == "b.md");
  CHECK(failed[0].error->kind == Failure::Kind::conflict);
  CHECK(remote.tree() == Tree{{"a.md", "a.md"}, {"c.md", "c.md"}});
  CHECK(lines(here.run()) == Lines{"push_create b.md"});
  CHECK(remote.text_at("b.md") == "late\n");
}

TEST_CASE("failures: no key in the middle stops before the next change, and the same call goes on", "[sync-engine]") {
  const std::string at = GENERATE("plan", "push", "commit");
  CAPTURE(at);
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  here.write("b.md", "b\n");
  here.run();
  here.write("a.md", "edited\n");
  remote.edit("b.md", "there\n");
  remote.fault = [&](const std::string& request, bool after) -> std::optional<Failure> {
    if (request != at || after) return std::nullopt;
    return Failure{.kind = Failure::Kind::auth, .what = "the key is no longer valid"};
  };
  const Report stopped = here.run();
  REQUIRE(stopped.ended_by);
  CHECK(stopped.ended_by->kind == Failure::Kind::auth);
  CHECK_FALSE(stopped.clean);
  CHECK(remote.text_at("a.md") == "a\n");
  CHECK(here.read("b.md") == "there\n");
  CHECK(remote.requests.back() == at);
  remote.fault = {};
  CHECK(here.run().clean);
  CHECK(remote.text_at("a.md") == "edited\n");
  CHECK(remote.document_count() == 2);
  CHECK(here.run().rows.empty());
}

TEST_CASE("failures: a key that may only read goes on pulling, edits here are told", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "a\n");
  here.write("b.md", "b\n");
  here.run();
  here.write("a.md", "edited\n");
  remote.edit("b.md", "there\n");
  remote.fault = [](const std::string& request, bool) -> std::optional<Failure> {
    if (request != "push" && request != "commit") return std::nullopt;
    return Failure{.kind = Failure::Kind::forbidden, .what = "the key may not write"};
  };
  const Report report = here.run();
  const std::vector<Row> failed = failed_rows(report);
  REQUIRE(failed.size() == 1);
  CHECK(failed[0].action.path.text() == "a.md");
  CHECK(failed[0].error->code == "cannot_push");
  CHECK_FALSE(report.ended_by);
  CHECK(here.read("b.md") == "there\n");
}

}  // namespace ws::sync

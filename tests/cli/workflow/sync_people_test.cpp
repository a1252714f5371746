// One person on two machines, and another person: every command shows the same author and machine for a change.
#include <set>

#include <catch2/catch.hpp>

#include "tests/cli/workflow/two_editors.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

/// The names beside the lines of a file.
std::vector<std::string> names_in(const Person& person, const std::filesystem::path& folder) {
  std::vector<std::string> names;
  const Json told = parse(person.ws({"sync", "blame", "list.md", "--json"}, folder).out);
  for (const Json& line : told["data"]) {
    names.push_back(text_at(line, "author"));
  }
  return names;
}

std::set<std::string> authors_in(const Person& person, const std::filesystem::path& folder) {
  std::set<std::string> authors;
  const Json told = parse(person.ws({"sync", "log", "list.md", "--json"}, folder).out);
  for (const Json& state : told["data"]) {
    authors.insert(text_at(state, "author"));
  }
  return authors;
}

std::vector<std::string> commit_messages(const MockProcess& server) {
  std::vector<std::string> messages;
  const Json journal = parse(control(server, "GET", "/requests", ""));
  for (const Json& entry : journal["data"]) {
    if (entry["operation"] == "sync.commit") messages.push_back(text_at(entry, "request_body.message"));
  }
  return messages;
}

}  // namespace

TEST_CASE("sync people: blame and log name a person alike on every machine", "[cli]") {
  TwoEditors two(Texts{{"list.md", "one\n"}});
  two.ada.environment["GIT_AUTHOR_NAME"] = "somebody at the desk";
  const std::filesystem::path attic = two.stage / "attic";  // Ada's other machine
  std::filesystem::create_directory(attic);
  Person ada_there(two.server);
  ada_there.environment["WS_TOKEN"] = two.ada.environment["WS_TOKEN"];
  ada_there.environment["WS_DEVICE_NAME"] = "attic";
  const std::string source = text_at(parse(two.ada.ws({"sync", "status", "--json"}, two.mine).out), "source_id");
  REQUIRE(ada_there.ws({"sync", "init", "--source", source}, attic).exit == 0);
  REQUIRE(ada_there.ws({"sync"}, attic).exit == 0);
  // The service names the last who changed a document: what two changed between two syncs is told of the second.
  const auto all_sync = [&] {
    REQUIRE(two.ada.ws({"sync"}, two.mine).exit == 0);
    REQUIRE(ada_there.ws({"sync"}, attic).exit == 0);
    two.grace_syncs();
    REQUIRE(two.ada.ws({"sync"}, two.mine).exit == 0);
    REQUIRE(ada_there.ws({"sync"}, attic).exit == 0);
  };
  write_text(attic / "list.md", "one\ntwo\n");
  all_sync();
  write_text(two.hers / "list.md", "one\ntwo\nthree\n");
  all_sync();
  write_text(two.mine / "list.md", "one\ntwo\nthree\nfour\n");
  all_sync();
  const std::vector<std::string> names = {"Ada Byron", "Ada Byron", "Grace Hopper", "Ada Byron"};
  CHECK(names_in(two.ada, two.mine) == names);
  CHECK(names_in(ada_there, attic) == names);
  CHECK(names_in(two.grace, two.hers) == names);
  const std::set<std::string> both = {"Ada Byron", "Grace Hopper"};
  CHECK(authors_in(two.ada, two.mine) == both);
  CHECK(authors_in(ada_there, attic) == both);
  CHECK(authors_in(two.grace, two.hers) == both);
}

TEST_CASE("sync people: a run, a conflict and a commit say on which machine they were made", "[cli]") {
  const TwoEditors two(Texts{{"soup.md", soup}});
  control(two.server, "DELETE", "/requests", "");
  write_text(two.hers / "soup.md", replaced(soup, "an hour", "an hour and a half"));
  two.grace_syncs();
  CHECK(commit_messages(two.server) == std::vector<std::string>{"ws sync on laptop"});
  two.write_mine("soup.md", replaced(soup, "an hour", "two hours"));
  two.ada_syncs({"--device-name", "kitchen", "-m", "two hours it is"});
  CHECK(commit_messages(two.server).back() == "two hours it is (on kitchen)");
  CHECK(text_at(two.conflicts()[0], "device") == "kitchen");
  CHECK_THAT(two.ada.ws({"sync", "conflicts", "--format", "table"}, two.mine).out, Contains("kitchen"));
  TerminalSession session(two.resolve(), 80, 24);
  session.wait_for("You edited it here, on kitchen, last on 2026-11-20 09:30.");
  session.type("m");
  session.wait_for("do it");
  session.type("\r");
  CHECK(session.end() == 0);
  const Json runs = parse(two.ada.ws({"sync", "log", "--runs", "--json"}, two.mine).out)["data"];
  CHECK(text_at(runs[0], "device") == "desk");
  CHECK(text_at(runs[0], "command") == "ws sync resolve --keep mine soup.md");
  CHECK(text_at(parse(two.grace.ws({"sync", "log", "--runs", "--json"}, two.hers).out)["data"][0], "device") ==
        "laptop");
}

TEST_CASE("people: blame names who wrote the service's text, not who decided for it or had it back", "[cli]") {
  const bool is_reset = GENERATE(false, true);
  CAPTURE(is_reset);
  const TwoEditors two(Texts{{"a.md", "one\ntwo\nthree\n"}});
  write_text(two.hers / "a.md", "one\nhers\nthree\n");
  two.grace_syncs();
  two.write_mine("a.md", "one\nmine\nthree\n");
  if (is_reset) {
    REQUIRE(two.ada.ws({"sync", "reset", "a.md", "--yes"}, two.mine).exit == 0);
  } else {
    two.ada_syncs();
    REQUIRE(two.ada.ws({"sync", "resolve", "a.md", "--keep", "theirs"}, two.mine).exit == 0);
  }
  REQUIRE(two.ada.ws({"sync"}, two.mine).exit == 0);
  REQUIRE(read_text(two.mine / "a.md") == "one\nhers\nthree\n");
  const Json lines = parse(two.ada.ws({"sync", "blame", "a.md", "--json"}, two.mine).out)["data"];
  REQUIRE(lines.size() == 3);
  CHECK_THAT(text_at(lines[0], "author"), Contains("Ada"));
  CHECK_THAT(text_at(lines[1], "author"), Contains("Grace"));
  CHECK(lines[2]["author"] == lines[0]["author"]);
}

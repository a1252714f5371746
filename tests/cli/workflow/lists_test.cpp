// Lists, whatever the API gives them: limit and cursor, a limit alone, or neither.
#include <atomic>
#include <filesystem>
#include <set>
#include <tuple>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "cli/commands/shared/build_call.hpp"
#include "cli/output/members.hpp"
#include "tests/cli/workflow/stage.hpp"
#include "tests/cli/workflow/two_folders.hpp"
#include "tests/support/hostile_server.hpp"
#include "tests/support/on_terminal.hpp"

using namespace ws;
using namespace ws::test;

namespace {

/// As many lines as ids.
std::ptrdiff_t count_of(const std::string& ids) { return std::count(ids.begin(), ids.end(), '\n'); }

struct ListWorld {
  MockProcess server{{"--assume", "workspace_create=visible"}};
  Person person{server};

  std::string id_of(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--format", "ids"});
    return person.ws(std::move(arguments)).out.substr(0, 36);
  }
  /// The words of every list of the table, with two items or more in each.
  std::vector<std::vector<std::string>> every_list() const {
    const std::string document = id_of({"docs", "list", "--limit", "1"});
    for (const char* const word : {"one", "two", "three"}) {
      person.ws({"workspaces", "create", word});
      person.ws({"agents", "create", word, "--name", word, "--permissions", "read"});
      person.ws({"comments", "add", document, "-m", word});
      person.ws({"ask", word, "--no-wait"});
      write_text(person.home() / word, word);
      person.ws({"files", "upload", word}, person.home());
      person.ws({"tests", "runs", "launch", "--suite", "smoke"});
    }
    return {{"workspaces", "list"},
            {"agents", "list"},
            {"comments", "list", document},
            {"files", "list"},
            {"docs", "list"},
            {"questions", "list"},
            {"conversations", "list"},
            {"search", "the"},
            {"tests", "cases", "list"},
            {"tests", "suites", "list"},
            {"tests", "runs", "list"}};
  }
};

std::vector<std::string> with_more(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("lists: every one takes --all, --limit and --max-items, and does what they say", "[cli]") {
  const ListWorld world;
  for (const std::vector<std::string>& list : world.every_list()) {
    CAPTURE(list);
    const auto ids = [&](const std::vector<std::string>& more) {
      const Ended ended = world.person.ws(with_more(list, with_more(more, {"--format", "ids"})));
      INFO(ended.err);
      CHECK(ended.exit == 0);
      return ended.out;
    };
    const std::string all = ids({"--all"});
    REQUIRE(count_of(all) >= 1);
    CHECK(ids({"--limit", "1"}) == all.substr(0, all.find('\n') + 1));
    CHECK(ids({"--max-items", "1"}) == all.substr(0, all.find('\n') + 1));
    CHECK(ids({"--all", "--max-items", "99"}) == all);
    CHECK(parse(world.person.ws(with_more(list, {"--all", "--json"})).out).value("next_cursor", Json()).is_null());
    // The limit of a search is not published: the service decides.
    CHECK(world.person.ws(with_more(list, {"--limit", "101"})).exit == (list.front() == "search" ? 3 : 2));
    CHECK(world.person.ws(with_more(list, {"--limit", "0"})).exit == 2);
    CHECK(world.person.ws(with_more(list, {"--max-items", "x"})).exit == 2);
  }
}

TEST_CASE("lists: what the API gives whole is printed as it came, and a cut is said", "[cli]") {
  const ListWorld world;
  world.every_list();
  CHECK(world.person.ws({"agents", "list", "--all", "--json"}).out == body_of(world.server, "/v1/agents") + "\n");
  const Ended cut = world.person.ws({"agents", "list", "--limit", "2", "--json"});
  CHECK(parse(cut.out)["data"].size() == 2);
  CHECK(cut.err.find("2 of ") == 0);
  CHECK(world.person.ws({"files", "list", "--limit", "2"}).err ==
        "2 shown; there may be more, the API has no cursor for this list\n");
  CHECK(world.person.ws({"files", "list"}).err.empty());
}

TEST_CASE("lists: a cursor where the API has none is refused before anything is sent", "[cli]") {
  const HostileServer server([](const Seen&) { return answer(200, R"({"data": []})"); });
  const At person(server.origin());
  for (const std::vector<std::string>& list :
       std::vector<std::vector<std::string>>{{"workspaces", "list"}, {"agents", "list"}, {"files", "list"}}) {
    const Ended refused = person.ws(with_more(list, {"--cursor", "c"}));
    CHECK(refused.exit == 2);
    CHECK(refused.err.find("no cursor") != std::string::npos);
  }
  CHECK(person.ws({"comments", "list", nobody, "--cursor", "c"}).exit == 2);
  CHECK(person.ws({"comments", "list", nobody, nobody, "--max-items", "3"}).exit == 2);
  CHECK(server.requests().empty());
}

TEST_CASE("lists: a service that pages what the document gives whole is followed by --all", "[cli]") {
  const HostileServer server([](const Seen& seen) {
    const bool second = seen.target == "/v1/workspaces?cursor=a%2Fb";
    return answer(200,
                  second ? R"({"data": [{"id": "2"}], "next_cursor": null})"
                         : R"({"data": [{"id": "1"}], "next_cursor": "a/b"})");
  });
  const At person(server.origin());
  const Ended first = person.ws({"workspaces", "list", "--format", "ids"});
  CHECK(first.out == "1\n");
  CHECK(first.err == "1 shown; --all shows every one\n");
  CHECK(person.ws({"workspaces", "list", "--all", "--format", "ids"}).out == "1\n2\n");
  CHECK(parse(person.ws({"workspaces", "list", "--all", "--json"}).out)["data"].size() == 2);
}

TEST_CASE("lists: one that is cut shows its next_cursor, in the document or on stderr", "[cli]") {
  const MockProcess server;
  const Person person(server);
  const auto list = [&](const std::vector<std::string>& more) {
    return person.ws(with_more({"docs", "list", "--limit", "2"}, more));
  };
  const std::string cursor = text_at(parse(list({"--json"}).out), "next_cursor");
  REQUIRE_FALSE(cursor.empty());
  for (const char* const format : {"json", "yaml"}) {
    const Ended whole = list({"--format", format});
    CHECK(whole.out.find(cursor) != std::string::npos);
    CHECK(whole.err.empty());
  }
  for (const std::vector<std::string>& shape : std::vector<std::vector<std::string>>{{},
                                                                                     {"--format", "ids"},
                                                                                     {"--format", "ndjson"},
                                                                                     {"--format", "csv"},
                                                                                     {"--jq", ".data[].id"},
                                                                                     {"--template", "{id}"}}) {
    CAPTURE(shape);
    CHECK(list(shape).err == "2 shown; --all shows every one, --cursor " + cursor + " the next page\n");
    CHECK(list(with_more(shape, {"--quiet"})).err.empty());
    CHECK(list(with_more(shape, {"--max-items", "2"})).err ==
          "2 shown; --all shows every one, --cursor " + cursor + " the next page\n");
  }
}

TEST_CASE("lists: a member that does not exist is an error that names those that do, in every format", "[cli]") {
  const MockProcess server;
  const Person person(server);
  const std::string format = GENERATE("tsv", "csv", "json", "ndjson");
  const Ended misspelt = person.ws({"docs", "list", "--format", format, "--fields", "id,titel"});
  CHECK(misspelt.exit == 2);
  CHECK(misspelt.out.empty());
  CHECK(misspelt.err.find("there is no member `titel`") != std::string::npos);
  CHECK(misspelt.err.find("content_revision") != std::string::npos);
  CHECK(person.ws({"docs", "list", "--template", "{titel}"}).exit == 2);
  CHECK(person.ws({"docs", "list", "--fields", "updated_by.nam"}).err.find("the members are kind, id, name") !=
        std::string::npos);
  // Nor does an empty list hide it where the API says what its items hold.
  CHECK(person.ws({"search", "xyzzyplugh", "--format", format, "--fields", "titel"}).exit == 2);
  CHECK(person.ws({"search", "xyzzyplugh", "--template", "{titel}"}).exit == 2);
  CHECK(person.ws({"search", "xyzzyplugh", "--template", "{title}"}).exit == 0);
  // A change is not made to find out.
  const std::string before = body_of(server, "/v1/documents");
  const Ended unmade = person.ws({"docs", "create", "T", "--fields", "titel"});
  CHECK(unmade.exit == 2);
  CHECK(unmade.err.find("what else the service may answer is read by --jq or --json") != std::string::npos);
  CHECK(body_of(server, "/v1/documents") == before);
  CHECK(person.ws({"docs", "list", "--format", format, "--fields", "id,title"}).err.empty());
}

TEST_CASE("lists: the text of a document is no member of the list, where the service does not send it", "[cli]") {
  const MockProcess server;
  const Person person(server);
  const std::string format = GENERATE("tsv", "csv", "json", "ndjson");
  CHECK(person.ws({"docs", "list", "--format", format, "--fields", "id,content"}).exit == 2);
  CHECK(person.ws({"docs", "list", "--template", "{content}"}).exit == 2);
  CHECK(person.ws({"docs", "create", "T", "-F", "content=x", "--format", format, "--fields", "content"}).exit == 0);
  CHECK(person.ws({"docs", "get", "last", "--format", format, "--fields", "content"}).exit == 0);
}

TEST_CASE("lists: those of the table are told by their answers", "[cli]") {
  std::vector<std::string_view> lists;
  for (const auto* operation : contract::operations()) {
    if (cli::is_list(*operation)) lists.push_back(operation->id);
  }
  CHECK(lists.size() == 12);  // the eleven above and sync.pull
}

TEST_CASE("lists: a next_cursor that is a number is followed, one that is no cursor at all ends it as unusable",
          "[cli]") {
  const auto paged_by = [](std::string cursor) {
    return [cursor = std::move(cursor)](const Seen& seen) {
      const bool second = seen.target.find("cursor=7") != std::string::npos;
      return answer(200, R"({"data": [{"id": "1"}], "next_cursor": )" + (second ? "null" : cursor) + "}");
    };
  };
  const HostileServer number(paged_by("7"));
  const HostileServer odd(paged_by(R"({"at": 7})"));
  for (const std::vector<std::string>& list :
       std::vector<std::vector<std::string>>{{"docs", "list", "--all", "--format", "ids"},
                                             {"docs", "list", "--all", "--format", "ndjson"},
                                             {"workspaces", "list", "--all", "--format", "ids"}}) {
    CAPTURE(list);
    CHECK(count_of(At(number.origin()).ws(list).out) == 2);
    const Ended ended = At(odd.origin()).ws(list);
    CHECK(ended.exit == 1);
    CHECK(ended.err.find("next_cursor") != std::string::npos);
  }
  const std::vector<std::string> by_hand{"api", "GET", "/v1/documents", "--paginate"};
  CHECK(parse(At(number.origin()).ws(by_hand).out)["data"].size() == 2);
  CHECK(At(odd.origin()).ws(by_hand).exit == 1);
}

TEST_CASE("lists: a page without a list in the middle of several is no end of them", "[cli]") {
  const std::string broken = GENERATE("{}", R"({"data": null, "next_cursor": null})", "[]");
  const std::string first = GENERATE(R"({"data": [{"id": "a"}], "next_cursor": "2"})", R"({"next_cursor": "2"})");
  const HostileServer server(
      [&](const Seen& seen) { return answer(200, seen.target.find("cursor=") == std::string::npos ? first : broken); });
  const At person(server.origin());
  for (const std::string format : {"json", "ndjson"}) {
    const Ended ended = person.ws({"api", "GET", "/v1/documents", "--paginate", "--format", format});
    CAPTURE(broken, first, format, ended.out, ended.err);
    CHECK(ended.exit == 1);
    CHECK((format == "ndjson" || ended.out.empty()));
  }
}

TEST_CASE("lists: pages that stay empty under fresh cursors end, however they are asked for", "[cli]") {
  std::atomic<int> page{0};
  const HostileServer server(
      [&](const Seen&) { return answer(200, R"({"data": [], "next_cursor": "c)" + std::to_string(++page) + R"("})"); });
  const At person(server.origin());
  for (const std::vector<std::string>& list :
       std::vector<std::vector<std::string>>{{"docs", "list", "--all"},
                                             {"docs", "list", "--all", "--format", "ndjson"},
                                             {"workspaces", "list", "--all"},
                                             {"api", "GET", "/v1/documents", "--paginate"}}) {
    CAPTURE(list);
    page = 0;
    const Ended ended = person.ws(list);
    CHECK(ended.exit == 1);
    CHECK(ended.err.find("100 pages in a row were empty") != std::string::npos);
    CHECK(page.load() == 100);
  }
}

TEST_CASE("lists: an answer without the list that is promised is unusable, another is shown as it is", "[cli]") {
  const HostileServer server([](const Seen&) { return answer(200, R"({"items": ["one"]})"); });
  const At person(server.origin());
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{{"--json"}, {"--all", "--json"}}) {
    for (const std::vector<std::string>& list :
         std::vector<std::vector<std::string>>{{"conversations", "list"}, {"files", "list"}, {"agents", "list"}}) {
      CAPTURE(list, more);
      const Ended refused = person.ws(with_more(list, more));
      CHECK(refused.exit == 1);
      CHECK(refused.err.find("it has no list") != std::string::npos);
      CHECK(refused.out.empty());
    }
    const Ended shown = person.ws(with_more({"docs", "list"}, more));
    CHECK(shown.exit == 0);
    CHECK(parse(shown.out) == Json{{"items", {"one"}}});
    CHECK(shown.err == "note: the answer is not a list; it is printed as received\n");
  }
}

TEST_CASE("lists: a table for a program has whole ids, a list of threads their texts", "[cli]") {
  const MockProcess server;
  const Person person(server);
  const std::string id = person.ws({"docs", "create", "Unlike any other", "--format", "ids"}).out.substr(0, 36);
  CHECK(person.ws({"docs", "list", "--format", "table"}).out.find(id) != std::string::npos);
  REQUIRE(person.ws({"comments", "add", id, "-m", "said, so"}).exit == 0);
  CHECK(person.ws({"comments", "list", id, "--format", "csv"}).out.find(",\"said, so\"\n") != std::string::npos);
  CHECK(person.ws({"comments", "list", id}).out.find("\tsaid, so\n") != std::string::npos);
}

TEST_CASE("lists of ours: a member that does not exist is an error in an empty one too", "[cli]") {
  const MockProcess server;
  const Person person(server);
  std::filesystem::create_directory(person.home() / "notes");
  REQUIRE(person.ws({"sync", "init"}, person.home() / "notes").exit == 0);
  for (const std::vector<std::string>& list : std::vector<std::vector<std::string>>{{"auth", "list"},
                                                                                    {"files", "uploads"},
                                                                                    {"links", "check"},
                                                                                    {"sync", "attachments"},
                                                                                    {"sync", "conflicts"},
                                                                                    {"sync", "log"},
                                                                                    {"sync", "log", "--runs"},
                                                                                    {"sync", "status"}}) {
    CAPTURE(list);
    for (const std::vector<std::string>& more :
         std::vector<std::vector<std::string>>{{"--fields", "pahts"}, {"--template", "{pahts}"}}) {
      const Ended piped = person.ws(with_more(list, more), person.home() / "notes");
      CHECK(piped.exit == 2);
      CHECK(piped.err.find("there is no member `pahts`\n  the members are ") != std::string::npos);
      CHECK(run_on_terminal(person.command(with_more(list, more), person.home() / "notes"), 80).exit == 2);
    }
    CHECK(person.ws(list, person.home() / "notes").exit == 0);
  }
}

TEST_CASE("lists of ours: the members that an empty one knows are those of its items", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "a.md", "one\ntwo\n![](p.png) [x](nowhere.md)\n");
  write_text(two.here / "p.png", "picture");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  write_text(two.there / "a.md", "other\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  write_text(two.here / "up.txt", "up");
  REQUIRE(two.ws(two.here, {"files", "upload", "up.txt", "--start-only"}).exit == 0);
  for (const auto& [shape, folder, list] :
       std::vector<std::tuple<std::string, std::filesystem::path, std::vector<std::string>>>{
           {"ws.attachments", two.here, {"sync", "attachments"}},
           {"ws.blame", two.here, {"sync", "blame", "a.md"}},
           {"ws.conflicts", two.there, {"sync", "conflicts", "--content"}},
           {"ws.diff", two.there, {"sync", "diff"}},
           {"ws.links", two.here, {"links", "check"}},
           {"ws.roots", two.here, {"sync", "roots"}},
           {"ws.runs", two.here, {"sync", "log", "--runs"}},
           {"ws.states", two.here, {"sync", "log"}},
           {"ws.uploads", two.here, {"files", "uploads"}}}) {
    CAPTURE(shape);
    const Json items = parse(two.ws(folder, with_more(list, {"--json"})).out)["data"];
    REQUIRE_FALSE(items.empty());
    std::set<std::string> members;
    for (const auto& member : items.front().items()) members.insert(member.key());
    std::vector<std::string> known = cli::own_members(shape);
    if (shape == "ws.runs") std::erase(known, "note");  // for people alone
    CHECK(members == std::set<std::string>(known.begin(), known.end()));
  }
}

TEST_CASE("lists: of all pages joined no number is changed by any format", "[cli]") {
  const std::string format = GENERATE("table", "tsv", "csv", "yaml", "json", "ndjson");
  const HostileServer server([](const Seen&) {
    return answer(200, R"({"data": [{"id": "a", "title": "T", "size": 18446744073709551617}], "next_cursor": null})");
  });
  const At somebody(server.origin());
  const Ended all = somebody.ws({"docs", "list", "--all", "--format", format});
  CAPTURE(format, all.out, all.err);
  CHECK(all.exit == 2);
  CHECK(all.out.find("18446744073709551616") == std::string::npos);
  CHECK(all.out.find("e+19") == std::string::npos);
  CHECK(all.err.find("more than 64 bits") != std::string::npos);
  CHECK(somebody.ws({"docs", "list", "--json"}).out.find("18446744073709551617") != std::string::npos);
  CHECK(somebody.ws({"docs", "list", "--all", "--fields", "id", "--format", format}).exit == 0);
  for (const std::vector<std::string>& shape :
       {std::vector<std::string>(), {"--json"}, {"--format", format}, {"--jq", ".data"}}) {
    std::vector<std::string> words = {"api", "/v1/documents", "--paginate"};
    words.insert(words.end(), shape.begin(), shape.end());
    const Ended joined = somebody.ws(std::move(words));
    CHECK(joined.exit == 2);
    CHECK(joined.out.find("e+19") == std::string::npos);
  }
}

TEST_CASE("lists: of several documents one with a number that would be changed is a row that failed", "[cli]") {
  const std::string other = "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0c";
  const HostileServer server([&](const Seen& seen) {
    const std::string id = seen.target.substr(seen.target.rfind('/') + 1);
    return answer(200, R"({"id": ")" + id + R"(", "size": 1844674407370955161)" + (id == nobody ? "7}" : "}"));
  });
  const At somebody(server.origin());
  const Ended both = somebody.ws({"docs", "get", nobody, other, "--json"});
  REQUIRE(both.exit == 13);
  const Json rows = parse(both.out)["data"];
  CHECK(rows[0]["error"]["code"] == "inexact_number");
  CHECK(rows[1]["result"]["size"] == 1844674407370955161);
}

TEST_CASE("requests: a number that would be sent as another is refused before anything is sent", "[cli]") {
  const HostileServer server([](const Seen&) { return answer(200, "{}"); });
  const At somebody(server.origin());
  const std::string number = "123456789012345678901234567890";
  CHECK(somebody.ws({"call", "docs.create", "--body", "{\"title\": \"T\", \"x\": " + number + "}"}).exit == 2);
  CHECK(somebody.ws({"docs", "create", "T", "-J", "x=" + number}).exit == 2);
  CHECK(somebody.ws({"events", "complete", nobody, "--result", "{\"x\": " + number + "}"}).exit == 2);
  CHECK(server.requests().empty());
}

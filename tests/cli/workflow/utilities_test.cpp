// The commands that are no operation: api, config, aliases, doctor, discover, skill, mock.
#include <filesystem>
#include <memory>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/contract/operations.hpp"
#include "tests/cli/workflow/stage.hpp"
#include "tests/support/hostile_server.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("api: any path, with members as query or body, and the body of the answer as it came", "[cli]") {
  const MockProcess server;
  const Person person(server);
  CHECK(person.ws({"api", "GET", "/v1/workspaces"}).out == body_of(server, "/v1/workspaces"));
  CHECK(person.ws({"api", "get", "v1/documents", "-F", "limit=2", "--jq", ".data | length"}).out == "2\n");
  const Ended made =
      person.ws({"api", "POST", "/v1/documents", "-F", "title=By hand", "-J", "content=\"x\"", "--fields", "title"});
  CHECK(made.out == "title\tBy hand\n");
  CHECK(person.ws({"api", "GET", "/v1/documents?limit=3", "--paginate", "--jq", ".next_cursor"}).out == "null\n");
  CHECK(person.ws({"api", "GET", "/v1/me", "--include"}).out.substr(0, 9) == "HTTP 200\n");
  CHECK(person.ws({"api", "GET", "/v1/nothing"}).exit == 6);
}

TEST_CASE("api: text that is not UTF-8, and a secret on the command line, are refused before anything is sent",
          "[cli]") {
  const HostileServer server([](const Seen&) { return answer(200, "{}"); });
  const At person(server.origin());
  const std::string secret(26, 's');
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"-F", "content=a\xff"},
                                             {"-F", "a\xff=b"},
                                             {"-F", "lease_token=" + secret},
                                             {"-J", "device_code=\"" + secret + "\""},
                                             {"--body", R"({"lease_token": ")" + secret + "\"}"}}) {
    std::vector<std::string> words = {"api", "POST", "/v1/documents"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Ended refused = person.ws(words);
    CAPTURE(flags, refused.err);
    CHECK(refused.exit == 2);
    CHECK(refused.err.find(secret) == std::string::npos);
  }
  CHECK(server.requests().empty());
  write_text(person.home() / "token", secret + "\n");
  CHECK(person.ws({"api", "POST", "/v1/x", "-F", "lease_token=@token"}, person.home()).exit == 0);
  CHECK(parse(server.requests().front().body)["lease_token"] == secret);
}

TEST_CASE("api: a member that the answer does not have is refused before a change, and empty after it", "[cli]") {
  const MockProcess server;
  const Person person(server);
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"--fields", "nope"}, {"--template", "{nope}"}}) {
    std::vector<std::string> words = {"api", "POST", "/v1/documents", "-F", "title=A", "-F", "content=x"};
    words.insert(words.end(), flags.begin(), flags.end());
    CHECK(person.ws(words).exit == 2);
    CHECK(control(server, "GET", "/requests", "").find("docs.create") == std::string::npos);
  }
  // What the table does not have is known when the change is made: that is no failure.
  const HostileServer unknown([](const Seen&) { return answer(200, R"({"id": "x"})"); });
  const Ended late = At(unknown.origin()).ws({"api", "POST", "/v1/x", "--fields", "nope", "--json"});
  CHECK(late.exit == 0);
}

TEST_CASE("api: what --jq and the like cannot read is a failure, not an answer", "[cli]") {
  const std::string given = GENERATE("<html>", R"({"id": "x", "big": 1e400})");
  const HostileServer server([&given](const Seen&) { return answer(200, given); });
  const MockProcess mock;
  Person person(mock);
  person.environment["WS_BASE_URL"] = server.origin();
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"--jq", ".id"}, {"--fields", "id"}, {"--template", "{id}"}, {"--paginate"}}) {
    std::vector<std::string> words{"api", "GET", "/v1/x"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Ended ended = person.ws(words);
    CAPTURE(words, ended.out, ended.err);
    CHECK(ended.exit == 1);
    CHECK(ended.out.empty());
    CHECK(ended.err.find("the answer is not usable") != std::string::npos);
  }
  CHECK(person.ws({"api", "GET", "/v1/x"}).out == given);
}

TEST_CASE("api: the key goes to the profile's own server and nowhere else", "[cli]") {
  const HostileServer home([](const Seen&) { return answer(200, "{}"); });
  const HostileServer other([](const Seen&) { return answer(200, "{}"); });
  const At person(home.origin());
  CHECK(person.ws({"api", "GET", other.origin() + "/v1/me"}).exit == 2);
  CHECK(person.ws({"api", "GET", home.origin() + "/v1/me"}).exit == 0);
  CHECK(person.ws({"api", "GET", "/v1/me", "-H", "Authorization: Bearer x"}).exit == 2);
  CHECK(person.ws({"api", "GET", "/v1/me", "-H", "Host: evil.example"}).exit == 2);
  CHECK(person.ws({"api", "GET", "/v1/me", "-H", "Host : evil.example"}).exit == 2);
  CHECK(person.ws({"api", "GET", "/v1/me", "-H", " Host: evil.example"}).exit == 2);
  CHECK(person.ws({"api", "GET", "/v1/me", "-H", "Authorization\t: Bearer x"}).exit == 2);
  CHECK(person.ws({"api", "GET", "@" + other.origin().substr(7) + "/v1/me"}).exit == 0);
  CHECK(other.requests().empty());
  for (const Seen& request : home.requests()) CHECK(request.header("Authorization") == "Bearer wsk_test");
}

TEST_CASE("api: it is repeated as the operation is that it names", "[cli]") {
  const auto sends = [](const std::string& method, const std::string& path) {
    const HostileServer server([](const Seen&) { return answer(500, "{}"); });
    const Ended ended = At(server.origin()).ws({"api", method, path, "--json"});
    CHECK(ended.exit == 10);
    return server.requests().size();
  };
  CHECK(sends("GET", "/v1/anything") == 3);
  CHECK(sends("POST", "/v1/agents") == 1);
  CHECK(sends("POST", "/v1/anything") == 1);
}

TEST_CASE("paging: --max-items holds, also where the server gives more than it was asked for", "[cli]") {
  const HostileServer server([](const Seen&) {
    return answer(200, R"({"data": [{"id": "1"}, {"id": "2"}, {"id": "3"}], "next_cursor": "more"})");
  });
  const At person(server.origin());
  CHECK(person.ws({"docs", "list", "--max-items", "2", "--format", "ids"}).out == "1\n2\n");
  CHECK(server.requests().size() == 1);
  CHECK(server.requests().front().target.find("limit=2") != std::string::npos);
  CHECK(person.ws({"files", "list", "--max-items", "5"}).exit == 0);
  CHECK(server.requests().back().target.find("limit=5") != std::string::npos);
}

TEST_CASE("config: values are set in the user's file, and whoever names one can be asked for", "[cli]") {
  const MockProcess server;
  Person person(server);
  REQUIRE(person.ws({"config", "set", "format", "csv"}).exit == 0);
  CHECK(person.ws({"config", "get", "format"}).out == "csv\n");
  CHECK(person.ws({"docs", "list", "--limit", "1", "--fields", "id"}).out.substr(0, 3) == "id\n");
  person.environment["WS_FORMAT"] = "json";
  CHECK(person.ws({"config", "get", "format", "--format", "tsv"}).out == "tsv\n");
  const Json explained = parse(person.ws({"config", "explain", "format"}).out);
  CHECK(text_at(explained, "where") == "environment");
  CHECK(text_at(explained, "data.1.value") == "csv");
  CHECK(person.ws({"config", "set", "format", "pdf"}).exit == 2);
  CHECK(person.ws({"config", "set", "base_url", "http://evil.example"}).exit == 2);
  CHECK(person.ws({"config", "set", "formt", "csv"}).err.find("format") != std::string::npos);
  CHECK(person.ws({"config", "set", "format", "--unset"}).exit == 0);
  CHECK(parse(person.ws({"config", "list"}).out)["data"].size() > 6);
}

TEST_CASE("config: many that set something at once lose nothing", "[cli]") {
  const Person person;
  std::vector<std::unique_ptr<Running>> all;
  constexpr int count = 12;
  for (int i = 0; i < count; ++i) {
    all.push_back(std::make_unique<Running>(
        person.command({"config", "set", "aliases.a" + std::to_string(i), "docs list"}, person.home())));
  }
  for (const auto& one : all) CHECK(one->wait().exit == 0);
  const std::string text = read_text(person.home() / "CONFIG" / "ws" / "config.yaml");
  for (int i = 0; i < count; ++i) CHECK(text.find("a" + std::to_string(i) + ": docs list") != std::string::npos);
}

TEST_CASE("config: base_url makes a server for the profile in use", "[cli]") {
  const MockProcess server;
  Person person(server);
  person.environment.erase("WS_BASE_URL");
  REQUIRE(person.ws({"config", "set", "base_url", server.base_url()}).exit == 0);
  CHECK(person.ws({"config", "get", "base_url"}).out == server.base_url() + "\n");
  CHECK(person.ws({"config", "get", "base_url", "--profile", "other"}).exit == 6);
}

TEST_CASE("config: the server that a login kept is named, and offered to a profile without one", "[cli]") {
  const MockProcess server({"--device", "auto", "--device-interval", "1"});
  Person person(server);
  person.environment.erase("WS_BASE_URL");
  person.environment.erase("WS_TOKEN");
  REQUIRE(person.ws({"login", "--base-url", server.base_url(), "--store", "file"}).exit == 0);
  const Json explained = parse(person.ws({"config", "explain", "base_url", "--json"}).out);
  CHECK(text_at(explained, "value") == server.base_url());
  CHECK(text_at(explained, "where") == "stored key");
  const Ended other = person.ws({"whoami", "--profile", "other"});
  CHECK(other.exit == 2);
  CHECK(other.err.find("ws login --base-url " + server.base_url() + " --profile other") != std::string::npos);
}

TEST_CASE("aliases: the user's own words, never one of the tree's, never instead of a command", "[cli]") {
  const MockProcess server;
  const Person person(server);
  REQUIRE(person.ws({"config", "set", "aliases.two", "docs list --limit 2 --template '{title} !'"}).exit == 0);
  REQUIRE(person.ws({"config", "set", "aliases.docs", "whoami"}).exit == 0);
  const std::string listed = person.ws({"two"}).out;
  CHECK(std::count(listed.begin(), listed.end(), '!') == 2);
  CHECK(person.ws({"two", "--limit", "1"}).out.find('!') != std::string::npos);
  CHECK(person.ws({"docs", "list", "--format", "ids"}).exit == 0);
  write_text(person.home() / "tree/.ws.yaml", "aliases: {evil: whoami}\n");
  CHECK(person.ws({"evil"}, person.home() / "tree").exit == 2);
}

TEST_CASE("doctor: says what is right and what is not, and ends as that would", "[cli]") {
  MockProcess server;
  Person person(server);
  const Ended well = person.ws({"doctor", "--json"});
  CHECK(well.exit == 0);
  CHECK(well.out.find("wsk_") == std::string::npos);
  CHECK(Person().ws({"doctor"}).exit == 2);
  person.environment["WS_TOKEN"] = "wsk_wrong";
  CHECK(person.ws({"doctor"}).exit == 4);
  At offline("http://127.0.0.1:" + std::to_string(closed_port()));
  CHECK(offline.ws({"doctor"}).exit == 11);
}

TEST_CASE("doctor: says when this machine's clock is not the server's, whichever is ahead", "[cli]") {
  const auto said = [](const char* date) {
    const HostileServer server([date](const Seen&) {
      return answer(200, R"({"user":{"email":"a@example.com"}})", {{"Date", date}});
    });
    return At(server.origin()).ws({"doctor"}).out;
  };
  CHECK_THAT(said("Sat, 01 Jan 2000 00:00:00 GMT"), Contains("clock is ahead of the server's"));
  CHECK_THAT(said("Sun, 01 Jan 2090 00:00:00 GMT"), Contains("clock is behind the server's"));
}

TEST_CASE("doctor: --service holds the server against what this client expects, and changes nothing", "[cli]") {
  const auto state_of = [](const Json& report, std::string_view check) {
    for (const Json& one : report.at("data")) {
      if (one.at("check") == check) return text_at(one, "state") + ": " + text_at(one, "detail");
    }
    return std::string("no such check");
  };
  const auto look = [](const MockProcess& server) {
    const Ended ended = Person(server).ws({"doctor", "--service", "--json"});
    CHECK(ended.exit == 0);
    return parse(ended.out);
  };
  const MockProcess usual;
  const std::string before = body_of(usual, "/v1/documents");
  const Json well = look(usual);
  CHECK(well.at("data").size() <= 10);
  for (const char* const good : {"answers", "open fields", "new fields", "pages", "refusals", "wrong key"}) {
    CHECK_THAT(state_of(well, good), StartsWith("ok"));
  }
  CHECK(body_of(usual, "/v1/documents") == before);
  const auto table = Person(usual).ws({"doctor", "--service", "--format", "table"}).out;
  CHECK(std::count(table.begin(), table.end(), '\n') <= 10);

  const MockProcess poor({"--assume", "assumed_fields=missing"});
  CHECK_THAT(state_of(look(poor), "open fields"), StartsWith("note") && Contains("has no "));
  const MockProcess rich({"--assume", "list_extra=unknown_fields"});
  CHECK_THAT(state_of(look(rich), "new fields"), StartsWith("note") && Contains("x_unknown"));
  const MockProcess plain({"--assume", "error_style=html"});
  CHECK_THAT(state_of(look(plain), "refusals"), StartsWith("note"));
}

TEST_CASE("doctor: --service names what is not as published, and ends with 10", "[cli]") {
  const HostileServer server([](const Seen& seen) {
    if (seen.target == "/v1/me") return answer(200, R"({"user": null})");
    return answer(200, R"({"data": [{"id": 5}, {"id": 6}], "next_cursor": "again"})");
  });
  const Ended ended = At(server.origin()).ws({"doctor", "--service", "--format", "table"});
  CHECK(ended.exit == 10);
  CHECK_THAT(ended.out, Contains("bad   answers") && Contains("agents.list: data.") && Contains(" more\n"));
  CHECK_THAT(ended.out, Contains("2 items came with limit=1") && Contains("an invalid key is accepted"));
  for (const Seen& request : server.requests()) {
    CHECK((request.method == "GET" || request.target == "/v1/search"));
  }
  At offline("http://127.0.0.1:" + std::to_string(closed_port()));
  CHECK(offline.ws({"doctor", "--service"}).exit == 11);
}

TEST_CASE("discover: what the service has that this build lacks, and the reverse", "[cli]") {
  const HostileServer server([](const Seen&) {
    return answer(200, R"({"operations": [{"id": "me.get", "method": "GET", "path": "/v1/me"},
                                          {"id": "new.one", "method": "POST", "path": "/v1/new"}]})");
  });
  const Json found = parse(At(server.origin()).ws({"discover", "--diff", "--json"}).out);
  CHECK(found["data"].size() == contract::operations().size());  // one of its two is new, one of ours is there
  CHECK(text_at(found, "data.0.only") == "server");
  CHECK(text_at(found, "data.0.id") == "new.one");
  const MockProcess mock;
  CHECK(parse(Person(mock).ws({"discover", "--diff", "--json"}).out)["data"].empty());
}

TEST_CASE("discover: an operation without id, method and path proves nothing about those that this build has",
          "[cli]") {
  const HostileServer server([](const Seen&) {
    return answer(200, R"({"operations": [{"id": null, "method": null}, {"method": "get", "path": "/v1/me"}]})");
  });
  const Ended found = At(server.origin()).ws({"discover", "--diff", "--json"});
  CHECK(found.exit == 0);
  CHECK(parse(found.out)["data"].empty());
  CHECK(found.err.find("not known what only this build has") != std::string::npos);
}

TEST_CASE("skill: shown and installed after its hashes were checked", "[cli]") {
  const MockProcess server;
  const Person person(server);
  const Ended shown = person.ws({"skill", "show"});
  REQUIRE(shown.exit == 0);
  CHECK(shown.out.find("service-operate-workspace") != std::string::npos);
  REQUIRE(person.ws({"skill", "install", "--dir", "skills"}, person.home()).exit == 0);
  const auto file = person.home() / "skills/service-operate-workspace/SKILL.md";
  CHECK(read_text(file) == shown.out);
  CHECK(person.ws({"skill", "install", "--dir", "skills"}, person.home()).exit == 0);
  write_text(file, "mine");
  CHECK(person.ws({"skill", "install", "--dir", "skills"}, person.home()).exit == 14);
  CHECK(read_text(file) == "mine");
  CHECK(person.ws({"skill", "install", "--dir", "skills", "--force"}, person.home()).exit == 0);
  CHECK(read_text(file) == shown.out);
}

TEST_CASE("skill: a file that is not the manifest's, or leads out of its folder, is not installed", "[cli]") {
  const std::string good = Sha256::of("good").hex();
  const std::string path = GENERATE("SKILL.md", "../SKILL.md", "/etc/x", "a/../../b", ".git/config");
  const std::string text = path == "SKILL.md" ? "evil" : "good";
  CAPTURE(path);
  const HostileServer server([&](const Seen& seen) {
    CHECK_FALSE(seen.header("Authorization"));
    if (seen.target.find("manifest.json") == std::string::npos) return answer(200, text);
    const Json file = {{"path", path}, {"sha256", good}, {"size_bytes", 4}};
    return answer(200, dump({{"name", "service-operate-workspace"}, {"version", "1"}, {"files", {file}}}));
  });
  const At person(server.origin());
  const Ended ended =
      person.ws({"skill", "install", "--dir", "skills", "--url", server.url("/skill/x")}, person.home());
  CHECK(ended.exit == 15);
  CHECK_FALSE(std::filesystem::exists(person.home() / "skills"));
}

TEST_CASE("skill: a server elsewhere cannot make ws call an address of this machine", "[cli]") {
  const HostileServer here([](const Seen&) { return answer(200, "{}"); });
  const std::string named = GENERATE("HERE", "file:///etc/skill", "//x");
  const std::string address = named == "HERE" ? here.url("/skill") : named;
  const HostileServer server([&](const Seen&) {
    const Json found = {
        {"object", "discovery"}, {"version", "1"}, {"operations", Json::array()}, {"skill_url", address}};
    return answer(200, dump(found));
  });
  // The loopback address as a number: it leads here, and is none of the names that loopback has.
  Person person;
  person.environment["WS_BASE_URL"] = "http://2130706433:" + std::to_string(server.port());
  person.environment["WS_ALLOW_HTTP"] = "2130706433";
  person.environment["WS_TOKEN"] = "wsk_test";
  const Ended refused = person.ws({"skill", "show", "--json"});
  CHECK(refused.exit == 1);
  CHECK(error_of(refused)["code"] == "unusable_answer");
  CHECK(server.requests().size() == 1);
  CHECK(here.requests().empty());
}

TEST_CASE("mock: what follows goes to ws-mock as it is", "[cli]") {
  const Person person;
  const Ended ended = person.ws({"mock", "exec", "--seed", "3", "--", program("ws"), "whoami", "--format", "ids"});
  CHECK(ended.exit == 0);
}

TEST_CASE("tokens: the key in use is printed, for other programs", "[cli]") {
  const MockProcess server;
  CHECK(Person(server).ws({"auth", "token"}).out == server.token() + "\n");
  CHECK(Person().ws({"auth", "token"}).exit == 2);
}

TEST_CASE("texts: a command that prints one takes the flags that shape an answer", "[cli]") {
  const MockProcess server;
  const Person person(server);
  CHECK(person.ws({"version", "--format", "yaml"}).out.substr(0, 5) == "v: 1\n");
  CHECK(person.ws({"version", "--fields", "v", "--json"}).out == "{\"v\":1}\n");
  CHECK(person.ws({"version", "--fields", "none"}).exit == 2);
  CHECK(person.ws({"schema", "docs.get", "--template", "{title}"}).out == "docs.get\n");
  CHECK(person.ws({"schema", "docs.get", "--jq", ".title"}).out == "docs.get\n");
  CHECK(person.ws({"completion", "bash", "--fields", "shell"}).out == "shell\tbash\n");
  CHECK(person.ws({"auth", "token", "--fields", "token"}).out == "token\t" + server.token() + "\n");
  CHECK(person.ws({"skill", "show", "--fields", "name"}).out == "name\tservice-operate-workspace\n");
  CHECK(person.ws({"config", "set", "pager", "less"}).exit == 0);
  CHECK(person.ws({"config", "get", "pager"}).out == "less\n");
  CHECK(person.ws({"config", "get", "pager", "--fields", "value"}).out == "value\tless\n");
  CHECK(person.ws({"exit-codes", "--format", "ids"}).out.empty());
  CHECK(person.ws({"files", "uploads", "--format", "csv"}).out ==
        "upload_id,file_name,size_bytes,state,expires_at,path\n");
}

TEST_CASE("members: one that an answer cannot have is refused before the change", "[cli]") {
  const MockProcess server;
  const Person person(server);
  write_text(person.home() / "f.txt", "text");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"files", "upload", "f.txt", "--fields", "nope"},
                                             {"files", "upload", "f.txt", "--template", "{nope}"},
                                             {"files", "upload", "f.txt", "--start-only", "--fields", "nope"},
                                             {"events", "work", "--once", "--fields", "nope", "--", "true"},
                                             {"logout", "--fields", "nope"}}) {
    CAPTURE(words);
    CHECK(person.ws(words, person.home()).exit == 2);
  }
  CHECK(parse(control(server, "GET", "/requests", ""))["data"].empty());
}

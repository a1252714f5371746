#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "tests/cli/workflow/stage.hpp"
#include "tests/support/hostile_server.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

Ended answered(Script script, std::vector<std::string> arguments) {
  const HostileServer server([&](const Seen&) { return script; });
  arguments.push_back("--json");
  return At(server.origin()).ws(std::move(arguments));
}

}  // namespace

TEST_CASE("call: every operation of the table can be shown before it is sent", "[cli]") {
  const At person("http://127.0.0.1:9");
  for (const auto* operation : contract::operations()) {
    if (operation->auth == contract::Auth::none) continue;
    CAPTURE(operation->id);
    std::vector<std::string> arguments = {"call", std::string(operation->id), "-n", "--json", "--no-validate"};
    for (const auto& parameter : operation->parameters) {
      if (parameter.in != contract::In::path) continue;
      arguments.push_back("--" + std::string(parameter.field.name));
      arguments.push_back(nobody);
    }
    const Ended shown = person.ws(arguments);
    REQUIRE(shown.exit == 0);
    CHECK(parse(shown.out)["method"] == contract::name(operation->method));
    CHECK(shown.out.find('{' + std::string("document_id")) == std::string::npos);
  }
}

TEST_CASE("call: reads by id, with body from flag, file and stdin", "[cli]") {
  const MockProcess server;
  const Person person(server);
  CHECK(person.ws({"call", "me.get"}).exit == 0);
  CHECK(person.ws({"call", "discovery.get"}).exit == 0);
  CHECK(person.ws({"call", "workspaces.list"}).exit == 0);
  CHECK(person.ws({"call", "docs.get", "--document_id", nobody}).exit == 6);
  const std::string body = R"({"title": "From a body", "content": "x"})";
  CHECK(person.ws({"call", "docs.create", "--body", body}).exit == 0);
  write_text(person.home() / "body.json", body);
  const Ended file = person.ws(
      {"call", "docs.create", "--body", "@body.json", "-F", "title=Other", "--fields", "title"}, person.home());
  CHECK(file.out == "title\tOther\n");
  Command command = person.command({"call", "docs.create", "--body", "-"});
  command.input = body;
  CHECK(run_command(command).exit == 0);
  CHECK(person.ws({"call", "docs.create", "--body", "{"}).exit == 2);
}

TEST_CASE("call: -F overlays what words and flags set", "[cli]") {
  const At person("http://127.0.0.1:9");
  struct Row {
    std::vector<std::string> words;
    std::string member;
    std::string value;
  };
  for (const Row& row : std::vector<Row>{
           {{"docs", "create", "A", "-f", "f.txt", "-F", "content=z"}, "content", "z"},
           {{"docs", "create", "A", "-F", "title=B"}, "title", "B"},
           {{"docs", "update", nobody, "--revision", "1", "-f", "f.txt", "-F", "content=z"}, "content", "z"},
           {{"docs", "update", nobody, "--revision", "1", "-F", "content=z", "-F", "expected_content_revision=7"},
            "expected_content_revision",
            "7"},
           {{"docs", "share", nobody, "--with", "a@b.c", "--permission", "read", "-F", "email=d@e.f"},
            "email",
            "d@e.f"},
           {{"comments", "add", nobody, "-m", "a", "-F", "body=b"}, "body", "b"},
           {{"comments", "add", nobody, "-f", "f.txt", "-F", "body=b"}, "body", "b"},
           {{"ask", "P", "-F", "prompt=q"}, "prompt", "q"},
           {{"ask", "P", "-F", "conversation_id=" + std::string(nobody)}, "conversation_id", nobody},
           {{"ask", "P", "--source", "memory", "-J", "sources=[\"workspace\"]"}, "sources.0", "workspace"},
           {{"search", "foo", "-F", "query=bar"}, "query", "bar"},
           {{"search", "foo", "--limit", "5", "-F", "limit=7"}, "limit", "7"},
           {{"files", "organize", nobody, "-m", "a", "-F", "instruction=b"}, "instruction", "b"},
           {{"agents", "create", "h", "--name", "N", "-F", "display_name=x"}, "display_name", "x"},
           {{"agents", "create", "h", "--name", "N", "-F", "handle=x"}, "handle", "x"},
           {{"agents", "pause", nobody, "-F", "status=active"}, "status", "active"},
           {{"nodes", "move", nobody, "--to", "root", "-F", "parent_node_id=" + std::string(nobody)},
            "parent_node_id",
            nobody},
           {{"tests", "runs", "launch", "--suite", "s", "-F", "suite_id=x"}, "suite_id", "x"},
           {{"events", "claim", "--worker", "w", "-F", "worker_id=x"}, "worker_id", "x"}}) {
    CAPTURE(row.words);
    std::vector<std::string> words = row.words;
    words.insert(words.end(), {"-n", "--json"});
    write_text(person.home() / "f.txt", "text");
    const Ended shown = person.ws(words, person.home());
    INFO(shown.err);
    REQUIRE(shown.exit == 0);
    CHECK(text_at(parse(shown.out)["body"], row.member) == row.value);
  }
}

TEST_CASE("call: a secret is no flag's value", "[cli]") {
  const At person("http://127.0.0.1:9");
  const Ended refused =
      person.ws({"call", "events.renew", "--event-id", nobody, "--lease-token", "abcdefghijklmnopqrstuvwx"});
  CHECK(refused.exit == 2);
  CHECK(refused.err.find("abcdefgh") == std::string::npos);
}

TEST_CASE("call: an idempotency key that is derived is the same for the same wish", "[cli]") {
  const MockProcess server;
  const Person person(server);
  const auto create = [&](const std::string& title) {
    return person.ws({"docs", "create", title, "--idempotency-key", "stable", "--format", "ids"}).out;
  };
  const std::string first = create("Once");
  CHECK(create("Once") == first);
  CHECK(create("Twice") != first);
}

TEST_CASE("exits: what the server says decides", "[cli]") {
  const std::vector<std::string> get = {"docs", "get", nobody, "--no-retry"};
  const std::vector<std::string> list = {"docs", "list"};
  CHECK(answered(answer(401, "{}"), get).exit == 4);
  CHECK(answered(answer(403, "{}"), get).exit == 5);
  CHECK(answered(answer(410, "{}"), get).exit == 6);
  CHECK(answered(answer(412, "{}"), get).exit == 7);
  CHECK(answered(answer(428, "{}"), get).exit == 8);
  CHECK(answered(answer(415, "{}"), get).exit == 3);
  CHECK(answered(answer(501, R"({"detail":"x","code":"not_implemented"})"), get).exit == 10);
  CHECK(answered(answer(200, "{"), list).exit == 1);
  CHECK(answered(answer(302, "", {{"Location", "/elsewhere"}}), list).exit == 1);
  const Ended limited = answered(answer(429, "{}", {{"Retry-After", "900"}}), list);
  CHECK(limited.exit == 9);
  CHECK(error_of(limited)["retry_after_ms"] == 900'000);
}

TEST_CASE("exits: nothing listens", "[cli]") {
  const At person("http://127.0.0.1:" + std::to_string(closed_port()));
  const Ended ended = person.ws({"whoami", "--no-retry", "--json"});
  CHECK(ended.exit == 11);
  CHECK(error_of(ended)["applied"] == "no");
}

TEST_CASE("exits: a write without an answer has an unknown outcome, and says how to look", "[cli]") {
  const HostileServer server([](const Seen&) { return Script{CloseConnection{}}; });
  const Ended ended = At(server.origin())
                          .ws({"call",
                               "docs.share",
                               "--document-id",
                               nobody,
                               "--email",
                               "a@example.com",
                               "--permission",
                               "read",
                               "--json"});
  CHECK(ended.exit == 12);
  CHECK(error_of(ended)["applied"] == "unknown");
  CHECK(server.requests().size() == 1);
}

TEST_CASE("exits: a reader that goes away ends it silently", "[cli]") {
  const Person person;
  Command command = person.command({});
  const std::string ws = command.program.empty() ? program("ws") : command.program.string();
  command.program = "/bin/sh";
  command.arguments = {"-c", "mkfifo f && exec 4<>f 5>f 4<&- && '" + ws + "' commands >&5; echo $?"};
  command.folder = person.home();
  const Ended ended = run_command(command);
  CHECK(ended.out == "141\n");
  CHECK(ended.err.empty());
}

TEST_CASE("words: what is unknown names the nearest, and nothing is sent", "[cli]") {
  const Person person;
  const Ended verb = person.ws({"docs", "crate"});
  CHECK(verb.exit == 2);
  CHECK(verb.err == "error: `ws docs crate` is not a command\n  did you mean `ws docs create`?\n");
  CHECK(person.ws({"dcos", "list"}).err.find("did you mean `ws docs`?") != std::string::npos);
  CHECK(person.ws({"docs", "list", "--limti", "3"}).err.find("did you mean `--limit`?") != std::string::npos);
  CHECK(person.ws({"docs", "ls"}).err.find("did you mean `ws docs list`?") != std::string::npos);
  CHECK(person.ws({"docs", "view", "x"}).err.find("did you mean `ws docs get`?") != std::string::npos);
  // The verbs of other programs, for every noun that has one like it, and without a noun.
  const std::vector<std::pair<std::vector<std::string>, std::string>> guesses = {
      {{"ls"}, "docs list"},
      {{"view", "x"}, "docs get"},
      {{"rm", "x"}, "docs archive"},
      {{"pull"}, "sync pull"},
      {{"upload", "x"}, "files upload"},
      {{"agents", "show", "x"}, "agents list"},
      {{"files", "show", "x"}, "files get"},
      {{"auth", "ls"}, "auth list"},
      {{"sync", "ls"}, "sync status"},
      {{"links", "show"}, "links check"},
      {{"comments", "new"}, "comments add"},
      {{"tests", "runs", "ls"}, "tests runs list"},
      {{"tests", "ls"}, "tests catalog"},
      {{"skill", "ls"}, "skill show"}};
  for (const auto& [words, meant] : guesses) {
    CAPTURE(meant);
    const Ended guessed = person.ws(words);
    CHECK(guessed.exit == 2);
    CHECK_THAT(guessed.err, Contains("did you mean `ws " + meant + "`?"));
  }
  // The flags of other programs, and those of another verb for the same thing.
  const std::vector<std::pair<std::vector<std::string>, std::string>> flags = {
      {{"docs", "edit", "x", "--content", "text"}, "ws docs update --file"},
      {{"docs", "edit", "--content=text", "x"}, "ws docs update --file"},
      {{"docs", "edit", "x", "--title", "t"}, "ws docs update --title"},
      {{"docs", "edit", "x", "--content"}, "ws docs get --content"},
      {{"docs", "update", "x", "--text", "text"}, "--file"},
      {{"docs", "list", "--per-page", "3"}, "--limit"},
      {{"docs", "list", "--silent"}, "--quiet"}};
  for (const auto& [words, meant] : flags) {
    CAPTURE(words);
    const Ended guessed = person.ws(words);
    CHECK(guessed.exit == 2);
    CHECK_THAT(guessed.err, Contains("did you mean `" + meant + "`?"));
  }
  const Ended noun = person.ws({"docs"});
  CHECK(noun.exit == 0);
  CHECK(noun.out == person.ws({"help", "docs"}).out);
  CHECK(person.ws({"docs", "--limit", "3"}).exit == 2);
  CHECK(person.ws({"whoami"}).err ==
        "error: no server is given\n  run `ws login --base-url https://...`, or set WS_BASE_URL\n");
}

TEST_CASE("help: for people and machines, by flag and by word", "[cli]") {
  const Person person;
  const Ended by_flag = person.ws({"docs", "create", "--help"});
  CHECK(by_flag.exit == 0);
  CHECK(by_flag.out == person.ws({"help", "docs", "create"}).out);
  CHECK(by_flag.out == person.ws({"help", "doc", "create"}).out);
  CHECK(parse(person.ws({"docs", "create", "--help", "--json"}).out)["operation"] == "docs.create");
  CHECK(parse(person.ws({"help", "exit-codes", "--json"}).out)["data"].size() == 19);
  CHECK(person.ws({"call", "docs.list", "--help"}).out.find("1-100") != std::string::npos);
  CHECK(person.ws({"-V"}).out.substr(0, 3) == "ws ");
  CHECK(parse(person.ws({"version", "--json"}).out)["v"] == 1);
  CHECK(person.ws({"commands", "--format", "ids"}).out.find("docs.archive\n") != std::string::npos);
  CHECK(parse(person.ws({"schema", "docs.create"}).out).is_object());
}

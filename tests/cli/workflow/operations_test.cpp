// Every operation of the API through its primary command, with --json, beside what the service answered.
#include "api-client/contract/operations.hpp"

#include <map>
#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/stage.hpp"

using namespace ws;
using namespace ws::test;

namespace {

struct OperationStage {
  MockProcess server{{"--device", "auto", "--device-interval", "1", "--assume", "workspace_create=visible"}};
  Person person{server};
  TemporaryFolder folder;
  std::set<std::string> seen = {};  ///< operations whose command printed what the service answered

  /// The newest answer of an operation, as the mock's journal has it.
  Json answer_of(const std::string& operation) const {
    const Json journal = parse(control(server, "GET", "/requests", ""));
    Json found;
    for (const Json& entry : journal["data"]) {
      if (entry["operation"] == operation && entry["status"] < 300) found = entry["response_body"];
    }
    return found;
  }

  Json ws(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = arguments;
    all.insert(std::ranges::find(all, "--"), "--json");
    const Ended ended = person.ws(all, folder.path());
    CAPTURE(arguments, ended.out, ended.err);
    REQUIRE(ended.exit == 0);
    return ended.out.empty() ? Json() : parse(ended.out);
  }

  /// The command prints the body of the operation's answer, member for member.
  Json same(const std::string& operation, const std::vector<std::string>& arguments) {
    Json printed = ws(arguments);
    const Json answered = answer_of(operation);
    CAPTURE(operation);
    CHECK(dump(printed) == dump(answered));
    seen.insert(operation);
    return printed;
  }

  /// The same for answers with a secret, which the journal does not show.
  Json like(const std::string& operation, const std::vector<std::string>& arguments) {
    Json printed = ws(arguments);
    const Json answered = answer_of(operation);
    CAPTURE(operation);
    REQUIRE(answered.is_object());
    for (const auto& member : answered.items()) CHECK(printed.contains(member.key()));
    seen.insert(operation);
    return printed;
  }

  void made(const std::string& operation) {
    CAPTURE(operation);
    CHECK(answer_of(operation).is_object());
    seen.insert(operation);
  }

  std::string file(const std::string& name, const std::string& text) const {
    write_text(folder / name, text);
    return name;
  }
};

std::string id_in(const Json& value, const std::string& key = "id") { return value.at(key).get<std::string>(); }

void log_in(OperationStage& stage) {
  Person newcomer;
  const std::string& url = stage.server.base_url();
  const Ended begun = newcomer.ws({"auth", "login", "--no-wait", "--base-url", url});
  REQUIRE(begun.exit == 0);
  // The journal shows no codes; the devices that wait have them.
  CHECK(stage.answer_of("auth.start")["user_code"] == "[redacted]");
  const std::string user_code = id_in(parse(begun.out), "user_code");
  CHECK(control(stage.server, "GET", "/devices", "").find('"' + user_code + '"') != std::string::npos);
  stage.made("auth.start");
  REQUIRE(
      newcomer.ws({"auth", "login", "--resume", id_in(parse(begun.out), "authorization_id"), "--store", "file"}).exit ==
      0);
  stage.made("auth.token");
  const Ended out = newcomer.ws({"auth", "logout", "--json"});
  REQUIRE(out.exit == 0);
  CHECK(dump(parse(out.out)) == dump(stage.answer_of("auth.revoke")));
  stage.made("auth.revoke");
}

void knowledge(OperationStage& stage, const std::string& document) {
  const Json question = stage.same("questions.create", {"ask", "What is the plan?"});
  stage.same("questions.get", {"questions", "get", id_in(question)});
  stage.same("questions.list", {"questions", "list"});
  stage.same("conversations.list", {"conversations", "list"});
  stage.same("conversations.get", {"conversations", "get", id_in(question, "conversation_id")});
  stage.same("search.run", {"search", "plan", "of", "action"});
  const Json thread = stage.same("comments.add", {"comments", "add", document, "-m", "Is it so?"});
  stage.same("comments.reply", {"comments", "reply", document, id_in(thread), "-m", "It is."});
  stage.same("comments.set_status", {"comments", "resolve", document, id_in(thread)});
  stage.same("comments.list", {"comments", "list", document});
}

void files(OperationStage& stage) {
  stage.file("a.md", "# One\n\nText.\n\n# Two\n\nMore.\n");
  stage.like("files.upload_start", {"files", "upload", "a.md", "--start-only"});
  const Json asset = stage.same("files.upload_finish", {"files", "upload", "a.md"});
  stage.same("files.list", {"files", "list"});
  stage.same("files.get", {"files", "get", id_in(asset)});
  stage.ws({"files", "download", id_in(asset), "-o", "copy.md"});
  CHECK(read_text(stage.folder / "copy.md") == read_text(stage.folder / "a.md"));
  stage.seen.insert("files.content");
  const Json begun = stage.same("files.organize", {"files", "organize", id_in(asset), "-m", "Pages of it"});
  stage.same("files.operation", {"files", "operation", id_in(begun, "operation_id"), "--wait"});
}

void agents(OperationStage& stage) {
  const Json agent =
      stage.like("agents.create", {"agents", "create", "scribe", "--name", "S", "--permissions", "read"});
  const std::string id = id_in(agent);
  stage.same("agents.list", {"agents", "list"});
  stage.same("agents.update", {"agents", "update", id, "--display-name", "Scribe"});
  stage.like("agents.rotate", {"agents", "rotate", id, "--yes"});
  const auto ping = [&] { control(stage.server, "POST", "/events", R"({"agent_id":")" + id + R"("})"); };
  ping();
  ping();
  const std::string event = id_in(stage.like("events.claim", {"events", "claim"})["event"]);
  stage.like("events.renew", {"events", "renew", event});
  stage.like("events.complete", {"events", "complete", event, "--result", "{}"});
  const std::string other = id_in(stage.like("events.claim", {"events", "claim"})["event"]);
  stage.like("events.fail", {"events", "fail", other, "--error", "no"});
}

void tests(OperationStage& stage) {
  stage.same("tests.catalog", {"tests", "catalog"});
  const Json cases = stage.same("tests.cases_list", {"tests", "cases", "list"});
  stage.same("tests.case_get", {"tests", "cases", "get", id_in(cases["data"][0], "case_id")});
  stage.same("tests.suites_list", {"tests", "suites", "list"});
  stage.same("tests.suite_get", {"tests", "suites", "get", "smoke"});
  const Json run = stage.same("tests.run_launch", {"tests", "runs", "launch", "--suite", "smoke"});
  stage.same("tests.runs_list", {"tests", "runs", "list"});
  stage.same("tests.run_get", {"tests", "runs", "get", id_in(run), "--wait", "--junit", "report.xml"});
  CHECK(read_text(stage.folder / "report.xml").find("<testsuite ") != std::string::npos);
}

/// Two trees that get in each other's way: all eight operations of a sync.
void sync(OperationStage& stage) {
  const auto at = [&](const std::string& tree, std::vector<std::string> arguments, int exit = 0) {
    arguments.insert(arguments.begin(), {"-C", tree});
    const Ended ended = stage.person.ws(arguments, stage.folder.path());
    CAPTURE(arguments, ended.err);
    REQUIRE(ended.exit == exit);
    return ended.out;
  };
  stage.file("one/a.md", "# A\n");
  std::filesystem::create_directories(stage.folder / "two");
  const std::string source = id_in(parse(at("one", {"sync", "init", "--json"})), "source_id");
  at("one", {"sync"});
  at("two", {"sync", "init", "--source", source});
  at("two", {"sync"});
  stage.file("one/a.md", "# A one\n");
  stage.file("two/a.md", "# A two\n");
  at("one", {"sync"});
  at("two", {"sync"}, 7);
  const Json status = parse(at("two", {"sync", "status", "--json"}));
  at("two", {"call", "sync.conflict_get", "--conflict-id", id_in(status["conflicts"][0])});
  at("two", {"sync", "resolve", "a.md", "--keep", "remote"});
  for (const char* operation : {"sync.source_create",
                                "sync.source_get",
                                "sync.pull",
                                "sync.plan",
                                "sync.push",
                                "sync.commit",
                                "sync.conflict_get",
                                "sync.conflict_resolve"}) {
    stage.made(operation);
  }
}

}  // namespace

TEST_CASE("operations: every one works through its primary command, and --json is what the service answered", "[cli]") {
  OperationStage stage;
  log_in(stage);
  stage.same("me.get", {"whoami"});
  stage.same("discovery.get", {"discover"});
  stage.same("workspaces.list", {"workspaces", "list"});
  stage.same("workspaces.create", {"workspaces", "create", "Second"});
  const Json project = stage.same("projects.create", {"projects", "create", "Boat"});
  stage.file("plan.md", "# Plan\n\nThe plan of action.\n");
  const Json document = stage.same("docs.create", {"docs", "create", "-f", "plan.md"});
  const std::string id = id_in(document);
  stage.same("nodes.move", {"nodes", "move", id_in(document, "node_id"), "--to", id_in(project, "node_id")});
  stage.same("docs.get", {"docs", "get", id});
  stage.same("docs.list", {"docs", "list"});
  stage.same("docs.update", {"docs", "update", id, "-f", "plan.md", "--title", "The plan", "--revision", "1"});
  knowledge(stage, id);
  files(stage);
  agents(stage);
  stage.same("docs.share", {"docs", "share", id, "--with", "@scribe", "--permission", "edit"});
  stage.same("docs.archive", {"docs", "archive", id});
  tests(stage);
  sync(stage);
  for (const auto* operation : contract::operations()) {
    CAPTURE(operation->id);
    CHECK(stage.seen.contains(std::string(operation->id)));
    std::vector<std::string> help = {"help"};
    for (std::size_t begin = 0; begin < operation->command.size();) {
      const std::size_t end = std::min(operation->command.find(' ', begin), operation->command.size());
      help.emplace_back(operation->command.substr(begin, end - begin));
      begin = end + 1;
    }
    CHECK(stage.person.ws(help).exit == 0);
  }
  CHECK(stage.seen.size() == contract::operations().size());
}

TEST_CASE("operations: several ids make one document, from words and from stdin", "[cli]") {
  OperationStage stage;
  std::string ids;
  for (const char* title : {"A", "B"}) ids += id_in(stage.ws({"docs", "create", title})) + "\n";
  Command command = stage.person.command({"docs", "get", "--stdin", "--json"});
  command.input = ids;
  const Ended both = run_command(command);
  REQUIRE(both.exit == 0);
  const Json whole = parse(both.out);
  REQUIRE(whole["data"].size() == 2);
  CHECK(whole["data"][1]["ok"] == true);
  CHECK(whole["data"][1]["result"]["title"] == "B");
  command.input = ids + "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b\n";
  const Ended some = run_command(command);
  CHECK(some.exit == 13);
  CHECK(parse(some.out)["data"][2]["error"]["exit"] == 6);
  command.input.clear();
  CHECK(run_command(command).exit == 0);  // an empty list is done
  CHECK(stage.person.ws({"docs", "get"}).exit == 2);
}

// What the API document leaves open the service may decide otherwise: the client's work, done whole, under every value
// of every switch of the mock.
#include <set>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/two_people.hpp"

using namespace ws::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* nobody = "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b";

/// Every "key=value" that the mock knows, as it lists them itself: a line a key, its values behind it, then prose.
std::vector<std::string> every_assumption() {
  const Ended listed = run_command({.arguments = {program("ws-mock"), "assumptions"}});
  std::vector<std::string> all;
  std::istringstream lines(listed.out);
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    for (std::string value; words >> value;) all.push_back(key + "=" + value);
  }
  return all;
}

/// Somebody in front of a mock that makes one assumption.
struct Stage {
  explicit Stage(const std::string& assumption)
      : server({"--assume", assumption, "--device", "auto", "--device-interval", "1"}) {}

  /// `ws`, which must end so; its stdout.
  std::string ws(int exit, const std::vector<std::string>& arguments, const fs::path& where = {}) const {
    const Ended ended = person.ws(arguments, where);
    CAPTURE(arguments, ended.out, ended.err);
    REQUIRE(ended.exit == exit);
    return ended.out;
  }
  std::string id_of(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--format", "ids"});
    const std::string out = ws(0, arguments);
    REQUIRE(out.size() > 30);
    return out.substr(0, out.size() - 1);
  }

  MockProcess server;
  Person person{server};
  TemporaryFolder folder;
};

void log_in_and_out(Stage& stage) {
  Person newcomer;
  const auto at = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--base-url", stage.server.base_url()});
    return newcomer.ws(std::move(arguments));
  };
  const Ended login = at({"login", "--store", "file"});
  CAPTURE(login.err);
  REQUIRE(login.exit == 0);
  CHECK(at({"whoami"}).exit == 0);
  CHECK(at({"docs", "list"}).exit == 0);
  CHECK(at({"logout"}).exit == 0);
  CHECK(at({"whoami"}).exit == 4);
}

void write_documents(const Stage& stage) {
  const std::string id = stage.id_of({"docs", "create", "Roof", "-F", "content=# Roof\n\nThe slate is blue.\n"});
  CHECK(stage.ws(0, {"docs", "get", id, "--content"}) == "# Roof\n\nThe slate is blue.\n");
  write_text(stage.folder / "roof.md", "# Roof\n\nThe slate is grey.\n");
  const std::string file = (stage.folder / "roof.md").string();
  stage.ws(0, {"docs", "update", id, "-f", file, "--revision", "1"});
  stage.ws(7, {"docs", "update", id, "-f", file, "--revision", "1"});
  CHECK(stage.ws(0, {"docs", "get", id, "--content"}) == "# Roof\n\nThe slate is grey.\n");
  stage.ws(0, {"docs", "list", "--all"});
  stage.ws(0, {"search", "slate"});
  stage.ws(6, {"docs", "get", nobody});
  stage.ws(3, {"docs", "list", "--limit", "101", "--no-validate"});
  stage.ws(0, {"docs", "share", id, "--with", "jonas@example.com", "--permission", "read", "-n"});
  const std::string thread = stage.id_of({"comments", "add", id, "-m", "Blue or grey?"});
  stage.ws(0, {"comments", "reply", id, thread, "-m", "Grey."});
  stage.ws(0, {"comments", "resolve", id, thread});
  stage.ws(0, {"comments", "list", id});
  stage.ws(0, {"docs", "archive", id});
}

void ask_questions(const Stage& stage) {
  stage.id_of({"docs", "create", "Tides", "-F", "content=# Tides\n\nHigh water is at noon.\n"});
  const Ended answer = stage.person.ws({"ask", "When is high water?"});
  CAPTURE(answer.err);
  REQUIRE(answer.exit == 0);
  CHECK(answer.out.find("noon") != std::string::npos);
  CHECK(answer.out.find("Sources") != std::string::npos);
  const json taken = json::parse(stage.ws(0, {"ask", "When is high water today?", "--no-wait", "--json"}));
  const json ended = json::parse(stage.ws(0, {"questions", "get", taken["id"], "--wait", "--json"}));
  CHECK(ended["id"] == taken["id"]);
  CHECK(ended["status"] == "completed");
  stage.ws(0, {"ask", "And low water?", "--conversation", "last"});
  stage.ws(0, {"questions", "list"});
  stage.ws(0, {"conversations", "list"});
}

void work_as_agent(const Stage& stage) {
  const std::string secret = (stage.folder / "agent.key").string();
  const std::string id = stage.id_of(
      {"agents", "create", "scribe", "--name", "Scribe", "--permissions", "read,comment", "--secret-out", secret});
  CHECK(read_text(secret).size() > 20);
  stage.ws(0, {"agents", "list"});
  stage.ws(0, {"events", "claim"});
  const std::string ping = R"({"agent_id":")" + id + R"("})";
  const RawAnswer made = stage.server.ask({.method = "POST", .target = "/_mock/events", .json = ping});
  CAPTURE(made.body);
  CHECK(made.status == 201);
  stage.ws(0, {"events", "work", "--once", "--", "cat"});
  stage.ws(0, {"agents", "pause", id});
}

void sync_two_folders(const Stage& stage) {
  const fs::path first = stage.folder / "first";
  const fs::path second = stage.folder / "second";
  write_text(first / "a.md", "# A\n");
  write_text(first / "deep" / "b.md", "# B\n");
  fs::create_directories(second);
  const json made = json::parse(stage.ws(0, {"sync", "init", "--name", "notes", "--json"}, first));
  stage.ws(0, {"sync"}, first);
  stage.ws(0, {"sync", "init", "--source", made["source_id"]}, second);
  stage.ws(0, {"sync"}, second);
  REQUIRE(texts_of(second) == texts_of(first));

  write_text(first / "a.md", "# A here\n");
  write_text(second / "a.md", "# A there\n");
  fs::remove(first / "deep" / "b.md");
  write_text(second / "new.md", "# New\n");
  stage.ws(0, {"sync"}, first);
  stage.ws(7, {"sync"}, second);
  CHECK(stage.ws(0, {"sync", "conflicts"}, second).find("a.md") != std::string::npos);
  stage.ws(0, {"sync", "resolve", "a.md", "--keep", "local"}, second);
  stage.ws(0, {"sync"}, second);
  stage.ws(0, {"sync"}, first);
  const auto texts = texts_of(first);
  CHECK(texts == texts_of(second));
  CHECK(texts == std::map<std::string, std::string>{{"a.md", "# A there\n"}, {"new.md", "# New\n"}});
  CHECK(json::parse(stage.ws(0, {"sync", "--json"}, first))["clean"] == true);
}

/// Everything under every value of one switch.
void try_switch(const std::string& key) {
  int tried = 0;
  for (const std::string& assumption : every_assumption()) {
    if (assumption.substr(0, key.size() + 1) != key + "=") continue;
    CAPTURE(assumption);
    Stage stage(assumption);
    log_in_and_out(stage);
    write_documents(stage);
    ask_questions(stage);
    work_as_agent(stage);
    sync_two_folders(stage);
    ++tried;
  }
  CHECK(tried >= 2);
}

}  // namespace

TEST_CASE("assumptions: those that are tried are all that the mock has", "[assumptions]") {
  const auto all = every_assumption();
  CHECK(all.size() == 33);
  std::set<std::string> keys;
  for (const std::string& assumption : all) keys.insert(assumption.substr(0, assumption.find('=')));
  CHECK(keys == std::set<std::string>{"error_style",
                                      "device_pending",
                                      "revision_mismatch",
                                      "question_created",
                                      "question_async",
                                      "pull_filter",
                                      "auth_order",
                                      "list_extra",
                                      "assumed_fields",
                                      "sync_conflict_status",
                                      "renew_from",
                                      "workspace_create",
                                      "test_runs"});
}

TEST_CASE("assumptions: however errors are written", "[assumptions]") { try_switch("error_style"); }
TEST_CASE("assumptions: however a login is pending", "[assumptions]") { try_switch("device_pending"); }
TEST_CASE("assumptions: whichever status a mismatch has", "[assumptions]") { try_switch("revision_mismatch"); }
TEST_CASE("assumptions: whichever status a question has", "[assumptions]") { try_switch("question_created"); }
TEST_CASE("assumptions: whether or not an answer takes time", "[assumptions]") { try_switch("question_async"); }
TEST_CASE("assumptions: whether or not a pull is filtered", "[assumptions]") { try_switch("pull_filter"); }
TEST_CASE("assumptions: whatever is checked first", "[assumptions]") { try_switch("auth_order"); }
TEST_CASE("assumptions: with fields that nobody knows", "[assumptions]") { try_switch("list_extra"); }
TEST_CASE("assumptions: without the fields that we assume", "[assumptions]") { try_switch("assumed_fields"); }
TEST_CASE("assumptions: whichever status a conflict has", "[assumptions]") { try_switch("sync_conflict_status"); }
TEST_CASE("assumptions: whatever a lease is extended from", "[assumptions]") { try_switch("renew_from"); }
TEST_CASE("assumptions: whether or not a key makes Workspaces that it cannot see", "[assumptions]") {
  try_switch("workspace_create");
}
TEST_CASE("assumptions: whenever a test run ends", "[assumptions]") { try_switch("test_runs"); }

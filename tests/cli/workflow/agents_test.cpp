#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "tests/cli/workflow/stage.hpp"

using namespace ws;
using namespace ws::test;

namespace {

struct AgentStage {
  MockProcess server;
  Person person{server};
  TemporaryFolder folder;

  Ended ws(std::vector<std::string> arguments) const { return person.ws(std::move(arguments), folder.path()); }
  Ended create(const std::string& handle, const std::string& file) const {
    return ws({"agents", "create", handle, "--name", "N", "--permissions", "read", "--secret-out", file, "--json"});
  }
};

}  // namespace

TEST_CASE("agents: a secret goes to a file that nobody else reads, and nowhere else", "[cli]") {
  const AgentStage stage;
  const Ended made = stage.create("scribe", "key");
  REQUIRE(made.exit == 0);
  const std::string secret = read_text(stage.folder / "key");
  CHECK(secret.substr(0, 4) == "wsk_");
  CHECK((made.out + made.err).find(secret.substr(0, secret.size() - 1)) == std::string::npos);
  CHECK(parse(made.out)["credential"]["secret"].is_null());
  struct stat status {};
  REQUIRE(::stat((stage.folder / "key").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600U);

  Person agent(stage.server);
  agent.environment["WS_TOKEN"] = secret;
  CHECK(agent.ws({"whoami"}).exit == 0);

  const std::string id = parse(made.out)["id"];
  CHECK(stage.create("other", "key").exit == 14);  // nothing is asked for where the secret has no place
  CHECK(stage.ws({"agents", "rotate", id, "--secret-out", "key", "--yes"}).exit == 14);
  CHECK(stage.ws({"agents", "rotate", id, "--secret-out", "key", "--yes", "--force"}).exit == 0);
  CHECK(read_text(stage.folder / "key") != secret);
  CHECK(agent.ws({"whoami"}).exit == 4);
}

TEST_CASE("agents: a secret of another form goes whole to the file, and nowhere else", "[cli]") {
  const std::string secret = "tok_abcdefghijklmnopqrstuvwxyz";
  const bool is_credential = GENERATE(true, false);
  const HostileServer server([&](const Seen&) {
    return answer(201, dump({{"id", nobody}, {is_credential ? "credential" : "key", {{"token", secret}}}}));
  });
  const At person(server.origin());
  const auto create = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"agents", "create", "scribe", "--name", "N", "--json"});
    return person.ws(more, person.home());
  };
  const Ended shown = create({});
  CHECK(shown.exit == (is_credential ? 0 : 12));
  CHECK((shown.out.find(secret) != std::string::npos) == is_credential);
  const Ended kept = create({"--again", "--secret-out", "key"});
  CHECK(kept.exit == shown.exit);
  CHECK((kept.out + kept.err).find(secret) == std::string::npos);
  CHECK(std::filesystem::exists(person.home() / "key") == is_credential);
  if (is_credential) {
    CHECK(parse(read_text(person.home() / "key"))["token"] == secret);
    return;
  }
  // Where no secret is found, the answer may be the only copy of it. Whether an agent was made is not known.
  CHECK(kept.out.empty());
  const std::string hint = text_at(error_of(kept), "hint");
  const std::size_t at = hint.find("the answer is in ");
  REQUIRE(at != std::string::npos);
  CHECK(parse(read_text(hint.substr(at + 17, hint.find(',', at) - at - 17)))["key"]["token"] == secret);
  const std::size_t sent = server.requests().size();
  CHECK(create({"--secret-out", "key"}).exit == 12);
  CHECK(server.requests().size() == sent);
}

TEST_CASE("agents: a secret whose file cannot be written is not shown, and kept where only its owner reads", "[cli]") {
  const AgentStage stage;
  const Ended ended = stage.create("scribe", "/dev/full");
  CHECK(ended.exit == 14);
  CHECK((ended.out + ended.err).find("wsk_") == std::string::npos);
  const Json error = error_of(ended);
  CHECK(error["applied"] == "yes");
  const std::string file = text_at(error["details"]["made"][0], "file");
  struct stat status {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600U);
  CHECK(text_at(parse(read_text(file))["credential"], "secret").starts_with("wsk_"));
}

TEST_CASE("agents: a secret goes into the pipe that --secret-out names, and `-` is no file", "[cli]") {
  const AgentStage stage;
  const std::string id = parse(stage.create("scribe", "key").out)["id"];
  Command command = stage.person.command({}, stage.folder.path());
  command.program.clear();
  command.arguments = {"bash",
                       "-c",
                       "mkfifo p; timeout 10 cat p >got & \"$0\" agents rotate $1 -y --secret-out p $2; e=$?; "
                       "test -p p || kill $!; wait; test -p p && exit $e",
                       program("ws"),
                       id,
                       GENERATE("", "--force")};
  const Ended ended = run_command(command);
  INFO(ended.err);
  CHECK(ended.exit == 0);
  CHECK(read_text(stage.folder / "got").starts_with("wsk_"));
  CHECK(stage.create("other", "-").exit == 2);
  CHECK_FALSE(std::filesystem::exists(stage.folder / "-"));
  CHECK(stage.create("other", "missing/key").exit == 14);
  CHECK(stage.create("other", "other.key").exit == 0);  // nothing was made before
}

TEST_CASE("agents: a secret that the format leaves out is kept, and said to be", "[cli]") {
  const AgentStage stage;
  const std::string id = parse(stage.create("scribe", "key").out)["id"];
  using Words = std::vector<std::string>;
  const Words begin = GENERATE(Words{"agents", "rotate", "ID", "-y"},
                               Words{"call", "agents.rotate", "--agent-id", "ID"},
                               Words{"api", "POST", "/v1/agents/ID/credentials:rotate"});
  const Words shape =
      GENERATE(Words{"--fields", "agent_id"}, Words{"--jq", ".agent_id"}, Words{"--template", "{agent_id}"});
  Words words = begin;
  for (std::string& word : words) {
    if (const std::size_t at = word.find("ID"); at != std::string::npos) word.replace(at, 2, id);
  }
  words.insert(words.end(), shape.begin(), shape.end());
  CAPTURE(words);
  const Ended ended = stage.ws(words);
  INFO(ended.err);
  CHECK(ended.exit == 0);
  CHECK(ended.err.find("wsk_") == std::string::npos);
  const std::size_t at = ended.err.find("the answer is in ");
  REQUIRE(at != std::string::npos);
  const std::string file = ended.err.substr(at + 17, ended.err.find(',', at) - at - 17);
  struct stat status {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600U);
  Person agent(stage.server);
  agent.environment["WS_TOKEN"] = text_at(parse(read_text(file)), "secret");
  CHECK(agent.ws({"whoami"}).exit == 0);
  // What shows it says nothing.
  CHECK(stage.ws({"agents", "rotate", id, "-y", "--fields", "secret"}).err.empty());
  CHECK(stage.ws({"agents", "rotate", id, "-y"}).err.empty());
}

TEST_CASE("agents: a key that would be neither shown nor kept is not made, one that is lost ends 14", "[cli]") {
  AgentStage stage;
  const std::string id = parse(stage.create("scribe", "key").out)["id"];
  Person agent(stage.server);
  agent.environment["WS_TOKEN"] = read_text(stage.folder / "key");
  stage.person.environment["XDG_STATE_HOME"] = "/proc/nowhere";
  for (const auto& shape : {std::vector<std::string>{"--fields", "agent_id"},
                            {"--jq", ".agent_id"},
                            {"--template", "{agent_id}"},
                            {"--format", "ids"}}) {
    std::vector<std::string> words = {"agents", "rotate", id, "-y"};
    words.insert(words.end(), shape.begin(), shape.end());
    const Ended ended = stage.ws(words);
    CAPTURE(words, ended.err);
    CHECK(ended.exit == 14);
    CHECK(ended.err.find("--secret-out") != std::string::npos);
    CHECK(agent.ws({"whoami"}).exit == 0);
  }
  CHECK(stage.ws({"agents", "rotate", id, "-y", "--jq", ".secret"}).exit == 0);
  const Ended lost = stage.ws({"agents", "rotate", id, "-y", "--jq", "{agent_id} // .secret"});
  CHECK(lost.exit == 14);
  CHECK(lost.err.find("the change was made: agents.rotate " + id) != std::string::npos);
  CHECK(lost.err.find("its secret is lost") != std::string::npos);
  CHECK(lost.err.find("`ws agents rotate " + id + "` gives a new one") != std::string::npos);
  Command full = stage.person.command({}, stage.folder.path());
  full.program.clear();
  full.arguments = {"sh", "-c", "\"$0\" agents rotate $1 -y >/dev/full", program("ws"), id};
  const Ended unwritten = run_command(full);
  CHECK(unwritten.exit == 14);
  CHECK(unwritten.err.find("its secret is lost") != std::string::npos);
}

TEST_CASE("agents: a refused creation leaves no file", "[cli]") {
  const AgentStage stage;
  REQUIRE(stage.create("scribe", "first").exit == 0);
  CHECK(stage.create("scribe", "second").exit == 7);
  CHECK_FALSE(std::filesystem::exists(stage.folder / "second"));
}

TEST_CASE("agents: revoking and rotating ask first, and nobody there is no yes", "[cli]") {
  const AgentStage stage;
  const std::string id = parse(stage.create("scribe", "key").out)["id"];
  for (const char* verb : {"revoke", "rotate"}) {
    const Ended unasked = stage.ws({"agents", verb, id});
    CHECK(unasked.exit == 2);
    CHECK(unasked.err.find("--yes") != std::string::npos);
  }
  CHECK(stage.ws({"agents", "pause", id}).exit == 0);
  CHECK(stage.ws({"agents", "pause", id, "-J", "permissions=[\"read\"]", "--fields", "permissions"}).out ==
        "permissions\t[\"read\"]\n");
  CHECK(stage.ws({"agents", "resume", id, "--fields", "status"}).out == "status\tactive\n");
  CHECK(stage.ws({"agents", "revoke", id, "--yes", "--fields", "status"}).out == "status\trevoked\n");
}

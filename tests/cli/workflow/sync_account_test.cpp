// Whose folder it is: which key the commands of a synced folder use, and which they refuse.
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/stage.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

/// Two people of one Workspace who use one machine, each with a stored key, Ada with a second one of fewer scopes.
struct TwoAccounts {
  TemporaryFolder folder;
  MockProcess server{two_people(folder)};
  Person person;
  std::string ada = new_key("ada@example.com", R"(["sync:read", "sync:write", "documents:read", "documents:write"])");
  std::string grace =
      new_key("grace@example.com", R"(["sync:read", "sync:write", "documents:read", "documents:write"])");

  TwoAccounts() {
    log_in("ada", ada);
    log_in("reader", new_key("ada@example.com", R"(["sync:read"])"));
    log_in("grace", grace);
    for (const std::string& profile : {std::string("ada"), std::string("grace")}) {
      write_text(folder_of(profile) / "note.md", "# One\n");
      REQUIRE(ws(profile, {"sync", "init", "--profile", profile, "--base-url", server.base_url()}).exit == 0);
      const Ended first = ws(profile, {"sync"});
      INFO(first.err);
      REQUIRE(first.exit == 0);
    }
  }

  std::string new_key(const std::string& email, const std::string& scopes) const {
    const Json made =
        parse(control(server, "POST", "/keys", R"({"person": ")" + email + R"(", "scopes": )" + scopes + "}"));
    return text_at(made, "secret");
  }
  void log_in(const std::string& profile, const std::string& key) const {
    Command login = person.command(
        {"login", "--with-token", "--store", "file", "--profile", profile, "--base-url", server.base_url()});
    login.input = key;
    REQUIRE(run_command(login).exit == 0);
  }
  std::filesystem::path folder_of(const std::string& profile) const { return folder / profile; }
  /// In the folder of `owner`.
  Ended ws(const std::string& owner, std::vector<std::string> arguments, const std::string& token = {}) const {
    Command command = person.command(std::move(arguments), folder_of(owner));
    if (!token.empty()) {
      command.environment["WS_TOKEN"] = token;
      command.environment["WS_BASE_URL"] = server.base_url();
    }
    return run_command(command);
  }
  /// Who wrote the document that has this text.
  std::string signer_of(const std::string& text) const {
    const Json state = parse(control(server, "GET", "/state", ""))["tables"];
    for (const Json& document : state["documents"]) {
      if (text_at(document, "content") == text) return text_at(document, "updated_by_name");
    }
    return {};
  }
};

}  // namespace

TEST_CASE("account: whatever key is in use, a folder is synced as the person who tied it", "[cli]") {
  const TwoAccounts stage;
  int edits = 0;
  for (const std::string& owner : {std::string("ada"), std::string("grace")}) {
    for (const std::string& used : {std::string("ada"), std::string("reader"), std::string("grace")}) {
      CAPTURE(owner, used);
      REQUIRE(stage.ws(owner, {"auth", "switch", used}).exit == 0);
      const std::string text = "# Edit " + std::to_string(++edits) + "\n";
      write_text(stage.folder_of(owner) / "note.md", text);
      const Ended ended = stage.ws(owner, {"sync"});
      INFO(ended.err);
      // The key that is in use is Ada's: it may only read, and is hers.
      const bool is_reader = owner == "ada" && used == "reader";
      CHECK(ended.exit == (is_reader ? 13 : 0));
      if (!is_reader) CHECK(stage.signer_of(text) == (owner == "ada" ? "Ada Byron" : "Grace Hopper"));
    }
  }
}

TEST_CASE("account: a key of somebody else is refused before anything is sent, and named", "[cli]") {
  const TwoAccounts stage;
  write_text(stage.folder_of("ada") / "note.md", "# Changed\n");
  const std::vector<std::vector<std::string>> commands = {
      {"sync"}, {"sync", "status"}, {"sync", "push"}, {"sync", "pull"}, {"sync", "watch"}};
  for (const std::vector<std::string>& command : commands) {
    CAPTURE(command);
    control(stage.server, "DELETE", "/requests", "");
    std::vector<std::string> named = command;
    named.insert(named.end(), {"--profile", "grace"});
    const Ended refused = stage.ws("ada", named);
    CHECK(refused.exit == 2);
    CHECK(refused.err.find("this folder is Ada Byron's; the key of profile `grace` is Grace Hopper's") !=
          std::string::npos);
    CHECK(refused.err.find("`ws sync account --set`") != std::string::npos);
    const Ended by_token = stage.ws("ada", command, stage.grace);
    CHECK(by_token.exit == 2);
    CHECK(by_token.err.find("the key in WS_TOKEN is Grace Hopper's") != std::string::npos);
    CHECK(control(stage.server, "GET", "/requests", "").find("/v1/sync") == std::string::npos);
  }
  CHECK(stage.ws("ada", {"sync"}, stage.ada).exit == 0);
}

TEST_CASE("account: a key in WS_TOKEN whose server is not named never gives way to a stored one", "[cli]") {
  const TwoAccounts stage;
  write_text(stage.folder_of("ada") / "note.md", "# Whose\n");
  control(stage.server, "DELETE", "/requests", "");
  const std::vector<std::vector<std::string>> commands = {
      {"sync"}, {"sync", "status"}, {"sync", "account", "--set", "--yes"}, {"docs", "get", "note.md"}};
  for (const std::vector<std::string>& arguments : commands) {
    CAPTURE(arguments);
    Command command = stage.person.command(arguments, stage.folder_of("ada"));
    command.environment["WS_TOKEN"] = stage.grace;
    const Ended refused = run_command(command);
    CHECK(refused.exit == 2);
    CHECK_THAT(refused.err, Contains("WS_TOKEN is set, but not the server that it is for") && Contains("WS_BASE_URL"));
  }
  CHECK(parse(control(stage.server, "GET", "/requests", ""))["data"].empty());
}

TEST_CASE("account: after a logout no key of another person acts in the folder", "[cli]") {
  const TwoAccounts stage;
  for (const std::string& profile : {std::string("ada"), std::string("reader")})
    REQUIRE(stage.ws("ada", {"logout", "--profile", profile}).exit == 0);
  write_text(stage.folder_of("ada") / "note.md", "# Nobody's\n");
  const Ended ended = stage.ws("ada", {"sync"});
  CHECK(ended.exit == 4);
  CHECK_THAT(ended.err,
             Contains("syncs as Ada Byron") && Contains("`ws login --base-url") && Contains("--profile ada"));
  CHECK(stage.signer_of("# Nobody's\n").empty());
}

TEST_CASE("account: it is shown, and made somebody else's by --set", "[cli]") {
  const TwoAccounts stage;
  CHECK_THAT(stage.ws("ada", {"sync", "account"}).out, Contains("Ada Byron"));
  CHECK_THAT(stage.ws("ada", {"sync", "status", "--format", "table"}).out, Contains("Syncing as Ada Byron"));
  CHECK_THAT(stage.ws("ada", {"auth", "list", "--format", "table"}).out, Contains("Grace Hopper"));
  CHECK(stage.ws("ada", {"sync", "account", "--set", "--profile", "grace"}).exit == 2);  // nobody can be asked
  REQUIRE(stage.ws("ada", {"sync", "account", "--set", "--profile", "grace", "--yes"}).exit == 0);
  write_text(stage.folder_of("ada") / "note.md", "# Hers now\n");
  CHECK(stage.ws("ada", {"sync", "account", "--json"}).out.find("Grace Hopper") != std::string::npos);
}

TEST_CASE("account: whose key it is, is asked once, and a run that changes nothing is one request", "[cli]") {
  const TwoAccounts stage;
  const auto requests = [&](const std::string& token) {
    control(stage.server, "DELETE", "/requests", "");
    CHECK(stage.ws("ada", {"sync"}, token).exit == 0);
    return parse(control(stage.server, "GET", "/requests", ""))["data"].size();
  };
  CHECK(requests({}) == 1);
  CHECK(requests(stage.ada) == 2);  // the first time that this key is met in WS_TOKEN
  CHECK(requests(stage.ada) == 1);
}

TEST_CASE("account: a folder of before is that of the key in use from its next run on", "[cli]") {
  const TwoAccounts stage;
  const std::filesystem::path file = stage.folder_of("ada") / ".ws/source.json";
  Json binding = parse(read_text(file));
  binding.erase("account");
  write_text(file, binding.dump());
  CHECK(stage.ws("ada", {"sync", "status", "--profile", "ada"}).exit == 0);  // a look binds nothing
  CHECK_FALSE(parse(read_text(file)).contains("account"));
  CHECK(stage.ws("ada", {"sync", "--profile", "ada"}).exit == 0);
  CHECK(text_at(parse(read_text(file)), "account.name") == "Ada Byron");
}

TEST_CASE("share: a source is joined by its ending, and by its name where it is known here", "[cli]") {
  const TwoAccounts stage;
  const std::string source = text_at(parse(read_text(stage.folder_of("ada") / ".ws/source.json")), "source_id");
  const auto join = [&](const std::string& folder, const std::string& given) {
    const Ended ended = stage.person.ws(
        {"sync", "init", folder, "--yes", "--source", given, "--profile", "ada", "--base-url", stage.server.base_url()},
        stage.folder.path());
    CAPTURE(ended.err);
    CHECK(ended.exit == 0);
    return text_at(parse(read_text(stage.folder / folder / ".ws/source.json")), "source_id");
  };
  CHECK(join("by-ending", source.substr(28)) == source);
  CHECK(join("by-name", "ada") == source);
}

TEST_CASE("account: a login that takes a folder's place never revokes the key of somebody else", "[cli]") {
  const TwoAccounts stage;
  for (const std::string& profile : {std::string("ada"), std::string("reader")})
    REQUIRE(stage.ws("ada", {"logout", "--profile", profile}).exit == 0);
  stage.log_in("ada", stage.new_key("grace@example.com", R"(["sync:read"])"));
  const Ended ended = stage.ws("ada", {"sync"});
  CHECK(ended.exit == 4);
  CHECK_THAT(ended.err, Contains("--profile ada-2"));
}

TEST_CASE("account: a key that the server does not know any more is replaced where it was, with what it could",
          "[cli]") {
  const TwoAccounts stage;
  stage.log_in("other", stage.new_key("ada@example.com", R"(["documents:read", "search:read"])"));
  REQUIRE(stage.ws("ada", {"auth", "switch", "ada"}).exit == 0);
  const Json keys = parse(stage.ws("ada", {"auth", "list", "--json"}).out);
  for (const Json& key : keys["data"]) control(stage.server, "POST", "/keys/" + text_at(key, "key_id") + ":revoke", "");
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"docs", "list", "--profile", "other"}, {"whoami", "--profile", "other"}}) {
    const Ended ended = stage.ws("ada", command);
    CHECK(ended.exit == 4);
    CHECK_THAT(ended.err,
               Contains("run `ws login --base-url " + stage.server.base_url() +
                        " --profile other --scopes documents:read,search:read`"));
  }
  const Ended sync = stage.ws("ada", {"sync"});
  CHECK(sync.exit == 4);
  CHECK_THAT(
      sync.err,
      Contains("--base-url " + stage.server.base_url() + " --profile ada --scopes sync:read,sync:write,documents:"));
}

TEST_CASE("account: a key that lacks a scope is not followed by that of another person", "[cli]") {
  const TwoAccounts stage;
  stage.log_in("wide", stage.new_key("grace@example.com", R"(["tests:read", "sync:read"])"));
  const Ended refused = stage.ws("ada", {"tests", "runs", "list", "--profile", "reader"});
  CHECK(refused.exit == 5);
  CHECK_THAT(refused.err, Contains("the key of profile reader lacks tests:read: run `ws login --base-url "));
  CHECK_THAT(refused.err, Contains("--profile reader --scopes sync:read,tests:read`"));
  CHECK(refused.err.find("wide") == std::string::npos);
}

TEST_CASE("account: what one key has no room for comes by a second one, used by itself", "[cli]") {
  const TwoAccounts stage;
  const std::string twelve =
      R"(["questions:read", "questions:write", "search:read", "documents:read", "documents:write",
      "documents:share", "assets:read", "assets:write", "sync:read", "sync:write", "comments:read", "comments:write"])";
  stage.log_in("full", stage.new_key("ada@example.com", twelve));
  const auto full = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--profile", "full"});
    return stage.ws("ada", std::move(words));
  };
  const Ended refused = full({"projects", "create", "Harbour"});
  CHECK(refused.exit == 5);
  CHECK_THAT(refused.err,
             Contains("the key of profile full lacks workspaces:write") &&
                 Contains("--profile full-more --scopes workspaces:write`"));
  REQUIRE(stage.ws("ada", {"auth", "switch", "full"}).exit == 0);
  const auto log_in_second = [&](const std::string& email) {
    Command login = stage.person.command(
        {"login", "--with-token", "--store", "file", "--profile", "full-more", "--base-url", stage.server.base_url()});
    login.input = stage.new_key(email, R"(["workspaces:write", "documents:read"])");
    return run_command(login);
  };
  // Of another person it is kept, and not used with hers.
  CHECK_THAT(log_in_second("grace@example.com").err, Contains("of another person than that of profile full"));
  CHECK(full({"projects", "create", "Harbour"}).exit == 5);
  const Ended second = log_in_second("ada@example.com");
  CHECK_THAT(second.err,
             Contains("ws uses this key for what needs workspaces:write, and still that of profile "
                      "full"));
  control(stage.server, "DELETE", "/requests", "");
  CHECK(full({"projects", "create", "Harbour"}).exit == 0);
  CHECK(full({"docs", "list"}).exit == 0);
  CHECK(stage.ws("ada", {"auth", "status", "--fields", "profile"}).out == "profile\tfull\n");
  CHECK(full({"api", "POST", "/v1/projects", "-F", "title=Pier"}).exit == 0);
  CHECK_THAT(full({"tests", "runs", "list"}).err,
             Contains("--profile full-more --scopes workspaces:write,tests:read`"));
  // Which of both was refused is told: the other one is good.
  const std::string second_id =
      text_at(parse(stage.ws("ada", {"auth", "status", "--json", "--profile", "full-more"}).out), "key_id");
  control(stage.server, "POST", "/keys/" + second_id + ":revoke", "");
  CHECK_THAT(full({"projects", "create", "Quay"}).err, Contains("the key of profile full-more is not valid any more"));
  CHECK_THAT(full({"logout"}).err, Contains("--profile full-more` revokes that too"));
}

TEST_CASE("share: a colleague's first sync is one command after the line that is printed", "[cli]") {
  const TwoAccounts stage;
  const std::filesystem::path mine = stage.folder / "shared";
  write_text(mine / "plan.md", "# The plan\n");
  const auto by = [&](const std::string& profile, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--profile", profile});
    return stage.person.ws(std::move(arguments), stage.folder.path());
  };
  const std::string team =
      stage.new_key("ada@example.com", R"(["sync:read", "sync:write", "documents:read", "workspaces:write"])");
  stage.log_in("team", team);
  const Ended made =
      by("team", {"sync", "init", "shared", "--shared", "--format", "table", "--base-url", stage.server.base_url()});
  INFO(made.err);
  REQUIRE(made.exit == 0);
  CHECK_THAT(made.out, Contains("send 1 note; everybody in the Workspace can see"));
  REQUIRE(by("team", {"-C", "shared", "sync"}).exit == 0);
  const std::string source = text_at(parse(read_text(mine / ".ws/source.json")), "source_id");
  REQUIRE(made.out.find(source) != std::string::npos);
  REQUIRE(
      by("grace", {"sync", "init", "hers", "--yes", "--source", source, "--base-url", stage.server.base_url()}).exit ==
      0);
  CHECK(by("grace", {"-C", "hers", "sync"}).exit == 0);
  CHECK(read_text(stage.folder / "hers/plan.md") == "# The plan\n");
}

TEST_CASE("share: a key that is known to lack the scope is named before the question", "[cli]") {
  const TwoAccounts stage;
  const Ended refused = stage.ws("ada", {"sync", "share"});
  CHECK(refused.exit == 5);
  CHECK_THAT(refused.err,
             Contains("nothing was changed: `ws sync share` needs the scope workspaces:write") &&
                 Contains("`ws login --base-url") && Contains("then repeat the command"));
}

TEST_CASE("share: a folder that was private is moved into a Project, once", "[cli]") {
  const TwoAccounts stage;
  stage.log_in(
      "ada",
      stage.new_key("ada@example.com",
                    R"(["sync:read", "sync:write", "documents:read", "documents:write", "workspaces:write"])"));
  const std::string source = text_at(parse(read_text(stage.folder_of("ada") / ".ws/source.json")), "source_id");
  const auto join = [&] {
    return stage.person.ws({"sync",
                            "init",
                            "hers",
                            "--yes",
                            "--source",
                            source,
                            "--profile",
                            "grace",
                            "--base-url",
                            stage.server.base_url()},
                           stage.folder.path());
  };
  CHECK(join().exit != 0);
  CHECK(stage.ws("ada", {"sync", "share"}).exit == 2);  // nobody can be asked
  const Ended shared = stage.ws("ada", {"sync", "share", "--yes", "--json"});
  INFO(shared.err);
  REQUIRE(shared.exit == 0);
  CHECK(text_at(parse(shared.out), "join").find(source) != std::string::npos);
  CHECK(parse(stage.ws("ada", {"sync", "share", "--yes", "--json"}).out)["already"] == true);
  const Ended joined = join();
  INFO(joined.err);
  CHECK(joined.exit == 0);
  CHECK(stage.person.ws({"-C", "hers", "sync", "--profile", "grace"}, stage.folder.path()).exit == 0);
  CHECK(read_text(stage.folder / "hers/note.md") == "# One\n");
  // Ids, paths and revisions stay: her own folder has nothing to do.
  CHECK(stage.ws("ada", {"sync", "status", "--exit-code"}).exit == 0);
}

TEST_CASE("init: says what is sent, and refuses what nobody means", "[cli]") {
  const TwoAccounts stage;
  const auto init = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"sync", "init"});
    arguments.insert(arguments.end(), {"--profile", "ada", "--base-url", stage.server.base_url()});
    return stage.person.ws(std::move(arguments), stage.folder.path());
  };
  CHECK(init({"/"}).exit == 2);
  CHECK(init({"."}).err.find("holds the synced folder") != std::string::npos);
  CHECK(init({"not-there"}).exit == 2);
  CHECK_FALSE(std::filesystem::exists(stage.folder / "not-there"));
  CHECK(init({"not-there", "--yes"}).exit == 0);
  std::filesystem::remove_all(stage.folder_of("ada") / ".ws");
  const Ended again = init({"ada"});
  CHECK(again.exit == 2);
  CHECK(again.err.find("`ws sync init --source") != std::string::npos);
}

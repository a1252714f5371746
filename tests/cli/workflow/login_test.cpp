#include <atomic>
#include <csignal>
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/stage.hpp"
#include "tests/support/hostile_server.hpp"

using namespace ws;
using namespace ws::test;

namespace {

Ended log_in(const Person& person, const MockProcess& server, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"login", "--base-url", server.base_url(), "--store", "file"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return person.ws(std::move(arguments));
}

}  // namespace

TEST_CASE("login: an approved login leaves a key that later commands use without being told", "[cli]") {
  MockProcess server({"--device", "auto", "--device-interval", "1"});
  const Person person;
  const Ended login = log_in(person, server, {"--json"});
  REQUIRE(login.exit == 0);
  CHECK(login.err.substr(0, 12) == "Your code:  ");
  CHECK(parse(login.out)["base_url"] == server.base_url());
  CHECK(parse(login.out)["scopes"].size() == 12);
  CHECK(login.out.find("wsk_") == std::string::npos);

  const Ended who = person.ws({"whoami", "--json"});
  REQUIRE(who.exit == 0);
  CHECK(text_at(parse(who.out), "credential.key_id") == text_at(parse(login.out), "key_id"));
  CHECK(person.ws({"auth", "status", "--fields", "profile"}).out == "profile\tdefault\n");
}

TEST_CASE("login: without a place for the key a script is refused before anything is sent", "[cli]") {
  MockProcess server({"--device", "auto", "--device-interval", "1"});
  const Person person;
  const Ended login = person.ws({"login", "--base-url", server.base_url()});
  CHECK(login.exit == 2);
  CHECK(login.err.find("--store file") != std::string::npos);
  CHECK(control(server, "GET", "/requests", "").find("device-authorizations") == std::string::npos);
}

TEST_CASE("login: it can be begun now and finished later, by anybody who approves it", "[cli]") {
  MockProcess server;
  const Person person;
  const Ended begun = person.ws({"login", "--base-url", server.base_url(), "--no-wait", "--for", "read"});
  REQUIRE(begun.exit == 0);
  const Json pending = parse(begun.out);
  CHECK(pending["device_code"].get<std::string>().size() >= 32);
  CHECK(pending["interval"] == 5);

  const Ended early = person.ws({"login", "--resume", "--once", "--store", "file", "--json"});
  CHECK(early.exit == 8);
  CHECK(error_of(early)["code"] == "authorization_pending");
  CHECK(person.ws({"whoami"}).exit == 2);
  const HostileServer other([](const Seen&) { return answer(200, "{}"); });
  CHECK(person.ws({"login", "--resume", "--base-url", other.origin(), "--store", "file"}).exit == 2);
  CHECK(other.requests().empty());

  control(server, "POST", "/devices/" + text_at(pending, "user_code") + ":approve", "{}");
  control(server, "POST", "/clock:advance", R"({"seconds": 30})");
  const std::string id = text_at(pending, "authorization_id");
  const Ended late = person.ws({"login", "--resume", id, "--once", "--store", "file", "--json"});
  REQUIRE(late.exit == 0);
  CHECK(parse(late.out)["scopes"].size() == 6);
  CHECK(person.ws({"whoami"}).exit == 0);
  CHECK(person.ws({"login", "--resume", id, "--once", "--store", "file"}).exit == 6);
}

TEST_CASE("login: a denied one is a question of permission", "[cli]") {
  MockProcess server({"--device", "deny"});
  const Person person;
  const Ended login = log_in(person, server, {"--no-wait"});
  REQUIRE(login.exit == 0);
  CHECK(person.ws({"login", "--resume", "--once", "--store", "file"}).exit == 5);
}

TEST_CASE("login: waiting ends with the signal's own code", "[cli]") {
  MockProcess server;
  const Person person;
  const int signal = GENERATE(SIGINT, SIGTERM);
  Command command = person.command({"login", "--base-url", server.base_url(), "--store", "file"});
  command.signal_after_output = signal;
  CHECK(run_command(command).exit == 128 + signal);
}

TEST_CASE("login: more scopes than one key can have are split into two profiles", "[cli]") {
  const Person person;
  std::string all;
  for (const char* area : {"questions", "documents", "assets", "sync", "comments", "agent_events"}) {
    all += std::string(area) + ":read," + area + ":write,";
  }
  const Ended login = person.ws({"login", "--base-url", "http://127.0.0.1:9", "--scopes", all + "search:read"});
  CHECK(login.exit == 2);
  CHECK(login.err.find("`ws login --profile two --scopes search:read`") != std::string::npos);
  CHECK(person.ws({"login", "--base-url", "http://127.0.0.1:9", "--scopes", "documents:raed"})
            .err.find("did you mean `documents:read`") != std::string::npos);
}

TEST_CASE("login: what may be a slip in the name of a profile is followed by the nearest one", "[cli]") {
  MockProcess server({"--device", "auto", "--device-interval", "1"});
  const Person person;
  REQUIRE(log_in(person, server, {"--profile", "work", "--for", "team"}).exit == 0);
  CHECK(person.ws({"whoami", "--profile", "wrok"}).err.find("did you mean `work`?") != std::string::npos);
  CHECK(person.ws({"whoami", "--profile", "wrok", "--base-url", server.base_url()}).err.find("did you mean `work`?") !=
        std::string::npos);
}

TEST_CASE("login: a denied one is told with its server, its profile and what it was for", "[cli]") {
  MockProcess server({"--device", "deny", "--device-interval", "1"});
  const Person person;
  const Ended denied = log_in(person, server, {"--profile", "work", "--for", "team"});
  CHECK(denied.exit != 0);
  CHECK(denied.err.find("run `ws login --base-url " + server.base_url() + " --profile work --for team` again") !=
        std::string::npos);
}

TEST_CASE("logout: the key is revoked there and forgotten here", "[cli]") {
  MockProcess server({"--device", "auto", "--device-interval", "1"});
  const Person person;
  REQUIRE(log_in(person, server).exit == 0);
  CHECK(person.ws({"logout"}).exit == 0);
  CHECK(person.ws({"auth", "list"}).out.empty());
  CHECK(person.ws({"whoami", "--base-url", server.base_url()}).exit == 4);
}

TEST_CASE("login: the keyring holds the key where one answers, the file what is known of it", "[cli]") {
  MockProcess server({"--device", "auto", "--device-interval", "1"});
  Person person;
  person.environment["LD_LIBRARY_PATH"] = WS_FAKE_SECRET;
  person.environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nowhere";
  person.environment["FAKE_SECRET_FILE"] = (person.home() / "secrets").string();
  const Ended login = person.ws({"login", "--base-url", server.base_url(), "--json"});
  REQUIRE(login.exit == 0);
  CHECK(parse(login.out)["kept_in"] == "the keyring");
  CHECK(read_text(person.home() / "secrets").find("wsk_") != std::string::npos);
  CHECK(read_text(person.home() / "DATA/ws/credentials").find("wsk_") == std::string::npos);
  CHECK(person.ws({"whoami"}).exit == 0);
  CHECK(person.ws({"auth", "token"}).out.substr(0, 4) == "wsk_");
  person.environment["FAKE_SECRET_MODE"] = "refuse";
  CHECK(person.ws({"whoami"}).exit == 14);
  person.environment["FAKE_SECRET_MODE"] = "";
  CHECK(person.ws({"logout"}).exit == 0);
  CHECK(read_text(person.home() / "secrets").empty());
}

TEST_CASE("login: a keyring that refuses is said so, and a script must name the file", "[cli]") {
  MockProcess server({"--device", "auto", "--device-interval", "1"});
  Person person;
  person.environment["LD_LIBRARY_PATH"] = WS_FAKE_SECRET;
  person.environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nowhere";
  person.environment["FAKE_SECRET_MODE"] = "refuse";
  const Ended refused = person.ws({"login", "--base-url", server.base_url()});
  CHECK(refused.exit == 2);
  CHECK(refused.err.find("nobody provides org.freedesktop.secrets") != std::string::npos);
  CHECK(refused.err.find("--store file") != std::string::npos);
  CHECK(person.ws({"login", "--base-url", server.base_url(), "--store", "keyring"}).exit == 14);
  CHECK(log_in(person, server).exit == 0);
}

TEST_CASE("login: --qr shows the address to scan", "[cli]") {
  MockProcess server({"--device", "auto", "--device-interval", "1"});
  const Person person;
  const Ended login = log_in(person, server, {"--qr"});
  REQUIRE(login.exit == 0);
  // Without colour the light is drawn: the corners come before what looks like dark ones by chance.
  CHECK(login.err.find("▄▄▄▄▄") < login.err.find("█▀▀▀▀▀█"));
}

TEST_CASE("keys: one of another server is never sent", "[cli]") {
  MockProcess home({"--device", "auto", "--device-interval", "1"});
  MockProcess foreign;
  const Person person;
  REQUIRE(log_in(person, home).exit == 0);
  const Ended asked = person.ws({"whoami", "--base-url", foreign.base_url()});
  CHECK(asked.exit == 4);
  CHECK(asked.err.find("ws login --base-url " + foreign.base_url()) != std::string::npos);
  CHECK(control(foreign, "GET", "/requests", "").find("/v1/me") == std::string::npos);
}

TEST_CASE("keys: WS_TOKEN is bound to the server that is named beside it", "[cli]") {
  MockProcess server;
  MockProcess foreign;
  Person person(server);
  CHECK(person.ws({"whoami"}).exit == 0);
  CHECK(person.ws({"whoami", "--base-url", foreign.base_url()}).exit == 4);
  person.environment.erase("WS_BASE_URL");
  CHECK(person.ws({"whoami", "--base-url", server.base_url()}).exit == 0);
  CHECK(person.ws({"whoami"}).exit == 2);
}

TEST_CASE("keys: several profiles live beside each other, and one is current", "[cli]") {
  MockProcess server({"--device", "auto", "--device-interval", "1"});
  const Person person;
  REQUIRE(log_in(person, server, {"--profile", "one", "--for", "read"}).exit == 0);
  const Ended second = log_in(person, server, {"--profile", "two", "--for", "tests"});
  REQUIRE(second.exit == 0);
  CHECK(second.err.find("commands without --profile now use the key of profile two; `ws auth switch one`") !=
        std::string::npos);
  CHECK(log_in(person, server, {"--profile", "two", "--for", "tests"}).err.find("auth switch") == std::string::npos);
  const auto scopes = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"whoami", "--json"});
    return parse(person.ws(flags).out)["credential"]["scopes"].size();
  };
  CHECK(scopes({}) == 2);
  CHECK(scopes({"-p", "one"}) == 6);
  CHECK(person.ws({"auth", "switch", "one"}).exit == 0);
  CHECK(scopes({}) == 6);
  CHECK(person.ws({"whoami", "-W", "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b"}).exit == 4);
}

TEST_CASE("keys: what the key in use may not do names it, and the stored key that may", "[cli]") {
  MockProcess server({"--device", "auto", "--device-interval", "1"});
  const Person person;
  REQUIRE(log_in(person, server, {"--for", "notes"}).exit == 0);
  REQUIRE(log_in(person, server, {"--profile", "reader", "--for", "read"}).exit == 0);
  const Ended refused = person.ws({"docs", "create", "hello"});
  CHECK(refused.exit == 5);
  CHECK(refused.err.find("the key of profile reader lacks documents:write; that of default has it: add `--profile "
                         "default`, or run `ws auth switch default`") != std::string::npos);
  CHECK(person.ws({"docs", "create", "hello", "--profile", "default"}).exit == 0);
  CHECK(person.ws({"tests", "runs", "list"}).err.find("run `ws login --base-url ") != std::string::npos);
  // A name is looked up before the command runs: the same is said.
  REQUIRE(log_in(person, server, {"--profile", "runner", "--for", "tests"}).exit == 0);
  CHECK(person.ws({"docs", "get", "Knots"}).err.find("lacks documents:read; that of default has it") !=
        std::string::npos);
}

TEST_CASE("login: a second one on a profile revokes the key that it replaces", "[cli]") {
  MockProcess server({"--device", "auto", "--device-interval", "1"});
  const Person person;
  REQUIRE(log_in(person, server).exit == 0);
  const std::string old = person.ws({"auth", "token"}).out;
  const Ended again = log_in(person, server);
  CHECK(again.exit == 0);
  CHECK(again.err.find("The replaced key is revoked.") != std::string::npos);
  CHECK(person.ws({"whoami"}).exit == 0);
  Person with_old;
  with_old.environment["WS_TOKEN"] = old.substr(0, old.size() - 1);
  with_old.environment["WS_BASE_URL"] = server.base_url();
  const Ended refused = with_old.ws({"whoami"});
  CHECK(refused.exit == 4);
  CHECK(refused.err.find("the key of WS_TOKEN was used; not logged in at this server") != std::string::npos);
}

TEST_CASE("login: --with-token stores a key from stdin, once the server knows it", "[cli]") {
  const MockProcess server;
  const Person owner(server);
  const Person person;
  const auto with_token = [&](const std::string& key) {
    Command command = person.command({"login", "--with-token", "--base-url", server.base_url(), "--store", "file"});
    command.input = key + "\n";
    return run_command(command);
  };
  CHECK(with_token("").exit == 2);
  const Ended unknown = with_token("wsk_nobody_has_this_one_00000000000000000000");
  CHECK(unknown.exit == 4);
  CHECK(unknown.err.find("the key from stdin was used") != std::string::npos);
  CHECK(person.ws({"auth", "list"}).out.empty());
  CHECK(with_token(owner.environment.at("WS_TOKEN")).exit == 0);
  CHECK(person.ws({"whoami"}).exit == 0);
}

TEST_CASE("keys: WS_TOKEN beside a Workspace that no stored key is for says which of them counts", "[cli]") {
  const MockProcess server;
  Person person(server);
  const Ended by_flag = person.ws({"whoami", "-W", "Harbour"});
  CHECK(by_flag.exit == 4);
  CHECK(by_flag.err.find("WS_TOKEN is not used, because -W selects a stored key") != std::string::npos);
  CHECK(by_flag.err.find("leave out -W") != std::string::npos);
  person.environment["WS_WORKSPACE"] = nobody;
  CHECK(person.ws({"whoami"}).err.find("unset WS_WORKSPACE to use WS_TOKEN") != std::string::npos);
  person.environment.erase("WS_WORKSPACE");
  const Ended by_profile = person.ws({"whoami", "--profile", "work"});
  CHECK(by_profile.exit == 0);
  CHECK(by_profile.err == "note: WS_TOKEN is set, so the key of profile `work` is not used\n");
}

TEST_CASE("keys: a Workspace may be named by its title", "[cli]") {
  MockProcess server({"--device", "auto", "--device-interval", "1"});
  const Person person;
  REQUIRE(log_in(person, server).exit == 0);
  const std::string name = person.ws({"auth", "list", "--fields", "workspace_name"}).out;
  CHECK(person.ws({"whoami", "-W", name.substr(0, name.size() - 1)}).exit == 0);
  CHECK(person.ws({"whoami", "-W", "No such Workspace"}).exit == 4);
}

TEST_CASE("login: fewer scopes than were asked for are told, with those that are missing", "[cli]") {
  const MockProcess mock({"--device", "auto", "--device-interval", "1"});
  std::atomic<bool> names_any = true;
  const HostileServer fewer([&](const Seen& seen) {
    RawRequest request{.method = seen.method, .target = seen.target, .json = seen.body};
    if (const auto key = seen.header("Authorization")) request.headers = {"Authorization: " + *key};
    const RawAnswer came = mock.ask(request);
    Json body = parse(came.body);
    if (body.contains("api_key") || seen.target.find("device-token") != std::string::npos) {
      if (body.contains("scopes")) body["scopes"] = Json::array({"documents:read", "search"});
      if (!names_any) body.erase("scopes");
    }
    return answer(came.status, dump(body));
  });
  const Person person;
  const std::vector<std::string> login = {"login", "--base-url", fewer.origin(), "--store", "file", "--scopes"};
  const auto with = [&](const std::string& scopes) {
    std::vector<std::string> words = login;
    words.push_back(scopes);
    return person.ws(words);
  };
  const Ended less = with("documents:read,documents:write,search:read,sync:write");
  CAPTURE(less.err);
  CHECK(less.exit == 0);
  CHECK(less.err.find("warning: the key has 1 of the 4 scopes that were asked for; it lacks documents:write, "
                      "search:read, sync:write") != std::string::npos);
  const Ended all = with("documents:read");
  CHECK(all.exit == 0);
  CHECK(all.err.find("warning") == std::string::npos);
  names_any = false;
  const Ended none = with("documents:read,sync:write");
  CAPTURE(none.err);
  CHECK(none.err.find("warning: the service does not say which scopes the key has; 2 were asked for") !=
        std::string::npos);
}

TEST_CASE("keys: a WS_TOKEN that is no key alone is named for what it is, and nothing is sent", "[cli]") {
  const HostileServer server([](const Seen&) { return answer(200, "{}"); });
  struct Row {
    std::string given;
    const char* told;
  };
  const auto row = GENERATE(Row{"Bearer wsk_abc", "begins with `Bearer`"},
                            Row{"bearer\twsk_abc", "begins with `Bearer`"},
                            Row{"Bearer ", "begins with `Bearer`"},
                            Row{"wsk_a bc", "holds a blank or a line end"},
                            Row{" wsk_abc", "holds a blank or a line end"},
                            Row{"wsk_abc\nwsk_def", "holds a blank or a line end"},
                            Row{"wsk_\xc3\xa4", "holds a character that no key has"},
                            Row{" ", "holds no key"});
  At person(server.origin());
  person.environment["WS_TOKEN"] = row.given;
  const Ended by_variable = person.ws({"whoami"});
  CAPTURE(row.given, by_variable.err);
  CHECK(by_variable.exit == 2);
  CHECK(by_variable.err.find(std::string("WS_TOKEN ") + row.told) != std::string::npos);
  CHECK(by_variable.err.find("ws login") == std::string::npos);
  CHECK(by_variable.err.find("wsk_") == std::string::npos);
  person.environment.erase("WS_TOKEN");
  write_text(person.home() / "key", row.given + "\n");
  person.environment["WS_TOKEN_FILE"] = (person.home() / "key").string();
  CHECK(person.ws({"whoami"}).err.find(std::string("the file of WS_TOKEN_FILE ") + row.told) != std::string::npos);
  Command login = person.command({"login", "--with-token", "--store", "file"});
  login.input = row.given + "\n";
  CHECK(run_command(login).err.find(std::string("stdin ") + row.told) != std::string::npos);
  CHECK(server.requests().empty());
}

TEST_CASE("server: a base URL with a user name is refused, and the password is not told", "[cli]") {
  const MockProcess mock;
  Person person(mock);
  const std::string host = mock.base_url().substr(std::string_view("http://").size());
  for (const std::string& base : std::vector<std::string>{"http://me:hunter2@" + host,
                                                          "https://me:hunter2@example.test/prefix",
                                                          "me:hunter2@example.test",
                                                          "https://hunter2@" + host}) {
    person.environment["WS_BASE_URL"] = base;
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"whoami"}, {"whoami", "--json"}, {"doctor"}, {"config", "set", "base_url", base}}) {
      const Ended ended = person.ws(words);
      CAPTURE(words, base, ended.out, ended.err);
      CHECK(ended.exit != 0);
      CHECK((ended.out + ended.err).find("hunter2") == std::string::npos);
      CHECK((ended.out + ended.err).find("holds a user name") != std::string::npos);
    }
  }
  person.environment["WS_BASE_URL"] = mock.base_url() + "/@team";
  CHECK(person.ws({"whoami"}).err.find("holds a user name") == std::string::npos);
}

TEST_CASE("server: a base URL that ends in /v1 is named, whatever its answer is", "[cli]") {
  const MockProcess mock;
  Person person(mock);
  const std::string base = mock.base_url() + GENERATE("/v1", "/v1/", "/api/v1");
  person.environment["WS_BASE_URL"] = base;
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"whoami"}, {"docs", "create", "T"}, {"login", "--store", "file"}, {"sync", "init", "tree", "--yes"}}) {
    const Ended ended = person.ws(words, person.home());
    CAPTURE(words, base, ended.err);
    CHECK(ended.exit != 0);
    CHECK(ended.err.find("ends in /v1, which ws adds itself") != std::string::npos);
    CHECK(ended.err.find("`--base-url " + mock.base_url()) != std::string::npos);
  }
  const HostileServer page([](const Seen&) { return answer(200, "<html>", {{"Content-Type", "text/html"}}); });
  person.environment["WS_BASE_URL"] = page.origin() + "/v1";
  CHECK(person.ws({"whoami"}).err.find("ends in /v1") != std::string::npos);
  person.environment["WS_BASE_URL"] = page.origin();
  CHECK(person.ws({"whoami"}).err.find("ends in /v1") == std::string::npos);
}

TEST_CASE("login: a store that cannot be written is found before anybody is asked", "[cli]") {
  MockProcess server({"--device", "auto", "--device-interval", "1"});
  const Person person;
  std::filesystem::create_directories(person.home() / "DATA");
  write_text(person.home() / "DATA/ws", "in the way");
  CHECK(log_in(person, server).exit == 14);
  CHECK(control(server, "GET", "/requests", "").find("device-authorizations") == std::string::npos);
}

TEST_CASE("login: a key that could not be stored is revoked, or told", "[cli]") {
  MockProcess server({"--device", "auto", "--device-interval", "1"});
  const bool can_revoke = GENERATE(true, false);
  if (!can_revoke) {
    control(server, "POST", "/faults", R"({"operation": "auth.revoke", "effect": {"status": {"status": 503}}})");
  }
  Person person;
  person.environment["LD_LIBRARY_PATH"] = WS_FAKE_SECRET;
  person.environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nowhere";
  // The keyring answers when it is tried, and holds nothing: a folder is where it writes.
  person.environment["FAKE_SECRET_FILE"] = person.home().string();
  const auto living = [&] {
    std::size_t count = 0;
    const Json state = parse(control(server, "GET", "/state", ""));
    for (const Json& row : state["tables"]["keys"]) count += row["revoked_at"].is_null() ? 1U : 0U;
    return count;
  };
  const std::size_t before = living();
  const std::string said =
      person.ws({"login", "--base-url", server.base_url(), "--store", "keyring", "--no-retry", "--json"}).err;
  REQUIRE(said.find("{\"error\"") != std::string::npos);
  const Json error = parse(said.substr(said.find("{\"error\"")))["error"];
  CAPTURE(error);
  CHECK(error["exit"] == 14);
  CHECK(error["applied"] == (can_revoke ? "no" : "yes"));
  CHECK(living() == before + (can_revoke ? 0 : 1));
  const std::string message = error["message"];
  CHECK(message.find(can_revoke ? "was revoked again" : "could not be revoked") != std::string::npos);
  CHECK(message.find("wsk_") == std::string::npos);
}

TEST_CASE("login: --resume goes on with the login of the profile that is named", "[cli]") {
  MockProcess server({"--device-interval", "1"});
  const Person person;
  std::string first;
  for (const char* const profile : {"p1", "p2"}) {
    const Ended begun = person.ws({"login", "--base-url", server.base_url(), "--profile", profile, "--no-wait"});
    REQUIRE(begun.exit == 0);
    control(server, "POST", "/devices/" + text_at(parse(begun.out), "user_code") + ":approve", "{}");
    if (first.empty()) first = text_at(parse(begun.out), "authorization_id");
  }
  const auto resume = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"login", "--resume"});
    more.insert(more.end(), {"--once", "--store", "file", "--json"});
    return person.ws(std::move(more));
  };
  CHECK(resume({first, "--profile", "p2"}).exit == 2);
  CHECK(resume({"--profile", "p3"}).exit == 6);
  CHECK(text_at(parse(resume({"--profile", "p1"}).out), "profile") == "p1");
  CHECK(text_at(parse(resume({}).out), "profile") == "p2");
}

TEST_CASE("login: --resume goes on at the server that is named, and keeps the key where it was begun for", "[cli]") {
  MockProcess one({"--device-interval", "1"});
  MockProcess two({"--device-interval", "1", "--seed", "7"});
  const Person person;
  for (const MockProcess* const server : {&one, &two}) {
    const Ended begun = person.ws({"login", "--base-url", server->base_url(), "--store", "file", "--no-wait"});
    REQUIRE(begun.exit == 0);
    control(*server, "POST", "/devices/" + text_at(parse(begun.out), "user_code") + ":approve", "{}");
  }
  const Ended resumed = person.ws({"login", "--resume", "--once", "--base-url", one.base_url(), "--json"});
  REQUIRE(resumed.exit == 0);
  CHECK(text_at(parse(resumed.out), "base_url") == one.base_url());
}

TEST_CASE("login: a keyring that is not installed is a fault of this machine", "[cli]") {
  const Person person;
  const Ended ended = person.ws({"login", "--base-url", "http://127.0.0.1:1", "--store", "keyring"});
  CHECK(ended.exit == 14);
  CHECK(ended.err.find("--store file") != std::string::npos);
}

// A device login that waits: the real `ws` and the real mock, its faults and its clock. How the answers are understood
// is in api-client/device_login_test; here it is when the service is asked again, and how the command ends.
#include <csignal>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/clock.hpp"
#include "tests/cli/workflow/stage.hpp"

using namespace ws;
using namespace ws::test;
using std::chrono::milliseconds;

namespace {

std::vector<std::string> login_words(const MockProcess& server) {
  return {"login", "--base-url", server.base_url(), "--store", "file", "--for", "read"};
}

std::vector<Json> polls_of(const MockProcess& server) {
  std::vector<Json> polls;
  const Json journal = parse(control(server, "GET", "/requests", ""));
  for (const Json& entry : journal["data"]) {
    if (entry["operation"] == "auth.token") polls.push_back(entry);
  }
  return polls;
}

/// Between one poll and the next, as the server saw them.
std::vector<milliseconds> pauses(const std::vector<Json>& polls) {
  std::vector<milliseconds> all;
  for (std::size_t i = 1; i < polls.size(); ++i) {
    const auto earlier = parse_rfc3339(text_at(polls[i - 1], "time"));
    const auto later = parse_rfc3339(text_at(polls[i], "time"));
    REQUIRE((earlier && later));
    all.push_back(std::chrono::duration_cast<milliseconds>(*later - *earlier));
  }
  return all;
}

void add_fault(const MockProcess& server, const std::string& rule) { control(server, "POST", "/faults", rule); }

std::string only_code(const MockProcess& server) {
  return text_at(parse(control(server, "GET", "/devices", "")), "data.0.user_code");
}

}  // namespace

TEST_CASE("device wait: the code is printed before the service is asked for the key", "[cli]") {
  const MockProcess server({"--device-interval", "30"});
  const Person person;
  Running login(person.command(login_words(server)));
  REQUIRE(login.wait_for("Approve at: "));
  CHECK(login.so_far().err.find("Your code:  " + only_code(server)) == 0);
  CHECK(polls_of(server).empty());
  login.signal(SIGINT);
  CHECK(login.wait().exit == 130);
}

TEST_CASE("device wait: a decision ends it, with the decision's own code", "[cli]") {
  const auto [decision, exit] = GENERATE(table<std::string, int>({{"approve", 0}, {"deny", 5}, {"expire", 4}}));
  CAPTURE(decision);
  const MockProcess server({"--device-interval", "1"});
  const Person person;
  Running login(person.command(login_words(server)));
  REQUIRE(login.wait_for("Approve at: "));
  control(server, "POST", "/devices/" + only_code(server) + ":" + decision, "{}");
  const Ended ended = login.wait();
  INFO(ended.err);
  CHECK(ended.exit == exit);
  CHECK(parse(person.ws({"auth", "list", "--json"}).out)["data"].empty() == (exit != 0));
  const std::string again = "run `ws login --base-url " + server.base_url() + " --for read` again";
  CHECK((ended.err.find(again) != std::string::npos) == (exit != 0));
  CHECK(ended.err.find("Waiting for approval; the code expires in 15 min") != std::string::npos);
  // A login that has ended is not resumed.
  CHECK(person.ws({"login", "--resume", "--once", "--store", "file"}).exit == 6);
}

TEST_CASE("device wait: slow_down makes every later poll five seconds slower, not the next alone", "[cli]") {
  const MockProcess server({"--device", "after:1", "--device-interval", "1"});
  add_fault(server, R"({"operation": "auth.token", "nth": 1,
                        "effect": {"status": {"status": 400, "body": {"error": "slow_down", "code": "slow_down"}}}})");
  const Person person;
  CHECK(person.ws(login_words(server)).exit == 0);
  const auto waited = pauses(polls_of(server));
  REQUIRE(waited.size() == 2);
  for (const milliseconds pause : waited) CHECK(pause >= milliseconds{5'950});
}

TEST_CASE("device wait: a lost connection backs off and goes on", "[cli]") {
  const MockProcess server({"--device", "auto", "--device-interval", "1"});
  add_fault(server, R"({"operation": "auth.token", "times": 2, "effect": {"close_without_answer": true}})");
  const Person person;
  const Ended ended = person.ws(login_words(server));
  INFO(ended.err);
  CHECK(ended.exit == 0);
  const auto waited = pauses(polls_of(server));
  REQUIRE(waited.size() == 2);
  CHECK(waited[0] >= milliseconds{1'950});
  CHECK(waited[1] >= milliseconds{3'950});
}

TEST_CASE("device wait: with nobody at the other end it ends when the code does", "[cli]") {
  MockProcess server({"--device-interval", "1", "--device-expires", "2"});
  const Person person;
  std::vector<std::string> words = login_words(server);
  words.push_back("--json");
  Running login(person.command(words));
  REQUIRE(login.wait_for("Approve at: "));
  server.end(SIGKILL);
  const Ended ended = login.wait();
  CHECK(ended.exit == 4);
  CHECK(ended.err.find(R"("code":"expired_token")") != std::string::npos);
}

TEST_CASE("device wait: one poll at a time, too soon, and too late by the service's clock", "[cli]") {
  const MockProcess server;
  const Person person;
  const auto once = [&] { return person.ws({"login", "--resume", "--once", "--store", "file", "--json"}); };
  REQUIRE(person.ws({"login", "--base-url", server.base_url(), "--no-wait"}).exit == 0);
  CHECK(once().exit == 8);
  CHECK(once().exit == 8);  // sooner than the interval: slow_down is pending too
  CHECK(dump(polls_of(server).back()["response_body"]).find("slow_down") != std::string::npos);
  control(server, "POST", "/clock:advance", R"({"seconds": 901})");
  const Ended late = once();
  CHECK(late.exit == 4);
  CHECK(error_of(late)["code"] == "expired_token");
  CHECK(once().exit == 6);
}

TEST_CASE("device wait: a login that was begun elsewhere waits for its end when it is resumed", "[cli]") {
  const MockProcess server({"--device", "after:1", "--device-interval", "1"});
  const Person person;
  REQUIRE(person.ws({"login", "--base-url", server.base_url(), "--no-wait"}).exit == 0);
  CHECK(person.ws({"login", "--resume", "--store", "file"}).exit == 0);
  CHECK(polls_of(server).size() == 2);
  CHECK(person.ws({"whoami"}).exit == 0);
}

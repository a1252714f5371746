// Sandboxes: isolated worlds in one process, and what remains when they are closed.
#include <array>
#include <atomic>
#include <fstream>
#include <set>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "tests/server-mock/running.hpp"

namespace ws::mock::test {
namespace {

using namespace std::chrono_literals;
using ws::test::RawConnection;

/// A sandbox, and the calls of its own world.
struct Inside {
  Wire& wire;
  Json opened = {};

  explicit Inside(Wire& all, const Json& wanted = Json::object())
      : wire(all), opened(all.control("POST", "/sandboxes", wanted, 201)) {}

  std::string id() const { return opened.at("id"); }
  std::string at(const std::string& path) const { return "/_s/" + id() + path; }
  RawAnswer ask(const std::string& method, const std::string& path, const Json& body = nullptr) {
    return wire.ask({.method = method,
                     .target = at(path),
                     .token = opened.at("token"),
                     .json = body.is_null() ? std::string() : dump(body)});
  }
  Json get(const std::string& path) { return parse(ask("GET", path)); }
  Json control(const std::string& method, const std::string& path, const Json& body = nullptr) {
    const RawAnswer answer = ask(method, "/_mock" + path, body);
    INFO(path << ": " << answer.body);
    CHECK(answer.status < 300);
    return answer.body.empty() ? Json() : parse(answer);
  }
  std::size_t documents() { return get("/v1/documents").at("data").size(); }
  RawAnswer create(const std::string& title) {
    return ask("POST", "/v1/documents", {{"title", title}, {"content", "text"}});
  }
};

/// Like `Running::send`, for any thread: throws instead of asserting.
Json call_from_anywhere(Running& server,
                        const std::string& method,
                        const std::string& target,
                        const std::string& json,
                        const std::string& token = "") {
  const RawAnswer answer = ws::test::ask(
      server.port(),
      {.method = method, .target = target, .token = token.empty() ? server.built_in().token : token, .json = json});
  if (answer.status >= 300) throw std::runtime_error(target + ": " + answer.body);
  return answer.body.empty() ? Json() : *parse_bounded(answer.body);
}

Json open_sandbox(Running& server) { return call_from_anywhere(server, "POST", "/_mock/sandboxes", "{}"); }

Json send_inside(
    Running& server, const Json& sandbox, const std::string& method, const std::string& path, const Json& body) {
  const std::string target = fmt::format("/_s/{}{}", sandbox.at("id").get<std::string>(), path);
  return call_from_anywhere(server, method, target, body.is_null() ? "" : dump(body), sandbox.at("token"));
}

std::size_t resident_bytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

bool says_nothing(RawConnection& connection) { return !connection.read(ws::test::AnswerTo::get, 20ms); }

}  // namespace

TEST_CASE("sandbox: starts like the one at the base URL, and they share nothing", "[server-mock]") {
  Wire wire;
  Inside one(wire);
  Inside two(wire);
  const std::string own_token = one.opened.at("token");
  CHECK(one.opened == Json{{"id", "s1"},
                           {"base_url", "http://mock.test/_s/s1"},
                           {"control_url", "http://mock.test/_s/s1/_mock"},
                           {"token", own_token}});
  // A token each: that of one is refused by the others, also after a reset.
  const std::string other_token = two.opened.at("token");
  one.control("POST", "/reset", {{"to", "seed"}});
  CHECK(wire.ask({.target = one.at("/v1/me"), .token = own_token}).status == 200);
  CHECK(wire.ask({.target = two.at("/v1/me"), .token = other_token}).status == 200);
  CHECK(wire.ask({.target = two.at("/v1/me"), .token = own_token}).status == 401);
  CHECK(wire.ask({.target = one.at("/v1/me"), .token = wire.token()}).status == 401);
  CHECK(wire.ask({.target = "/v1/me", .token = own_token}).status == 401);
  const std::size_t seeded = wire.get("/v1/documents").at("data").size();
  REQUIRE(one.documents() == seeded);
  CHECK(one.get("/v1/documents").at("data").at(0).at("id") == wire.get("/v1/documents").at("data").at(0).at("id"));
  CHECK(one.create("only here").status == 201);
  CHECK(one.documents() == seeded + 1);
  CHECK(two.documents() == seeded);
  CHECK(wire.get("/v1/documents").at("data").size() == seeded);

  one.control("POST", "/clock:advance", {{"seconds", 60}});
  CHECK(one.control("GET", "/clock").at("now") == "2026-11-20T10:01:00.000Z");
  CHECK(two.control("GET", "/clock").at("now") == "2026-11-20T10:00:00.000Z");
  one.control("POST", "/faults", {{"operation", "me.get"}, {"effect", {{"status", 503}}}});
  one.control("PATCH", "/assumptions", {{"error_style", "html"}});
  CHECK(one.ask("GET", "/v1/me").status == 503);
  CHECK(two.ask("GET", "/v1/me").status == 200);
  CHECK(two.ask("GET", "/v1/documents/x").header("content-type") == "application/json");
  const Json made = one.control("POST", "/keys", {{"scopes", {"documents:read"}}});
  CHECK(wire.ask({.target = two.at("/v1/documents"), .token = made.at("secret")}).status == 401);
  one.control("POST", "/reset", {{"to", "seed"}});
  CHECK(one.documents() == seeded);
  CHECK(one.control("GET", "/clock").at("now") == "2026-11-20T10:00:00.000Z");
}

TEST_CASE("sandbox: costs at most 1 MiB beyond its data, also after a reset", "[server-mock]") {
  constexpr std::size_t count = 200;
  constexpr std::size_t most = std::size_t{1} << 20U;
  Wire wire;
  std::vector<Inside> sandboxes;
  sandboxes.reserve(count);
  sandboxes.emplace_back(wire);  // the seed that the others are copies of
  const std::size_t before = resident_bytes();
  while (sandboxes.size() < count) sandboxes.emplace_back(wire);
  CHECK((resident_bytes() - before) / count < most / 2);
  for (Inside& one : sandboxes) {
    for (int i = 0; i < 36; ++i) REQUIRE(one.create(std::to_string(i)).status == 201);
  }
  CHECK((resident_bytes() - before) / count < most);
  for (Inside& one : sandboxes) {
    one.control("POST", "/reset", {{"to", "seed"}});
    const std::size_t each = (resident_bytes() - before) / count;
    REQUIRE(each < most);
  }
}

TEST_CASE("sandbox: its journal is its own, with the paths that it sees itself", "[server-mock]") {
  Wire wire;
  Inside one(wire);
  Inside two(wire);
  one.get("/v1/documents?limit=1");
  const Json journal = one.control("GET", "/requests").at("data");
  REQUIRE(journal.size() == 1);
  CHECK(journal.at(0).at("sandbox") == "s1");
  CHECK(journal.at(0).at("path") == "/v1/documents");
  CHECK(journal.at(0).at("query") == "limit=1");
  CHECK(journal.at(0).at("operation") == "docs.list");
  one.control("POST", "/requests:verify", {{"match", {{"path", "/v1/documents"}}}, {"times", 1}});
  CHECK(two.control("GET", "/requests").at("data").empty());
  CHECK(wire.control("GET", "/requests").at("data").empty());
  CHECK(wire.control("GET", "/sandboxes").at("data").at(0).at("requests") == 1);
}

TEST_CASE("sandbox: every absolute address carries its prefix, and leads into it", "[server-mock]") {
  Wire wire;
  Inside one(wire);
  const std::string base = one.opened.at("base_url");
  const Json found = one.get("/v1");
  CHECK(found.at("openapi_url") == base + "/openapi.json");
  CHECK(found.at("skill_url").get<std::string>().starts_with(base + "/skill/"));
  CHECK(one.get("/openapi.json").at("servers").at(0).at("url") == base);
  CHECK(one.ask("GET", "/skill/service-operate-workspace").status == 200);

  const Json upload = parse(
      one.ask("POST", "/v1/files/uploads", {{"file_name", "a.txt"}, {"size_bytes", 5}, {"mime_type", "text/plain"}}));
  const std::string url = upload.at("upload_url");
  REQUIRE(url.starts_with(base + "/uploads/"));
  const std::string path = url.substr(std::string("http://mock.test").size());
  const std::string put = fmt::format(
      "PUT {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello", path);
  const std::string bare = path.substr(std::string("/_s/s1").size());
  CHECK(wire.say(fmt::format("PUT {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello", bare)).status ==
        404);
  CHECK(wire.say(put).status == 200);
  CHECK(one.control("GET", "/requests").at("data").back().at("path") == "/uploads/[redacted]");
  const Json asset = parse(one.ask("POST",
                                   "/v1/files/uploads:finalize",
                                   {{"upload_id", upload.at("upload_id")},
                                    {"blob_name", upload.at("blob_name")},
                                    {"file_name", "a.txt"},
                                    {"size_bytes", 5}}));
  CHECK(one.ask("GET", asset.at("links").at("content")).body == "hello");
  CHECK(wire.ask({.target = asset.at("links").at("content"), .token = wire.token()}).status == 404);

  const Json login = parse(one.ask("POST",
                                   "/v1/auth/device-authorizations",
                                   {{"client_name", "c"}, {"cli_version", "1"}, {"scopes", {"documents:read"}}}));
  CHECK(login.at("verification_uri") == base + "/device");
  const RawAnswer page = one.ask("GET", "/device?user_code=" + login.at("user_code").get<std::string>());
  CHECK(page.status == 200);
  CHECK_THAT(page.body, Catch::Matchers::Contains("action=\"device\""));  // relative: the form stays in the sandbox
  CHECK(one.control("GET", "/devices").at("data").size() == 1);
  CHECK(wire.control("GET", "/devices").at("data").empty());
}

TEST_CASE("sandbox: fixtures are sent as JSON, as the text of a file, or by name, what is wrong is told at once",
          "[server-mock]") {
  Wire wire;
  const Json people = {{"people", {{{"email", "ada@example.com"}}}}, {"documents", {{{"title", "One"}}}}};
  Inside sent(wire, {{"fixtures", people}});
  CHECK(sent.documents() == 1);
  CHECK(sent.get("/v1/me").at("user").at("email") == "ada@example.com");
  Inside again(wire, {{"fixtures", people}});
  CHECK(again.create("Two").status == 201);
  CHECK(again.documents() == 2);
  CHECK(Inside(wire, {{"fixtures", people}}).documents() == 1);
  CHECK(Inside(wire, {{"fixtures", "documents: [{title: A}, {title: B}]"}}).documents() == 2);
  Inside empty(wire, {{"fixtures", "empty"}});
  CHECK(empty.documents() == 0);
  CHECK(empty.create("x").status == 201);
  empty.control("POST", "/reset");
  CHECK(empty.documents() == 0);
  CHECK(Inside(wire, {{"fixtures", "seed"}}).documents() == wire.get("/v1/documents").at("data").size());

  const Json wrong = {{"documents", {{{"title", "D"}, {"project", "P"}}, {{"titel", "D"}}}}};
  const Json said = wire.control("POST", "/sandboxes", {{"fixtures", wrong}}, 422).at("detail");
  REQUIRE(said.size() >= 2);
  CHECK(said.at(0).at("loc") == Json{"body", "fixtures"});
  CHECK_THAT(said.dump(), Catch::Matchers::Contains("documents[0].project") && Catch::Matchers::Contains("titel"));
  const Json text = wire.control("POST", "/sandboxes", {{"fixtures", "documents:\n  - {titel: D}\n"}}, 422);
  CHECK_THAT(text.dump(), Catch::Matchers::Contains("2:5: documents[0]"));
  wire.control("POST", "/sandboxes", {{"fixtures", "a: [b"}}, 422);
  wire.control("POST", "/sandboxes", {{"fixtures", {{"documents", {{{"title", "x"}, {"file", "/etc/hosts"}}}}}}}, 422);
  wire.control("POST", "/sandboxes", Json::array({1}), 422);
  CHECK(wire.control("GET", "/sandboxes").at("data").size() == 6);
}

TEST_CASE("sandbox: has no sandboxes, cannot stop the server, and is guarded by the same token", "[server-mock]") {
  ApplicationOptions options;
  options.control.token = "secret";
  Wire wire(options);
  const auto ask = [&](const std::string& method, const std::string& target, const std::string& token) {
    return wire.ask({.method = method, .target = target, .token = token}).status;
  };
  CHECK(ask("POST", "/_mock/sandboxes", "") == 401);
  REQUIRE(ask("POST", "/_mock/sandboxes", "secret") == 201);
  CHECK(ask("GET", "/_s/s1/_mock/clock", wire.token()) == 401);
  CHECK(ask("GET", "/_s/s1/_mock/clock", "secret") == 200);
  CHECK(ask("POST", "/_s/s1/_mock/sandboxes", "secret") == 404);
  CHECK(ask("GET", "/_s/s1/_mock/sandboxes", "secret") == 404);
  CHECK(ask("POST", "/_s/s1/_mock/shutdown", "secret") == 404);
  CHECK(ask("GET", "/_s/s1/_s/s1/v1/me", wire.token()) == 404);
  for (const char* nobody : {"s2", "s01", "s", "1", "x", "s1x", "s99999999999999999999"}) {
    CAPTURE(nobody);
    CHECK(ask("GET", fmt::format("/_s/{}/v1/me", nobody), wire.token()) == 404);
  }
  CHECK(ask("DELETE", "/_mock/sandboxes/s2", "secret") == 404);
  CHECK(ask("DELETE", "/_mock/sandboxes/s1", "secret") == 204);
  CHECK(ask("GET", "/_s/s1/v1/me", wire.token()) == 404);
  CHECK(ask("GET", "/_s/s1/_mock/clock", "secret") == 404);
}

TEST_CASE("sandbox: closing it answers pending requests and ends uploads", "[server-mock]") {
  Running server;
  const Json sandbox = open_sandbox(server);
  const std::string prefix = "/_s/" + sandbox.at("id").get<std::string>();
  const auto inside = [&](std::string bytes) { return bytes.insert(bytes.find(" /") + 1, prefix); };
  RawConnection claim(server.port());
  claim.send(inside(server.claim(30, sandbox.at("token"))));
  CHECK(says_nothing(claim));
  send_inside(server, sandbox, "POST", "/_mock/faults", {{"operation", "me.get"}, {"effect", {{"delay_ms", 60000}}}});
  RawConnection held(server.port());
  held.send(inside(ws::test::render(server.request("GET", "/v1/me", nullptr, sandbox.at("token")))));
  CHECK(says_nothing(held));
  RawConnection watcher(server.port());
  watcher.send(inside("GET /_mock/requests?since=1000&wait=60 HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  CHECK(says_nothing(watcher));
  const Json upload =
      send_inside(server, sandbox, "POST", "/v1/files/uploads", {{"file_name", "a"}, {"size_bytes", 10}});
  const std::string url = upload.at("upload_url");
  RawConnection put(server.port());
  put.send(
      fmt::format("PUT {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n"
                  "Content-Length: 10\r\n\r\nhalf",
                  url.substr(url.find("/_s/"))));
  CHECK(says_nothing(put));

  server.send("DELETE", "/_mock/sandboxes/s1", nullptr, 204);
  CHECK(parse(claim.read().value()).at("event").is_null());
  CHECK(held.read().value().status == 200);
  CHECK(watcher.read().value().status == 200);
  put.send("of");
  CHECK(put.read().value().status == 404);
  CHECK(server.send("GET", "/_mock/sandboxes", nullptr, 200).at("data").empty());
  // The connections go on, into what is still there.
  claim.send(server.claim(0));
  CHECK(claim.read().value().status == 200);
}

TEST_CASE("sandbox: a claim in one is woken by what happens there, and by nothing elsewhere", "[server-mock]") {
  Running server;
  const Json one = open_sandbox(server);
  const Json two = open_sandbox(server);
  const auto claim_in = [&](const Json& sandbox) {
    std::string bytes = server.claim(30, sandbox.at("token"));
    return bytes.insert(bytes.find(" /") + 1, "/_s/" + sandbox.at("id").get<std::string>());
  };
  RawConnection first(server.port());
  RawConnection second(server.port());
  first.send(claim_in(one));
  second.send(claim_in(two));
  CHECK(says_nothing(first));
  server.mention();
  send_inside(server, two, "POST", "/_mock/events", {{"kind", "agent.ping"}});
  CHECK(parse(second.read().value()).at("event").at("kind") == "agent.ping");
  CHECK(says_nothing(first));
  send_inside(server, one, "POST", "/_mock/clock:advance", {{"seconds", 30}});
  CHECK(parse(first.read().value()).at("event").is_null());
}

TEST_CASE("sandbox: their number is limited", "[server-mock]") {
  Wire wire;
  for (std::size_t i = 0; i < max_sandboxes; ++i) wire.control("POST", "/sandboxes", nullptr, 201);
  CHECK(wire.control("POST", "/sandboxes", nullptr, 409).at("code") == "too_many_sandboxes");
  wire.control("DELETE", "/sandboxes/s7", nullptr, 204);
  CHECK(wire.control("POST", "/sandboxes", nullptr, 201).at("id") == fmt::format("s{}", max_sandboxes + 1));
}

TEST_CASE("sandbox: memory is returned to the system when many are closed", "[server-mock]") {
  int given_back = 0;
  ApplicationOptions options;
  options.release_memory = [&] { ++given_back; };
  Wire wire(options);
  for (int i = 0; i < 32; ++i) {
    CHECK(given_back == i / 16);
    const std::string id = wire.control("POST", "/sandboxes", nullptr, 201).at("id");
    wire.control("DELETE", "/sandboxes/" + id, nullptr, 204);
  }
  CHECK(given_back == 2);
}

TEST_CASE("journal: a call with wait is answered when a request arrives, or at its timeout", "[server-mock]") {
  Running server;
  RawConnection watcher(server.port());
  const auto watch = [&](int since, int wait) {
    watcher.send(fmt::format("GET /_mock/requests?since={}&wait={} HTTP/1.1\r\nHost: localhost\r\n\r\n", since, wait));
  };
  watch(0, 60);
  CHECK(says_nothing(watcher));
  server.send("GET", "/v1/me", nullptr, 200);
  Json seen = parse(watcher.read().value()).at("data");
  REQUIRE(seen.size() == 1);
  CHECK(seen.at(0).at("operation") == "me.get");
  watch(0, 60);
  CHECK(parse(watcher.read().value()).at("data").size() == 1);  // there is one: nothing to wait for
  watch(1, 60);
  CHECK(says_nothing(watcher));
  server.send("GET", "/_mock/health", nullptr, 200);  // watching does not see itself
  CHECK(says_nothing(watcher));
  server.send("GET", "/v1", nullptr, 200);
  CHECK(parse(watcher.read().value()).at("data").at(0).at("seq") == 2);
  RawConnection other(server.port());
  other.send("GET /_mock/requests?since=2&operation=me.get&wait=60 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(says_nothing(other));
  server.send("GET", "/v1/workspaces", nullptr, 200);  // not what it waits for
  CHECK(says_nothing(other));
  server.send("GET", "/v1/me", nullptr, 200);
  CHECK(parse(other.read().value()).at("data").at(0).at("seq") == 4);
  watch(4, 0);
  CHECK(parse(watcher.read().value()).at("data").empty());
  watch(4, 1);
  CHECK(parse(watcher.read().value()).at("data").empty());
  {
    RawConnection gone(server.port());
    gone.send("GET /_mock/requests?since=4&wait=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    CHECK(says_nothing(gone));
  }
  watch(4, 2);  // longer than who went away would have waited
  CHECK(parse(watcher.read().value()).at("data").empty());
  watch(4, 61);
  CHECK(watcher.read().value().status == 422);
}

namespace {

/// One of many parallel tests in its own sandbox: throws if it sees another.
void one_of_many(Running& server, std::size_t number) {
  const Json sandbox = open_sandbox(server);
  const auto ask = [&](const std::string& method, const std::string& path, const Json& body = nullptr) {
    return send_inside(server, sandbox, method, path, body);
  };
  const auto expect = [&](bool right, const char* what) {
    if (!right) throw std::runtime_error(fmt::format("{}: {}", sandbox.at("id").get<std::string>(), what));
  };
  const std::string title = fmt::format("note {}", number);
  const Json text = {{"title", title}, {"content", title}, {"project_id", server.built_in().project_id}};
  const Json made = ask("POST", "/v1/documents", text);
  const std::string path = "/v1/documents/" + made.at("id").get<std::string>();
  ask("POST", path + "/comments", {{"body", "@scout, look at " + title}});
  const Json event = ask("POST", "/v1/agent-events:claim", {{"worker_id", "w"}, {"lease_seconds", 30}}).at("event");
  expect(event.at("document_id") == made.at("id"), "another test's event");
  const auto seconds = static_cast<int>(number % 20 + 30);
  const Json fired = ask("POST", "/_mock/clock:advance", {{"seconds", seconds}}).at("fired");
  expect(fired.at(0).at("kind") == "lease", "the lease did not end");
  ask("PUT", path, {{"content", "new " + title}, {"expected_content_revision", 1}});
  expect(ask("GET", path).at("content") == "new " + title, "another test's text");
  ask("POST",
      "/_mock/requests:verify",
      {{"match", {{"operation", "docs.create"}, {"body", {{"title", title}}}}}, {"times", 1}});
  expect(ask("GET", "/_mock/requests").at("data").size() == 5, "another test's requests");
  call_from_anywhere(server, "DELETE", "/_mock/sandboxes/" + sandbox.at("id").get<std::string>(), "");
}

}  // namespace

TEST_CASE("sandbox: two hundred tests run side by side in one process, and none sees another", "[server-mock]") {
  Running server;
  constexpr std::size_t tests = 200;
  std::atomic<std::size_t> next = 0;
  std::array<std::string, 8> failures;
  std::vector<std::thread> threads;
  for (std::string& failure : failures) {
    threads.emplace_back([&] {
      for (std::size_t number = next++; number < tests; number = next++) {
        try {
          one_of_many(server, number);
        } catch (const std::exception& error) {
          failure = error.what();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) CHECK(failure == "");
  CHECK(next >= tests);
  CHECK(server.send("GET", "/_mock/sandboxes", nullptr, 200).at("data").empty());
  CHECK(server.send("GET", "/_mock/requests", nullptr, 200).at("data").empty());
}

}  // namespace ws::mock::test

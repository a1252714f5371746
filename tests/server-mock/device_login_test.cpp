// The device grant as a client sees it, and the page as a person does.
#include <algorithm>

#include <catch2/catch.hpp>

#include "api-client/base/percent.hpp"
#include "server-mock/http/target.hpp"
#include "tests/server-mock/wire.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;
using Catch::Matchers::Contains;

namespace {

ApplicationOptions mode(DeviceMode device, int polls = 0) {
  ApplicationOptions options;
  options.sandbox.world.device = device;
  options.sandbox.world.device_polls = polls;
  return options;
}

Json start(Wire& wire, const std::string& client = "ws", const std::vector<std::string>& scopes = {"documents:read"}) {
  const RawAnswer answer =
      wire.ask({.method = "POST",
                .target = "/v1/auth/device-authorizations",
                .json = dump(Json{{"client_name", client}, {"cli_version", "1"}, {"scopes", scopes}})});
  REQUIRE(answer.status == 201);
  return parse(answer);
}

RawAnswer poll(Wire& wire, const Json& started) {
  return wire.ask({.method = "POST",
                   .target = "/v1/auth/device-token",
                   .json = dump(Json{{"device_code", started.at("device_code")}})});
}

std::string word(const RawAnswer& answer) { return find_text(parse(answer), "error").value_or(""); }

/// What stands between two texts.
std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const std::size_t start = text.find(before);
  REQUIRE(start != std::string::npos);
  const std::size_t from = start + before.size();
  return text.substr(from, text.find(after, from) - from);
}

RawAnswer submit(Wire& wire, const http::Pairs& form) {
  std::string body;
  for (const auto& [name, value] : form) body += (body.empty() ? "" : "&") + name + "=" + percent_encode(value);
  return wire.say(
      "POST /device HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
      "Content-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body);
}

RawAnswer open_page(Wire& wire, const Json& started) {
  return wire.ask({.target = "/device?user_code=" + started.at("user_code").get<std::string>()});
}

http::Pairs form_of(const RawAnswer& page, const std::string& decision) {
  return {{"user_code", between(page.body, "name=\"user_code\" value=\"", "\"")},
          {"form_token", between(page.body, "name=\"form_token\" value=\"", "\"")},
          {"as", between(page.body, "<option value=\"", "\"")},
          {"decision", decision}};
}

}  // namespace

TEST_CASE("device login: what starts it is told where to go and how often to ask", "[server-mock]") {
  Wire wire;
  const Json started = start(wire);
  CHECK(started.at("verification_uri") == "http://mock.test/device");
  CHECK(started.at("verification_uri_complete") ==
        "http://mock.test/device?user_code=" + started.at("user_code").get<std::string>());
  CHECK(started.at("expires_in") == 900);
  CHECK(started.at("interval") == 5);
  CHECK_THAT(started.at("user_code").get<std::string>(),
             Catch::Matchers::Matches("[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}"));
}

TEST_CASE("device login: approved on the page, it gives one key, once, for what was asked", "[server-mock]") {
  Wire wire;
  const Json started = start(wire);
  CHECK(word(poll(wire, started)) == "authorization_pending");
  const RawAnswer page = open_page(wire, started);
  CHECK(page.status == 200);
  CHECK_THAT(page.body, Contains("documents:read") && Contains("Mara Lindqvist") && Contains("Approve"));
  CHECK_THAT(page.header("content-security-policy"), Contains("frame-ancestors 'none'"));
  const RawAnswer done = submit(wire, form_of(page, "approve"));
  CHECK_THAT(done.body, Contains("<h1>Approved</h1>"));
  const RawAnswer issued = poll(wire, started);
  REQUIRE(issued.status == 200);
  const Json key = parse(issued);
  CHECK(key.at("audience") == "workspace");
  CHECK(key.at("scopes") == Json{"documents:read"});
  CHECK(key.at("expires_at").is_null());
  CHECK(key.at("workspace_name") == "Harbour crew");
  const std::string secret = key.at("secret");
  CHECK_THAT(secret, Catch::Matchers::Matches("wsk_[A-Za-z0-9_-]{43}"));
  CHECK(wire.ask({.target = "/v1/documents", .token = secret}).status == 200);
  CHECK(word(poll(wire, started)) == "invalid_grant");
}

TEST_CASE("device login: the person picks another Workspace, and the key is for that one", "[server-mock]") {
  Wire wire;
  const Json started = start(wire);
  http::Pairs form = form_of(open_page(wire, started), "approve");
  form[2].second = wire.built_in().other_user_id + " " + wire.built_in().other_workspace_id;
  submit(wire, form);
  CHECK(parse(poll(wire, started)).at("workspace_id") == wire.built_in().other_workspace_id);
}

TEST_CASE("device login: polling too fast makes the interval longer, for good", "[server-mock]") {
  Wire wire;
  const Json started = start(wire);
  CHECK(word(poll(wire, started)) == "authorization_pending");
  wire.advance(4);
  CHECK(word(poll(wire, started)) == "slow_down");
  wire.advance(9);
  CHECK(word(poll(wire, started)) == "slow_down");
  wire.advance(15);
  CHECK(word(poll(wire, started)) == "authorization_pending");
  wire.advance(14);
  CHECK(word(poll(wire, started)) == "slow_down");
}

TEST_CASE("device login: a client that waits as told in real time is not slowed down by a frozen clock",
          "[server-mock]") {
  ApplicationOptions options = mode(DeviceMode::after_polls, 2);
  const auto real = std::make_shared<PinnedTime>();
  real->at = parse_rfc3339("2026-11-20T10:00:00Z").value();
  options.sandbox.clock = MockClock::parse("frozen:2026-11-20T10:00:00Z").value();
  options.sandbox.clock.pin(real);
  Wire wire(options);
  const Json started = start(wire);
  const auto wait = [&](int seconds) { *real->at += std::chrono::seconds(seconds); };
  CHECK(word(poll(wire, started)) == "authorization_pending");
  wait(4);
  CHECK(word(poll(wire, started)) == "slow_down");
  wait(10);
  CHECK(word(poll(wire, started)) == "authorization_pending");
  wait(10);
  CHECK(poll(wire, started).status == 200);
}

TEST_CASE("device login: a clock that is turned back slows no client down", "[server-mock]") {
  ApplicationOptions options;
  const auto real = std::make_shared<PinnedTime>();
  real->at = parse_rfc3339("2026-11-20T10:00:00Z").value();
  options.sandbox.clock = MockClock::parse("offset:+2h").value();
  options.sandbox.clock.pin(real);
  Wire wire(options);
  const Json started = start(wire);
  CHECK(word(poll(wire, started)) == "authorization_pending");
  wire.control("PUT", "/clock", {{"clock", "real"}});
  *real->at += std::chrono::seconds(5);
  CHECK(word(poll(wire, started)) == "authorization_pending");
}

TEST_CASE("device login: the key is for one Workspace or for all of the person's, as chosen on the page",
          "[server-mock]") {
  Wire wire;
  const Json started = start(wire, "ws", {"workspaces:write"});
  const RawAnswer page = open_page(wire, started);
  CHECK_THAT(page.body, Contains("all Workspaces, also those to come"));
  http::Pairs form = form_of(page, "approve");
  form[2].second = wire.built_in().user_id + " all";
  submit(wire, form);
  const Json key = parse(poll(wire, started));
  CHECK(key.at("audience") == "user");
  CHECK(key.at("workspace_id").is_null());
  CHECK(key.at("workspace_name").is_null());
  const std::string secret = key.at("secret");
  const RawAnswer made =
      wire.ask({.method = "POST", .target = "/v1/workspaces", .token = secret, .json = R"({"name": "Mine"})"});
  CHECK(made.status == 201);
  const Json list = parse(wire.ask({.target = "/v1/workspaces", .token = secret})).at("data");
  CHECK(std::ranges::any_of(list, [&](const Json& one) { return one.at("id") == parse(made).at("id"); }));
}

TEST_CASE("device logins: the control surface approves for all Workspaces, too", "[server-mock]") {
  Wire wire;
  const Json started = start(wire);
  const std::string code = started.at("user_code");
  CHECK(wire.control("POST", "/devices/" + code + ":approve", {{"audience", "user"}}).at("workspace_id").is_null());
  CHECK(parse(poll(wire, started)).at("audience") == "user");
}

TEST_CASE("device login: denied, expired and unknown codes give no key", "[server-mock]") {
  Wire wire;
  const Json denied = start(wire);
  submit(wire, form_of(open_page(wire, denied), "deny"));
  CHECK(word(poll(wire, denied)) == "access_denied");
  const Json late = start(wire);
  wire.advance(899);
  CHECK(word(poll(wire, late)) == "authorization_pending");
  wire.advance(1);
  CHECK(word(poll(wire, late)) == "expired_token");
  CHECK_THAT(open_page(wire, late).body, Contains("expired"));
  CHECK(word(poll(wire, {{"device_code", std::string(43, 'x')}})) == "invalid_grant");
}

TEST_CASE("device login: approved by the server itself at once, after N polls, or never", "[server-mock]") {
  Wire at_once(mode(DeviceMode::automatic));
  CHECK(poll(at_once, start(at_once)).status == 200);
  Wire after(mode(DeviceMode::after_polls, 2));
  const Json started = start(after);
  CHECK(word(poll(after, started)) == "authorization_pending");
  after.advance(5);
  CHECK(word(poll(after, started)) == "authorization_pending");
  after.advance(5);
  CHECK(poll(after, started).status == 200);
  Wire never(mode(DeviceMode::deny));
  CHECK(word(poll(never, start(never))) == "access_denied");
}

TEST_CASE("device login: a client that waits is told so in the form that the switch names", "[server-mock]") {
  const auto [form, status, pointer] =
      GENERATE(table<std::string, int, std::string>({{"error_400", 400, "/error"},
                                                     {"detail_400", 400, "/detail"},
                                                     {"status_428", 428, "/code"},
                                                     {"status_202", 202, "/status"},
                                                     {"ok_without_secret", 200, "/status"}}));
  CAPTURE(form);
  Wire wire;
  wire.control("PATCH", "/assumptions", {{"device_pending", form}});
  const RawAnswer answer = poll(wire, start(wire));
  CHECK(answer.status == status);
  CHECK(parse(answer).at(Json::json_pointer(pointer)) == "authorization_pending");
  CHECK_FALSE(parse(answer).contains("secret"));
}

TEST_CASE("device page: what a client calls itself is shown as text", "[server-mock]") {
  Wire wire;
  const RawAnswer page = open_page(wire, start(wire, "<script>alert(1)</script>\"'&"));
  CHECK(page.body.find("<script") == std::string::npos);
  CHECK_THAT(page.body, Contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;"));
}

TEST_CASE("device page: a decision counts only when it comes from the page", "[server-mock]") {
  Wire wire;
  const Json started = start(wire);
  http::Pairs form = form_of(open_page(wire, started), "approve");
  form[1].second = "guessed";
  CHECK(submit(wire, form).status == 403);
  CHECK(word(poll(wire, started)) == "authorization_pending");
  form = form_of(open_page(wire, started), "approve");
  form[2].second = wire.built_in().user_id + " " + "no-workspace";
  submit(wire, form);
  CHECK(word(poll(wire, started)) == "slow_down");
}

TEST_CASE("device page: asks for the code, and takes it as people type it", "[server-mock]") {
  Wire wire;
  const std::string code = start(wire).at("user_code");
  CHECK_THAT(wire.ask({.target = "/device"}).body, Contains("<label") && Contains("name=\"user_code\""));
  std::string typed = "%20" + code.substr(0, 4) + code.substr(5);
  std::transform(typed.begin(), typed.end(), typed.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  CHECK_THAT(wire.ask({.target = "/device?user_code=" + typed}).body, Contains("Approve"));
  CHECK(wire.ask({.target = "/device?user_code=ZZZZ-ZZZZ"}).status == 404);
}

TEST_CASE("device logins: the control surface lists and decides them", "[server-mock]") {
  Wire wire;
  const std::string code = start(wire).at("user_code");
  CHECK(wire.control("GET", "/devices").at("data").at(0).at("status") == "pending");
  CHECK(wire.control("POST", "/devices/" + code + ":approve").at("status") == "approved");
  wire.control("POST", "/devices/" + code + ":deny", nullptr, 409);
  const Json second = start(wire);
  wire.control("POST", "/devices/" + second.at("user_code").get<std::string>() + ":expire");
  CHECK(word(poll(wire, second)) == "expired_token");
  wire.control("POST", "/devices/ZZZZ-ZZZZ:approve", nullptr, 404);
}

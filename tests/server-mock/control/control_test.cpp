#include "server-mock/control/control.hpp"

#include <set>

#include <catch2/catch.hpp>

#include "api-client/contract/operations.hpp"
#include "tests/server-mock/wire.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

TEST_CASE("control: reset restores everything, ids included", "[server-mock]") {
  Wire wire;
  const std::string token = wire.token();
  const std::string first = wire.new_document("one");
  const std::size_t documents = wire.get("/v1/documents").at("data").size();
  wire.advance(100);
  CHECK(wire.control("POST", "/reset", {{"to", "seed"}}).at("token") == token);
  CHECK(wire.control("GET", "/clock").at("now") == "2026-11-20T10:00:00.000Z");
  CHECK(wire.control("GET", "/requests").at("data").empty());
  CHECK(wire.get("/v1/documents").at("data").size() == documents - 1);
  CHECK(wire.new_document("one") == first);
  wire.control("POST", "/reset", {{"to", "empty"}});
  CHECK(wire.get("/v1/documents").at("data").empty());
  wire.control("POST", "/reset", {{"to", "elsewhere"}}, 422);
}

TEST_CASE("control: the clock can be frozen, advanced and real", "[server-mock]") {
  Wire wire;
  CHECK(wire.control("GET", "/clock") ==
        Json{{"clock", "frozen:2026-11-20T10:00:00.000Z"}, {"now", "2026-11-20T10:00:00.000Z"}});
  CHECK(wire.control("POST", "/clock:advance", {{"seconds", 90}}).at("now") == "2026-11-20T10:01:30.000Z");
  CHECK(wire.control("PUT", "/clock", {{"clock", "offset:-1h"}}).at("clock") == "offset:-1h");
  CHECK(wire.control("PUT", "/clock", {{"clock", "real"}}).at("clock") == "real");
  wire.control("PUT", "/clock", {{"clock", "sundial"}}, 422);
  wire.control("POST", "/clock:advance", {{"seconds", -1}}, 422);
}

TEST_CASE("control: switches are listed with their values, and set all or none", "[server-mock]") {
  Wire wire;
  const Json data = wire.control("GET", "/assumptions").at("data");
  CHECK(data.size() == assumption_switches().size());
  CHECK(data.at(0) == Json{{"key", "error_style"},
                           {"value", "plain"},
                           {"default", "plain"},
                           {"values", {"plain", "problem", "detail_object", "html"}}});
  wire.control("PATCH", "/assumptions", {{"error_style", "html"}, {"pull_filter", "sideways"}}, 422);
  CHECK(wire.control("GET", "/assumptions").at("data").at(0).at("value") == "plain");
  CHECK(wire.control("PATCH", "/assumptions", {{"nothing", "x"}, {"error_style", 5}}, 422).at("detail").size() == 2);
  for (const AssumptionSwitch& one : assumption_switches()) {
    for (const std::string_view value : one.values) {
      const Json now = wire.control("PATCH", "/assumptions", {{std::string(one.key), value}}).at("data");
      const auto place = static_cast<std::size_t>(&one - assumption_switches().data());
      CHECK(now.at(place).at("value") == value);
    }
  }
  wire.control("PATCH", "/assumptions", {{"revision_mismatch", 412}});
}

TEST_CASE("control: needs the control token if there is one, with --no-control it is 404", "[server-mock]") {
  ApplicationOptions options;
  options.control.token = "secret";
  Wire guarded(options);
  guarded.control("GET", "/health", nullptr, 401);
  CHECK(guarded.ask({.target = "/_mock/health", .token = "secret"}).status == 200);
  options.control = {.is_on = false};
  Wire bare(options);
  CHECK(bare.ask({.target = "/_mock/health"}).status == 404);
}

TEST_CASE("control: unknown calls are 404, wrong methods 405, broken bodies 422", "[server-mock]") {
  Wire wire;
  wire.control("GET", "/nothing", nullptr, 404);
  CHECK(wire.ask({.method = "DELETE", .target = "/_mock/clock"}).header("allow") == "GET, HEAD, PUT, OPTIONS");
  CHECK(wire.ask({.method = "POST", .target = "/_mock/reset", .json = "{"}).status == 422);
}

TEST_CASE("control: creates keys of any kind for an owner named by id, email or handle", "[server-mock]") {
  Wire wire;
  const auto who = [&](const Json& wanted) {
    const Json made = wire.control("POST", "/keys", wanted, 201);
    return parse(wire.ask({.target = "/v1/me", .token = made.at("secret")}));
  };
  const Json agent = who({{"agent_id", wire.built_in().agent_id}, {"scopes", {"documents:read"}}});
  CHECK(agent.at("agent").at("handle") == "scout");
  CHECK(agent.at("user").is_null());
  CHECK(agent.at("credential").at("scopes") == Json{"documents:read"});
  CHECK(who({{"agent", "@scout"}}).at("agent").at("id") == wire.built_in().agent_id);
  CHECK(who({{"user_id", wire.built_in().other_user_id}}).at("user").at("email") == "tomas@example.com");
  const Json tomas = who({{"person", "tomas@example.com"}, {"workspace", "Garden"}});
  CHECK(tomas.at("workspace").at("name") == "Garden");
  CHECK(tomas.at("workspace").at("role") == "owner");
  CHECK(who({{"role", "viewer"}}).at("workspace").at("role") == "viewer");
  for (const char* audience : {"user", "workspace", "platform_admin"}) {
    CHECK(who({{"audience", audience}}).at("credential").at("audience") == audience);
  }
  const std::string brief = wire.key({{"expires_in", 60}});
  const std::string dated = wire.key({{"expires_at", "2026-11-20T10:01:00Z"}});
  CHECK(wire.ask({.target = "/v1/me", .token = brief}).status == 200);
  wire.advance(60);
  CHECK(wire.ask({.target = "/v1/me", .token = brief}).status == 401);
  CHECK(wire.ask({.target = "/v1/me", .token = dated}).status == 401);
}

TEST_CASE("control: errors in a key are reported at once, an unknown owner is 404", "[server-mock]") {
  Wire wire;
  const Json answer = wire.control("POST",
                                   "/keys",
                                   {{"audience", "everyone"},
                                    {"scopes", {"documents:read", "documents:burn"}},
                                    {"role", "king"},
                                    {"expires_in", "soon"},
                                    {"persn", "x"}},
                                   422);
  std::set<std::string> places;
  for (const Json& one : answer.at("detail")) places.insert(one.at("loc").at(1));
  CHECK(places == std::set<std::string>{"audience", "expires_in", "persn", "role", "scopes"});
  wire.control("POST", "/keys", {{"scopes", "all"}}, 422);
  wire.control("POST", "/keys", {{"person", "nobody@example.com"}}, 404);
  wire.control("POST", "/keys", {{"agent", "nobody"}}, 404);
  wire.control("POST", "/keys", {{"workspace", "Nowhere"}}, 404);
}

TEST_CASE("control: an event is put into an agent's queue", "[server-mock]") {
  Wire wire;
  const Json made = wire.control("POST", "/events", {{"agent", "@scout"}, {"payload", {{"n", 1}}}}, 201);
  CHECK(made.at("kind") == "agent.ping");
  const Json claimed = parse(wire.send("POST", "/v1/agent-events:claim", {{"worker_id", "w"}})).at("event");
  CHECK(claimed.at("id") == made.at("id"));
  CHECK(claimed.at("payload") == Json{{"n", 1}});
  wire.control("POST", "/events", {{"agent_id", wire.built_in().agent_id}, {"kind", "comment.mention"}}, 201);
  wire.control("POST", "/events", nullptr, 201);
  wire.control("POST", "/events", {{"agent", "@nobody"}}, 404);
  wire.control("POST", "/events", {{"agent", "@scout"}, {"payload", 5}, {"other", 1}}, 422);
}

TEST_CASE("control: the journal is filtered by operation, number and time, and limited", "[server-mock]") {
  Wire wire;
  wire.get("/v1/me");
  wire.advance(10);
  wire.get("/v1/documents");
  wire.get("/v1/me");
  const auto count = [&](const std::string& query) {
    return wire.control("GET", "/requests" + query).at("data").size();
  };
  CHECK(count("") == 3);
  CHECK(count("?operation=me.get") == 2);
  CHECK(count("?since=1") == 2);
  CHECK(count("?since=2026-11-20T10:00:10Z") == 2);
  CHECK(count("?operation=me.get&since=1") == 1);
  const auto numbers = [&](const std::string& query) {
    std::vector<int> found;
    const Json answer = wire.control("GET", "/requests" + query);
    for (const Json& entry : answer.at("data")) found.push_back(entry.at("seq"));
    return found;
  };
  CHECK(numbers("?limit=2") == std::vector<int>{2, 3});
  CHECK(numbers("?since=0&limit=2") == std::vector<int>{1, 2});
  CHECK(numbers("?since=1&limit=1") == std::vector<int>{2});
  CHECK(numbers("?operation=me.get&limit=1") == std::vector<int>{3});
  CHECK(numbers("?limit=1000").size() == 3);
  for (const char* wrong : {"0", "-1", "2.5", "many"}) {
    wire.control("GET", std::string("/requests?limit=") + wrong, nullptr, 422);
  }
  wire.control("GET", "/requests?since=yesterday", nullptr, 422);
  wire.control("DELETE", "/requests", nullptr, 204);
  CHECK(count("") == 0);
}

TEST_CASE("discovery: every operation is listed, the OpenAPI document is served", "[server-mock]") {
  Wire wire;
  const Json found = wire.get("/v1");
  CHECK(found.at("operations").size() == ws::contract::operations().size());
  CHECK(found.at("openapi_url") == "http://mock.test/openapi.json");
  const RawAnswer document = wire.ask({.target = "/openapi.json"});
  CHECK(document.status == 200);
  CHECK(parse(document).at("openapi").get<std::string>().starts_with("3.1"));
}

TEST_CASE("control: its calls are described, and the 404 of a wrong path names them", "[server-mock]") {
  Wire wire;
  const Json document = wire.control("GET", "/openapi.json");
  CHECK(document.at("openapi") == "3.1.0");
  for (const ControlCall& call : control_calls()) {
    CAPTURE(call.method, call.path);
    std::string method(call.method);
    std::transform(method.begin(), method.end(), method.begin(), [](char c) { return static_cast<char>(c | 0x20); });
    const Json& described = document.at("paths").at(std::string(call.path)).at(method);
    CHECK_FALSE(described.at("summary").get<std::string>().empty());
  }
  CHECK(document.at("components").at("schemas").at("NewKey").at("properties").contains("scopes"));
  const Json wrong = wire.control("GET", "/snapshot", nullptr, 404);
  CHECK(wrong.at("calls").size() == control_calls().size());
  CHECK(wrong.at("calls").at(0) == "GET /_mock/snapshots");
}

TEST_CASE("control: a filter, an expectation or a fault of what does not exist is 422 and names what does",
          "[server-mock]") {
  Wire wire;
  wire.get("/v1/documents");
  const auto refused = [&](const Json& match, const std::string& near) {
    CAPTURE(dump(match));
    const Json told = wire.control("POST", "/requests:verify", {{"match", match}, {"times", 0}}, 422);
    CHECK_THAT(dump(told), Catch::Matchers::Contains(near));
  };
  refused({{"operation", "docs.delete"}}, "There is no operation docs.delete");
  refused({{"operation", "docs.delete"}}, "the nearest are `docs.");
  refused({{"operation", "docs.creat"}}, "docs.create");
  refused({{"path", "/v1/documnts"}}, "There is no path /v1/documnts; the nearest are GET /v1/documents");
  refused({{"operation", "docs.list"}, {"status", 999}}, R"(["body","match","status"])");
  refused({{"status", "9xx"}}, "A status is a number from 200 to 599");
  refused({{"method", "FETCH"}}, "There is no method FETCH");
  refused({{"method", "GTE"}}, "`GET`");
  refused({{"operation", "docs.list"}, {"method", "POST"}}, "docs.list is GET /v1/documents; no request of it matches");
  refused({{"operation", "docs.list"}, {"path", "/v1/files/*"}}, "docs.list is GET /v1/documents");
  refused({{"method", "DELETE"}, {"path", "/v1/projects"}}, "No operation is DELETE /v1/projects; the nearest are");
  refused({{"method", "put"}, {"path", "/v1/files/{asset_id}"}}, R"(["body","match","method"])");
  refused({{"path", "/v1/projects"}, {"body", {{"prompt", "x"}}}}, "There is no member prompt");
  refused({{"operation", "docs.list"}, {"colour", 1}}, "colour");
  refused({{"operation", "dcos.*"}}, "There is no operation");
  refused({{"operation", "docs.create"}, {"body", {{"titel", "x"}}}}, "title");
  refused({{"body", {{"no_such_member", 1}}}}, "no_such_member");
  refused({{"operation", "docs.list"}, {"body", {{"title", "x"}}}}, "There is no member title");
  refused({{"operation", "docs.list"}, {"query", {{"limti", 5}}}}, "limit");
  refused({{"headers", {{"Idempotency-Kye", "x"}}}}, "idempotency-key");
  refused(Json::array({{{"operation", "docs.list"}}, {{"operation", "no.such"}}}), "no.such");
  for (const Json& match : {Json{{"operation", "docs.create"}, {"body", {{"title", "x"}}}},
                            Json{{"operation", "docs.*"}, {"query", {{"limit", "7"}}}},
                            Json{{"headers", {{"If-Match", "x"}}}},
                            Json{{"operation", "upload.put"}},
                            Json{{"path", "/v1/documents/018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b"}},
                            Json{{"path", "/v1/**"}, {"method", "delete"}},
                            Json{{"path", "/v1/projects"}, {"method", "OPTIONS"}},
                            Json{{"path", "/v1/documents"}, {"method", "HEAD"}},
                            Json{{"operation", "docs.*"}, {"method", "HEAD"}, {"status", "5xx"}},
                            Json{{"path", "/uploads/[redacted]"}},
                            Json{{"operation", "page.device"}}}) {
    wire.control("POST", "/requests:verify", {{"match", match}, {"times", 0}});
  }
  CHECK_THAT(dump(wire.control("GET", "/requests?operation=docs.lst", nullptr, 422)),
             Catch::Matchers::Contains("docs.list"));
  wire.control("GET", "/requests?operation=docs.list");
  // What was asked for can be told of, though no operation is there.
  wire.get("/v1/documnts", 404);
  wire.control("POST", "/requests:verify", {{"match", {{"path", "/v1/documnts"}}}, {"times", 1}});
  CHECK_THAT(dump(wire.control("POST", "/faults", {{"operation", "dcos.*"}, {"effect", {{"status", 503}}}}, 422)),
             Catch::Matchers::Contains("There is no operation"));
  const auto no_rule = [&](Json rule, const std::string& effect, const std::string& why) {
    CAPTURE(dump(rule), effect);
    rule["effect"] = {{effect, true}};
    CHECK_THAT(dump(wire.control("POST", "/faults", rule, 422)), Catch::Matchers::Contains(why));
  };
  no_rule({{"operation", "docs.get"}}, "lose_lease", "lose_lease has no effect on docs.get; ");
  no_rule({{"operation", "me.get"}}, "bad_hash", "bad_hash has no effect on me.get; ");
  no_rule({{"operation", "docs.get"}}, "empty_page", "has no effect");
  no_rule({{"operation", "docs.get"}}, "repeat_page", "docs.list");
  no_rule({{"operation", "docs.*"}}, "cut_upload", "`upload.put`");
  no_rule({{"operation", "files.get"}}, "bump_revision", "has no effect");
  no_rule({{"operation", "docs.get"}, {"method", "POST"}}, "reset", "docs.get is GET /v1/documents/{document_id}");
  no_rule({{"operation", "docs.list"}, {"path", "/v1/files"}}, "reset", "no request of it matches");
  no_rule({{"path", "/_mock/health"}}, "reset", "Control calls are never faulted");
  for (const Json& rule : {Json{{"path", "/v1/nowhere"}, {"effect", {{"status", 503}}}},
                           Json{{"operation", "*"}, {"effect", {{"lose_lease", true}}}},
                           Json{{"operation", "docs.*"}, {"effect", {{"repeat_page", true}}}},
                           Json{{"operation", "sync.commit"}, {"effect", {{"bump_revision", true}}}},
                           Json{{"operation", "docs.get"}, {"path", "/v1/documents/*"}, {"effect", {{"reset", true}}}},
                           Json{{"operation", "docs.get"}, {"effect", {{"bad_hash", true}}}}}) {
    CAPTURE(dump(rule));
    wire.control("POST", "/faults", rule, 201);
  }
  wire.control("DELETE", "/faults", nullptr, 204);
}

TEST_CASE("control: no code of a device login is in the journal", "[server-mock]") {
  Wire wire;
  const Json started =
      parse(wire.ask({.method = "POST",
                      .target = "/v1/auth/device-authorizations",
                      .json = R"({"client_name": "a test", "cli_version": "1", "scopes": ["documents:read"]})"}));
  const std::string code = started.at("user_code");
  wire.ask({.target = "/device?user_code=" + code, .headers = {"Referer: http://mock.test/device?user_code=" + code}});
  wire.ask({.method = "POST",
            .target = "/device",
            .json = "user_code=" + code + "&action=look",
            .headers = {"Content-Type: application/x-www-form-urlencoded"}});
  const std::string journal = dump(wire.control("GET", "/requests"));
  CHECK(journal.find(code) == std::string::npos);
  CHECK(journal.find(started.at("device_code").get<std::string>()) == std::string::npos);
}

#include <catch2/catch.hpp>

#include "server-mock/pages/pages.hpp"
#include "tests/server-mock/wire.hpp"

namespace ws::mock::test {

using Catch::Matchers::Contains;

TEST_CASE("inspector: a page, a style sheet and a script, nothing inline, nothing from elsewhere", "[server-mock]") {
  ApplicationOptions options;
  options.control.token = "secret";  // which the page asks for: it holds nothing itself
  Wire wire(options);
  const RawAnswer page = wire.ask({.target = "/_mock"});
  CHECK(page.status == 200);
  CHECK(page.header("content-type") == "text/html; charset=utf-8");
  CHECK_THAT(page.header("content-security-policy"),
             Contains("default-src 'none'") && Contains("script-src 'self'") && Contains("frame-ancestors 'none'") &&
                 !Contains("unsafe"));
  CHECK_THAT(page.body, !Contains("<style") && !Contains("style=") && !Contains("onclick") && !Contains("://"));
  const RawAnswer style = wire.ask({.target = "/_mock/inspector.css"});
  CHECK(style.header("content-type") == "text/css; charset=utf-8");
  const RawAnswer script = wire.ask({.target = "/_mock/inspector.js"});
  CHECK(script.header("content-type") == "text/javascript; charset=utf-8");
  CHECK_THAT(script.body, !Contains("innerHTML") && !Contains("insertAdjacentHTML") && !Contains("eval("));
  const RawAnswer moved = wire.ask({.target = "/_mock/"});
  CHECK(moved.status == 308);
  CHECK(moved.header("location") == "../_mock");
  CHECK(wire.ask({.target = "/_mock/inspect"}).status == 401);
  CHECK(wire.ask({.target = "/_mock/inspect", .token = "secret"}).status == 200);
  CHECK(wire.ask({.method = "POST", .target = "/_mock", .token = "secret"}).status == 404);
}

TEST_CASE("inspect: documents with their revisions, threads, events and people", "[server-mock]") {
  Wire wire;
  const RawAnswer made =
      wire.send("POST",
                "/v1/documents",
                {{"title", "Shown"}, {"content", "first text"}, {"project_id", wire.built_in().project_id}});
  const std::string id = parse(made).at("id");
  CHECK(wire.send("PUT", "/v1/documents/" + id, {{"content", "second"}, {"expected_content_revision", 1}}).status ==
        200);
  CHECK(wire.send("POST", "/v1/documents/" + id + "/comments", {{"body", "@scout, look"}}).status == 201);
  wire.control("POST", "/events", {{"payload", {{"at", 5}}}}, 201);
  const Json seen = wire.control("GET", "/inspect");
  CHECK(seen.at("sandbox").is_null());
  CHECK(seen.at("last_seq") == 3);
  CHECK(seen.at("now") == "2026-11-20T10:00:00.000Z");
  const Json& document = seen.at("documents").at("data").at(0);
  CHECK(document.at("title") == "Shown");
  CHECK(document.at("content_revision") == 2);
  CHECK(document.at("updated_at") == "2026-11-20T10:00:00.000Z");
  CHECK(seen.at("documents").at("total") == 11);
  const Json& thread = seen.at("threads").at("data").at(0);
  CHECK(thread.at("document") == "Shown");
  CHECK(thread.at("entries").at(0).at("body") == "@scout, look");
  CHECK(thread.at("entries").at(0).at("by") == "Mara Lindqvist");
  CHECK(seen.at("events").at("total") == 2);
  CHECK(seen.at("events").at("data").at(0).at("payload") == Json{{"at", 5}});
  CHECK(seen.at("events").at("data").at(1).at("agent") == "scout");
  CHECK(seen.at("people").at(0).at("role") == "owner");
  const Json revisions = wire.control("GET", "/inspect/documents/" + id).at("revisions");
  REQUIRE(revisions.size() == 2);
  CHECK(revisions.at(0).at("content") == "second");
  CHECK(revisions.at(1).at("content") == "first text");
  wire.control("GET", "/inspect/documents/nobody", nullptr, 404);
}

TEST_CASE("faults: a rule is switched off and on again, and counts nothing meanwhile", "[server-mock]") {
  Wire wire;
  wire.control("POST", "/faults", {{"id", "down"}, {"operation", "me.get"}, {"effect", {{"status", 503}}}}, 201);
  wire.get("/v1/me", 503);
  CHECK(wire.control("POST", "/faults/down:off").at("on") == false);
  wire.get("/v1/me", 200);
  CHECK(wire.control("GET", "/faults/down").at("matched") == 1);
  CHECK(wire.control("POST", "/faults/down:on").at("on") == true);
  wire.get("/v1/me", 503);
  wire.control("POST", "/faults/up:on", nullptr, 404);
}

}  // namespace ws::mock::test

#include "server-mock/journal/verify.hpp"

#include <catch2/catch.hpp>

#include "tests/server-mock/wire.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

namespace {

const Exchange entry = read_exchange({{"seq", 3},
                                      {"time", "2026-11-20T10:00:00Z"},
                                      {"method", "POST"},
                                      {"path", "/v1/documents"},
                                      {"query", "a=1&b=x+y"},
                                      {"operation", "docs.create"},
                                      {"status", 201},
                                      {"request_headers", {{"idempotency-key", "k"}}},
                                      {"request_body", {{"title", "T"}, {"content", "x"}, {"tags", {1, 2}}}}})
                           .value();

}  // namespace

TEST_CASE("verify: an entry matches by operation, path, method, status, query, headers and a part of its body",
          "[server-mock]") {
  for (const Json& match : {Json{{"operation", "docs.create"}},
                            Json{{"operation", "docs.*"}, {"status", 201}},
                            Json{{"path", "/v1/{what}"}, {"method", "post"}},
                            Json{{"status", "2xx"}},
                            Json{{"query", {{"b", "x y"}, {"a", 1}}}},
                            Json{{"headers", {{"Idempotency-Key", "k"}}}},
                            Json{{"headers", {{"Idempotency-Key", true}, {"authorization", false}}}},
                            Json{{"headers", {{"Idempotency-Key", {{"pattern", "^[a-z]$"}}}}}},
                            Json{{"body", {{"title", "T"}}}},
                            Json{{"body", {{"tags", {1, 2}}}}},
                            Json::object()}) {
    CAPTURE(match.dump());
    CHECK(differences(match, entry).empty());
  }
  CHECK(differences({{"status", 200}, {"body", {{"title", "U"}}}, {"query", {{"c", "1"}}}}, entry) ==
        std::vector<std::string>{"status: 201, not 200",
                                 R"(body: {"title":"T","content":"x","tags":[1,2]}, not {"title":"U"})",
                                 "query c: a=1&b=x+y, not 1"});
  CHECK(differences({{"body", {{"tags", {1}}}}}, entry).size() == 1);
  CHECK(differences({{"headers", {{"idempotency-key", false}}}}, entry).size() == 1);
  CHECK(differences({{"headers", {{"x-other", true}}}}, entry).size() == 1);
  CHECK(differences({{"headers", {{"idempotency-key", {{"pattern", "^key"}}}}}}, entry).size() == 1);
  CHECK(differences({{"headers", {{"x-other", "1"}}}}, entry) ==
        std::vector<std::string>{"header x-other: none, not 1"});
}

TEST_CASE("verify: times, or min and max, give the expected count, the default is at least once", "[server-mock]") {
  const std::vector<Exchange> twice = {entry, entry};
  const auto holds = [&](const Json& bounds) {
    Json verification = {{"match", {{"operation", "docs.create"}}}};
    verification.update(bounds);
    return verify(verification, twice).at("verified").get<bool>();
  };
  CHECK(holds(Json::object()));
  CHECK(holds({{"times", 2}}));
  CHECK_FALSE(holds({{"times", 1}}));
  CHECK(holds({{"min", 1}, {"max", 2}}));
  CHECK_FALSE(holds({{"min", 3}}));
  CHECK_FALSE(holds({{"max", 1}}));
  CHECK_FALSE(verify({{"match", {{"status", 500}}}}, twice).at("verified").get<bool>());
  CHECK(verify({{"match", {{"status", 500}}}, {"times", 0}}, twice).at("verified").get<bool>());
  // Too many came: nothing is missing, so nothing is near to it.
  CHECK(verify({{"match", {{"operation", "docs.create"}}}, {"times", 0}}, twice).at("nearest").empty());
}

TEST_CASE("verify: answers 200, or 409 with the nearest requests, in_order checks the order", "[server-mock]") {
  Wire wire;
  wire.get("/v1/me");
  const std::string id = wire.new_document("first", "a");
  wire.get("/v1/documents/" + id);
  const auto check = [&](const Json& body, int status) {
    return wire.control("POST", "/requests:verify", body, status);
  };
  CHECK(check({{"match", {{"operation", "docs.create"}, {"body", {{"title", "first"}}}}}, {"times", 1}}, 200) ==
        Json{{"verified", true}, {"matched", 1}, {"dropped", 0}});
  const Json missed = check({{"match", {{"operation", "docs.create"}, {"body", {{"title", "second"}}}}}}, 409);
  CHECK(missed.at("code") == "verification_failed");
  CHECK(missed.at("nearest").at(0).at("operation") == "docs.create");
  CHECK(missed.at("nearest").at(0).at("differences").size() == 1);
  const auto in_order = [&](const std::vector<std::string>& operations, int status) {
    Json list = Json::array();
    for (const std::string& one : operations) list.push_back({{"operation", one}});
    return check({{"match", list}, {"in_order", true}}, status);
  };
  in_order({"me.get", "docs.create", "docs.get"}, 200);
  in_order({"me.get", "docs.get"}, 200);
  CHECK(in_order({"docs.get", "me.get"}, 409).at("matched") == 1);
  check({{"match", {{"colour", 1}}}, {"times", -1}}, 422);
  check({{"match", Json::object()}, {"times", 1}, {"min", 1}}, 422);
  check(nullptr, 422);
}

TEST_CASE("verify: what the journal shows can be asked for, and that a header was never sent", "[server-mock]") {
  Wire wire;
  const auto check = [&](const Json& match, int times, int status) {
    CAPTURE(match.dump());
    wire.control("POST", "/requests:verify", {{"match", match}, {"times", times}}, status);
  };
  const Json inner = {{"colour", "red"}, {"sizes", {{{"width", 1}}}}};
  const Json match = {{"operation", "docs.create"}, {"body", {{"extra", inner}}}};
  const Json parameter = {{"operation", "docs.list"}, {"query", {{"colour", "red"}}}};
  check(match, 0, 422);
  check(parameter, 0, 422);
  wire.send("POST", "/v1/documents", {{"title", "T"}, {"content", ""}, {"extra", inner}});
  wire.get("/v1/documents?colour=red");
  check(match, 1, 200);
  check(parameter, 1, 200);
  check({{"operation", "docs.create"}, {"body", {{"extar", inner}}}}, 0, 422);
  check({{"operation", "docs.update"}, {"body", {{"extra", inner}}}}, 0, 422);
  check({{"operation", "docs.create"}, {"headers", {{"X-Tracking", false}}}}, 1, 200);
  check({{"headers", {{"X-Tracking", true}}}}, 0, 200);
  check({{"headers", {{"Autorization", false}}}}, 1, 422);
  wire.ask({.target = "/v1/me", .token = wire.token(), .headers = {"X-Tracking: 1"}});
  check({{"headers", {{"X-Tracking", true}}}}, 1, 200);
}

TEST_CASE("verify: unmatched requests are listed with the nearest operations", "[server-mock]") {
  Wire wire;
  wire.get("/v1/me");
  wire.get("/v1/document", 404);
  wire.ask({.method = "POST", .target = "/v1/me", .token = wire.token()});
  const Json data = wire.control("GET", "/requests/unmatched").at("data");
  REQUIRE(data.size() == 2);
  CHECK(data.at(0).at("path") == "/v1/document");
  CHECK(data.at(0).at("nearest").at(0).at("path") == "/v1/documents");
  CHECK(data.at(0).at("nearest").at(0).at("method") == "GET");
  CHECK(data.at(1).at("nearest").at(0).at("operation") == "me.get");
}

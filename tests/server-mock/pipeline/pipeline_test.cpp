#include "server-mock/pipeline/pipeline.hpp"

#include <set>

#include <catch2/catch.hpp>

#include "api-client/contract/operations.hpp"
#include "tests/server-mock/wire.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;
using Catch::Matchers::Contains;

namespace {

constexpr const char* some_id = "019b76da-a800-7a7b-9527-47438ee725fe";

ApplicationOptions assuming(const char* assignment) {
  ApplicationOptions options;
  REQUIRE(options.sandbox.assumptions.set(assignment));
  return options;
}

}  // namespace

TEST_CASE("pipeline: checks come in their order: credential, route, method, scope, content type, validation, existence",
          "[server-mock]") {
  Wire wire;
  const std::string poor = wire.key({{"scopes", {"documents:read"}}});
  const std::string target = std::string("/v1/documents/") + some_id;
  const std::vector<std::string> text = {"Content-Type: text/plain", "Content-Length: 1"};
  const auto say = [&](std::string method,
                       const std::string& path,
                       const std::string& token,
                       std::string json,
                       std::vector<std::string> headers = {}) {
    return code_of(wire.ask({std::move(method), path, token, std::move(json), std::move(headers)}));
  };
  for (const char* path : {"/v1/nothing", "/v1/%zz", "/v1/admin/tests/cases/%ff", "/v1/documents/no-uuid"}) {
    CAPTURE(path);
    CHECK(say("PUT", path, "", "{") == "missing_credential");
    CHECK(say("PUT", path, "wsk_unknown", "{") == "invalid_credential");
  }
  CHECK(say("PATCH", target, "", "{") == "missing_credential");
  CHECK(say("PUT", "/v1/nothing", poor, "{") == "not_found");
  CHECK(say("PATCH", target, poor, "{") == "method_not_allowed");
  CHECK(say("GET", "/v1/%zz", poor, "") == "validation_error");
  CHECK(say("GET", "/v1/admin/tests/cases/%ff", wire.token(), "") == "validation_error");
  CHECK(say("PUT", "/v1/documents/no-uuid", poor, "{") == "missing_scope");
  const RawAnswer wrong_type =
      wire.say("PUT /v1/documents/no-uuid HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + wire.token() +
               "\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\n{");
  CHECK(wrong_type.status == 415);
  CHECK(code_of(wrong_type) == "unsupported_media_type");
  CHECK(say("PUT", "/v1/documents/no-uuid", wire.token(), "{") == "validation_error");
  CHECK(say("PUT", target, wire.token(), R"({"expected_content_revision": 1})") == "not_found");
}

TEST_CASE("pipeline: what a service checks comes in order too: validation, existence, state", "[server-mock]") {
  Wire wire;
  const std::string nothing = "019b76da-a800-7a7b-9527-474300000000";
  const std::string archived = "/v1/documents/" + wire.new_document("t");
  REQUIRE(wire.ask({.method = "DELETE", .target = archived, .token = wire.token()}).status == 200);
  const std::string project = wire.built_in().project_node_id;
  struct Broken {
    int status;  // of the first check that fails; so does a later one
    std::string target;
    Json body;
  };
  const std::vector<Broken> calls = {
      {422, "/v1/documents/" + nothing + "/shares", {{"permission", "read"}}},
      {422, "/v1/sync/conflicts/" + nothing + ":resolve", {{"resolution", "merged"}, {"expected_content_revision", 1}}},
      {422, "/v1/admin/tests/runs", {{"selection_kind", "suite"}, {"workspace_id", nothing}}},
      {422, "/v1/admin/tests/runs", {{"selection_kind", "cases"}, {"workspace_id", nothing}}},
      {404, archived + "/comments/" + nothing + "/replies", {{"body", "b"}}},
      {404, archived + "/comments/" + nothing + "/status", {{"status", "open"}}},
      {404, archived + "/shares", {{"permission", "read"}, {"email", "nobody@example.com"}}},
      {404, "/v1/nodes/" + project + ":move", {{"parent_node_id", project}, {"before_node_id", nothing}}},
      {409, archived + "/comments", {{"body", "b"}}},
      {409, "/v1/nodes/" + project + ":move", {{"parent_node_id", project}}},
  };
  for (const Broken& call : calls) {
    CAPTURE(call.target);
    CHECK(wire.send("POST", call.target, call.body).status == call.status);
  }
}

TEST_CASE("pipeline: with auth_order=validation_first the request is validated before the key", "[server-mock]") {
  Wire wire(assuming("auth_order=validation_first"));
  const RawAnswer answer = wire.ask({.target = "/v1/documents?limit=0"});
  CHECK(answer.status == 422);
  CHECK_THAT(answer.header("x-mock-assumed"), Contains("auth_order=validation_first"));
  CHECK(wire.ask({.target = "/v1/documents"}).status == 401);
}

TEST_CASE("pipeline: paths outside the API answer OPTIONS too, and so does *", "[server-mock]") {
  Wire wire;
  const auto allow = [&](const char* method, const char* target, int status) {
    const RawAnswer answer = wire.ask({.method = method, .target = target});
    CAPTURE(method, target);
    CHECK(answer.status == status);
    return answer.header("allow");
  };
  CHECK(allow("OPTIONS", "*", 204) == "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
  CHECK(allow("GET", "*", 405) == "OPTIONS");
  CHECK(allow("OPTIONS", "/openapi.json", 204) == "GET, HEAD, OPTIONS");
  CHECK(allow("POST", "/openapi.json", 405) == "GET, HEAD, OPTIONS");
  CHECK(allow("OPTIONS", "/device", 204) == "GET, HEAD, POST, OPTIONS");
  CHECK(allow("PUT", "/device", 405) == "GET, HEAD, POST, OPTIONS");
  CHECK(allow("OPTIONS", "/skill/service-operate-workspace/manifest.json", 204) == "GET, HEAD, OPTIONS");
  CHECK(allow("OPTIONS", "/uploads/x", 204) == "PUT, OPTIONS");
  CHECK(allow("OPTIONS", "/_mock/health", 204) == "GET, HEAD, OPTIONS");
}

TEST_CASE("pipeline: without a key no method tells which paths there are", "[server-mock]") {
  Wire wire;
  for (const char* method : {"OPTIONS", "GET", "DELETE", "BREW"}) {
    for (const char* path : {"/v1", "/v1/documents", "/v1/documents/x/comments", "/v1/nothing"}) {
      CAPTURE(method, path);
      const RawAnswer refused = wire.ask({.method = method, .target = path});
      CHECK(refused.status == 401);
      CHECK(code_of(refused) == "missing_credential");
      CHECK(refused.header("allow").empty());
    }
  }
}

TEST_CASE("pipeline: 405 and OPTIONS list the methods, HEAD works like GET", "[server-mock]") {
  Wire wire;
  const RawAnswer refused = wire.ask({.method = "DELETE", .target = "/v1/me", .token = wire.token()});
  CHECK(refused.status == 405);
  CHECK(refused.header("allow") == "GET, HEAD, OPTIONS");
  const RawAnswer options = wire.ask({.method = "OPTIONS", .target = "/v1/documents", .token = wire.token()});
  CHECK(options.status == 204);
  CHECK(options.header("allow") == "GET, HEAD, POST, OPTIONS");
  const RawAnswer head = wire.ask({.method = "HEAD", .target = "/v1/me", .token = wire.token()});
  CHECK(head.status == 200);
  CHECK(head.body.empty());
  CHECK(head.header("content-length") ==
        std::to_string(wire.ask({.target = "/v1/me", .token = wire.token()}).body.size()));
}

TEST_CASE("pipeline: all violations of a request come together, in the published form", "[server-mock]") {
  Wire wire;
  const RawAnswer answer = wire.send("PUT", "/v1/documents/nope?x=1", {{"title", 7}});
  CHECK(answer.status == 422);
  const Json body = parse(answer);
  CHECK(body.at("code") == "validation_error");
  std::vector<std::string> seen;
  for (const Json& entry : body.at("detail")) {
    seen.push_back(dump(entry.at("loc")) + " " + entry.at("type").get<std::string>());
    CHECK(entry.contains("msg"));
    CHECK(entry.contains("input"));
  }
  CHECK(seen == std::vector<std::string>{R"(["path","document_id"] uuid_parsing)",
                                         R"(["body","title"] string_type)",
                                         R"(["body","expected_content_revision"] missing)"});
}

TEST_CASE("pipeline: a body that is no JSON, too deep or not UTF-8 is json_invalid", "[server-mock]") {
  Wire wire;
  const std::string body = GENERATE_COPY(std::string("{"),
                                         std::string("{} {}"),
                                         std::string("\xff"),
                                         std::string(100'000, '['),
                                         std::string("{\"title\": \"\xc3\x28\"}"),
                                         std::string("nul"));
  const RawAnswer answer = wire.ask({.method = "POST", .target = "/v1/documents", .token = wire.token(), .json = body});
  CHECK(answer.status == 422);
  CHECK(parse(answer).at("detail").at(0).at("type") == "json_invalid");
}

TEST_CASE("pipeline: a path that is no UTF-8 gets an answer", "[server-mock]") {
  Wire wire;
  const RawAnswer uuid = wire.ask({.target = "/v1/documents/%ff%fe", .token = wire.token()});
  CHECK(uuid.status == 422);
  CHECK(parse(uuid).at("detail").at(0).at("type") == "uuid_parsing");
  CHECK(wire.ask({.target = "/v1/admin/tests/cases/%ff", .token = wire.token()}).status == 422);
  CHECK(wire.ask({.target = "/v1/documents/%zz", .token = wire.token()}).status == 422);
  CHECK(wire.ask({.target = "/%ff", .token = wire.token()}).status == 404);
  CHECK(wire.ask({.target = "/v1/%ff", .token = wire.token()}).status == 422);
  CHECK(wire.ask({.target = "/v1/%ff"}).status == 401);
  CHECK(wire.ask({.method = "POST", .target = "/v1/documents/%ff", .token = wire.token()}).status == 422);
  CHECK(wire.ask({.target = "/v1/documents?cursor=%ff", .token = wire.token()}).status == 422);
}

TEST_CASE("pipeline: every operation answers, and without a service it says 501", "[server-mock]") {
  Wire wire;
  for (const contract::Operation* operation : contract::operations()) {
    CAPTURE(operation->id);
    std::string path(operation->path);
    for (std::size_t open = path.find('{'); open != std::string::npos; open = path.find('{')) {
      path.replace(open, path.find('}') - open + 1, some_id);
    }
    const RawAnswer answer = wire.ask({.method = std::string(contract::name(operation->method)),
                                       .target = path,
                                       .token = wire.key(Json::object()),  // one of them gives it back
                                       .json = operation->request != nullptr ? "{}" : ""});
    CHECK(answer.header("x-mock-operation") == operation->id);
    if (find_service(*operation) == nullptr && answer.status != 422) CHECK(answer.status == 501);
    CHECK(answer.status != 500);
  }
}

TEST_CASE("pipeline: every response has a request id, the client's own if it is valid", "[server-mock]") {
  Wire wire;
  const auto id_for = [&](const std::string& given) {
    return wire.ask({.target = "/v1/me", .headers = {"X-Request-Id: " + given}}).header("x-request-id");
  };
  CHECK(id_for("mine-1") == "mine-1");
  CHECK(id_for("with space") == "req_0000000002");
  CHECK(id_for(std::string(129, 'x')) == "req_0000000003");
  CHECK(id_for(std::string(128, 'x')) == std::string(128, 'x'));
  CHECK(wire.say("nonsense\r\n\r\n").header("x-request-id") == "req_0000000005");
  CHECK(parse(wire.ask({.target = "/v1/me", .headers = {"X-Request-Id: a"}})).at("request_id") == "a");
}

TEST_CASE("pipeline: unknown fields are ignored with a warning, with --strict they are refused", "[server-mock]") {
  Wire lenient;
  const Json body = {{"title", "t"}, {"content", ""}, {"colour", "red"}};
  const RawAnswer made = lenient.send("POST", "/v1/documents?page=2", body);
  CHECK(made.status == 201);
  CHECK_THAT(made.header("x-mock-warning"), Contains("body.colour") && Contains("query.page"));
  ApplicationOptions options;
  options.sandbox.world.unknown_fields = UnknownFields::refused;
  Wire strict(options);
  const RawAnswer refused = strict.send("POST", "/v1/documents?page=2", body);
  CHECK(refused.status == 422);
  CHECK(parse(refused).at("detail").size() == 2);
  CHECK(parse(refused).at("detail").at(1).at("type") == "extra_forbidden");
  CHECK(parse(refused).at("detail").at(1).at("input") == "red");
}

TEST_CASE("pipeline: an answer that shows a secret is not to be stored", "[server-mock]") {
  Wire wire;
  const auto cache = [](const RawAnswer& answer) {
    CHECK(answer.status < 300);
    return answer.header("cache-control");
  };
  const Json login = {{"client_name", "c"}, {"cli_version", "1"}, {"scopes", {"documents:read"}}};
  CHECK(cache(wire.send("POST", "/v1/auth/device-authorizations", login)) == "no-store");
  const Json agent = {{"handle", "diver"}, {"display_name", "D"}, {"permissions", {"read"}}};
  const RawAnswer made = wire.send("POST", "/v1/agents", agent);
  CHECK(cache(made) == "no-store");
  const std::string rotate = "/v1/agents/" + parse(made).at("id").get<std::string>() + "/credentials:rotate";
  CHECK(cache(wire.send("POST", rotate, nullptr)) == "no-store");
  CHECK(cache(wire.send("POST", "/v1/files/uploads", {{"file_name", "a"}, {"size_bytes", 1}})) == "no-store");
  CHECK(cache(wire.send("POST", "/v1/agent-events:claim", {{"worker_id", "w"}})) == "no-store");
  CHECK(cache(wire.ask({.target = "/v1/me", .token = wire.token()})).empty());
}

TEST_CASE("pipeline: If-None-Match with a document's ETag gives 304", "[server-mock]") {
  Wire wire;
  const std::string path = "/v1/documents/" + wire.new_document("t");
  const RawAnswer first = wire.ask({.target = path, .token = wire.token()});
  const std::string etag = first.header("etag");
  const auto status_for = [&](const std::string& tags) {
    return wire.ask({.target = path, .token = wire.token(), .headers = {"If-None-Match: " + tags}}).status;
  };
  CHECK(status_for(etag) == 304);
  CHECK(status_for("\"7\", W/" + etag) == 304);
  CHECK(status_for("*") == 304);
  CHECK(status_for("\"2\"") == 200);
  CHECK(status_for("\"1" + etag.substr(1)) == 200);
}

TEST_CASE("pipeline: a document's ETag changes with everything that reading it shows", "[server-mock]") {
  Wire wire;
  const std::string path = "/v1/documents/" + wire.new_document("t");
  std::set<std::string> seen;
  const auto is_new = [&] {
    return seen.insert(wire.ask({.target = path, .token = wire.token()}).header("etag")).second;
  };
  CHECK(is_new());
  CHECK_FALSE(is_new());
  // The clock stands still, and the revision of the text stays the same.
  const Json document = wire.get(path);
  const std::string move = "/v1/nodes/" + document.at("node_id").get<std::string>() + ":move";
  CHECK(wire.send("POST", move, {{"parent_node_id", wire.built_in().project_node_id}}).status == 200);
  CHECK(wire.get(path).at("content_revision") == document.at("content_revision"));
  CHECK(is_new());
  wire.control("PATCH", "/assumptions", {{"assumed_fields", "missing"}});
  CHECK(is_new());
  wire.control("PATCH", "/assumptions", {{"assumed_fields", "full"}, {"list_extra", "unknown_fields"}});
  CHECK(is_new());
  wire.control("PATCH", "/assumptions", {{"list_extra", "none"}});
  CHECK_FALSE(is_new());
  CHECK(wire.send("PUT", path, {{"title", "u"}, {"expected_content_revision", 1}}).status == 200);
  CHECK(is_new());
  CHECK(wire.send("DELETE", path, nullptr).status == 200);
  CHECK(is_new());
}

TEST_CASE("pipeline: If-Match is evaluated when a document is replaced or archived", "[server-mock]") {
  Wire wire;
  const std::string path = "/v1/documents/" + wire.new_document("t", std::string(2000, 'x'));
  const auto etag = [&](std::vector<std::string> headers = {}) {
    return wire.ask({.target = path, .token = wire.token(), .headers = std::move(headers)}).header("etag");
  };
  const auto put = [&](const std::string& if_match, int revision) {
    const Json body = {{"content", "new"}, {"expected_content_revision", revision}};
    return wire.send("PUT", path, body, {"If-Match: " + if_match});
  };
  const RawAnswer refused = put("\"other\"", 1);
  CHECK(refused.status == 412);
  CHECK(code_of(refused) == "precondition_failed");
  CHECK(parse(refused).at("current_etag") == etag());
  CHECK(put("W/" + etag(), 1).status == 412);
  CHECK(wire.get(path).at("content_revision") == 1);
  CHECK(put("\"other\", " + etag(), 1).status == 200);
  CHECK(put("*", 2).status == 200);
  CHECK(put(etag({"Accept-Encoding: gzip"}), 3).status == 200);
  const auto archive = [&](const std::string& if_match) {
    return wire.send("DELETE", path, nullptr, {"If-Match: " + if_match}).status;
  };
  CHECK(archive("\"other\"") == 412);
  CHECK(wire.get(path).at("status") == "active");
  CHECK(archive(etag()) == 200);
}

TEST_CASE("pipeline: a compressed answer has an ETag of its own, which stands for the same state", "[server-mock]") {
  Wire wire;
  const std::string path = "/v1/documents/" + wire.new_document("t", std::string(2000, 'x'));
  const auto get = [&](std::vector<std::string> headers) {
    return wire.ask({.target = path, .token = wire.token(), .headers = std::move(headers)});
  };
  const std::string plain = get({}).header("etag");
  const RawAnswer packed = get({"Accept-Encoding: gzip"});
  CHECK(packed.header("content-encoding") == "gzip");
  CHECK(packed.header("etag") != plain);
  const RawAnswer same = get({"Accept-Encoding: gzip", "If-None-Match: " + packed.header("etag")});
  CHECK(same.status == 304);
  CHECK(same.header("etag") == packed.header("etag"));
  CHECK(packed.header("vary") == "Accept-Encoding");
  CHECK(same.header("vary") == "Accept-Encoding");
  CHECK(get({"If-None-Match: " + plain}).status == 304);
}

TEST_CASE("pipeline: errors come in the style that the switch names, validation always as published", "[server-mock]") {
  const auto [style, type, member] =
      GENERATE(table<std::string, std::string, std::string>({{"plain", "application/json", "/code"},
                                                             {"problem", "application/problem+json", "/title"},
                                                             {"detail_object", "application/json", "/detail/code"},
                                                             {"html", "text/html; charset=utf-8", ""}}));
  Wire wire(assuming(("error_style=" + style).c_str()));
  const RawAnswer answer = wire.ask({.target = "/v1/me"});
  CHECK(answer.status == 401);
  CHECK(answer.header("content-type") == type);
  CHECK(answer.header("x-mock-assumed") == "error_style=" + style);
  CHECK(answer.header("www-authenticate") == "Bearer realm=\"workspace\"");
  if (member.empty()) {
    CHECK_THAT(answer.body, Contains("<h1>401 Unauthorized</h1>"));
  } else {
    CHECK(parse(answer).contains(Json::json_pointer(member)));
  }
  CHECK(parse(wire.ask({.target = "/v1/documents?limit=x", .token = wire.token()})).at("detail").is_array());
}

TEST_CASE("pipeline: list_extra and assumed_fields change assumed fields and keep published ones", "[server-mock]") {
  Wire wire;
  const std::string path = "/v1/documents/" + wire.new_document("t");
  wire.control("PATCH", "/assumptions", {{"list_extra", "unknown_fields"}});
  const Json extra = wire.get("/v1/documents");
  CHECK(extra.contains("x_unknown_text"));
  CHECK(extra.at("data").at(0).contains("x_unknown_object"));
  wire.control("PATCH", "/assumptions", {{"list_extra", "none"}, {"assumed_fields", "missing"}});
  const Json thin = wire.get(path);
  CHECK(thin.contains("id"));
  CHECK(thin.contains("content"));
  CHECK(thin.contains("content_revision"));
  CHECK_FALSE(thin.contains("title"));
  wire.control("PATCH", "/assumptions", {{"assumed_fields", "null"}});
  CHECK(wire.get(path).at("title").is_null());
}

TEST_CASE("pipeline: a revision that is not the expected one is 409, or 412 where that is assumed", "[server-mock]") {
  Wire wire;
  const std::string path = "/v1/documents/" + wire.new_document("t");
  const Json change = {{"content", "new"}, {"expected_content_revision", 9}};
  const RawAnswer refused = wire.send("PUT", path, change);
  CHECK(refused.status == 409);
  CHECK(parse(refused).at("current_content_revision") == 1);
  CHECK_THAT(refused.header("x-mock-assumed"), Contains("revision_mismatch=409"));
  wire.control("PATCH", "/assumptions", {{"revision_mismatch", "412"}});
  CHECK(wire.send("PUT", path, change).status == 412);
}

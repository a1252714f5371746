#include "api-client/client/request_builder.hpp"

#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "tests/support/client_world.hpp"

using namespace ws;
using ws::test::base_url;
using ws::test::secret_key;
using ws::test::some_id;

namespace {

ClientOptions options(std::string base = base_url) {
  return {.base_url = std::move(base), .credential = Credential{secret_key, "https://api.example.org:443"}};
}

Result<Prepared> prepare(const Call& call, const ClientOptions& settings = options()) {
  return prepare_request(call, settings, "fresh-key");
}

Failure refused(const Result<Prepared>& result) {
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == Failure::Kind::usage);
  return result.error();
}

}  // namespace

TEST_CASE("request: a read is its path and query, and nothing else", "[client]") {
  const auto prepared = prepare({.operation = "docs.list", .parameters = {{"limit", "5"}, {"cursor", "a/b c&d=é"}}});
  REQUIRE(prepared);
  CHECK(prepared->request.method == "GET");
  CHECK(prepared->request.url == "https://api.example.org/v1/documents?limit=5&cursor=a%2Fb%20c%26d%3D%C3%A9");
  CHECK(prepared->request.body.empty());
  CHECK(prepared->request.headers == http::Headers{{"Accept", "application/json"}, {"User-Agent", "ws"}});
  CHECK(prepared->request.connection == http::Connection::any);
  CHECK(prepared->idempotency_key.empty());
}

TEST_CASE("request: a create carries its body and a key", "[client]") {
  const Call call{.operation = "docs.create", .body = Json{{"title", "T"}, {"content", "# é\n"}}};
  const auto prepared = prepare(call);
  REQUIRE(prepared);
  CHECK(prepared->request.method == "POST");
  CHECK(prepared->request.body == R"({"title":"T","content":"# é\n"})");
  CHECK(http::find_header(prepared->request.headers, "Content-Type") == "application/json");
  CHECK(http::find_header(prepared->request.headers, "Idempotency-Key") == "fresh-key");
  Call keyed = call;
  keyed.idempotency_key = "mine";
  CHECK(http::find_header(prepare(keyed)->request.headers, "Idempotency-Key") == "mine");
}

TEST_CASE("request: only the operations that take a key get one", "[client]") {
  CHECK(prepare({.operation = "me.get"})->idempotency_key.empty());
  refused(prepare({.operation = "me.get", .idempotency_key = "k"}));
}

TEST_CASE("request: whatever a path value holds, it stays one segment", "[client]") {
  struct Row {
    std::string value, segment;
  };
  const Row row = GENERATE(Row{"a/b", "a%2Fb"},
                           Row{"..", "%2E%2E"},
                           Row{".", "%2E"},
                           Row{"a b?c#d%", "a%20b%3Fc%23d%25"},
                           Row{"é\n\x01", "%C3%A9%0A%01"},
                           Row{"x:y", "x%3Ay"},
                           Row{"{case_id}", "%7Bcase_id%7D"});
  const auto prepared =
      prepare({.operation = "tests.case_get", .parameters = {{"case_id", row.value}}, .validate = false});
  REQUIRE(prepared);
  CHECK(prepared->request.url == "https://api.example.org/v1/admin/tests/cases/" + row.segment);
}

TEST_CASE("request: what cannot be sent is refused before the network", "[client]") {
  CHECK(refused(prepare({.operation = "docs.fly"})).what == "there is no operation docs.fly");
  CHECK(refused(prepare({.operation = "docs.get"})).what == "docs.get: the parameter document_id is missing");
  refused(prepare({.operation = "docs.get", .parameters = {{"document_id", ""}}, .validate = false}));
  refused(prepare({.operation = "docs.get", .parameters = {{"document_id", some_id}, {"document_id", some_id}}}));
  refused(prepare({.operation = "docs.get", .parameters = {{"document_id", some_id}, {"colour", "red"}}}));
  refused(prepare({.operation = "docs.get", .parameters = {{"document_id", some_id}}, .body = Json::object()}));
  refused(prepare({.operation = "docs.create", .body = Json{{"title", "\xff"}, {"content", ""}}, .validate = false}));
  refused(prepare({.operation = "docs.create",
                   .body = Json{{"title", "T"}, {"content", ""}},
                   .idempotency_key = "a\r\nAuthorization: x"}));
}

TEST_CASE("request: a published limit is refused here, an assumed one only noted", "[client]") {
  const Failure limit = refused(prepare({.operation = "docs.list", .parameters = {{"limit", "101"}}}));
  CHECK(limit.code == "validation_error");
  CHECK(limit.what.find("query.limit") != std::string::npos);
  CHECK(limit.call.details.find("less_than_equal") != std::string::npos);
  refused(prepare({.operation = "docs.get", .parameters = {{"document_id", "not-a-uuid"}}}));
  refused(prepare({.operation = "docs.create",
                   .body = Json{{"title", "T"}, {"content", ""}},
                   .idempotency_key = std::string(129, 'k')}));
  refused(prepare({.operation = "comments.add", .parameters = {{"document_id", some_id}}, .body = Json{{"body", ""}}}));

  const Call assumed{.operation = "docs.create", .body = Json{{"title", std::string(301, 't')}, {"content", ""}}};
  const auto prepared = prepare(assumed);
  REQUIRE(prepared);
  REQUIRE(prepared->notices.size() == 1);
  CHECK(prepared->notices[0].find("body.title") != std::string::npos);
  CHECK(prepare({.operation = "docs.list", .parameters = {{"limit", "101"}}, .validate = false}));
}

TEST_CASE("request: plain http goes to loopback and to the hosts that are named exactly", "[client]") {
  const Call call{.operation = "me.get"};
  CHECK(prepare(call, options("http://127.0.0.1:8080")));
  CHECK(prepare(call, options("http://localhost:8080/prefix/"))->request.url == "http://localhost:8080/prefix/v1/me");
  refused(prepare(call, options("http://api.example.org")));
  ClientOptions named = options("http://mock:8080");
  named.allowed_http_hosts = {"mock:8080"};
  CHECK(prepare(call, named));
  named.allowed_http_hosts = {"mock"};
  refused(prepare(call, named));
  named.base_url = "http://mock";
  CHECK(prepare(call, named));
  named.base_url = "http://mock.example.org";
  refused(prepare(call, named));
}

TEST_CASE("request: a base URL is scheme, host and prefix", "[client]") {
  for (const char* const bad : {"",
                                "api.example.org",
                                "ftp://x",
                                "https://u:p@api.example.org",
                                "https://a?b=c",
                                "https://a#b",
                                "https://a\\b"}) {
    CAPTURE(bad);
    refused(prepare({.operation = "me.get"}, options(bad)));
  }
}

TEST_CASE("request: what nothing guards goes over a new connection, or one just used", "[client]") {
  const auto share = prepare({.operation = "docs.share",
                              .parameters = {{"document_id", some_id}},
                              .body = Json{{"email", "a@example.org"}, {"permission", "read"}}});
  REQUIRE(share);
  CHECK(share->request.connection == http::Connection::recent);
}

TEST_CASE("request: the key goes to the origin that issued it and to no other", "[client]") {
  const contract::Operation& operation = *contract::find_operation("me.get");
  const auto header_for = [&](std::string url, std::string origin) -> std::string {
    Prepared prepared{.operation = &operation, .request = {.url = std::move(url)}, .meaning = &operation};
    ClientOptions settings{.credential = Credential{secret_key, std::move(origin)}};
    const auto added = add_credential(prepared, settings);
    const auto header = http::find_header(prepared.request.headers, "Authorization");
    if (!added) {
      CHECK(added.error().kind == Failure::Kind::auth);
      CHECK(added.error().what.find(secret_key) == std::string::npos);
      CHECK_FALSE(header);
      return "refused";
    }
    return std::string(*header);
  };
  const std::string bearer = std::string("Bearer ") + secret_key;
  CHECK(header_for("https://api.example.org/v1/me", "https://api.example.org:443") == bearer);
  CHECK(header_for("https://API.example.org/v1/me", "https://api.example.org") == bearer);
  for (const char* const elsewhere : {"http://api.example.org/v1/me",
                                      "https://api.example.org:8443/v1/me",
                                      "https://evil.example/v1/me",
                                      "https://api.example.org.evil.example/v1/me",
                                      "https://api.example.org@evil.example/v1/me",
                                      "//api.example.org/v1/me",
                                      "/v1/me"}) {
    CAPTURE(elsewhere);
    CHECK(header_for(elsewhere, "https://api.example.org:443") == "refused");
  }
  CHECK(header_for("https://api.example.org/v1/me", "") == "refused");
  Prepared bare{.operation = &operation, .request = {.url = "https://api.example.org/v1/me"}, .meaning = &operation};
  CHECK_FALSE(add_credential(bare, {}));
  CHECK_FALSE(add_credential(bare, {.credential = Credential{"a\nb", "https://api.example.org"}}));
  bare.operation = bare.meaning = contract::find_operation("auth.start");
  CHECK(add_credential(bare, {}));
  CHECK_FALSE(http::find_header(bare.request.headers, "Authorization"));
}

TEST_CASE("request: the second key goes with the operations whose scope it has, also with those of any path",
          "[client]") {
  const ClientOptions settings{
      .base_url = "https://api.example.org",
      .credential = Credential{secret_key, "https://api.example.org"},
      .second = SecondCredential{{"wsk_second", "https://api.example.org"}, {"documents:share"}}};
  const auto key_of = [&](Result<Prepared> prepared) {
    REQUIRE(prepared);
    REQUIRE(add_credential(*prepared, settings));
    return std::string(*http::find_header(prepared->request.headers, "Authorization"));
  };
  const Call share{.operation = "docs.share",
                   .parameters = {{"document_id", some_id}},
                   .body = Json{{"email", "a@example.org"}, {"permission", "read"}}};
  CHECK(key_of(prepare_request(share, settings, "")) == "Bearer wsk_second");
  CHECK(key_of(prepare_request({.operation = "me.get"}, settings, "")) == std::string("Bearer ") + secret_key);
  const AnyCall any{.method = "POST", .path = std::string("/v1/documents/") + some_id + "/shares"};
  CHECK(key_of(prepare_any(any, settings, "")) == "Bearer wsk_second");
}

TEST_CASE("request: a header is a token and one line, whoever asks for it", "[client]") {
  const std::string name = GENERATE("Authorization\t", "Host ", " Host", "X-A:b", "X\r\nHost", "");
  CAPTURE(name);
  refused(prepare({.operation = "me.get", .headers = {{name, "v"}}}));
  refused(prepare_any({.method = "GET", .path = "/v1/me", .headers = {{name, "v"}}}, options(), "fresh-key"));
  const auto put = prepare_put({.url = "https://files.example/a", .headers = {{name, "v"}}}, options());
  REQUIRE_FALSE(put);
  CHECK(put.error().kind == Failure::Kind::internal);
  CHECK(put.error().code == "unusable_answer");
}

TEST_CASE("request: a header's value stays on its line", "[client]") {
  const std::string value =
      GENERATE(std::string("a\r\nHost: evil.example"), std::string("a\nb"), std::string("a\0b", 3));
  refused(prepare({.operation = "me.get", .headers = {{"X-A", value}}}));
  const auto put = prepare_put({.url = "https://files.example/a", .headers = {{"X-A", value}}}, options());
  REQUIRE_FALSE(put);
  CHECK(put.error().code == "unusable_answer");
  CHECK(prepare_put({.url = "https://files.example/a", .headers = {{"X-A", "a b"}}}, options()));
}

TEST_CASE("request: any request means what the table says of its method and path", "[client]") {
  const auto moved = prepare_any({.method = "POST", .path = "/v1/nodes/n%2F1:move?x=1"}, options(), "fresh-key");
  REQUIRE(moved);
  CHECK(moved->operation->id == "api");
  CHECK(moved->meaning->id == "nodes.move");
  CHECK(moved->parameters == std::vector<std::pair<std::string, std::string>>{{"node_id", "n/1"}});
  CHECK(prepare_any({.method = "POST", .path = "/v1/nothing"}, options(), "fresh-key")->meaning->id == "api");
}

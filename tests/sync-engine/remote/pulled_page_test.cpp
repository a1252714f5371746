#include "sync-engine/remote/pulled_page.hpp"

#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sync-engine/remote/api_remote.hpp"
#include "tests/support/client_world.hpp"

namespace ws::sync {
namespace {

using http::Broken;
using http::Outcome;
using ws::test::broken;
using ws::test::ClientWorld;
using ws::test::json_response;

constexpr const char* tied_source = ws::test::some_id;

std::string document_of(int n, const std::string& text = "x\n") {
  return dump(Json{{"document_id", "d" + std::to_string(n)},
                   {"path", "f" + std::to_string(n) + ".md"},
                   {"content_revision", n},
                   {"content", text},
                   {"content_sha256", Sha256::of(text).hex()}});
}

std::string page_of(const std::vector<std::string>& documents, const std::string& next = "") {
  std::string list;
  for (const std::string& one : documents) list += (list.empty() ? "" : ",") + one;
  return R"({"source_id":")" + std::string(tied_source) + R"(","revision":7,"since_revision":0,"data":[)" + list +
         R"(],"next_cursor":)" + (next.empty() ? "null" : '"' + next + '"') + "}";
}

struct PulledAll {
  std::vector<std::string> documents = {};
  Result<PullEnd> end = PullEnd{};
};

PulledAll pull_all(ClientWorld& world) {
  PulledAll pulled;
  const auto remote = make_api_remote(world.client);
  pulled.end = remote->pull(tied_source, 0, [&](PulledItem item) {
    pulled.documents.push_back(item.document.text);
    return Result<void>();
  });
  return pulled;
}

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("pull: page after page, each document as it comes", "[sync-engine]") {
  ClientWorld world(ClientWorld::in_turn({json_response(200, page_of({document_of(1), document_of(2)}, "more")),
                                          json_response(200, page_of({document_of(3)}))}));
  const PulledAll pulled = pull_all(world);
  REQUIRE(pulled.end);
  CHECK(pulled.documents == Ids{"d1", "d2", "d3"});
  CHECK(pulled.end->revision == 7);
  CHECK(pulled.end->source_id == tied_source);
  CHECK(pulled.end->complete);
  CHECK(world.transport.requests()[1].url.find("cursor=more") != std::string::npos);
}

TEST_CASE("pull: a page that is cut comes again, as often as any call", "[sync-engine]") {
  const std::string whole = page_of({document_of(1), document_of(2)});
  int cuts = 1;
  ClientWorld world([&](const http::Request& request) -> std::optional<Outcome> {
    if (cuts-- <= 0) return json_response(200, whole);
    REQUIRE(request.sink(whole.substr(0, whole.find("d2"))));
    return broken(Broken::Stage::no_answer);
  });
  SECTION("once") {
    const PulledAll pulled = pull_all(world);
    REQUIRE(pulled.end);
    CHECK(pulled.documents == Ids{"d1", "d1", "d2"});
    CHECK(world.sends() == 2);
    CHECK(world.client.budget().retries_left == ws::http::RetryBudget{}.retries_left - 1);
  }
  SECTION("for ever") {
    cuts = 100;
    const PulledAll pulled = pull_all(world);
    REQUIRE_FALSE(pulled.end);
    CHECK(pulled.end.error().kind == Failure::Kind::unreachable);
    CHECK(world.sends() == 3);
  }
}

TEST_CASE("pull: what is no page is not usable, and nothing is sent again", "[sync-engine]") {
  const std::string body = GENERATE(as<std::string>{},
                                    R"({"data":[1)",
                                    R"({"data":[{]})",
                                    R"({"data":{}})",
                                    R"({"items":[]})",
                                    R"({"data":[{"path":"no-id.md"}]})");
  CAPTURE(body);
  ClientWorld world(ClientWorld::in_turn({json_response(200, body)}));
  const PulledAll pulled = pull_all(world);
  REQUIRE_FALSE(pulled.end);
  CHECK(pulled.end.error().code == "unusable_answer");
  CHECK(world.sends() == 1);
  CHECK(pulled.documents.empty());
}

TEST_CASE("pull: a text that is not what its hash says, and one over the bound, end it", "[sync-engine]") {
  std::string other = document_of(1);
  other.replace(other.find("x\\n"), 3, "y\\n");
  ClientWorld changed(ClientWorld::in_turn({json_response(200, page_of({other}))}));
  CHECK(pull_all(changed).end.error().kind == Failure::Kind::integrity);
  ClientWorld huge(ClientWorld::in_turn({json_response(200, page_of({document_of(1, std::string(9'000'000, 'x'))}))}));
  const PulledAll pulled = pull_all(huge);
  REQUIRE_FALSE(pulled.end);
  CHECK(pulled.end.error().code == "unusable_answer");
  // Many that are large are no matter.
  std::vector<std::string> large;
  for (int i = 0; i < 10; ++i) large.push_back(document_of(i, std::string(7'000'000, 'x')));
  ClientWorld many(ClientWorld::in_turn({json_response(200, page_of(large))}));
  CHECK(pull_all(many).documents.size() == 10);
}

TEST_CASE("pull: pages without end that hold nothing are given up", "[sync-engine]") {
  int page = 0;
  ClientWorld world([&](const http::Request&) { return json_response(200, page_of({}, std::to_string(++page))); });
  const PulledAll pulled = pull_all(world);
  REQUIRE_FALSE(pulled.end);
  CHECK(pulled.end.error().code == "endless_list");
}

TEST_CASE("pull: texts that were left out come afterwards, many at a time", "[sync-engine]") {
  ClientWorld world([](const http::Request& request) {
    const std::string id = request.url.substr(request.url.rfind('/') + 1);
    return json_response(200, dump(Json{{"id", id}, {"content_revision", 3}, {"content", "text of " + id}}));
  });
  std::vector<DocumentId> wanted;
  for (int i = 0; i < 20; ++i) wanted.push_back({std::string(ws::test::some_id).replace(0, 2, std::to_string(10 + i))});
  std::map<std::string, std::string> texts;
  const auto done =
      make_api_remote(world.client)->contents(wanted, [&](const DocumentId& document, Result<PulledItem> item) {
        REQUIRE(item);
        texts[document.text] = *item->content;
        return Result<void>();
      });
  if (!done) FAIL(done.error().what);
  REQUIRE(texts.size() == 20);
  for (const DocumentId& document : wanted) CHECK(texts[document.text] == "text of " + document.text);
}

TEST_CASE("pull: a refusal is read as ever", "[sync-engine]") {
  ClientWorld world(ClientWorld::in_turn({json_response(404, R"({"code":"not_found","message":"no such source"})")}));
  const PulledAll pulled = pull_all(world);
  REQUIRE_FALSE(pulled.end);
  CHECK(pulled.end.error().kind == Failure::Kind::not_found);
}

}  // namespace ws::sync

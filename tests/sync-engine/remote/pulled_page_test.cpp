#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sync-engine/remote/answers.hpp"
#include "sync-engine/remote/api_remote.hpp"
#include "tests/support/client_world.hpp"

namespace ws::sync {
namespace {

using http::Outcome;
using http::TransportError;
using ws::test::ClientWorld;
using ws::test::json_response;
using ws::test::transport_error;

constexpr const char* tied_source = ws::test::some_id;

std::string id_of(int n) { return fmt::format("00000000-0000-7000-8000-{:012}", n); }

std::string document_of(int n, const std::string& text = "x\n") {
  return dump(Json{{"document_id", id_of(n)},
                   {"path", "f" + std::to_string(n) + ".md"},
                   {"content_revision", n},
                   {"content", text},
                   {"content_sha256", Sha256::of(text).hex()}});
}

std::string page_of(const std::vector<std::string>& documents, const std::string& next = "") {
  std::string list;
  for (const std::string& one : documents) list += (list.empty() ? "" : ",") + one;
  return R"({"source_id":")" + std::string(tied_source) + R"(","revision":7,"since_revision":0,"data":[)" + list +
         R"(],"next_cursor":)" + (next.empty() ? "null" : next) + "}";
}

struct PulledAll {
  std::vector<std::string> documents = {};
  std::vector<PulledItem> items = {};
  Result<PullEnd> end = PullEnd{};
};

PulledAll pull_all(ClientWorld& world) {
  PulledAll pulled;
  const auto remote = make_api_remote(world.client);
  pulled.end = remote->pull(tied_source, {}, [&](PulledItem item) {
    pulled.documents.push_back(item.document.text());
    pulled.items.push_back(std::move(item));
    return Result<void>();
  });
  return pulled;
}

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("pull: page after page, each document as it comes", "[sync-engine]") {
  ClientWorld world(ClientWorld::in_turn({json_response(200, page_of({document_of(1), document_of(2)}, R"("more")")),
                                          json_response(200, page_of({document_of(3)}))}));
  const PulledAll pulled = pull_all(world);
  REQUIRE(pulled.end);
  CHECK(pulled.documents == Ids{id_of(1), id_of(2), id_of(3)});
  CHECK(pulled.end->revision == SourceRevision{7});
  CHECK(pulled.end->source_id == tied_source);
  CHECK(pulled.end->complete);
  CHECK(world.transport.requests()[1].url.find("cursor=more") != std::string::npos);
}

TEST_CASE("pull: a page that is cut comes again, as often as any call", "[sync-engine]") {
  const std::string whole = page_of({document_of(1), document_of(2)});
  int cuts = 1;
  ClientWorld world([&](const http::Request& request) -> std::optional<Outcome> {
    if (cuts-- <= 0) return json_response(200, whole);
    REQUIRE(request.sink(whole.substr(0, whole.find(id_of(2)))));
    return transport_error(TransportError::Stage::no_answer);
  });
  SECTION("once") {
    const PulledAll pulled = pull_all(world);
    REQUIRE(pulled.end);
    CHECK(pulled.documents == Ids{id_of(1), id_of(1), id_of(2)});
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
  const std::string body = GENERATE(
      as<std::string>{}, R"({"data":[1)", R"({"data":[{]})", R"({"data":{}})", R"({"items":[]})", R"({"data":[1]})");
  CAPTURE(body);
  ClientWorld world(ClientWorld::in_turn({json_response(200, body)}));
  const PulledAll pulled = pull_all(world);
  REQUIRE_FALSE(pulled.end);
  CHECK(pulled.end.error().code == "unusable_answer");
  CHECK(world.sends() == 1);
  CHECK(pulled.documents.empty());
}

TEST_CASE("pull: a text that is not what its hash says, no Unicode or over the bound is missing, and no other",
          "[sync-engine]") {
  std::string bad = document_of(2);
  const std::size_t text = bad.find("x\\n");
  SECTION("another text") { bad.replace(text, 1, "y"); }
  SECTION("half a surrogate") { bad.replace(text, 1, "\\ud800"); }
  SECTION("no UTF-8") { bad.replace(text, 1, "\xff"); }
  SECTION("over the bound") { bad = document_of(2, std::string(9'000'000, 'x')); }
  SECTION("over the bound, its text first") {
    bad = R"({"content":")" + std::string(9'000'000, 'x') + R"(","path":"f2.md","document_id":")" + id_of(2) + R"("})";
  }
  ClientWorld world(ClientWorld::in_turn({json_response(200, page_of({document_of(1), bad, document_of(3)}))}));
  const PulledAll pulled = pull_all(world);
  REQUIRE(pulled.end);
  CHECK(pulled.documents == Ids{id_of(1), id_of(2), id_of(3)});
  CHECK(pulled.items[0].content == "x\n");
  CHECK_FALSE(pulled.items[0].damage);
  REQUIRE(pulled.items[1].damage);
  CHECK(pulled.items[1].damage->kind == Failure::Kind::integrity);
  CHECK(pulled.items[1].path == "f2.md");
  CHECK_FALSE(pulled.items[1].content);
  CHECK_FALSE(pulled.items[1].hash);
  CHECK_FALSE(pulled.items[2].damage);
}

TEST_CASE("pull: any number of large texts is no matter", "[sync-engine]") {
  std::vector<std::string> large;
  for (int i = 0; i < 10; ++i) large.push_back(document_of(i, std::string(7'000'000, 'x')));
  ClientWorld many(ClientWorld::in_turn({json_response(200, page_of(large))}));
  CHECK(pull_all(many).documents.size() == 10);
}

TEST_CASE("pull: pages without end that hold nothing are given up", "[sync-engine]") {
  int page = 0;
  ClientWorld world(
      [&](const http::Request&) { return json_response(200, page_of({}, '"' + std::to_string(++page) + '"')); });
  const PulledAll pulled = pull_all(world);
  REQUIRE_FALSE(pulled.end);
  CHECK(pulled.end.error().code == "endless_list");
}

TEST_CASE("pull: the documents and the bytes of all its pages together are bounded", "[sync-engine]") {
  int page = 0;
  ClientWorld world([&](const http::Request&) {
    ++page;
    return json_response(200, page_of({document_of(2 * page), document_of(2 * page + 1)}, std::to_string(page)));
  });
  const auto pulled = [&](const PullBounds& bounds) {
    page = 0;
    std::size_t documents = 0;
    const auto end = make_api_remote(world.client, bounds)->pull(tied_source, {}, [&](const PulledItem&) {
      ++documents;
      return Result<void>();
    });
    REQUIRE_FALSE(end);
    CHECK(end.error().code == "unusable_answer");
    return std::pair(documents, end.error().what);
  };
  const auto many = pulled({.items = 9});
  CHECK(many.first == 9);
  CHECK(many.second.find("a pull of more than 9 documents") != std::string::npos);
  const auto large = pulled({.bytes = 10'000});
  CHECK(large.first < 100);
  CHECK(large.second.find("a pull of more than 10000 bytes") != std::string::npos);
}

TEST_CASE("pull: texts that were left out come afterwards, many at a time", "[sync-engine]") {
  ClientWorld world([](const http::Request& request) {
    const std::string id = request.url.substr(request.url.rfind('/') + 1);
    return json_response(200, dump(Json{{"id", id}, {"content_revision", 3}, {"content", "text of " + id}}));
  });
  std::vector<DocumentId> wanted;
  for (int i = 0; i < 20; ++i)
    wanted.emplace_back(std::string(ws::test::some_id).replace(0, 2, std::to_string(10 + i)));
  std::map<std::string, std::string> texts;
  const auto done =
      make_api_remote(world.client)->contents(wanted, [&](const DocumentId& document, Result<PulledItem> item) {
        REQUIRE(item);
        texts[document.text()] = *item->content;
        return Result<void>();
      });
  if (!done) FAIL(done.error().what);
  REQUIRE(texts.size() == 20);
  for (const DocumentId& document : wanted) CHECK(texts[document.text()] == "text of " + document.text());
}

TEST_CASE("pull: a refusal is read as ever", "[sync-engine]") {
  ClientWorld world(ClientWorld::in_turn({json_response(404, R"({"code":"not_found","message":"no such source"})")}));
  const PulledAll pulled = pull_all(world);
  REQUIRE_FALSE(pulled.end);
  CHECK(pulled.end.error().kind == Failure::Kind::not_found);
}

TEST_CASE("pull: a next_cursor that is a number is its digits, anything else does not end the list in silence",
          "[sync-engine]") {
  ClientWorld world(ClientWorld::in_turn(
      {json_response(200, page_of({document_of(1)}, "17")), json_response(200, page_of({document_of(2)}))}));
  const PulledAll pulled = pull_all(world);
  REQUIRE(pulled.end);
  CHECK(pulled.documents == Ids{id_of(1), id_of(2)});
  CHECK(world.transport.requests()[1].url.find("cursor=17") != std::string::npos);
  ClientWorld odd(ClientWorld::in_turn({json_response(200, page_of({}, GENERATE("{}", "true", "1.5", "[\"c\"]")))}));
  CHECK(pull_all(odd).end.error().code == "unusable_answer");
}

TEST_CASE("pull: three sends a page, whatever cuts them", "[sync-engine]") {
  const std::string whole = page_of({document_of(1)});
  int sends = 0;
  ClientWorld world([&](const http::Request& request) -> std::optional<Outcome> {
    if (++sends % 3 != 0) return json_response(502, "");
    REQUIRE(request.sink(whole.substr(0, whole.size() / 2)));
    return transport_error(TransportError::Stage::no_answer);
  });
  CHECK_FALSE(pull_all(world).end);
  CHECK(world.sends() == 3);
}

TEST_CASE("pull: a document without an id that could be asked for comes without it", "[sync-engine]") {
  const char* const id = GENERATE("", R"("document_id":"doc-7",)", R"("document_id":5,)", R"("id":"../etc",)");
  const std::string nameless = std::string("{") + id + R"("path":"a.md","content":"x\n"})";
  ClientWorld world(ClientWorld::in_turn({json_response(200, page_of({nameless, document_of(1)}))}));
  const PulledAll pulled = pull_all(world);
  REQUIRE(pulled.end);
  CHECK(pulled.documents == Ids{"", id_of(1)});
  CHECK(pulled.items[0].path == "a.md");
}

TEST_CASE("pull: a revision and a deletion are read in any form that means them", "[sync-engine]") {
  const auto item_with = [](const std::string& members) {
    ClientWorld world(ClientWorld::in_turn(
        {json_response(200, page_of({R"({"document_id":")" + id_of(1) + R"(","path":"a.md",)" + members + "}"}))}));
    return pull_all(world).items.at(0);
  };
  for (const char* const two : {"2", "2.0", "\"2\""}) {
    CAPTURE(two);
    CHECK(item_with(std::string(R"("content_revision":)") + two).revision == DocumentRevision{2});
  }
  for (const char* const none : {"-2", "2.5", "\"two\"", "\"2 \"", "\"\"", "1e300", "null", "{}"}) {
    CAPTURE(none);
    CHECK(item_with(std::string(R"("content_revision":)") + none).revision == DocumentRevision{0});
  }
  for (const char* const yes : {"true", "1", "\"true\""}) CHECK(item_with(std::string(R"("deleted":)") + yes).deleted);
  for (const char* const no : {"false", "0", "\"false\"", "null", "\"\"", "[]"}) {
    CHECK_FALSE(item_with(std::string(R"("deleted":)") + no).deleted);
  }
}

TEST_CASE("answers: a source without an id is the one that was asked for", "[sync-engine]") {
  ClientWorld world([](const http::Request&) { return json_response(200, R"({"revision":3,"open_conflicts":[]})"); });
  const auto found = make_api_remote(world.client)->find_source(tied_source);
  REQUIRE(found);
  CHECK(found->id == tied_source);
  CHECK(found->revision == SourceRevision{3});
  CHECK_FALSE(make_api_remote(world.client)->create_source({.name = "n"}));
}

TEST_CASE("answers: no id but a UUID is asked for or taken over", "[sync-engine]") {
  ClientWorld world(
      [](const http::Request&) { return json_response(200, R"({"result":{"document_id":"doc-7","path":"a.md"}})"); });
  const auto remote = make_api_remote(world.client);
  const auto there = remote->find_conflict("conf-1");
  REQUIRE(there);
  CHECK(there->state == ConflictState::unknown);
  CHECK(world.sends() == 0);
  const auto result = remote->resolve({.conflict_id = ws::test::some_id, .expected_revision = {1}});
  REQUIRE(result);
  CHECK((*result)->document.empty());
}

}  // namespace ws::sync

// How a push is cut into requests, and what an answer of which nothing can be made comes to.
#include <optional>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sync-engine/remote/api_remote.hpp"
#include "tests/support/client_world.hpp"

namespace ws::sync {
namespace {

using ws::test::ClientWorld;
using ws::test::json_response;

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

std::vector<PushItem> items_of(const std::vector<std::string>& texts) {
  std::vector<PushItem> items;
  for (const std::string& text : texts) {
    items.push_back({.kind = ActionKind::push_create,
                     .path = *RelativePath::parse("f" + std::to_string(items.size()) + ".md"),
                     .hash = Sha256::of(text),
                     .size_bytes = text.size()});
  }
  return items;
}

Result<PushAnswer> push_all(ClientWorld& world, const std::vector<std::string>& texts) {
  std::size_t next = 0;
  return make_api_remote(world.client)
      ->push(ws::test::some_id,
             ws::test::some_id,
             items_of(texts),
             [&](std::size_t) -> Result<std::optional<std::string>> { return texts[next++]; });
}

}  // namespace

TEST_CASE("push: no request is longer than a service takes, however a text is written in JSON", "[sync-engine]") {
  ClientWorld world([](const http::Request&) { return json_response(200, R"({"push_id":"p","rejected":[]})"); });
  const auto text = GENERATE(std::string(mebibyte, '\x01'), std::string(mebibyte, '"'), std::string(mebibyte, 'x'));
  const auto pushed = push_all(world, std::vector<std::string>(7, text));
  if (!pushed) FAIL(pushed.error().what);
  std::size_t items = 0;
  for (const http::Request& request : world.transport.requests()) {
    CHECK(request.body.size() <= 8 * mebibyte);
    items += parse_bounded(request.body)->at("items").size();
  }
  CHECK(items == 7);
}

TEST_CASE("push: an item whose text is left out is in no request", "[sync-engine]") {
  ClientWorld world([](const http::Request&) { return json_response(200, R"({"push_id":"p","rejected":[]})"); });
  const auto text = [](std::size_t place) -> Result<std::optional<std::string>> {
    return place == 1 ? std::nullopt : std::optional<std::string>("text\n");
  };
  const std::vector<PushItem> items = items_of({"text\n", "text\n", "text\n"});
  REQUIRE(make_api_remote(world.client)->push(ws::test::some_id, ws::test::some_id, items, text));
  REQUIRE(world.transport.requests().size() == 1);
  const Json sent = parse_bounded(world.transport.requests().front().body)->at("items");
  REQUIRE(sent.size() == 2);
  CHECK(sent[0].at("path") == "f0.md");
  CHECK(sent[1].at("path") == "f2.md");
}

TEST_CASE("push: texts that were staged nobody knows where are an unknown outcome", "[sync-engine]") {
  ClientWorld world([](const http::Request&) { return json_response(200, "{}"); });
  const auto pushed = push_all(world, {"text\n"});
  REQUIRE_FALSE(pushed);
  CHECK(pushed.error().kind == Failure::Kind::unknown_outcome);
  CHECK(pushed.error().call.applied == Applied::unknown);
  CHECK(pushed.error().call.operation == "sync.push");
}

TEST_CASE("plan: one without an id is not usable", "[sync-engine]") {
  ClientWorld world([](const http::Request&) { return json_response(200, "{}"); });
  const auto planned = make_api_remote(world.client)->plan(ws::test::some_id, {1}, ws::test::some_id, {});
  REQUIRE_FALSE(planned);
  CHECK(planned.error().code == "unusable_answer");
}

}  // namespace ws::sync

#include <catch2/catch.hpp>

#include "api-client/base/sha256.hpp"
#include "server-mock/pages/pages.hpp"
#include "tests/server-mock/wire.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;
using Catch::Matchers::Contains;

namespace {

RawAnswer get(Wire& wire, const std::string& target, const std::string& method = "GET") {
  return wire.ask({.method = method, .target = target});
}

}  // namespace

TEST_CASE("skill: every file of the manifest is there, without a key, with the hash that it tells", "[server-mock]") {
  Wire wire;
  const std::string at = std::string(pages::skill_path);
  const Json manifest = parse(get(wire, at + "/manifest.json"));
  CHECK(manifest == parse(get(wire, at)));
  CHECK(manifest.at("name") == "service-operate-workspace");
  REQUIRE(manifest.at("files").size() >= 1);
  for (const Json& file : manifest.at("files")) {
    const RawAnswer answer = get(wire, at + "/" + file.at("path").get<std::string>());
    REQUIRE(answer.status == 200);
    CHECK(Sha256::of(answer.body).hex() == file.at("sha256"));
    CHECK(answer.body.size() == file.at("size_bytes"));
  }
}

TEST_CASE("skill: the skill file tells to read first and what stays outside", "[server-mock]") {
  Wire wire;
  const RawAnswer answer = get(wire, "/skill/service-operate-workspace/SKILL.md");
  CHECK(answer.header("content-type") == "text/markdown; charset=utf-8");
  CHECK(answer.body.starts_with("---\nname: service-operate-workspace\n"));
  CHECK_THAT(answer.body, Contains("one authorized read") && Contains("What stays outside"));
}

TEST_CASE("skill: discovery names its address", "[server-mock]") {
  Wire wire;
  CHECK_THAT(wire.get("/v1").at("skill_url").get<std::string>(), Catch::EndsWith(std::string(pages::skill_path)));
}

TEST_CASE("skill: what is not there is 404, what is there is read only", "[server-mock]") {
  Wire wire;
  CHECK(get(wire, "/skill/service-operate-workspace/../secret").status == 404);
  CHECK(get(wire, "/skill/other/SKILL.md").status == 404);
  const RawAnswer answer = get(wire, "/skill/service-operate-workspace/SKILL.md", "DELETE");
  CHECK(answer.status == 405);
  CHECK(answer.header("allow") == "GET, HEAD, OPTIONS");
}

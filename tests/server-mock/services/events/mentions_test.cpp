#include <catch2/catch.hpp>

#include "server-mock/services/events/notify.hpp"
#include "tests/server-mock/services/service_world.hpp"

namespace ws::mock::test {
namespace {

const std::vector<Handle> known_handles = {{.text = "scout", .agent_id = "a1"},
                                           {.text = "scout-two", .agent_id = "a2"},
                                           {.text = "Deep Thought", .agent_id = "a3"},
                                           {.text = "mara"}};

/// The handles that are found, joined by blanks.
std::string mentioned(std::string_view body) {
  std::string text;
  for (const Handle& handle : find_mentions(body, known_handles)) text += (text.empty() ? "" : " ") + handle.text;
  return text;
}

struct Case {
  std::string_view body = {};
  std::string_view mentions = {};
};

}  // namespace

TEST_CASE("mentions: a handle is found at the start, at the end, and before punctuation", "[server-mock]") {
  const auto [body, mentions] = GENERATE(values<Case>({
      {"@scout", "scout"},
      {"Ask @scout, please", "scout"},
      {"Ask @scout.", "scout"},
      {"Is it @scout?", "scout"},
      {"(@scout)", "scout"},
      {"@scout: look", "scout"},
      {"@scout's turn", "scout"},
      {"**@scout** and _@mara_", "scout"},
      {"@scout\n@mara", "scout mara"},
      {"see...@scout", "scout"},
      {"@scout... hm", "scout"},
      {"@scout- no", "scout"},
      {"请@scout看", "scout"},
      {"“@scout”", "scout"},
      {"@scout—now", "scout"},
  }));
  CAPTURE(body);
  // `_@mara_` ends in a character that a handle may hold: it is none.
  CHECK(mentioned(body) == mentions);
}

TEST_CASE("mentions: email addresses, packages, longer names and escapes are no mentions", "[server-mock]") {
  const auto body = GENERATE(values<std::string_view>({
      "tom@scout",
      "mail tom.x@scout.example or é@scout",
      "@scout@example.com",
      "@scout.org",
      "@scout/package",
      "https://example.com/@scout",
      "@scouting",
      "@scout2",
      "@scout_",
      "@scout-2",
      "@scoutá",
      "@@scout",
      "\\@scout",
      "@ scout",
      "@",
      "@nobody",
      "",
  }));
  CAPTURE(body);
  CHECK(mentioned(body).empty());
}

TEST_CASE("mentions: text in code is no mention, text beside it is", "[server-mock]") {
  const auto [body, mentions] = GENERATE(values<Case>({
      {"`@scout`", ""},
      {"`` a ` @scout ``", ""},
      {"`x` @scout", "scout"},
      {"`@mara` @scout `@mara`", "scout"},
      {"a ` b @scout", "scout"},
      {"a `` b ` @scout", "scout"},
      {"\\`@scout`", "scout"},
      {"```\n@mara\n```\n@scout", "scout"},
      {"```sh\n@mara\n", ""},
      {"~~~\n@mara\n```\n@mara\n~~~~\n@scout", "scout"},
      {"   ```\n@mara\n   ```", ""},
      {"    ```\n@scout\n", "scout"},
      {"```\n@mara`\n``` not closed\n@mara", ""},
      {"``` @mara ``` @scout", "scout"},
      {"```\r\n@mara\r\n```\r\n@scout", "scout"},
  }));
  CAPTURE(body);
  CHECK(mentioned(body) == mentions);
}

TEST_CASE("mentions: the longest handle wins, without case, no duplicates, in order of the text", "[server-mock]") {
  CHECK(mentioned("@scout-two") == "scout-two");
  CHECK(mentioned("@deep thought, @Deep Thought!") == "Deep Thought");
  CHECK(mentioned("@MARA then @Scout then @scout") == "mara scout");
}

TEST_CASE("mentions: a Workspace's agents and people can be mentioned, revoked agents and strangers cannot",
          "[server-mock]") {
  ServiceWorld world;
  world.add_person("Ida.Berg", "viewer");
  auto found = handles_in(*world.world, world.built_in.workspace_id);
  REQUIRE(found);
  const Handle scout = {.text = "scout", .agent_id = world.built_in.agent_id};
  CHECK(*found == std::vector<Handle>{scout, {.text = "ida.berg"}, {.text = "mara"}, {.text = "tomas"}});

  REQUIRE(world.world->database.execute("update agents set status = 'revoked'"));
  found = handles_in(*world.world, world.built_in.workspace_id);
  REQUIRE(found);
  CHECK(found->front().text == "ida.berg");
  CHECK(handles_in(*world.world, world.built_in.other_workspace_id)->size() == 2);
}

}  // namespace ws::mock::test

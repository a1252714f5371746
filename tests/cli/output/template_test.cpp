#include "cli/output/template.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace ws;
using namespace ws::cli;

namespace {

std::string filled(std::string_view text, const Json& item) {
  const auto parsed = Template::parse(text);
  REQUIRE(parsed);
  return parsed->fill(item);
}

}  // namespace

TEST_CASE("template: members stand in their places, a missing one is empty", "[cli]") {
  const Json item = {{"id", "7"}, {"by", {{"name", "Mira"}}}, {"n", 3}, {"list", {1, 2}}, {"none", nullptr}};
  CHECK(filled("{id}\\t{by.name}: {n}", item) == "7\tMira: 3");
  CHECK(filled("[{none}{missing}{by.age}]", item) == "[]");
  CHECK(filled("{list} {list.1} {by}", item) == R"([1,2] 2 {"name":"Mira"})");
}

TEST_CASE("template: a member adds no line and no column, as in TSV", "[cli]") {
  CHECK(filled("{title}\\t{id}\\n", {{"id", 7}, {"title", "Old\nOld\t8\r\\"}}) == "Old\\nOld\\t8\\r\\\\\t7\n");
}

TEST_CASE("template: braces, backslashes and other text", "[cli]") {
  CHECK(filled("{{{id}}}", {{"id", 1}}) == "{1}");
  CHECK(filled("a\\nb\\\\c\\d", {}) == "a\nb\\c\\d");
  CHECK(filled("", {}).empty());
}

TEST_CASE("template: a brace that is not closed is refused", "[cli]") {
  CHECK(Template::parse("{id").error().kind == Failure::Kind::usage);
  CHECK(Template::parse("x {} y").error().kind == Failure::Kind::usage);
}

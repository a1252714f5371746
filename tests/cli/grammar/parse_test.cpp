#include "cli/grammar/parse.hpp"

#include <catch2/catch.hpp>

using namespace ws;
using namespace ws::cli;

namespace {

Command sample() {
  return {.words = "docs create",
          .arguments = {{.placeholder = "TITLE"}, {.placeholder = "REST", .count = Count::any}},
          .flags = {{.name = "project-id", .placeholder = "ID"},
                    {.name = "message", .letter = 'm', .placeholder = "TEXT"},
                    {.letter = 'F', .placeholder = "K=V", .is_repeated = true},
                    {.name = "all"}}};
}

}  // namespace

TEST_CASE("parse: flags may stand before, between and behind the words", "[cli]") {
  const auto parsed = parse(sample(), {"--json", "Notes", "-m", "hello", "more", "--project-id=7"});
  REQUIRE(parsed);
  CHECK(parsed->words == std::vector<std::string>{"Notes", "more"});
  CHECK(parsed->value("message") == "hello");
  CHECK(parsed->value("project-id") == "7");
  CHECK(parsed->has("json"));
  CHECK_FALSE(parsed->has("all"));
}

TEST_CASE("parse: values and words keep every character", "[cli]") {
  const std::string text =
      GENERATE(as<std::string>{}, "[draft]", "[a,b]", "", "-", "a=b", "'x'", "\"q\"", "--5", "ä,ö");
  CAPTURE(text);
  const auto parsed = parse(sample(), {"-m", text, "--", text});
  REQUIRE(parsed);
  CHECK(parsed->value("message") == text);
  CHECK(parsed->words == std::vector<std::string>{text});
}

TEST_CASE("parse: a repeated flag keeps all values where it may, else the last", "[cli]") {
  const auto parsed = parse(sample(), {"x", "-F", "a=[1,2]", "-F", "b=2", "-m", "one", "-m", "two"});
  REQUIRE(parsed);
  CHECK(parsed->values("F") == std::vector<std::string>{"a=[1,2]", "b=2"});
  CHECK(parsed->value("message") == "two");
}

TEST_CASE("parse: underscores in a flag's name are hyphens, in its value they stay", "[cli]") {
  const auto parsed = parse(sample(), {"x", "--project_id", "a_b"});
  REQUIRE(parsed);
  CHECK(parsed->value("project-id") == "a_b");
}

TEST_CASE("parse: an unknown flag names the nearest one", "[cli]") {
  const auto parsed = parse(sample(), {"x", "--mesage=hi"});
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().kind == Failure::Kind::usage);
  CHECK(parsed.error().what == "`ws docs create` has no flag --mesage");
  CHECK(parsed.error().hint == "did you mean `--message`?");
}

TEST_CASE("parse: a flag that is an argument is said to be one, whatever flag is near", "[cli]") {
  const auto parsed = parse(sample(), {"--title", "x"});
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().hint.starts_with("give it as the argument TITLE: ws docs create TITLE"));
}

TEST_CASE("parse: what is missing is named", "[cli]") {
  CHECK(parse(sample(), {}).error().what == "the argument TITLE is missing");
  CHECK(parse(sample(), {"x", "--message"}).error().what == "--message needs a value");
  Command one = sample();
  one.arguments.pop_back();
  CHECK(parse(one, {"x", "y"}).error().what == "`y` is one argument too many");
}

TEST_CASE("parse: items are the values split at their commas", "[cli]") {
  const auto parsed = parse(sample(), {"x", "--fields", "a,b.c", "--fields", "d"});
  REQUIRE(parsed);
  CHECK(parsed->items("fields") == std::vector<std::string>{"a", "b.c", "d"});
}

TEST_CASE("parse: an empty path is refused, an empty text is not", "[cli]") {
  Command one = sample();
  one.arguments = {{.placeholder = "PATH"}};
  CHECK(parse(one, {""}).error().what == "the argument PATH is empty");
  one.arguments = {{.placeholder = "PATH", .count = Count::any}};
  CHECK(parse(one, {"", "x"}));  // of a batch it is a row
  CHECK(parse(sample(), {"", "--message", ""}));
  CHECK(parse(sample(), {"x", "-o", ""}).error().what == "--output is empty, where it takes FILE|-");
}

TEST_CASE("parse: a member of the body may come with the body", "[cli]") {
  Command one = sample();
  one.arguments = {{.placeholder = "QUERY", .count = Count::many, .fills_body = true}};
  one.flags = body_flags();
  CHECK_FALSE(parse(one, {}));
  CHECK(parse(one, {"--body", "{}"}));
  CHECK(parse(one, {"-F", "query=x"}));
}

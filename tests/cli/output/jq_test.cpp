#include "cli/output/jq.hpp"

#include <vector>

#include <catch2/catch.hpp>

using namespace ws;
using namespace ws::cli;

namespace {

using Lines = std::vector<std::string>;

Lines ran(const std::string& expression, std::string_view json) {
  auto program = JqProgram::compile(expression);
  REQUIRE(program);
  Lines lines;
  REQUIRE(program->run(json, [&](std::string_view line) { lines.emplace_back(line); }));
  return lines;
}

}  // namespace

TEST_CASE("jq: texts come as they are, everything else as JSON on one line", "[cli]") {
  CHECK(ran(".data[].title", R"({"data": [{"title": "a\tb"}, {"title": null}]})") == Lines{"a\tb", "null"});
  CHECK(ran(".", R"({"b": [1, {"c": "é"}], "a": 2})") == Lines{R"({"b":[1,{"c":"é"}],"a":2})"});
  CHECK(ran("empty", "{}").empty());
}

TEST_CASE("jq: one program runs over document after document", "[cli]") {
  auto program = JqProgram::compile(".n + 1");
  REQUIRE(program);
  Lines lines;
  for (const char* document : {R"({"n": 1})", R"({"n": 2})"}) {
    REQUIRE(program->run(document, [&](std::string_view line) { lines.emplace_back(line); }));
  }
  CHECK(lines == Lines{"2", "3"});
}

TEST_CASE("jq: an expression that is none is a usage error in jq's words", "[cli]") {
  const auto program = JqProgram::compile(".[");
  REQUIRE_FALSE(program);
  CHECK(program.error().kind == Failure::Kind::usage);
  CHECK(program.error().what.find("syntax error") != std::string::npos);
  CHECK(program.error().what.find('\n') == std::string::npos);
}

TEST_CASE("jq: there are no other documents and no modules, and asking for them ends nothing", "[cli]") {
  CHECK(ran("[inputs]", "{}") == Lines{"[]"});
  for (const char* expression : {"input", "input_filename", "modulemeta", "get_search_list", "halt_error", "debug"}) {
    CAPTURE(expression);
    auto program = JqProgram::compile(expression);
    if (program) static_cast<void>(program->run(R"("a")", [](std::string_view) {}));
  }
  CHECK_FALSE(JqProgram::compile(R"(import "a" as a; .)"));
  CHECK_FALSE(JqProgram::compile(R"(include "a"; .)"));
}

TEST_CASE("jq: halt ends it, halt_error fails with its message", "[cli]") {
  CHECK(ran("1, halt, 2", "{}") == Lines{"1"});
  auto program = JqProgram::compile(R"x("no such \(.a)" | halt_error)x");
  REQUIRE(program);
  const auto ended = program->run(R"({"a": "page"})", [](std::string_view) {});
  REQUIRE_FALSE(ended);
  CHECK(ended.error().what == "--jq: halt_error: no such page");
}

TEST_CASE("jq: what it made before it failed is given", "[cli]") {
  auto program = JqProgram::compile(".[] | .a");
  REQUIRE(program);
  Lines lines;
  const auto ended = program->run(R"([{"a": 1}, 7])", [&](std::string_view line) { lines.emplace_back(line); });
  REQUIRE_FALSE(ended);
  CHECK(ended.error().what == "--jq: Cannot index number with string \"a\"");
  CHECK(lines == Lines{"1"});
}

TEST_CASE("jq: a library that is missing is named, with what installs it", "[cli]") {
  const auto program = JqProgram::compile(".", "libjq-that-is-missing.so.1");
  REQUIRE_FALSE(program);
  CHECK(program.error().what.find("libjq-that-is-missing.so.1") != std::string::npos);
  CHECK(program.error().hint.find("apt install libjq1") != std::string::npos);
}

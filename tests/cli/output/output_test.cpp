#include <algorithm>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "cli/output/failure.hpp"
#include "cli/output/format.hpp"
#include "cli/output/paged_list.hpp"
#include "cli/output/printer.hpp"
#include "cli/output/spool.hpp"

using namespace ws;
using namespace ws::cli;

namespace {

/// Keeps what is written.
class Recorder final : public Terminal {
 public:
  explicit Recorder(TerminalState state = {}) : Terminal(state, Environment()) {}
  void put(Stream stream, std::string_view text) override { (stream == Stream::out ? out : err) += text; }
  std::string out;
  std::string err;
};

const std::string body =
    R"({"data": [{"id":"1","title":"a\tb\\c","n":1.50,"by":{"name":"Mira"}},{"id":"2","title":null,"unknown":[1]}],)"
    R"( "next_cursor":"x","extra":true})";

std::string listed(PrinterOptions options, TerminalState state = {}) {
  Recorder terminal(state);
  Printer(terminal, std::move(options)).list("unknown.list", *parse_bounded(body), body);
  return terminal.out;
}

std::string shown(PrinterOptions options, const std::string& text, TerminalState state = {}) {
  Recorder terminal(state);
  Printer(terminal, std::move(options)).resource(*parse_bounded(text), text);
  return terminal.out;
}

}  // namespace

TEST_CASE("output: json is the body as it came, byte for byte", "[cli]") {
  CHECK(listed({.format = Format::json}) == body + "\n");
  CHECK(shown({.format = Format::json}, "{\"b\": 1.0,\n \"a\": \"\\u00e4\"}\n") ==
        "{\"b\": 1.0,\n \"a\": \"\\u00e4\"}\n");
}

TEST_CASE("output: tsv has no heading, is not cut, and escapes what would break it", "[cli]") {
  CHECK(listed({.format = Format::tsv, .fields = {"id", "title", "by.name"}}) == "1\ta\\tb\\\\c\tMira\n2\t\t\n");
  CHECK(shown({.format = Format::tsv}, R"({"id":"1","by":{"name":"x\ny"},"n":null,"list":[1,2]})") ==
        "id\t1\nby.name\tx\\ny\nn\t\nlist\t[1,2]\n");
}

TEST_CASE("output: csv quotes where it must", "[cli]") {
  CHECK(listed({.format = Format::csv, .fields = {"id", "title"}}) == "id,title\n1,a\tb\\c\n2,\n");
  CHECK(escape_csv("a\"b,c") == "\"a\"\"b,c\"");
}

TEST_CASE("output: ndjson and ids are one line an item", "[cli]") {
  CHECK(listed({.format = Format::ids}) == "1\n2\n");
  CHECK(listed({.format = Format::ndjson, .fields = {"id", "by.name"}}) ==
        "{\"id\":\"1\",\"by\":{\"name\":\"Mira\"}}\n{\"id\":\"2\",\"by\":{\"name\":null}}\n");
}

TEST_CASE("output: fields shape the items and leave the rest of a list as it is", "[cli]") {
  CHECK(listed({.format = Format::json, .fields = {"id"}}) ==
        "{\"data\":[{\"id\":\"1\"},{\"id\":\"2\"}],\"next_cursor\":\"x\",\"extra\":true}\n");
}

TEST_CASE("output: the table of one resource shows what --fields names, and leaves out links where nothing is named",
          "[cli]") {
  const std::string text = R"({"v":1,"object":"document","links":{"self":"/v1"}})";
  CHECK(shown({.format = Format::table}, text).empty());
  CHECK(shown({.format = Format::table, .fields = {"object", "links.self"}}, text) ==
        "object      document\nlinks.self  /v1\n");
}

TEST_CASE("output: a table on a terminal holds no escape sequence of the server's", "[cli]") {
  const std::string text = shown({.format = Format::table},
                                 R"({"id":"1","title":"\u001b[2Jboo\u202e","links":{"self":"/v1"},"content":"# a\nb"})",
                                 {.out_is_terminal = true});
  CHECK(text.find("\033[2J") == std::string::npos);
  CHECK(text.find("boo\n") != std::string::npos);
  CHECK(text.find("links") == std::string::npos);
  CHECK(text.find("\033[1ma\033[0m\n\nb\n") != std::string::npos);
}

TEST_CASE("output: an error in JSON has every member, on one line", "[cli]") {
  const Failure failure{.kind = Failure::Kind::conflict,
                        .what = "the document has changed",
                        .hint = "get it again",
                        .request_id = "r-1",
                        .code = "revision_conflict",
                        .call = {.operation = "docs.update",
                                 .http_status = 409,
                                 .applied = Applied::no,
                                 .idempotency_key = "k",
                                 .details = R"({"current_content_revision":4})"}};
  CHECK(failure_line(failure, ExitCode::conflict) ==
        R"({"error":{"code":"revision_conflict","exit":7,"message":"the document has changed","hint":"get it again",)"
        R"("http_status":409,"operation":"docs.update","request_id":"r-1","applied":"no","retryable":false,)"
        R"("retry_after_ms":null,"idempotency_key":"k","details":{"current_content_revision":4}}})"
        "\n");
}

TEST_CASE("output: an error in words is three lines at most, cleaned", "[cli]") {
  const Terminal terminal({}, Environment());
  const Failure failure{.kind = Failure::Kind::not_found,
                        .what = "no such \033[31mdocument\nat all",
                        .hint = "see `ws docs list`",
                        .request_id = "r-1",
                        .code = "not_found",
                        .call = {.operation = "docs.get", .http_status = 404}};
  CHECK(render_failure(failure, ExitCode::not_found, terminal) ==
        "error: no such document at all\n"
        "  request r-1\n"
        "  see `ws docs list`\n");
}

TEST_CASE("output: a terminal breaks a long error at its width, and no command", "[cli]") {
  const Failure failure{.kind = Failure::Kind::usage,
                        .what = "the tree belongs to http://one.example, not to http://two.example",
                        .hint = "leave out --base-url, or run `ws sync init --source ID` in another folder"};
  const Terminal narrow({.err_is_terminal = true, .columns = 40}, Environment::of({{"NO_COLOR", "1"}}));
  CHECK(render_failure(failure, ExitCode::usage, narrow) ==
        "error: the tree belongs to\n"
        "  http://one.example, not to\n"
        "  http://two.example\n"
        "  leave out --base-url, or run\n"
        "  `ws sync init --source ID` in another\n"
        "  folder\n");
}

TEST_CASE("output: --jq sees the whole document, NDJSON gives it each item", "[cli]") {
  const auto options = [](Format format, const std::string& expression) {
    PrinterOptions made{.format = format};
    made.jq = std::move(*JqProgram::compile(expression));
    return made;
  };
  CHECK(listed(options(Format::json, ".data | length")) == "2\n");
  CHECK(listed(options(Format::json, ".next_cursor")) == "x\n");
  CHECK(listed(options(Format::ndjson, ".id")) == "1\n2\n");
  PrinterOptions picked = options(Format::json, ".data[0]");
  picked.fields = {"id"};
  CHECK(listed(std::move(picked)) == "{\"id\":\"1\"}\n");
}

TEST_CASE("output: --template is a line an item", "[cli]") {
  PrinterOptions options{.format = Format::json};
  options.line_of = *Template::parse("{id}={by.name}");
  CHECK(listed(std::move(options)) == "1=Mira\n2=\n");
}

TEST_CASE("output: what a program of the user makes of the server's words is cleaned on a terminal", "[cli]") {
  PrinterOptions options{.format = Format::json};
  options.line_of = *Template::parse("{t}");
  CHECK(shown(std::move(options), R"({"t":"a\u001b[31mb"})", {.out_is_terminal = true}) == "ab\n");
}

TEST_CASE("output: a failure of --jq is told at the end", "[cli]") {
  Recorder terminal;
  PrinterOptions options{.format = Format::json};
  options.jq = std::move(*JqProgram::compile(".data.x"));
  Printer printer(terminal, std::move(options));
  printer.list("unknown.list", *parse_bounded(body), body);
  CHECK(printer.finish().error().kind == Failure::Kind::internal);
}

namespace {

Json page_of(int first, int count, const Json& next) {
  Json items = Json::array();
  for (int i = first; i < first + count; ++i) {
    items.push_back({{"id", fmt::format("018f6b2a-9c1d-7e3f-8a4b-{:012}", i)},
                     {"title", "Note \"" + std::to_string(i) + "\"\twith\x1b[1m a tab, and ümlauts"},
                     {"content_revision", i * i},
                     {"updated_at", "2026-01-01T00:00:00.000Z"},
                     {"updated_by", {{"name", "Mira"}}}});
  }
  return {{"before", 1}, {"data", std::move(items)}, {"next_cursor", next}, {"after", {{"data", {1, 2}}}}};
}

std::string in_pages(
    std::string_view operation, PrinterOptions options, const std::string& cursor, int pages, int each) {
  Recorder terminal({.columns = 70});
  Printer printer(terminal, std::move(options));
  const auto list = begin_list(printer, operation);
  for (int i = 0; i < pages; ++i) REQUIRE(list->add(page_of(i * each, each, i + 1 < pages ? "more" : cursor)));
  REQUIRE(list->finish(cursor));
  return terminal.out;
}

std::string at_once(std::string_view operation, PrinterOptions options, const std::string& cursor, int count) {
  Recorder terminal({.columns = 70});
  Printer(terminal, std::move(options)).list(operation, page_of(0, count, cursor.empty() ? Json() : Json(cursor)), {});
  return terminal.out;
}

}  // namespace

TEST_CASE("output: a list in pages is printed as the same list at once, in every format", "[cli]") {
  const auto format =
      GENERATE(Format::json, Format::tsv, Format::csv, Format::table, Format::yaml, Format::ndjson, Format::ids);
  const auto operation = GENERATE("docs.list", "unknown.list");
  const auto fields = GENERATE(std::vector<std::string>{}, std::vector<std::string>{"title", "updated_by.name"});
  const std::string cursor = GENERATE("", "c\"1");
  CAPTURE(static_cast<int>(format), operation, fields, cursor);
  const auto options = [&] { return PrinterOptions{.format = format, .fields = fields}; };
  CHECK(in_pages(operation, options(), cursor, 3, 2) == at_once(operation, options(), cursor, 6));
  CHECK(in_pages(operation, options(), cursor, 1, 0) == at_once(operation, options(), cursor, 0));
  // So many that they do not stay in memory: once with the columns of an operation, once with those asked for.
  if (cursor.empty() && (std::string_view(operation) == "docs.list") == fields.empty())
    CHECK(in_pages(operation, options(), cursor, 4, 2'000) == at_once(operation, options(), cursor, 8'000));
}

TEST_CASE("output: TSV of a list is printed page by page, JSON only when the last page has come", "[cli]") {
  Recorder terminal;
  Printer tsv(terminal, {.format = Format::tsv});
  const auto rows = begin_list(tsv, "docs.list");
  REQUIRE(rows->add(page_of(0, 2, "more")));
  CHECK(std::count(terminal.out.begin(), terminal.out.end(), '\n') == 2);
  terminal.out.clear();
  Printer json(terminal, {.format = Format::json});
  const auto document = begin_list(json, "docs.list");
  for (int i = 0; i < 10; ++i) REQUIRE(document->add(page_of(0, 500, "more")));
  CHECK(terminal.out.empty());
  REQUIRE(document->finish(""));
  CHECK(parse_bounded(terminal.out)->at("data").size() == 5'000);
}

TEST_CASE("output: a spool gives back what it was given, from memory and from disk", "[cli]") {
  const int count = GENERATE(0, 1, 1'000, 100'000);
  Spool spool;
  std::string given;
  for (int i = 0; i < count; ++i) {
    const std::string text = std::to_string(i) + "\n";
    given += text;
    REQUIRE(spool.add(text));
  }
  std::string got;
  REQUIRE(spool.drain([&](std::string_view piece) { got += piece; }));
  CHECK((got == given));
}

TEST_CASE("output: a number that a format would change is refused, and named, json alone prints it", "[cli]") {
  const std::string item =
      R"({"id":"1","n":18446744073709551616,"by":{"m":-9223372036854775809},"s":9007199254740993})";
  const std::string page = R"({"data":[)" + item + R"(],"next_cursor":null})";
  const auto end_of = [&](PrinterOptions options, bool is_list) {
    Recorder terminal(TerminalState{});
    Printer printer(terminal, std::move(options));
    const std::string& text = is_list ? page : item;
    is_list ? printer.list("unknown.list", *parse_bounded(text), text) : printer.resource(*parse_bounded(text), text);
    const auto done = printer.finish();
    return done ? terminal.out : "refused: " + done.error().what + terminal.out;
  };
  const bool is_list = GENERATE(false, true);
  CAPTURE(is_list);
  CHECK(end_of({.format = Format::json}, is_list) == (is_list ? page : item) + "\n");
  CHECK(end_of({.format = Format::ids}, is_list) == "1\n");
  for (const Format format : {Format::table, Format::tsv, Format::csv, Format::yaml, Format::ndjson}) {
    const std::string whole = end_of({.format = format}, is_list);
    CAPTURE(static_cast<int>(format), whole);
    CHECK(whole.starts_with("refused: the number of `"));
    CHECK(whole.find("18446744073709551616") == std::string::npos);
    CHECK(whole.find("more than 64 bits") != std::string::npos);
    CHECK(end_of({.format = format, .fields = {"by.m"}}, is_list).starts_with("refused: "));
    CHECK(end_of({.format = format, .fields = {"s"}}, is_list).find("9007199254740993") != std::string::npos);
  }
  CHECK(end_of({.format = Format::json, .fields = {"n"}}, is_list).starts_with("refused: "));
  const auto by_jq = [&](std::vector<std::string> fields) {
    return end_of({.format = Format::json, .fields = std::move(fields), .jq = *JqProgram::compile(".")}, is_list);
  };
  CHECK(by_jq({"s"}).starts_with("refused: --jq would change the number 9007199254740993 of `"));
  CHECK(by_jq({"n"}).starts_with("refused: "));
  CHECK(by_jq({"id"}).find("\"1\"") != std::string::npos);
  CHECK(end_of({.line_of = *Template::parse("{s}")}, is_list) == "9007199254740993\n");
  CHECK(end_of({.line_of = *Template::parse("{n}")}, is_list).starts_with("refused: "));
}

#include "cli/output/view.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands/registry.hpp"
#include "cli/output/human.hpp"
#include "cli/output/printer.hpp"
#include "tests/support/widest_line.hpp"

using namespace ws;
using namespace ws::cli;

namespace {

const std::string document_id = "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b";

Time at(const char* text) { return *parse_rfc3339(text); }

std::string as_shown(std::string_view pattern, const Json& value) {
  ViewContext context{.now = at("2026-11-20T12:00:00Z"), .known = {{"server", "http://h"}}};
  return fill(pattern, value, context);
}

class WideTerminal final : public Terminal {
 public:
  explicit WideTerminal(int columns) : Terminal({.out_is_terminal = true, .columns = columns}, Environment()) {
    set_color(ColorChoice::never);
  }
  void put(Stream stream, std::string_view text) override { (stream == Stream::out ? out : err) += text; }
  std::string out;
  std::string err;
};

std::string shown(std::string_view shape, const Json& value, int columns = 80) {
  WideTerminal terminal(columns);
  Printer printer(terminal, {.find_view = find_view, .now = at("2026-11-20T12:00:00Z")});
  printer.resource(shape, value, {});
  REQUIRE(printer.finish());
  return terminal.out;
}

}  // namespace

TEST_CASE("view: a pattern shows members, and leaves out what has none", "[cli]") {
  const Json value = {{"title", "Tides"}, {"n", 3}, {"by", {{"name", "Mira"}}}, {"none", nullptr}, {"empty", ""}};
  CHECK(as_shown("Saved \"{title}\", revision {n}", value) == "Saved \"Tides\", revision 3");
  CHECK(as_shown("{title}[, by {by.name}]", value) == "Tides, by Mira");
  CHECK(as_shown("{title}[, by {none}][, {empty}]", value) == "Tides");
  CHECK(as_shown("{title} by {none}", value).empty());
  CHECK(as_shown("{title}[ at {@server}][ as {@nobody}]", value) == "Tides at http://h");
}

TEST_CASE("view: members are shown as people read them", "[cli]") {
  const Json value = {{"at", "2026-11-20T10:00:00.000Z"},
                      {"size", 1'234'567},
                      {"text", "abc"},
                      {"ms", 1500},
                      {"list", {"a", "b"}},
                      {"objects", {{{"x", 1}}, {{"x", 2}}}},
                      {"word", "needs_reanchor"},
                      {"yes", true},
                      {"no", false},
                      {"id", document_id}};
  CHECK(as_shown("{at:time}", value) == "2 hours ago");
  CHECK(as_shown("{size:size}", value) == "1.2 MB");
  CHECK(as_shown("{text:size}", value) == "3 bytes");
  CHECK(as_shown("{ms:ms}", value) == "1.5 s");
  CHECK(as_shown("{list}", value) == "a, b");
  CHECK(as_shown("{list:path}", value) == "a › b");
  CHECK(as_shown("{list:count}", value) == "2");
  CHECK(as_shown("{objects}", value) == "2");
  CHECK(as_shown("{word:words}", value) == "needs reanchor");
  CHECK(as_shown("{yes:yes}{no:yes}", value).empty());
  CHECK(as_shown("{id:short}", value) == "7e8f9a0b");
  CHECK(as_shown("{}", Json("x")) == "x");
}

TEST_CASE("view: times are relative up to 30 days, on both sides", "[cli]") {
  const Time now = at("2026-11-20T12:00:00Z");
  CHECK(relative_time("2026-11-20T11:59:30Z", now) == "just now");
  CHECK(relative_time("2026-11-20T11:59:00Z", now) == "1 minute ago");
  CHECK(relative_time("2026-11-19T12:00:00Z", now) == "1 day ago");
  CHECK(relative_time("2026-11-20T12:30:00Z", now) == "in 30 minutes");
  CHECK(relative_time("2026-10-01T12:30:00Z", now) == "2026-10-01");
  CHECK(relative_time("soon", now) == "soon");
}

TEST_CASE("view: sizes in the units of file managers", "[cli]") {
  CHECK(human_size(1) == "1 byte");
  CHECK(human_size(999) == "999 bytes");
  CHECK(human_size(1000) == "1.0 kB");
  CHECK(human_size(1'048'576) == "1.0 MB");
  CHECK(human_size(104'857'600) == "105 MB");
}

TEST_CASE("view: an answer of another kind than expected is shown as it is", "[cli]") {
  CHECK(shown("docs.update", {{"odd", "thing"}, {"empty", nullptr}}) == "odd  thing\n");
  CHECK(shown("unknown.operation", {{"a", {{"b", 1}}}, {"list", {{{"x", 1}}}}}) == "a.b   1\nlist  1\n");
}

TEST_CASE("view: a write answers in one line, with the id", "[cli]") {
  const Json document = {{"id", document_id}, {"title", "Tides"}, {"content_revision", 2}, {"content", "# Tides\n"}};
  CHECK(shown("docs.update", document) == "Saved \"Tides\", revision 2 (" + document_id + ")\n");
}

TEST_CASE("view: nothing of the service's reaches the terminal as an escape sequence, or beyond its width", "[cli]") {
  const std::string bad = "x\033[2J" + std::string(300, 'w') + " y";
  const Json document = {{"id", document_id}, {"title", bad}, {"content_revision", 2}, {"updated_by", {{"name", bad}}}};
  CHECK(shown("docs.get", document).find('\033') == std::string::npos);
  CHECK(shown("docs.update", document).find('\033') == std::string::npos);
}

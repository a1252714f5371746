#include "cli/output/search_page.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/widest_line.hpp"

using namespace ws;
using namespace ws::cli;

namespace {

const std::string id = "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b";

Json one(const std::string& title, const std::string& snippet) {
  return {{"kind", "document"},
          {"title", title},
          {"snippet", snippet},
          {"score", 0.5},
          {"page_id", nullptr},
          {"document_id", id},
          {"heading_path", {title, "Below"}}};
}

std::string shown(const Json& items, const std::string& query, int columns, ColorChoice color = ColorChoice::never) {
  Terminal terminal({.out_is_terminal = true, .columns = columns}, Environment());
  terminal.set_color(color);
  ViewContext context{.known = {{"query", query}}};
  return terminal.rendered(render_search_results(items, context, terminal), Controls::keep);
}

}  // namespace

TEST_CASE("search page: a card a result where the terminal is narrow", "[cli]") {
  CHECK(shown(Json::array({one("Knots", "Tie the knot well.")}), "knot", 80) ==
        "Knots  0.500  document\n  Knots › Below\n  Tie the knot well.\n  " + id + "\n");
}

TEST_CASE("search page: a line a result where it is wide", "[cli]") {
  const std::string text = shown(Json::array({one("Knots", "Tie the knot well.")}), "knot", 120);
  CHECK(text.substr(0, 5) == "TITLE");
  CHECK(text.find("\nKnots  Tie the knot well. ") != std::string::npos);
  CHECK(text.ends_with("  7e8f9a0b\n"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
}

TEST_CASE("search page: the words that were asked for are marked, in any case and with any accent", "[cli]") {
  const std::string text = shown(Json::array({one("T", "An ÁNCHOR, anchored")}), "anchor", 80, ColorChoice::always);
  CHECK(text.find("An \033[1;33mÁNCHOR\033[0m, anchored") != std::string::npos);
}

TEST_CASE("search page: what is wide or long stays within the terminal, the match in sight", "[cli]") {
  std::string snippet;
  for (int i = 0; i < 80; ++i) snippet += "日本語 filler ";
  snippet += "needle at the end";
  const Json items = Json::array({one("日本語のとても長い題名日本語のとても長い題名日本語のとても長い題名", snippet)});
  const int columns = GENERATE(80, 200);
  CAPTURE(columns);
  const std::string text = shown(items, "needle", columns);
  CHECK(test::widest_line(text) <= static_cast<std::size_t>(columns));
  CHECK(text.find("needle") != std::string::npos);
}

TEST_CASE("search page: the server's words are cleaned, missing members are no harm", "[cli]") {
  CHECK(shown(Json::array({one("\033[2Jx", "a\nb")}), "x", 80).find('\033') == std::string::npos);
  CHECK_NOTHROW(shown(Json::array({Json::object(), Json(7)}), "x", 200));
  CHECK(shown(Json::array(), "x", 80).empty());
}

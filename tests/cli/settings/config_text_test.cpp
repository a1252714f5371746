#include "cli/settings/config_text.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/yaml.hpp"

using namespace ws;
using namespace ws::cli;

namespace {

using Path = std::vector<std::string>;

std::string edited(const std::string& text, const Path& path, const std::string& value) {
  const auto made = edit_config(text, path, value);
  INFO((made ? "" : made.error().what));
  REQUIRE(made);
  return *made;
}

const std::string by_hand = R"(# My settings. Keep them tidy.

defaults:            # for every profile
  format: "table"    # wide enough here
  # the machine in the cellar is slow
  max_wait:   '90'

  # nothing below this line yet

# --- who I am ---
profiles:
    work:
        base_url: https://work.example   # asked of IT
        workspace: 'Häuser & Höfe'
    "at home": {base_url: 'http://127.0.0.1:4711', format: csv}

aliases: {mine: "docs list --limit 5", say: 'ask'}  # short words
# the end
)";

/// The text with one piece of it replaced: what a person would have done.
std::string replaced(std::string text, const std::string& old, const std::string& now) {
  const std::size_t place = text.find(old);
  REQUIRE(place != std::string::npos);
  return text.replace(place, old.size(), now);
}

}  // namespace

TEST_CASE("config text: a changed value keeps its place, its quotes and the comment behind it", "[cli]") {
  CHECK(edited(by_hand, {"defaults", "format"}, "csv") == replaced(by_hand, "\"table\"", "\"csv\""));
  CHECK(edited(by_hand, {"defaults", "max_wait"}, "it's 5") == replaced(by_hand, "'90'", "'it''s 5'"));
  CHECK(edited(by_hand, {"profiles", "work", "base_url"}, "https://b.example") ==
        replaced(by_hand, "https://work.example", "https://b.example"));
  CHECK(edited(by_hand, {"profiles", "work", "workspace"}, "Hof") == replaced(by_hand, "'Häuser & Höfe'", "'Hof'"));
  CHECK(edited(by_hand, {"profiles", "at home", "format"}, "a, b") ==
        replaced(by_hand, "format: csv", "format: \"a, b\""));
  CHECK(edited(by_hand, {"aliases", "mine"}, "docs list") == replaced(by_hand, "docs list --limit 5", "docs list"));
}

TEST_CASE("config text: a new value goes to the end of its map, and no line is moved", "[cli]") {
  CHECK(edited(by_hand, {"defaults", "pager"}, "less -R") == replaced(by_hand, "'90'\n", "'90'\n  pager: less -R\n"));
  CHECK(edited(by_hand, {"profiles", "work", "format"}, "json") ==
        replaced(by_hand, "Höfe'\n", "Höfe'\n        format: json\n"));
  CHECK(edited(by_hand, {"profiles", "new", "base_url"}, "https://n.example") ==
        replaced(by_hand, "csv}\n", "csv}\n    new:\n      base_url: https://n.example\n"));
  CHECK(edited(by_hand, {"profiles", "at home", "max_wait"}, "30") ==
        replaced(by_hand, "format: csv", "format: csv, max_wait: \"30\""));
  CHECK(edited(by_hand, {"aliases", "two"}, "docs list, all") ==
        replaced(by_hand, "say: 'ask'", "say: 'ask', two: \"docs list, all\""));
}

TEST_CASE("config text: a value is removed with its line, and with nothing else", "[cli]") {
  CHECK(edited(by_hand, {"defaults", "max_wait"}, "") == replaced(by_hand, "  max_wait:   '90'\n", ""));
  CHECK(edited(by_hand, {"aliases", "mine"}, "") == replaced(by_hand, "mine: \"docs list --limit 5\", ", ""));
  CHECK(edited(by_hand, {"aliases", "say"}, "") == replaced(by_hand, ", say: 'ask'", ""));
  CHECK(edited(by_hand, {"defaults", "pager"}, "") == by_hand);
  CHECK(edited(by_hand, {"nothing", "at", "all"}, "") == by_hand);
  CHECK(edited("defaults:\n  format: csv\n# end\n", {"defaults", "format"}, "") == "defaults:\n# end\n");
}

TEST_CASE("config text: files that hold little, or end without a line end", "[cli]") {
  const Path path = {"defaults", "format"};
  CHECK(edited("", path, "csv") == "defaults:\n  format: csv\n");
  CHECK(edited("# only words\n", path, "csv") == "# only words\ndefaults:\n  format: csv\n");
  CHECK(edited("defaults:\n", path, "csv") == "defaults:\n  format: csv\n");
  CHECK(edited("defaults:   # soon\naliases: {}\n", path, "csv") == "defaults:   # soon\n  format: csv\naliases: {}\n");
  CHECK(edited("defaults: {}\n", path, "csv") == "defaults: {format: csv}\n");
  CHECK(edited("defaults: {max_wait: 5}", path, "csv") == "defaults: {max_wait: 5, format: csv}");
  CHECK(edited("aliases:\n  a: b", path, "csv") == "aliases:\n  a: b\ndefaults:\n  format: csv\n");
  CHECK(edited("defaults:\n  format:\n  max_wait: 5\n", path, "csv") == "defaults:\n  format: csv\n  max_wait: 5\n");
  CHECK(edited("defaults:\r\n  max_wait: 5\r\n", path, "csv") == "defaults:\r\n  max_wait: 5\r\n  format: csv\r\n");
  CHECK(edited("aliases:\n  long: |\n    # no comment\n", path, "csv") ==
        "aliases:\n  long: |\n    # no comment\ndefaults:\n  format: csv\n");
}

TEST_CASE("config text: what cannot be kept is refused, and the line is named", "[cli]") {
  const std::string folded = "aliases:\n  long: docs list\n    --limit 5\n";
  for (const auto& [text, path] :
       std::vector<std::pair<std::string, Path>>{{folded, {"aliases", "long"}},
                                                 {"aliases:\n  long: >\n    docs list\n", {"aliases", "long"}},
                                                 {"\ndefaults: csv\n", {"defaults", "format"}},
                                                 {"\ndefaults: {format: {a: b}}\n", {"defaults", "format"}}}) {
    CAPTURE(text);
    const auto made = edit_config(text, path, "csv");
    REQUIRE_FALSE(made);
    CHECK(made.error().kind == Failure::Kind::usage);
    CHECK(made.error().what.find("line ") != std::string::npos);
    CHECK(made.error().hint == "change it there by hand");
  }
  CHECK_FALSE(edit_config("a: [", {"b"}, "c"));
  const auto two = edit_config("---\naliases: {a: b}\n---\nother: document\n", {"defaults", "format"}, "csv");
  REQUIRE_FALSE(two);
  CHECK_THAT(two.error().what, Catch::Matchers::Contains("line 3") && Catch::Matchers::Contains("second document"));
  CHECK_FALSE(edit_config("a: &x 1\nb: *x\n", {"b"}, "c"));
}

TEST_CASE("config text: whatever the value is, it is read back as it was given", "[cli]") {
  const std::string value = GENERATE(as<std::string>{},
                                     "plain",
                                     "true",
                                     "~",
                                     "007",
                                     "a: b",
                                     "a #b",
                                     "#",
                                     "- x",
                                     "'",
                                     "\"",
                                     "{a}",
                                     " blank ",
                                     "ws ask 'what, now?'",
                                     "back\\slash",
                                     "tab\tand\nline",
                                     "Grüße");
  const Path path = GENERATE(Path{"aliases", "mine"}, Path{"aliases", "x"}, Path{"defaults", "max_wait"}, Path{"new"});
  CAPTURE(value, path.back());
  const auto read = parse_yaml(edited(by_hand, path, value));
  REQUIRE(read);
  const Json* found = &*read;
  for (const std::string& step : path) found = find(*found, step);
  REQUIRE(found != nullptr);
  CHECK(*found == Json(value));
}

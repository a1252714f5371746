#include "cli/terminal/terminal.hpp"

#include <catch2/catch.hpp>

#include "cli/terminal/progress.hpp"
#include "cli/terminal/table.hpp"

using namespace ws::cli;

namespace {

constexpr TerminalState on_a_screen = {.in_is_terminal = true, .out_is_terminal = true, .err_is_terminal = true};

bool coloured(const Environment& environment, TerminalState state = on_a_screen) {
  return Terminal(state, environment).has_color(Stream::out);
}

}  // namespace

TEST_CASE("terminal: colour needs a terminal and obeys the usual variables", "[cli]") {
  CHECK(coloured(Environment()));
  CHECK_FALSE(coloured(Environment(), {}));
  CHECK_FALSE(coloured(Environment::of({{"NO_COLOR", "1"}})));
  CHECK(coloured(Environment::of({{"NO_COLOR", ""}})));
  CHECK_FALSE(coloured(Environment::of({{"TERM", "dumb"}})));
  CHECK(coloured(Environment::of({{"CLICOLOR_FORCE", "1"}}), {}));
  CHECK_FALSE(coloured(Environment::of({{"CLICOLOR_FORCE", "0"}}), {}));
  CHECK_FALSE(coloured(Environment::of({{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}})));
}

TEST_CASE("terminal: --color goes before everything else", "[cli]") {
  Terminal terminal({}, Environment::of({{"NO_COLOR", "1"}}));
  terminal.set_color(ColorChoice::always);
  const std::string painted = terminal.paint(Stream::out, Look::bad, "x");
  CHECK(terminal.rendered(painted, Controls::keep) == "\033[31mx\033[0m");
  CHECK(terminal.rendered(painted, Controls::clean) == "\033[31mx\033[0m");
  terminal.set_color(ColorChoice::never);
  CHECK(terminal.paint(Stream::out, Look::bad, "x") == "x");
}

TEST_CASE("terminal: of the sequences in a text only those that were painted by this program are written", "[cli]") {
  Terminal terminal(on_a_screen, Environment());
  terminal.set_color(ColorChoice::always);
  const std::string bad =
      "a\033[31mb\033]0;t\007c\xc2\x9b"
      "2Jd\xe2\x80\xae"
      "e\033[0";
  const std::string line = terminal.paint(Stream::out, Look::bad, bad) + "\t" + bad + "\n";
  CHECK(terminal.rendered(line, Controls::clean) == "\033[31mabcde\033[0m\tabcde\n");
  CHECK(terminal.rendered(line, Controls::keep) == "\033[31m" + bad + "\033[0m\t" + bad + "\n");
  // A text that was painted by another run does not pass for one of this.
  Terminal other(on_a_screen, Environment());
  other.set_color(ColorChoice::always);
  CHECK(terminal.rendered(other.paint(Stream::out, Look::bad, "x"), Controls::clean).find('\033') == std::string::npos);
}

TEST_CASE("terminal: progress is a line for a person who wants to see it", "[cli]") {
  Terminal person(on_a_screen, Environment());
  CHECK(*parse_progress(std::nullopt, person) == ProgressStyle::line);
  CHECK(*parse_progress(std::nullopt, Terminal({}, Environment())) == ProgressStyle::none);
  person.set_plain();
  CHECK(*parse_progress("auto", person) == ProgressStyle::plain);
  person.set_quiet();
  CHECK(*parse_progress("auto", person) == ProgressStyle::none);
  CHECK(*parse_progress("json", person) == ProgressStyle::json);
  CHECK_FALSE(parse_progress("bogus", person));
}

TEST_CASE("terminal: each stream is judged by itself", "[cli]") {
  const Terminal terminal({.in_is_terminal = true, .err_is_terminal = true}, Environment());
  CHECK_FALSE(terminal.has_color(Stream::out));
  CHECK(terminal.has_color(Stream::err));
}

TEST_CASE("terminal: questions need a person", "[cli]") {
  CHECK(Terminal(on_a_screen, Environment()).may_ask());
  CHECK_FALSE(Terminal(on_a_screen, Environment::of({{"CI", "true"}})).may_ask());
  CHECK_FALSE(Terminal({.in_is_terminal = true, .out_is_terminal = true}, Environment()).may_ask());
  Terminal silent(on_a_screen, Environment());
  silent.forbid_questions();
  CHECK_FALSE(silent.may_ask());
}

TEST_CASE("table: columns are measured as they look, numbers stand to the right", "[cli]") {
  const Terminal terminal({.columns = 80}, Environment());
  CHECK(render_table({"NAME", "N"}, {{"日本", "7"}, {"abc", "10"}}, terminal) ==
        "NAME   N\n"
        "日本   7\n"
        "abc   10\n");
}

TEST_CASE("table: the widest column gives way on a narrow terminal", "[cli]") {
  const Terminal terminal({.columns = 24}, Environment());
  CHECK(render_table({"ID", "TITLE"}, {{"1", "a title that is far too long"}, {"x", "b"}}, terminal) ==
        "ID  TITLE\n"
        "1   a title that is far…\n"
        "x   b\n");
}

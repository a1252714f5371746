#include <catch2/catch.hpp>

#include "cli/terminal/programs.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/two_people.hpp"

using namespace ws;
using namespace ws::cli;

namespace {

constexpr TerminalState five_rows = {.out_is_terminal = true, .rows = 5};

std::string chosen(Environment::Values values, const std::string& configured = "", TerminalState state = five_rows) {
  const Environment environment = Environment::of(std::move(values));
  return pager_of(environment, configured, Terminal(state, environment));
}

class PagerRecorder final : public Terminal {
 public:
  PagerRecorder() : Terminal(five_rows, Environment()) {}
  void put(Stream, std::string_view text) override { written += text; }
  std::string written;
};

}  // namespace

TEST_CASE("pager: WS_PAGER, the user's config, PAGER, less, in this order", "[cli]") {
  CHECK(chosen({}) == "less");
  CHECK(chosen({{"PAGER", "more"}}) == "more");
  CHECK(chosen({{"PAGER", "more"}}, "most") == "most");
  CHECK(chosen({{"PAGER", "more"}, {"WS_PAGER", "less -S"}}, "most") == "less -S");
}

TEST_CASE("pager: none where it is switched off, or where nobody reads", "[cli]") {
  CHECK(chosen({{"WS_PAGER", ""}}).empty());
  CHECK(chosen({{"PAGER", "cat"}}).empty());
  CHECK(chosen({{"TERM", "dumb"}}).empty());
  CHECK(chosen({}, "", {.out_is_terminal = false}).empty());
}

TEST_CASE("pager: what fits the screen needs none, what does not goes through it", "[cli]") {
  const test::TemporaryFolder folder;
  const std::string pager = "cat > " + (folder / "paged").string();
  PagerRecorder terminal;
  show(terminal, pager, "1\n2\n3\n");
  CHECK(terminal.written == "1\n2\n3\n");
  show(terminal, pager, "1\n2\n3\n4\n5\n6\n");
  CHECK(terminal.written == "1\n2\n3\n");
  CHECK(test::read_text(folder / "paged") == "1\n2\n3\n4\n5\n6\n");
}

TEST_CASE("pager: one that is missing costs nothing of the text, one that is quit early is no failure", "[cli]") {
  PagerRecorder terminal;
  const std::string text = std::string(100, '\n');
  show(terminal, "ws-no-such-pager 2>/dev/null", text);
  CHECK(terminal.written == text);
  show(terminal, "true", std::string(1'000'000, '\n'));
  CHECK(terminal.written == text);
}

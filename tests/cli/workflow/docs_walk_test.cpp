// `ws docs edit` and `ws docs update --merge` on a terminal, where somebody else stored the same lines meanwhile.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/stage.hpp"
#include "tests/support/terminal_session.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

const std::string plan = "# Plan\n\nWe sail at dawn.\n\nTomas brings bread.\n";
const std::string theirs_at_seven = "# Plan\n\nWe sail at seven.\n\nMara brings bread.\n";

/// One document; the editor changes dawn to noon while somebody else stores `theirs_at_seven`.
struct Collision {
  Collision() {
    person.environment["TERM"] = "xterm-256color";
    write_text(folder / "plan.md", plan);
    write_text(folder / "theirs.md", theirs_at_seven);
    write_text(folder / "mine.md", "# Plan\n\nWe sail at noon.\n\nTomas brings bread.\n");
    const Ended made = ws({"docs", "create", "Plan", "-f", "plan.md", "--format", "ids"});
    REQUIRE(made.exit == 0);
    id = made.out.substr(0, made.out.size() - 1);
    REQUIRE(content() == plan);
    write_text(folder / "editor.sh",
               "set -e\n" + program("ws") + " docs update " + id +
                   " -f theirs.md --revision 1 >/dev/null\nsed -i 's/dawn/noon/' \"$1\"\n");
    person.environment["EDITOR"] = "sh " + (folder / "editor.sh").string();
  }
  Ended ws(std::vector<std::string> arguments) const { return person.ws(std::move(arguments), folder.path()); }
  std::string content() const { return ws({"docs", "get", id, "--content"}).out; }
  Command edit() const { return person.command({"docs", "edit", id}, folder.path()); }
  void others_store(const std::string& text, int revision) const {
    write_text(folder / "more.md", text);
    REQUIRE(ws({"docs", "update", id, "-f", "more.md", "--revision", std::to_string(revision)}).exit == 0);
  }

  MockProcess server;
  Person person{server};
  TemporaryFolder folder;
  std::string id = {};
};

}  // namespace

TEST_CASE("docs walk: what collides is decided by a key, and stored on the new revision", "[cli]") {
  const auto [keys, becomes] =
      GENERATE(table<std::string, std::string>({{"M", "# Plan\n\nWe sail at noon.\n\nTomas brings bread.\n"},
                                                {"m", "# Plan\n\nWe sail at noon.\n\nMara brings bread.\n"},
                                                {"t", theirs_at_seven},
                                                {"hm\r", "# Plan\n\nWe sail at noon.\n\nMara brings bread.\n"}}));
  CAPTURE(keys);
  const Collision stage;
  TerminalSession session(stage.edit(), 80);
  session.wait_for("You began with revision 1.");
  CHECK_THAT(session.screen(), Contains("stored revision 2 on 20") && Contains("Plan"));
  session.type(keys);
  session.wait_for("do it");
  CHECK(stage.content() == theirs_at_seven);
  session.type("\r");
  CHECK(session.end() == 0);
  CHECK(stage.content() == becomes);
}

TEST_CASE("docs walk: a document that moves on meanwhile is shown, never overwritten", "[cli]") {
  const Collision stage;
  TerminalSession session(stage.edit(), 80);
  session.wait_for("keep mine");
  session.type("m");
  session.wait_for("do it");
  const std::string newest = "# Plan\n\nWe sail at eight.\n\nMara brings bread.\n";
  stage.others_store(newest, 2);
  session.type("\r");
  session.wait_for("The document was changed again while you looked at it. Nothing was stored");
  CHECK_THAT(session.screen(), Contains("eight") && Contains("revision 3"));
  CHECK(stage.content() == newest);
  session.type("M");
  session.wait_for("do it");
  session.type("\r");
  CHECK(session.end() == 0);
  CHECK(stage.content() == "# Plan\n\nWe sail at noon.\n\nMara brings bread.\n");
}

TEST_CASE("docs walk: who quits keeps the text, and the same command goes on with it", "[cli]") {
  Collision stage;
  TerminalSession session(stage.edit(), 80);
  session.wait_for("keep mine");
  session.type("q");
  CHECK(session.end() == 7);
  CHECK_THAT(session.lines(), Contains("revision 2 changes the same lines; nothing was sent"));
  CHECK(stage.content() == theirs_at_seven);
  stage.person.environment["EDITOR"] = "sed -i '/^[<=>|]/d; /dawn/d; /seven/d'";
  const Ended ended = stage.ws({"docs", "edit", stage.id});
  CHECK(ended.exit == 0);
  CHECK(stage.content() == "# Plan\n\nWe sail at noon.\n\nMara brings bread.\n");
}

TEST_CASE("docs walk: update --merge asks on a terminal too, in plain words where they are wanted", "[cli]") {
  const Collision stage;
  stage.others_store(theirs_at_seven, 1);
  const Command command = stage.person.command(
      {"docs", "update", stage.id, "-f", "mine.md", "--revision", "1", "--merge", "--plain"}, stage.folder.path());
  TerminalSession left(command, 80);
  left.wait_for("Choice: ");
  left.type("quit\r");
  CHECK(left.end() == 7);
  CHECK(stage.content() == theirs_at_seven);
  TerminalSession session(command, 80);
  session.wait_for("Theirs: We sail at seven.");
  session.wait_for("Choice: ");
  session.type("places\r");
  session.wait_for("Choice: ");
  session.type("mine\r");
  session.wait_for("Choice: ");
  session.type("done\r");
  session.wait_for("Choice: ");
  session.type("yes\r");
  CHECK(session.end() == 0);
  CHECK(session.lines().find('\033') == std::string::npos);
  CHECK(stage.content() == "# Plan\n\nWe sail at noon.\n\nMara brings bread.\n");
}

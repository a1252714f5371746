// `ws sync resolve` in front of a person, on a real terminal: undo, others who move meanwhile, programs, signals.
#include <csignal>
#include <regex>
#include <sstream>

#include <catch2/catch.hpp>

#include "tests/cli/workflow/two_editors.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

TEST_CASE("walk: what was decided about a text is undone by the one command that is told", "[cli]") {
  struct Way {
    std::string keys;
    std::string becomes;  ///< stands in the file afterwards
    std::string undone;   ///< and after the undo
  };
  const Way way = GENERATE(values<Way>({{"M", "- pepper", "- white pepper"},
                                        {"T", "serves: 4", "serves: 6"},
                                        {"m", "- white pepper", "- pepper"},
                                        {"t", "an hour and a half.", "two hours."},
                                        {"ht\r", "an hour and a half.", "two hours."},
                                        {"b", "an hour and a half.", "two hours."}}));
  CAPTURE(way.keys);
  const TwoEditors two(Texts{{"soup.md", soup}});
  collide_on_soup(two);
  TerminalSession session(two.resolve(), 80);
  session.wait_for("keep mine");
  session.type(way.keys);
  session.wait_for("do it");
  CHECK_THAT(read_text(two.mine / "soup.md"), Contains("two hours"));
  session.type("\r");
  CHECK(session.end() == 0);
  CHECK_THAT(read_text(two.mine / "soup.md"), Contains(way.becomes));
  two.check_settled();
  std::smatch undo;
  const std::string lines = session.lines();
  REQUIRE(std::regex_search(lines, undo, std::regex("undo: ws (sync restore soup.md --at [0-9a-f]+)")));
  std::vector<std::string> words;
  std::istringstream said(undo[1].str());
  for (std::string word; said >> word;) words.push_back(word);
  REQUIRE(two.ada.ws(words, two.mine).exit == 0);
  CHECK_THAT(read_text(two.mine / "soup.md"), Contains(way.undone));
  two.check_settled();
}

TEST_CASE("walk: m on a small terminal keeps mine where it collides, and what they changed elsewhere comes", "[cli]") {
  std::string steps;
  for (int i = 0; i < 30; ++i) steps += "Step " + std::to_string(i) + ".\n\n";
  const std::string text = "# Long\n\nFirst.\n\n" + steps + "Simmer for an hour.\n\n- salt\n- pepper\n";
  const TwoEditors two(Texts{{"soup.md", text}});
  write_text(two.hers / "soup.md", replaced(replaced(text, "an hour", "a week"), "- pepper", "- white pepper"));
  two.grace_syncs();
  two.write_mine("soup.md", replaced(replaced(text, "an hour", "two hours"), "First.", "At first."));
  two.ada_syncs();
  TerminalSession session(two.resolve({"--color", "never"}), 80, 24);
  session.wait_for("keep mine where it collides");
  CHECK_THAT(session.screen(),
             Contains("You edited it here, on desk") && Contains("Grace Hopper edited it on the service") &&
                 Contains("mine │ Simmer for two hours.") && Contains("theirs │ Simmer for a week."));
  session.type("m");
  session.wait_for("Keep mine where it collides, and merge the rest?");
  session.type("\r");
  CHECK(session.end() == 0);
  CHECK_THAT(session.lines(), Contains("resolved soup.md: kept mine where it collides, and merged the rest"));
  CHECK(
      read_text(two.mine / "soup.md") ==
      replaced(replaced(replaced(text, "an hour", "two hours"), "First.", "At first."), "- pepper", "- white pepper"));
  two.check_settled();
}

TEST_CASE("walk: who quits, even from the last question, has changed nothing here and there", "[cli]") {
  const TwoEditors two(Texts{{"soup.md", soup}});
  collide_on_soup(two);
  const auto before = everything_in(two.mine);
  const std::string on_service = service_state(two);
  TerminalSession session(two.resolve(), 80);
  session.wait_for("keep mine");
  session.type("ht\r");
  session.wait_for("do it");
  session.type("\033");
  session.wait_for("Nothing was done");
  session.type("\033");
  session.wait_for("Chosen so far: 1 of 1");
  session.type("q");
  session.wait_for("is not saved");
  session.type("q");
  CHECK(session.end() == 7);
  CHECK(everything_in(two.mine) == before);
  CHECK(service_state(two) == on_service);
}

TEST_CASE("walk: a service that moves on meanwhile is shown, never overwritten", "[cli]") {
  const TwoEditors two(Texts{{"soup.md", soup}});
  collide_on_soup(two);
  TerminalSession session(two.resolve(), 80);
  session.wait_for("keep mine");
  session.type("m");
  session.wait_for("do it");
  const std::string newest = replaced(soup, "an hour", "three days");
  write_text(two.hers / "soup.md", newest);
  two.grace_syncs();
  session.type("\r");
  session.wait_for("It changed on the service while you looked at it. Nothing was done");
  CHECK_THAT(session.screen(), Contains("three") && Contains("revision 3"));
  CHECK_THAT(body_of(two.server, "/v1/documents"), !Contains("two hours"));
  CHECK_THAT(read_text(two.mine / "soup.md"), Contains("two hours"));
  session.type("T");
  session.wait_for("do it");
  session.type("\r");
  CHECK(session.end() == 0);
  CHECK(read_text(two.mine / "soup.md") == newest);
  two.check_settled();
}

TEST_CASE("walk: a file that is edited meanwhile is shown, never overwritten", "[cli]") {
  const TwoEditors two(Texts{{"soup.md", soup}});
  collide_on_soup(two);
  TerminalSession session(two.resolve(), 80);
  session.wait_for("keep theirs");
  session.type("t");
  session.wait_for("do it");
  const std::string newest = replaced(soup, "an hour", "a week");
  write_text(two.mine / "soup.md", newest);
  session.type("\r");
  session.wait_for("The file here changed while you looked at it. Nothing was done");
  CHECK_THAT(session.screen(), Contains("a week"));
  CHECK(read_text(two.mine / "soup.md") == newest);
  session.type("M");
  session.wait_for("do it");
  session.type("\r");
  CHECK(session.end() == 0);
  CHECK(read_text(two.mine / "soup.md") == newest);
  two.check_settled();
}

TEST_CASE("walk: a conflict that somebody decided meanwhile needs no decision", "[cli]") {
  const TwoEditors two(Texts{{"soup.md", soup}});
  collide_on_soup(two);
  TerminalSession session(two.resolve(), 80);
  session.wait_for("keep mine");
  session.type("m");
  session.wait_for("do it");
  REQUIRE(two.ada.ws({"sync", "resolve", "soup.md", "--keep", "remote"}, two.mine).exit == 0);
  session.type("\r");
  CHECK(session.end() == 0);
  CHECK_THAT(session.lines(), Contains("soup.md: nothing is left to decide"));
  CHECK_THAT(read_text(two.mine / "soup.md"), Contains("an hour and a half"));
}

TEST_CASE("walk: the editor gets what is open between markers, a text with markers left is not taken", "[cli]") {
  TwoEditors two(Texts{{"soup.md", soup}});
  collide_on_soup(two);
  const std::string done = (two.stage / "done").string();
  write_text(two.stage / "editor.sh",
             "cp \"$1\" " + (two.stage / "seen.md").string() + "\n[ -e " + done +
                 " ] && sed -i '/^[<=>|]/d; /an hour and a half/d; /^Simmer for an hour\\.$/d' \"$1\"\ntouch " + done +
                 "\n");
  two.ada.environment["EDITOR"] = "sh " + (two.stage / "editor.sh").string();
  Command command = two.resolve({"-C", two.mine.string()});
  command.folder = two.stage.path();
  TerminalSession session(command, 80);
  session.wait_for("keep mine");
  session.type("e");
  session.wait_for("The text still has conflict markers, so it is not used");
  CHECK_THAT(read_text(two.stage / "seen.md"),
             Contains("serves: 6") && Contains("- white pepper") &&
                 Contains("<<<<<<< mine\nSimmer for two hours.\n||||||| base\nSimmer for an hour.\n=======\n"
                          "Simmer for an hour and a half.\n>>>>>>> theirs\n"));
  CHECK_THAT(read_text(two.mine / "soup.md"), !Contains("<<<<<<<"));
  session.type("e");
  session.wait_for("Take the merge?");
  session.type("\r");
  CHECK(session.end() == 0);
  CHECK_THAT(read_text(two.mine / "soup.md"),
             Contains("two hours") && Contains("- white pepper") && Contains("serves: 6"));
  two.check_settled();
}

TEST_CASE("walk: the merge tool that git is set up for", "[cli]") {
  TwoEditors two(Texts{{"soup.md", soup}});
  collide_on_soup(two);
  const auto with_tool = [&](const std::string& line, bool trusted) {
    write_text(two.ada.home() / ".gitconfig",
               "[merge]\n  tool = fake\n[mergetool \"fake\"]\n  cmd = " + line +
                   "\n  trustExitCode = " + (trusted ? "true" : "false") + "\n");
  };
  TerminalSession session(two.resolve(), 80);
  session.wait_for("keep mine");
  session.type("x");
  session.wait_for("no merge tool is configured");
  with_tool("exit 1", true);
  session.type("x");
  session.wait_for("the merge tool fake ended with code 1");
  with_tool("exit 1", false);
  session.type("x");
  session.wait_for("The text still has conflict markers");
  with_tool("cat $LOCAL $BASE $REMOTE | grep Simmer > $MERGED", true);
  session.type("x");
  session.wait_for("Take the merge?");
  session.type("\r");
  CHECK(session.end() == 0);
  CHECK(read_text(two.mine / "soup.md") ==
        "Simmer for two hours.\nSimmer for an hour.\nSimmer for an hour and a half.\n");
  two.check_settled();
}

TEST_CASE("walk: Ctrl-C and SIGTERM give the terminal back and leave the rest open", "[cli]") {
  const bool by_key = GENERATE(true, false);
  const TwoEditors two(Texts{{"soup.md", soup}});
  collide_on_soup(two);
  TerminalSession session(two.resolve(), 80);
  session.wait_for("keep mine");
  CHECK_FALSE(session.is_as_usual());
  if (by_key) {
    session.type("\003");
  } else {
    session.signal(SIGTERM);
  }
  session.wait_for_lines();
  session.wait_for("1 conflict left open");
  CHECK(session.is_as_usual());
  CHECK(session.end() == (by_key ? 130 : 143));
  CHECK(two.conflicts().size() == 1);
}

TEST_CASE("walk: suspended it gives the terminal back, resumed it draws itself again, so after a new size", "[cli]") {
  const TwoEditors two(Texts{{"soup.md", soup}});
  collide_on_soup(two);
  Command command = two.resolve({"--color", "never"});
  std::vector<std::string> words = {
      "bash", "-c", "set -m; \"$@\"; echo it stands still; read line; fg >/dev/null", "bash"};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  command.arguments = std::move(words);
  TerminalSession session(command, 80);
  session.wait_for("keep mine");
  session.resize(140, 30);
  session.wait_for("theirs\n");
  CHECK_THAT(session.screen(), Contains(" mine                                      "));
  session.type("\032");
  session.wait_for_lines();
  session.wait_for("it stands still");
  CHECK(session.is_as_usual());
  session.type("\n");
  session.wait_for("keep mine");
  session.type("q");
  CHECK(session.end() == 7);
}

TEST_CASE("walk: nobody is asked where nobody can answer", "[cli]") {
  TwoEditors two(Texts{{"soup.md", soup}});
  collide_on_soup(two);
  const Ended piped = two.ada.ws({"sync", "resolve"}, two.mine);
  CHECK(piped.exit == 2);
  CHECK_THAT(piped.err, Contains("--keep mine, theirs or both"));
  const auto on_terminal = [&](std::vector<std::string> flags) {
    TerminalSession session(two.resolve(std::move(flags)), 80);
    const int exit = session.end();
    CHECK_THAT(session.lines(), Contains("--keep"));
    return exit;
  };
  CHECK(on_terminal({"--no-input"}) == 2);
  CHECK(on_terminal({"--json"}) == 2);
  two.ada.environment["CI"] = "1";
  CHECK(on_terminal({}) == 2);
  CHECK(two.conflicts().size() == 1);
}

TEST_CASE("walk: a terminal that can draw nothing is asked in lines, and its end leaves the rest open", "[cli]") {
  TwoEditors two(Texts{{"soup.md", soup}});
  collide_on_soup(two);
  two.ada.environment["TERM"] = "dumb";
  TerminalSession session(two.resolve(), 80);
  session.wait_for("Choice: ");
  session.type("theirs\r");
  session.wait_for("Type one of: yes, edit, no.");
  session.type("\004");
  CHECK(session.end() == 7);
  CHECK(session.lines().find('\033') == std::string::npos);
  CHECK(two.conflicts().size() == 1);
  TerminalSession again(two.resolve(), 80);
  again.wait_for("Choice: ");
  again.type("theirs\r");
  again.wait_for("Choice: ");
  again.type("yes\r");
  CHECK(again.end() == 0);
  CHECK_THAT(again.lines(), Contains("resolved soup.md: kept theirs"));
  two.check_settled();
}

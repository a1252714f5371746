// `ws sync resolve` in front of a person: every kind of conflict as it is seen, and decided either way.
#include <chrono>
#include <cstdlib>
#include <map>
#include <regex>
#include <thread>

#include <catch2/catch.hpp>

#include "tests/cli/workflow/two_editors.hpp"
#include "tests/support/golden.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

/// A conflict of every kind that a tree can hold at once.
void collide_in_every_way(const TwoEditors& two) {
  std::filesystem::remove(two.hers / "gone.md");
  std::filesystem::rename(two.hers / "renamed.md", two.hers / "by-grace.md");
  std::filesystem::rename(two.hers / "clash.md", two.hers / "taken.md");
  write_text(two.hers / "merge.md", "# merge\n\nWe sail at dawn.\n\nMara brings bread.\n");
  write_text(two.hers / "new.md", "# new\n\nWhat Grace wrote.\n\nend\n");
  write_text(two.hers / "wall.md", "# wall\n\nedited\n");
  write_text(two.hers / "deep.md/x.md", "# x\n");
  write_text(two.hers / "room.md", "# room\n");
  write_text(two.hers / "shelf.md", "# shelf\n");
  write_text(two.hers / "soup.md",
             replaced(replaced(soup, "an hour", "an hour and a half"), "- pepper", "- white pepper"));
  two.grace_syncs();
  two.write_mine("gone.md", "# gone\n\nThe first text.\n\nMore of it.\n");
  std::filesystem::rename(two.mine / "renamed.md", two.mine / "by-ada.md");
  two.write_mine("taken.md", "# mine at that place\n");
  two.write_mine("merge.md", "# merge\n\nWe sail at noon.\n\nTomas brings bread.\n");
  two.write_mine("new.md", "# new\n\nWhat Ada wrote.\n\nend\n");
  std::filesystem::remove(two.mine / "wall.md");
  write_text(two.mine / "wall.md/stone.md", "# stone\n");
  two.write_mine("soup.md", replaced(replaced(soup, "an hour", "two hours"), "serves: 4", "serves: 6"));
  two.write_mine("deep.md", "# a file in the place of a folder\n");
  write_text(two.mine / "room.md/in.md", "# a file in a folder in the place of a document\n");
  write_text(two.mine / "shelf.md/picture.png", "not for the sync");
  two.ada_syncs({"--no-merge"});
  // Deleted here while it is edited there: the delete is staged, and comes too late.
  std::filesystem::remove(two.mine / "lost.md");
  two.ada.ws({"sync", "push"}, two.mine);
  write_text(two.hers / "lost.md", "# lost\n\nThe second text.\n");
  two.grace_syncs();
  REQUIRE(two.ada.ws({"sync", "commit"}, two.mine).exit == 7);
}

const Texts every_text = {{"soup.md", soup},
                          {"merge.md", "# merge\n\nWe sail at dawn.\n\nTomas brings bread.\n"},
                          {"gone.md", "# gone\n\nThe first text.\n"},
                          {"lost.md", "# lost\n\nThe first text.\n"},
                          {"renamed.md", "# renamed\n\nThe first text.\n"},
                          {"clash.md", "# clash\n\nThe first text.\n"},
                          {"wall.md", "# wall\n\nstones\n"}};

std::string told(const std::string& text) {
  const std::string states = std::regex_replace(text, std::regex("--at [0-9a-f]{10}"), "--at STATE");
  const std::string short_screens = std::regex_replace(states, std::regex("\n{4,}"), "\n\n\n");  // empty rows
  return std::regex_replace(short_screens, std::regex("20[0-9]{2}-[0-9-]+ [0-9:]+   [0-9a-f]{10}"), "TIME   STATE");
}

void check_golden(const std::string& file, const std::string& came) {
  CHECK(came == golden("cli/golden/walk/" + file, came));
}

}  // namespace

TEST_CASE("walk: every kind of conflict, as it is seen", "[cli]") {
  const TwoEditors two(every_text);
  collide_in_every_way(two);
  struct Mode {
    int columns;
    std::string file;
    std::vector<std::string> flags;
  };
  const std::vector<Mode> modes = {{80, "screens_80.txt", {"--color", "never"}},
                                   {80, "screens_80_color.txt", {"--color", "always"}},
                                   {140, "screens_140.txt", {"--color", "never"}},
                                   {140, "screens_140_color.txt", {"--color", "always"}}};
  const auto texts = texts_of(two.mine);
  std::map<std::string, std::string> before;
  const std::string on_service = service_state(two);
  const std::size_t count = two.conflicts().size();
  CHECK(count == 11);
  for (const Mode& mode : modes) {
    TerminalSession session(two.resolve(mode.flags), mode.columns, 40);
    std::string all;
    const auto show = [&](const std::string& keys) { all += "=== " + keys + "\n" + told(session.screen()) + "\n"; };
    const auto press = [&](const std::string& keys, const std::string& name, const std::string& awaited) {
      session.type(keys);
      session.wait_for(awaited);
      show(name);
    };
    for (std::size_t i = 1; i <= count; ++i) {
      session.wait_for("Conflict " + std::to_string(i) + " of");
      show("conflict " + std::to_string(i));
      if (session.screen().find("soup.md") != std::string::npos) {
        press("h", "h", "take mine here");
        press("b", "b", "taken: both");
        press("\r", "Enter", "Take the merge?");
        session.type("\033");
        session.wait_for("Nothing was done");
        press("\033", "Esc", "keep theirs");
        press("t", "t", "Keep theirs where it collides");
        session.type("\033");
        session.wait_for("Nothing was done");
        press("T", "T", "Keep theirs?");
        session.type("\033");
        session.wait_for("Nothing was done");
        press("l", "l", "local history holds");
        session.type("\033");
        session.wait_for("keep theirs");
        press("?", "?", "What the keys do");
        session.type("\033");
        session.wait_for("keep theirs");
        press("s", "s", "is not saved");
      }
      session.type("s");
    }
    CHECK(session.end() == 7);
    // The first look may learn what the service has by now; from then on `.ws` stays as it is too.
    if (before.empty()) before = everything_in(two.mine);
    CHECK(everything_in(two.mine) == before);
    check_golden(mode.file, all + "=== after it\n" + told(session.lines()));
  }
  // Looking at them changes nothing, on either side.
  CHECK(texts_of(two.mine) == texts);
  CHECK(service_state(two) == on_service);
}

TEST_CASE("walk: every kind of conflict, as a screen reader tells it", "[cli]") {
  const TwoEditors two(every_text);
  collide_in_every_way(two);
  TerminalSession session(two.resolve({"--plain"}), 80);
  const std::size_t count = two.conflicts().size();
  for (std::size_t i = 1; i <= count; ++i) {
    session.wait_for("Conflict " + std::to_string(i) + " of");
    session.wait_for("Choice: ");
    const bool is_soup = session.lines().rfind("soup.md") > session.lines().rfind("Conflict " + std::to_string(i));
    if (is_soup && session.lines().rfind("soup.md") != std::string::npos) {
      for (const std::string words :
           {"places", "both", "undo", "theirs", "done", "no", "back", "help", "back", "later"}) {
        session.type(words + "\r");
        session.wait_for("Choice: ");
      }
      session.type("skip\r");
      session.wait_for("Choice: ");
    }
    session.type("skip\r");
  }
  CHECK(session.end() == 7);
  CHECK(session.lines().find('\033') == std::string::npos);
  check_golden("plain.txt", told(session.lines()));
}

TEST_CASE("walk: every kind of conflict can be decided either way, and both sides come into step", "[cli]") {
  const std::string key = GENERATE("m", "t");
  CAPTURE(key);
  const TwoEditors two(every_text);
  collide_in_every_way(two);
  const std::size_t count = two.conflicts().size();
  TerminalSession session(two.resolve(), 100);
  for (std::size_t i = 1; i <= count; ++i) {
    session.wait_for("Conflict " + std::to_string(i) + " of");
    // What is not synced is the user's to move: there is one choice.
    const bool one_choice = session.screen().find("that is not synced") != std::string::npos;
    session.type(one_choice ? "m" : key);
    session.wait_for("do it");
    session.type("\r");
  }
  CHECK(session.end() == 0);
  CHECK(std::filesystem::remove_all(two.mine / "shelf.md") == 2);  // nobody touched it
  two.check_settled();
  const auto texts = texts_of(two.mine);
  CHECK(texts.contains("gone.md") == (key == "m"));
  CHECK(texts.contains("lost.md") == (key == "t"));
  CHECK(texts.contains("by-ada.md") == (key == "m"));
  CHECK(texts.contains("by-grace.md") == (key == "t"));
  CHECK(texts.at("taken.md") == (key == "m" ? "# mine at that place\n" : "# clash\n\nThe first text.\n"));
  CHECK(texts.at(key == "m" ? "room (remote).md" : "room.md") == "# room\n");
  CHECK(texts.contains(key == "m" ? "room.md/in.md" : "room (local).md/in.md"));
  CHECK(texts.at("shelf (remote).md") == "# shelf\n");
  CHECK_THAT(texts.at("soup.md"), Contains(key == "m" ? "two hours" : "an hour and a half"));
  CHECK_THAT(texts.at("new.md"), Contains(key == "m" ? "Ada wrote" : "Grace wrote"));
}

TEST_CASE("walk: a service that went back to an older state", "[cli]") {
  const auto [key, text] = GENERATE(table<std::string, std::string>({{"m", "newer\n"}, {"t", "# soup\n"}}));
  const TwoEditors two(Texts{{"soup.md", "# soup\n"}});
  control(two.server, "POST", "/snapshots", R"({"name": "backup"})");
  two.write_mine("soup.md", "newer\n");
  REQUIRE(two.ada.ws({"sync"}, two.mine).exit == 0);
  control(two.server, "POST", "/snapshots/backup:restore", "");
  two.ada_syncs();
  TerminalSession session(two.resolve({"--color", "never"}), 80);
  session.wait_for("keep what is here");
  CHECK_THAT(session.screen(), Contains("soup.md: revision 2 -> 1"));
  if (key == "m") check_golden("rewound_80.txt", session.screen());
  session.type(key);
  session.wait_for("do it");
  session.type("\r");
  CHECK(session.end() == 0);
  two.check_settled();
  CHECK(read_text(two.hers / "soup.md") == text);
}

TEST_CASE("walk: a picture that differs on both sides is decided, and both can be kept", "[cli]") {
  const auto [key, mine, hers] = GENERATE(table<std::string, std::string, std::string>(
      {{"m", "Ada's bytes", ""}, {"t", "Grace's bytes", ""}, {"b", "Ada's bytes", "Grace's bytes"}}));
  CAPTURE(key);
  const TwoEditors two(Texts{{"note.md", "![p](p.png)\n"}, {"p.png", "the first bytes"}});
  write_text(two.hers / "p.png", "Grace's bytes");
  two.grace_syncs();
  two.write_mine("p.png", "Ada's bytes");
  two.ada_syncs();
  TerminalSession session(two.resolve({"--color", "never"}), 80);
  session.wait_for("keep both");
  session.type(key);
  session.wait_for("do it");
  session.type("\r");
  CHECK(session.end() == 0);
  CHECK(session.lines().find("edited since") == std::string::npos);
  CHECK((session.lines().find("restore p.png") == std::string::npos) == (key == "b"));  // the way back
  two.check_settled();
  CHECK(read_text(two.hers / "p.png") == mine);
  CHECK(std::filesystem::exists(two.hers / "p (remote).png") == !hers.empty());
  if (!hers.empty()) CHECK(read_text(two.hers / "p (remote).png") == hers);
}

TEST_CASE("walk: two pictures are opened by the desktop, or it is said where they lie", "[cli]") {
  const bool has_desktop = GENERATE(true, false);
  CAPTURE(has_desktop);
  TwoEditors two(Texts{{"note.md", "![p](p.png)\n"}, {"p.png", "the first bytes"}});
  write_text(two.hers / "p.png", "Grace's bytes");
  two.grace_syncs();
  two.write_mine("p.png", "Ada's bytes");
  two.ada_syncs();
  const std::filesystem::path opener = two.stage / "bin/xdg-open";
  write_text(opener, "#!/bin/sh\necho \"$1\" >> " + (two.stage / "opened").string() + "\n");
  std::filesystem::permissions(opener, std::filesystem::perms::owner_all);
  two.ada.environment["PATH"] = opener.parent_path().string() + ":" + std::getenv("PATH");
  for (const char* const name : {"SSH_CONNECTION", "SSH_TTY", "WAYLAND_DISPLAY"}) two.ada.environment[name] = "";
  two.ada.environment["DISPLAY"] = has_desktop ? ":0" : "";
  TerminalSession session(two.resolve({"--color", "never"}), 80, 24);
  session.wait_for("o open both");
  CHECK_THAT(session.screen(),
             Contains("Mine, here, on desk: p.png, ") && Contains("Theirs, from the service: p (remote).png, ") &&
                 Contains("Grace Hopper"));
  session.type("o");
  session.wait_for(has_desktop ? "Opened both" : "There is no desktop to open them on: they are at");
  session.type("q");
  CHECK(session.end() == 7);
  const std::string both = (two.mine / "p.png").string() + "\n" + (two.mine / "p (remote).png").string() + "\n";
  // The opener runs by itself.
  for (int i = 0; has_desktop && i < 100 && read_text(two.stage / "opened").size() < both.size(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const std::string opened = read_text(two.stage / "opened");
  CHECK(opened.size() == (has_desktop ? both.size() : 0));
  CHECK((opened.find("p.png\n") != std::string::npos) == has_desktop);
}

// The walk as a state machine, and its pages, without a terminal.
#include "cli/walk/walk.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "cli/walk/diff_rows.hpp"
#include "cli/walk/frame.hpp"
#include "cli/walk/plain_page.hpp"

using namespace ws;
using namespace ws::cli;
using namespace ws::cli::walk;
using Catch::Matchers::Contains;

namespace {

ShownConflict two_places() {
  return {.name = "plan.md",
          .what = "edited on both sides",
          .story = {"You edited it here."},
          .base = "a\n\nkeep\n\nb\n",
          .mine = "a mine\n\nkeep\n\nb mine\n",
          .theirs = "a theirs\n\nkeep\n\nb theirs\n",
          .offers = {{.keep = Keep::local, .what = "keep mine"},
                     {.keep = Keep::remote, .what = "keep theirs"},
                     {.keep = Keep::merged, .what = "take the merge"}},
          .has_history = true};
}

Walk walk_of(ShownConflict shown_conflict) {
  auto made = Walk::of(std::move(shown_conflict));
  REQUIRE(made);
  return std::move(*made);
}

KeyPress key(char c) {
  if (c == '\n') return KeyPress::of(KeyPress::Sort::enter);
  if (c == '\033') return KeyPress::of(KeyPress::Sort::escape);
  return KeyPress::of(c);
}

Effect press_all(Walk& walk, const std::string& keys) {
  Effect last = Effect::none;
  for (const char c : keys) last = walk.press(key(c));
  return last;
}

std::string text_of_frame(Walk& walk, ScreenSize size, bool color = true) {
  std::string text;
  for (const ScreenRow& row : frame(walk, {}, size, color)) {
    for (const Fragment& fragment : row) text += fragment.text;
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("walk: nothing is applied before Enter on the page that asks for it", "[cli]") {
  for (const std::string choice : {"m", "t"}) {
    Walk walk = walk_of(two_places());
    CHECK(press_all(walk, choice) == Effect::none);
    CHECK(walk.page() == Walk::Page::confirm);
    CHECK(press_all(walk, "\033") == Effect::none);
    CHECK(walk.page() == Walk::Page::shown_conflict);
    CHECK(press_all(walk, choice + "x") == Effect::none);
    CHECK(press_all(walk, "\n") == Effect::apply);
    CHECK(walk.decided().keep == (choice == "m" ? Keep::local : Keep::remote));
  }
}

TEST_CASE("walk: the merge can be taken once every place is decided", "[cli]") {
  Walk walk = walk_of(two_places());
  CHECK(press_all(walk, "g") == Effect::none);
  CHECK(walk.page() == Walk::Page::shown_conflict);
  CHECK_THAT(walk.notice(), Contains("2 places still open"));
  press_all(walk, "hm");
  CHECK(walk.choices()->open() == 1);
  press_all(walk, "u");
  CHECK(walk.choices()->open() == 2);
  press_all(walk, "tm\n");
  CHECK(walk.page() == Walk::Page::confirm);
  CHECK(press_all(walk, "\n") == Effect::apply);
  CHECK(walk.decided().keep == Keep::merged);
  CHECK(walk.decided().text == "a theirs\n\nkeep\n\nb mine\n");
}

TEST_CASE("walk: choices that would be forgotten are warned about once", "[cli]") {
  for (const char leaving : {'q', 's'}) {
    Walk walk = walk_of(two_places());
    const Effect effect = leaving == 'q' ? Effect::quit : Effect::skip;
    CHECK(press_all(walk, std::string("hm\033") + leaving) == Effect::none);
    CHECK_THAT(walk.notice(), Contains("drops what you chose"));
    CHECK(press_all(walk, std::string(1, leaving)) == effect);
    Walk untouched = walk_of(two_places());
    CHECK(press_all(untouched, std::string(1, leaving)) == effect);
  }
}

TEST_CASE("walk: a text from the editor is confirmed like any other, and a second thought does not lose it", "[cli]") {
  Walk walk = walk_of(two_places());
  CHECK(press_all(walk, "e") == Effect::edit);
  CHECK_THAT(walk.editable("mine", "theirs"), Contains("<<<<<<< mine\na mine\n||||||| base\na\n=======\na theirs\n"));
  walk.propose_text("by hand\n");
  CHECK(walk.page() == Walk::Page::confirm);
  press_all(walk, "\033");
  CHECK(walk.editable("mine", "theirs") == "by hand\n");
  walk.propose_text("by hand, twice\n");
  CHECK(press_all(walk, "\n") == Effect::apply);
  CHECK(walk.decided().text == "by hand, twice\n");
}

TEST_CASE("walk: where there is one text only its ways out are keys", "[cli]") {
  ShownConflict shown_conflict = two_places();
  shown_conflict.theirs.reset();
  shown_conflict.offers.pop_back();
  Walk walk = walk_of(shown_conflict);
  for (const char c : {'h', 'e', 'x', 'g', 'b'}) {
    CHECK(press_all(walk, std::string(1, c)) == Effect::none);
    CHECK(walk.page() == Walk::Page::shown_conflict);
    CHECK_THAT(walk.notice(), Contains("does nothing"));
  }
}

TEST_CASE("walk: help lists the keys of the shown conflict and no others", "[cli]") {
  ShownConflict picture = {
      .name = "a.png",
      .what = "a file edited on both sides",
      .offers = {{.keep = Keep::local, .what = "keep mine"}, {.keep = Keep::both, .what = "keep both"}}};
  const std::vector<std::pair<ShownConflict, std::string>> conflicts = {{two_places(), "mtghexlsq"}, {picture, "mbsq"}};
  for (const auto& [conflict, keys] : conflicts) {
    CAPTURE(conflict.name);
    Walk walk = walk_of(conflict);
    press_all(walk, "?");
    REQUIRE(walk.page() == Walk::Page::help);
    std::string listed;
    for (const KeyOffer& offer : walk.help()) {
      listed += offer.key;
      CHECK_FALSE(offer.help.empty());
    }
    CHECK(listed == keys);
    const std::string screen = text_of_frame(walk, {.columns = 80, .rows = 40});
    std::string plain;
    for (const std::string& line : plain_page(walk, {})) plain += line + "\n";
    for (const std::string word : {"mine", "theirs", "both", "merge", "places", "edit", "tool", "history", "skip"}) {
      CAPTURE(word);
      const bool applies = std::ranges::any_of(walk.help(), [&](const KeyOffer& offer) { return offer.word == word; });
      CHECK((screen.find("  " + word + ": ") != std::string::npos) == applies);
      CHECK((("\n" + plain).find("\n" + word + ": ") != std::string::npos) == applies);
    }
  }
}

TEST_CASE("walk: a signal ends it from every page", "[cli]") {
  for (const std::string way : {"", "h", "m", "?"}) {
    Walk walk = walk_of(two_places());
    press_all(walk, way);
    CHECK(walk.press(KeyPress::of(KeyPress::Sort::stopped)) == Effect::quit);
  }
}

TEST_CASE("walk: a frame has exactly the rows of the screen, none wider than it, at any size", "[cli]") {
  ShownConflict shown_conflict = two_places();
  shown_conflict.name = std::string(300, 'n') + ".md";
  shown_conflict.mine = "a " + std::string(400, 'm') + " words 漢字漢字漢字\n\nkeep\n\nb\tmine\n";
  for (std::size_t i = 0; i < 100; ++i) *shown_conflict.theirs += "line " + std::to_string(i) + "\n";
  for (const std::size_t columns : {20U, 40U, 80U, 119U, 120U, 200U}) {
    for (const std::size_t rows : {8U, 24U, 60U}) {
      for (const std::string way : {"", "h", "t", "?"}) {
        Walk walk = walk_of(shown_conflict);
        press_all(walk, way);
        const auto drawn = frame(walk, {.number = 1, .count = 3}, {.columns = columns, .rows = rows}, columns % 3 == 0);
        CAPTURE(columns, rows, way);
        CHECK(drawn.size() == rows);
        for (const ScreenRow& row : drawn) CHECK(columns_of(row) <= columns);
      }
    }
  }
}

TEST_CASE("walk: a small screen shows every key and its word, and the view still moves over all of it", "[cli]") {
  ShownConflict shown_conflict = two_places();
  shown_conflict.story = {"Ada Byron edited it on the service 3 hours ago, as revision 7.",
                          "You edited it here, and what you have began with revision 6."};
  for (const std::string way : {"", "h", "hm", "t"}) {
    CAPTURE(way);
    Walk walk = walk_of(shown_conflict);
    press_all(walk, way);
    const ScreenSize size{.columns = 40, .rows = 10};
    const std::string seen = text_of_frame(walk, size);
    for (const KeyOffer& offer : walk.keys()) CHECK_THAT(seen, Contains(offer.word) || Contains(offer.help));
    walk.press(KeyPress::of(KeyPress::Sort::home));
    std::string all = text_of_frame(walk, size);
    for (std::size_t i = 0; i < 60; ++i) {
      walk.press(KeyPress::of(KeyPress::Sort::down));
      all += text_of_frame(walk, size);
    }
    CHECK_THAT(all, Contains("a theirs"));
    if (way.empty()) CHECK_THAT(all, Contains("Ada Byron edited it on the service") && Contains("revision 6"));
  }
}

TEST_CASE("walk: the view moves to its ends and no further", "[cli]") {
  ShownConflict shown_conflict = two_places();
  for (std::size_t i = 0; i < 100; ++i) *shown_conflict.theirs += "line " + std::to_string(i) + "\n";
  Walk walk = walk_of(shown_conflict);
  const ScreenSize size{.columns = 80, .rows = 24};
  CHECK_THAT(text_of_frame(walk, size), Contains("below, Space shows more") && !Contains("line 99"));
  walk.press(KeyPress::of(KeyPress::Sort::end));
  const std::string last = text_of_frame(walk, size);
  CHECK_THAT(last, Contains("line 99") && Contains("above"));
  press_all(walk, "   ");
  CHECK(text_of_frame(walk, size) == last);
  walk.press(KeyPress::of(KeyPress::Sort::home));
  CHECK_THAT(text_of_frame(walk, size), Contains("place 1 of 2"));
}

TEST_CASE("walk: what others wrote cannot steer a terminal", "[cli]") {
  ShownConflict shown_conflict = two_places();
  shown_conflict.name = "a\033[2Jb.md";
  shown_conflict.story = {"Mallory\033]0;title\007 edited it."};
  shown_conflict.theirs = "a \033[31mred\033[0m \u202Ereversed\n\nkeep\n\nb theirs\n";
  for (const std::string way : {"", "h", "t"}) {
    Walk walk = walk_of(shown_conflict);
    press_all(walk, way);
    std::string all = text_of_frame(walk, {.columns = 80, .rows = 40}, false);
    for (const std::string& line : plain_page(walk, {})) all += line;
    CHECK_THAT(all, !Contains("\033") && !Contains("\007") && !Contains("\u202E"));
    CHECK_THAT(all, Contains("red"));
  }
}

TEST_CASE("walk: without colour changed words are marked below, with it they are not", "[cli]") {
  Walk walk = walk_of(two_places());
  CHECK_THAT(text_of_frame(walk, {}, false), Contains("    mine │ a mine\n         │   ~~~~\n"));
  CHECK_THAT(text_of_frame(walk, {}, true), !Contains("~"));
}

TEST_CASE("walk: lines take whole words and letters, whatever their case", "[cli]") {
  Walk walk = walk_of(two_places());
  CHECK(find_key(walk, " Mine ") == KeyPress::of('m'));
  CHECK(find_key(walk, "t") == KeyPress::of('t'));
  CHECK_FALSE(find_key(walk, "both"));
  CHECK_FALSE(find_key(walk, ""));
  walk.press(key('m'));
  CHECK(find_key(walk, "yes") == KeyPress::of(KeyPress::Sort::enter));
  CHECK(find_key(walk, "no") == KeyPress::of(KeyPress::Sort::escape));
  CHECK_FALSE(find_key(walk, "mine"));
}

TEST_CASE("word changes: the words that came, no more", "[cli]") {
  const auto changed = [](std::string_view before, std::string_view after) {
    std::vector<std::string> words;
    for (const ByteRange& range : changed_words(before, after)) {
      words.emplace_back(after.substr(range.begin, range.end - range.begin));
    }
    return words;
  };
  using Words = std::vector<std::string>;
  CHECK(changed("simmer for an hour", "simmer for two hours") == Words{"two hours"});
  CHECK(changed("one two three", "one 2 three 4") == Words{"2", "4"});
  CHECK(changed("same", "same").empty());
  CHECK(changed("", "all of it").empty());
  CHECK(changed("nothing alike", "wholly other").empty());
}

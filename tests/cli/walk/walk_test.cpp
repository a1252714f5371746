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

/// One collision far below what only one side changed.
ShownConflict one_place_below(std::size_t lines) {
  std::string between;
  for (std::size_t i = 0; i < lines; ++i) between += "line " + std::to_string(i) + "\n\n";
  ShownConflict shown = two_places();
  shown.story = {"You edited it here.", "Ada Byron edited it on the service.", "Both began with revision 1."};
  shown.base = "a\n\n" + between + "b\n\nc\n";
  shown.mine = "a mine\n\n" + between + "b mine\n\nc\n";
  shown.theirs = "a\n\n" + between + "b theirs\n\nc theirs\n";
  return shown;
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

TEST_CASE("walk: m and t decide what collides and take the merge, M and T take a whole text", "[cli]") {
  const auto [keys, keep, text, side] = GENERATE(table<std::string, Keep, std::string, std::optional<Keep>>(
      {{"m", Keep::merged, "a mine\n\nb mine\n\nc theirs\n", Keep::local},
       {"t", Keep::merged, "a mine\n\nb theirs\n\nc theirs\n", Keep::remote},
       {"ht\033m", Keep::merged, "a mine\n\nb mine\n\nc theirs\n", Keep::local},
       {"M", Keep::local, "", std::nullopt},
       {"T", Keep::remote, "", std::nullopt}}));
  CAPTURE(keys);
  Walk walk = walk_of(one_place_below(0));
  press_all(walk, keys);
  CHECK(walk.page() == Walk::Page::confirm);
  CHECK(press_all(walk, "\n") == Effect::apply);
  CHECK(walk.decided().keep == keep);
  CHECK(walk.decided().text == text);
  CHECK(walk.decided().where_it_collides == side);
}

TEST_CASE("walk: where nothing merges by itself both keys of a side do the same, and one is shown", "[cli]") {
  for (const std::string choice : {"m", "M", "t", "T"}) {
    Walk walk = walk_of(two_places());
    const std::string seen = text_of_frame(walk, {});
    CHECK_THAT(seen, Contains("m keep mine") && !Contains("where it collides") && !Contains("all of"));
    press_all(walk, choice);
    CHECK(walk.decided().keep == (choice == "m" || choice == "M" ? Keep::local : Keep::remote));
  }
}

TEST_CASE("walk: where nothing collides m and t are the merge, and the whole texts stay choices", "[cli]") {
  ShownConflict shown = one_place_below(0);
  shown.theirs = "a\n\nb\n\nc theirs\n";
  for (const std::string choice : {"m", "t", "g"}) {
    Walk walk = walk_of(shown);
    CHECK_THAT(text_of_frame(walk, {}),
               Contains("g take the merge") && Contains("M all of mine") && !Contains("m keep"));
    press_all(walk, choice + "\n");
    CHECK(walk.decided().text == "a mine\n\nb mine\n\nc theirs\n");
    CHECK_FALSE(walk.decided().where_it_collides);
  }
}

TEST_CASE("walk: the collision is on the first screen, whatever stands above it", "[cli]") {
  for (const bool color : {true, false}) {
    Walk walk = walk_of(one_place_below(40));
    const std::string seen = text_of_frame(walk, {.columns = 80, .rows = 24}, color);
    CHECK_THAT(seen,
               Contains("Ada Byron edited it") && Contains("place 1 of 1") && Contains("│ b mine") &&
                   Contains("│ b theirs") && Contains("m keep mine where it collides") && Contains("quit"));
    press_all(walk, "m\033");
    CHECK_THAT(text_of_frame(walk, {.columns = 80, .rows = 24}, color), Contains("│ b theirs"));
  }
}

TEST_CASE("walk: a collision higher than the screen is cut around what changed, and Space shows all of it", "[cli]") {
  ShownConflict shown = two_places();
  std::string paragraph;
  for (std::size_t i = 0; i < 120; ++i) paragraph += "word" + std::to_string(i) + " ";
  shown.base = "# A\n\n" + paragraph + "was here.\n";
  shown.mine = "# A\n\n" + paragraph + "is mine now.\n";
  shown.theirs = "# A\n\n" + paragraph + "is theirs today.\n";
  for (const std::size_t columns : {80U, 120U}) {
    CAPTURE(columns);
    Walk walk = walk_of(shown);
    const ScreenSize size{.columns = columns, .rows = 24};
    CHECK_THAT(text_of_frame(walk, size),
               Contains("is mine now.") && Contains("is theirs today.") && Contains("was here.") &&
                   Contains("⋯ is cut, Space shows all of it") && !Contains("word1 "));
    press_all(walk, " ");
    CHECK_THAT(text_of_frame(walk, size), Contains("word1 ") && !Contains("is cut"));
    press_all(walk, "h");
    CHECK_THAT(text_of_frame(walk, size), Contains("is theirs today."));
  }
}

TEST_CASE("walk: lines that all texts of a place have stand around it once", "[cli]") {
  ShownConflict shown = two_places();
  shown.base = "---\ntitle: Soup\nserves: 4\ntime: 1\n---\n# Soup\n";
  shown.mine = "---\ntitle: Soup\nserves: 6\ntime: 1\n---\n# Soup\n";
  shown.theirs = "---\ntitle: Soup\nserves: 8\ntime: 1\n---\n# Soup\n";
  Walk walk = walk_of(shown);
  const std::string seen = text_of_frame(walk, {.columns = 80, .rows = 40});
  CHECK(seen.find("title: Soup") == seen.rfind("title: Soup"));
  CHECK_THAT(seen, Contains("    mine │ serves: 6") && Contains("  theirs │ serves: 8"));
}

TEST_CASE("walk: two files can be opened where both lie here", "[cli]") {
  ShownConflict picture = {
      .name = "a.png", .what = "file edited on both sides", .offers = {{.keep = Keep::local, .what = "keep mine"}}};
  Walk without_copy = walk_of(picture);
  CHECK(press_all(without_copy, "o") == Effect::none);
  picture.files = {"a.png", "a (remote).png"};
  Walk walk = walk_of(picture);
  CHECK_THAT(text_of_frame(walk, {}), Contains("o open both"));
  CHECK(press_all(walk, "o") == Effect::open);
}

TEST_CASE("walk: choices that would be forgotten are warned about once", "[cli]") {
  for (const char leaving : {'q', 's'}) {
    Walk walk = walk_of(two_places());
    const Effect effect = leaving == 'q' ? Effect::quit : Effect::skip;
    CHECK(press_all(walk, std::string("hm\033") + leaving) == Effect::none);
    CHECK_THAT(walk.notice(), Contains("is not saved"));
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
  CHECK(find_key(walk, "T") == KeyPress::of('t'));
  Walk merging = walk_of(one_place_below(0));
  CHECK(find_key(merging, "M") == KeyPress::of('M'));
  CHECK(find_key(merging, "m") == KeyPress::of('m'));
  CHECK(find_key(merging, "All mine") == KeyPress::of('M'));
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

#include "cli/walk/choices.hpp"

#include <random>

#include <catch2/catch.hpp>

using namespace ws;
using namespace ws::cli::walk;

namespace {

using Kind = Stretch::Kind;

constexpr unsigned first_seed = 20261122;

std::string random_lines(std::mt19937& random, std::size_t count) {
  static const std::vector<std::string> words = {"bread", "dawn", "harbour", "lamp", "noon", "rope", "sail", "wick"};
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += words[random() % words.size()] + " and " + words[random() % words.size()] + "\n";
    if (random() % 3 == 0) text += "\n";
  }
  return text;
}

/// Some lines changed, taken out, put in.
std::string edited(std::mt19937& random, const std::string& text) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at) + 1;
    const unsigned die = random() % 8;
    if (die == 0) result += "new " + std::to_string(random() % 9) + "\n";
    if (die == 1) result += "anew " + std::to_string(random() % 9) + "\n";
    if (die != 1 && die != 2) result += text.substr(at, end - at);
    at = end;
  }
  if (random() % 6 == 0 && !result.empty()) result.pop_back();
  if (random() % 6 == 0) {
    std::string crlf;
    for (const char c : result) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
    return crlf;
  }
  return result;
}

struct Case {
  std::optional<std::string> base = {};
  std::string mine = {};
  std::string theirs = {};
};

Case random_case(std::mt19937& random) {
  std::string base = random_lines(random, 1 + random() % 12);
  if (random() % 3 == 0) base = "---\ntitle: Plan\ntags: [a, b]\nserves: 4\n---\n" + base;
  Case made{.mine = edited(random, base), .theirs = edited(random, base)};
  if (random() % 4 != 0) made.base = base;
  return made;
}

std::vector<std::size_t> places_of(const Choices& choices) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < choices.stretches().size(); ++i) {
    if (choices.stretches()[i].kind != Kind::same) places.push_back(i);
  }
  return places;
}

/// The text that the choices say, put together anew: LF alone.
std::string lines_that(const Choices& choices, const std::vector<std::optional<Take>>& takes) {
  std::string text;
  for (std::size_t i = 0; i < takes.size(); ++i) {
    const Stretch& stretch = choices.stretches()[i];
    if (stretch.kind == Kind::same || takes[i] == Take::merged) {
      text += stretch.merged;
    } else if (!takes[i] || takes[i] == Take::mine) {
      text += stretch.mine;
    } else {
      if (takes[i] == Take::both) text += stretch.mine;
      text += stretch.theirs;
    }
  }
  return text;
}

std::string plain(std::string text) {
  std::erase(text, '\r');
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

}  // namespace

TEST_CASE("choices: all mine is my text byte for byte, and all theirs is theirs", "[cli]") {
  for (unsigned seed = first_seed; seed < first_seed + 400; ++seed) {
    std::mt19937 random(seed);
    const Case made = random_case(random);
    CAPTURE(seed, made.base.value_or("(none)"), made.mine, made.theirs);
    auto choices = Choices::of(made.base, made.mine, made.theirs);
    REQUIRE(choices);
    for (const std::size_t place : places_of(*choices)) choices->take(place, Take::mine);
    REQUIRE(choices->text() == made.mine);
    for (const std::size_t place : places_of(*choices)) choices->take(place, Take::theirs);
    REQUIRE(choices->text() == made.theirs);
  }
}

TEST_CASE("choices: any sequence of choices and undos gives the text that they say", "[cli]") {
  for (unsigned seed = first_seed; seed < first_seed + 400; ++seed) {
    std::mt19937 random(seed);
    const Case made = random_case(random);
    CAPTURE(seed, made.base.value_or("(none)"), made.mine, made.theirs);
    auto choices = Choices::of(made.base, made.mine, made.theirs);
    REQUIRE(choices);
    const auto places = places_of(*choices);
    if (places.empty()) continue;
    std::vector<std::vector<std::optional<Take>>> states(1);
    for (std::size_t i = 0; i < choices->stretches().size(); ++i) states.back().push_back(choices->taken(i));
    for (int step = 0; step < 30; ++step) {
      if (random() % 3 == 0) {
        const bool had = states.size() > 1;
        REQUIRE(choices->undo().has_value() == had);
        if (had) states.pop_back();
      } else {
        const std::size_t place = places[random() % places.size()];
        const Take take = static_cast<Take>(random() % 4);
        const bool means_nothing = take == Take::merged && choices->stretches()[place].kind == Kind::collision;
        choices->take(place, take);
        if (means_nothing) continue;
        states.push_back(states.back());
        states.back()[place] = take;
      }
      for (std::size_t i = 0; i < choices->stretches().size(); ++i) REQUIRE(choices->taken(i) == states.back()[i]);
      // Line ends and moved blocks are whole texts' affairs: there the text is one side's, byte for byte.
      const std::string text = choices->text();
      const bool is_a_side = text == made.mine || text == made.theirs;
      REQUIRE((is_a_side || plain(text) == plain(lines_that(*choices, states.back()))));
    }
  }
}

TEST_CASE("choices: a stamp that the tree's settings name is merged to the later date", "[cli]") {
  const auto stamped = [](const std::string& date, const std::string& line) {
    return "---\nedited: 2026-01-" + date + "\n---\none\n\n" + line + "\n";
  };
  const auto open = [&](const sync::merge::MergeOptions& options) {
    return Choices::of(stamped("01", "two"), stamped("02", "two!"), stamped("03", "two"), options)
        ->count(Kind::collision);
  };
  CHECK(open({}) == 1);
  CHECK(open({.merge_later = {"edited"}}) == 0);
}

TEST_CASE("choices: what only one side changed needs no choice, what both changed does", "[cli]") {
  const auto choices = Choices::of("one\n\ntwo\n\nthree\n", "one!\n\ntwo or so\n\nthree\n", "one\n\n2\n\nthree\n");
  REQUIRE(choices);
  CHECK(choices->count(Kind::mine) == 1);
  CHECK(choices->count(Kind::collision) == 1);
  CHECK(choices->open() == 1);
  CHECK(choices->text_with_markers("mine", "theirs") ==
        "one!\n\n<<<<<<< mine\ntwo or so\n||||||| base\ntwo\n=======\n2\n>>>>>>> theirs\n\nthree\n");
}

TEST_CASE("choices: mine where it collides takes what merges, whatever was chosen there", "[cli]") {
  const std::string base = "one\n\ntwo\n\nthree\n\nfour\n";
  auto choices = Choices::of(base, "one!\n\nmine\n\nthree\n\nfour\n", "one\n\ntheirs\n\nthree\n\nfour!\n");
  REQUIRE(choices);
  const std::string mine = "one!\n\nmine\n\nthree\n\nfour!\n";
  const std::string theirs = "one!\n\ntheirs\n\nthree\n\nfour!\n";
  CHECK(choices->text_where_it_collides(Take::mine) == mine);
  CHECK(choices->text_where_it_collides(Take::theirs) == theirs);
  CHECK(choices->merges_more_than(Take::mine));
  CHECK(choices->merges_more_than(Take::theirs));
  for (const std::size_t place : places_of(*choices)) choices->take(place, Take::theirs);
  CHECK(choices->text_where_it_collides(Take::mine) == "one\n\nmine\n\nthree\n\nfour!\n");
  CHECK(choices->open() == 0);
}

TEST_CASE("choices: where all of one side's changes collide, its side of them is its whole text", "[cli]") {
  const auto choices = Choices::of("one\n\ntwo\n", "one\n\nmine\n", "one!\n\ntheirs\n");
  REQUIRE(choices);
  CHECK(choices->merges_more_than(Take::mine));
  CHECK_FALSE(choices->merges_more_than(Take::theirs));
}

TEST_CASE("choices: both is mine and theirs below it, also where mine has no newline at its end", "[cli]") {
  auto choices = Choices::of(std::nullopt, "same\nmine", "same\ntheirs\n");
  REQUIRE(choices);
  const std::size_t place = choices->stretches().size() - 1;
  REQUIRE(choices->stretches()[place].kind == Kind::collision);
  choices->take(place, Take::both);
  CHECK(plain(choices->text()) == "same\nmine\ntheirs");
}

TEST_CASE("choices: without a base the two texts are compared with each other", "[cli]") {
  const auto choices = Choices::of(std::nullopt, "# A\n\nmine\n\nend\n", "# A\n\ntheirs\n\nend\n");
  REQUIRE(choices);
  CHECK(choices->count(Kind::collision) == 1);
  CHECK(choices->stretches().front().merged == "# A\n\n");
  CHECK_FALSE(choices->has_base());
}

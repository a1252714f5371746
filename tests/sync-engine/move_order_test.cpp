#include "sync-engine/changes/move_order.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/support/random_cases.hpp"
#include "tests/sync-engine/support/paths.hpp"

using namespace ws;
using namespace ws::sync;
using sync::test::path;

namespace {

/// A folder of files by the place where each began; refuses what a disk refuses.
class Folder {
 public:
  explicit Folder(const std::vector<PlannedMove>& moves) : moves_(moves) {
    for (const PlannedMove& each : moves) at_.push_back(each.from.string());
  }

  Result<void> run() {
    return move_in_order(
        moves_,
        [this](std::size_t i) -> Result<void> {
          const std::string to = moves_[i].to.string();
          if (is_taken(to, i)) return fail(Failure::Kind::conflict, to + " is taken");
          at_[i] = to;
          ++made_;
          return {};
        },
        [this](std::size_t i) {
          ++aside_;
          at_[i] = fmt::format("aside {}", i);
          return true;
        });
  }
  bool is_done() const {
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      if (at_[i] != moves_[i].to.string()) return false;
    }
    return made_ == moves_.size();
  }
  std::size_t aside() const { return aside_; }

 private:
  bool is_taken(const std::string& place, std::size_t self) const {
    for (std::size_t i = 0; i < at_.size(); ++i) {
      if (i == self) continue;
      if (at_[i] == place || at_[i].starts_with(place + "/") || place.starts_with(at_[i] + "/")) return true;
    }
    return false;
  }

  const std::vector<PlannedMove>& moves_;
  std::vector<std::string> at_;
  std::size_t made_ = 0;
  std::size_t aside_ = 0;
};

std::size_t asides_of(const std::vector<PlannedMove>& moves) {
  Folder folder(moves);
  const auto ran = folder.run();
  INFO((ran ? "" : ran.error().what));
  CHECK(ran);
  CHECK(folder.is_done());
  return folder.aside();
}

}  // namespace

TEST_CASE("move order: a chain is made from its end, a circle is opened once", "[sync-engine]") {
  CHECK(asides_of({{path("a"), path("b")}, {path("b"), path("c")}, {path("c"), path("d")}}) == 0);
  CHECK(asides_of({{path("a"), path("b")}, {path("b"), path("a")}}) == 1);
  CHECK(asides_of({{path("a"), path("b")}, {path("b"), path("c")}, {path("c"), path("a")}, {path("x"), path("y")}}) ==
        1);
  // One that only waits for a circle does not step aside.
  CHECK(asides_of({{path("x"), path("c/d")}, {path("a"), path("b")}, {path("b"), path("a")}, {path("c"), path("x")}}) ==
        2);
  CHECK(asides_of({{path("w"), path("a")},
                   {path("a"), path("b")},
                   {path("b"), path("c")},
                   {path("c"), path("b2/a")},
                   {path("b2"), path("d")}}) == 0);
  CHECK(asides_of({{path("a"), path("a/b")}}) == 0);
}

TEST_CASE("move order: random renames, nested and in circles, all arrive", "[sync-engine]") {
  const std::uint64_t seed = ws::test::number_from_environment("WS_SEED", 1);
  for (std::uint64_t i = seed; i < seed + ws::test::number_from_environment("WS_CASES", 2000); ++i) {
    CAPTURE(i);
    std::mt19937_64 random(i);
    const auto letter = [&](unsigned bound) { return static_cast<char>('a' + random() % bound); };
    const auto place = [&] {
      std::string name(1, letter(4));
      if (random() % 3 == 0) name += fmt::format("/{}", letter(3));
      return name;
    };
    const auto fits = [](const std::set<std::string>& taken, const std::string& one) {
      return std::ranges::none_of(taken, [&](const std::string& other) {
        return other == one || other.starts_with(one + "/") || one.starts_with(other + "/");
      });
    };
    std::set<std::string> from;
    std::set<std::string> to;
    std::vector<PlannedMove> moves;
    for (int pair = 0; pair < 8; ++pair) {
      const std::string here = place();
      const std::string there = place();
      if (here == there || !fits(from, here) || !fits(to, there)) continue;
      from.insert(here);
      to.insert(there);
      moves.push_back({path(here), path(there)});
    }
    CHECK(asides_of(moves) <= moves.size() / 2 + 1);
  }
}

TEST_CASE("move order: a chain of 20,000 names is no more work than as many moves", "[sync-engine]") {
  std::vector<PlannedMove> chain;
  for (int i = 0; i < 20'000; ++i)
    chain.push_back({path(fmt::format("n{:05}", i)), path(fmt::format("n{:05}", i + 1))});
  std::size_t made = 0;
  std::size_t last = chain.size();
  REQUIRE(move_in_order(
      chain,
      [&](std::size_t i) -> Result<void> {
        CHECK(i + 1 == last);
        last = i;
        ++made;
        return {};
      },
      [](std::size_t) { return false; }));
  CHECK(made == chain.size());
}

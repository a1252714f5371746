/// A page of the walk as the rows of a whole screen.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/walk/rows.hpp"
#include "cli/walk/walk.hpp"

namespace ws::cli::walk {

/// Where the walk stands among several matters.
struct Position {
  std::string noun = "Conflict";  ///< what each of them is
  std::size_t number = 1;
  std::size_t count = 1;
};

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

/// Exactly `size.rows` rows of at most `size.columns`: what it is about above, the view of it, what can be done below.
/// Moves the walk's view where it must. `has_color` false: changed words are marked below.
std::vector<ScreenRow> frame(Walk& walk, const Position& position, ScreenSize size, bool has_color);

/// "Conflict 1 of 3"; the noun alone where there is one.
std::string words_for(const Position& position);
/// What stands above the view on each page, as sentences: the story and what merges by itself, or what is confirmed.
std::vector<std::string> sentences(const Walk& walk);
/// The page of help.
std::vector<std::string> help_lines();

}  // namespace ws::cli::walk

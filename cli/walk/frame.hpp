/// Renders a page of the walk as the rows of a full screen.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/walk/rows.hpp"
#include "cli/walk/walk.hpp"

namespace ws::cli::walk {

/// The position among several conflicts.
struct Position {
  std::string noun = "Conflict";  ///< of one of them
  std::size_t number = 1;
  std::size_t count = 1;
};

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

/// Exactly `size.rows` rows of at most `size.columns`: the title, the view, the keys. Scrolls the walk's view if
/// needed. `has_color` false: changed words are underlined by `~`.
std::vector<ScreenRow> frame(Walk& walk, const Position& position, ScreenSize size, bool has_color);

/// "Conflict 1 of 3"; the noun alone if there is one.
std::string words_for(const Position& position);
/// The sentences above the view: what happened and what merges automatically, or what is to be confirmed.
std::vector<std::string> sentences(const Walk& walk);

}  // namespace ws::cli::walk

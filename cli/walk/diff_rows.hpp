/// The places of a conflict as rows of a screen: one below the other, or side by side where there is room.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/walk/choices.hpp"
#include "cli/walk/rows.hpp"

namespace ws::cli::walk {

/// From so many columns on two texts stand beside each other.
inline constexpr std::size_t side_by_side_from = 120;
/// Unchanged lines that stay above and below a change; more are folded.
inline constexpr std::size_t lines_around = 2;
inline constexpr std::size_t lines_of_an_unchanged_text = 8;

struct DiffLook {
  std::size_t columns = 80;
  bool has_color = false;  ///< else changed words are marked below
  bool has_headings = true;
  std::string mine = "mine";  ///< what the two sides are called
  std::string theirs = "theirs";
  std::optional<std::size_t> current = {};  ///< the stretch that is asked about
};

struct DiffRows {
  std::vector<ScreenRow> rows = {};
  std::vector<std::size_t> starts = {};  ///< the first row of each stretch
};

DiffRows diff_rows(const Choices& choices, const DiffLook& look);

/// "taken: mine"; empty where nobody chose.
std::string words_for_take(const Choices& choices, std::size_t stretch);
/// "place 1 of 2", "only mine changed: merges by itself".
std::string words_for_place(const Choices& choices, std::size_t stretch);
/// Each line without its newline.
std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace ws::cli::walk

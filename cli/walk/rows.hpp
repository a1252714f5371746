/// Rows of a screen, as text with looks; still without a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/terminal.hpp"

namespace ws::cli::walk {

struct Fragment {
  std::string text = {};
  Look look = Look::plain;
  bool operator==(const Fragment&) const = default;
};
using ScreenRow = std::vector<Fragment>;

/// One line of anybody's text, made safe for a terminal; a tab is four blanks.
std::string safe_line(std::string_view text);

std::size_t columns_of(const ScreenRow& row);
/// The text alone.
std::string text_of(const ScreenRow& row);

/// Broken between words into rows of at most `columns` (at least 1); blanks at a break go, a longer word is cut.
/// At least one row.
std::vector<ScreenRow> wrapped(const ScreenRow& row, std::size_t columns);
/// Cut with `…` where it is longer.
ScreenRow shortened(const ScreenRow& row, std::size_t columns);
/// Filled with blanks.
ScreenRow padded(ScreenRow row, std::size_t columns);

/// `~` below each fragment that is mine or theirs, for screens without colour; empty where none is.
ScreenRow marks_below(const ScreenRow& row);

}  // namespace ws::cli::walk

/// Screen rows as styled text, independent of the terminal.
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

/// A line of text without control characters; a tab becomes four spaces.
std::string safe_line(std::string_view text);

std::size_t columns_of(const ScreenRow& row);

/// Wraps at words into rows of at most `columns` (at least 1); drops spaces at a break, cuts longer words. At least one
/// row.
std::vector<ScreenRow> wrapped(const ScreenRow& row, std::size_t columns);
/// Truncates with `…`.
ScreenRow shortened(const ScreenRow& row, std::size_t columns);
/// Pads with spaces.
ScreenRow padded(ScreenRow row, std::size_t columns);

/// A row of `~` below each fragment of mine or theirs, for terminals without colour; empty if there are none.
ScreenRow marks_below(const ScreenRow& row);

}  // namespace ws::cli::walk

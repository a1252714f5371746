/// The places of a conflict as screen rows: one below the other, or side by side on wide terminals.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/walk/choices.hpp"
#include "cli/walk/rows.hpp"

namespace ws::cli::walk {

/// The least number of columns for side by side.
inline constexpr std::size_t side_by_side_from = 120;
/// Lines of context above and below a change; the others are folded.
inline constexpr std::size_t lines_around = 2;
inline constexpr std::size_t lines_of_an_unchanged_text = 8;

struct DiffLook {
  std::size_t columns = 80;
  bool has_color = false;  ///< false: changed words are underlined by `~`
  bool has_headings = true;
  std::string mine = "mine";  ///< the names of the two sides
  std::string theirs = "theirs";
  std::optional<std::size_t> current = {};  ///< the current stretch
  /// A collision that is higher than these rows is cut around what changed in each text.
  std::optional<std::size_t> cut_place = {};
  std::size_t most_rows = 0;
};

struct DiffRows {
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  std::vector<ScreenRow> rows = {};
  std::vector<Range> places = {};  ///< of each stretch; of a change without the lines that all texts have
  bool is_cut = false;
};

DiffRows diff_rows(const Choices& choices, const DiffLook& look);

/// "taken: mine"; empty without a choice.
std::string words_for_take(const Choices& choices, std::size_t stretch);
/// "place 1 of 2", "only mine changed: it goes into the merge".
std::string words_for_place(const Choices& choices, std::size_t stretch);

/// Bytes [begin, end).
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const ByteRange&) const = default;
};

/// The ranges of `after` that `before` does not have, in order, by whole words; blanks between two of them belong to
/// the range. Empty where next to nothing is common (a mark on everything tells nothing), and for texts of more than
/// 64 KiB.
std::vector<ByteRange> changed_words(std::string_view before, std::string_view after);

}  // namespace ws::cli::walk

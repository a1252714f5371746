/// Text with a style for each word, wrapped to a width.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/terminal.hpp"

namespace ws::cli {

/// A rendered line and its width in columns.
struct StyledLine {
  std::string text = {};
  std::size_t columns = 0;
};

class StyledText {
 public:
  /// Cleans `text` and adds its words; a space at its start or end separates them from adjacent text.
  void add(std::string_view text, Look look);
  /// Adds the text unchanged as a single word.
  void add_unbroken(std::string_view text, Look look);
  void end_line();

  bool empty() const { return words_.empty(); }
  /// Wraps to `columns`; only a single word that is longer exceeds it.
  std::vector<StyledLine> lines(std::size_t columns, const Terminal& terminal) const;
  /// The width of the longest line without wrapping.
  std::size_t widest() const;

 private:
  struct Piece {
    std::string text = {};
    Look look = Look::plain;
  };
  struct Word {
    std::vector<Piece> pieces = {};
    std::size_t columns = 0;
    bool ends_line = false;
  };
  void append(std::string text, Look look);

  std::vector<Word> words_ = {};
  bool separated_ = true;  // the next text begins a new word
};

}  // namespace ws::cli

/// Words with a look each, laid out in lines of a width.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/terminal.hpp"

namespace ws::cli {

/// A line that is ready to be written, and how many columns it takes.
struct StyledLine {
  std::string text = {};
  std::size_t columns = 0;
};

class StyledText {
 public:
  /// Cleans `text` and adds its words; a blank at its start or end separates it from what stands beside it.
  void add(std::string_view text, Look look);
  /// As it is, one word whatever it holds.
  void add_unbroken(std::string_view text, Look look);
  void end_line();

  bool empty() const { return words_.empty(); }
  /// Lines of at most `columns`; only a word that is longer stands out.
  std::vector<StyledLine> lines(std::size_t columns, const Terminal& terminal) const;
  /// The columns of the longest line, if nothing is wrapped; and of the longest word.
  std::size_t widest() const;
  std::size_t longest_word() const;

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
  bool separated_ = true;  // the next piece begins a word
};

}  // namespace ws::cli

#include "cli/output/styled_text.hpp"

#include <algorithm>

#include "api-client/base/clean.hpp"
#include "api-client/base/utf8.hpp"

namespace ws::cli {

void StyledText::append(std::string text, Look look) {
  if (text.empty()) return;
  if (separated_ || words_.empty() || words_.back().ends_line) words_.emplace_back();
  separated_ = false;
  words_.back().columns += utf8::columns(text);
  words_.back().pieces.push_back({std::move(text), look});
}

void StyledText::add(std::string_view text, Look look) {
  const std::string safe = clean(text, Breaks::space);
  std::string word;
  for (const char c : safe) {
    if (c != ' ') {
      word += c;
      continue;
    }
    append(std::move(word), look);
    word.clear();
    separated_ = true;
  }
  append(std::move(word), look);
}

void StyledText::add_unbroken(std::string_view text, Look look) { append(clean(text, Breaks::space), look); }

void StyledText::end_line() {
  if (words_.empty()) words_.emplace_back();
  words_.back().ends_line = true;
}

std::vector<StyledLine> StyledText::lines(std::size_t columns, const Terminal& terminal) const {
  std::vector<StyledLine> lines;
  bool begins = true;
  for (const Word& word : words_) {
    if (begins || lines.back().columns + 1 + word.columns > columns) {
      lines.emplace_back();
    } else {
      lines.back().text += ' ';
      ++lines.back().columns;
    }
    for (const Piece& piece : word.pieces) lines.back().text += terminal.paint(Stream::out, piece.look, piece.text);
    lines.back().columns += word.columns;
    begins = word.ends_line;
  }
  return lines;
}

std::size_t StyledText::widest() const {
  std::size_t widest = 0;
  std::size_t line = 0;
  bool begins = true;
  for (const Word& word : words_) {
    line = begins ? word.columns : line + 1 + word.columns;
    widest = std::max(widest, line);
    begins = word.ends_line;
  }
  return widest;
}

}  // namespace ws::cli

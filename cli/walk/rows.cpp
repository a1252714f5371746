#include "cli/walk/rows.hpp"

#include <utility>

#include "api-client/base/ascii.hpp"
#include "api-client/base/clean.hpp"
#include "api-client/base/utf8.hpp"

namespace ws::cli::walk {
namespace {

void append(ScreenRow& row, std::string_view text, Look look) {
  if (text.empty()) return;
  if (!row.empty() && row.back().look == look) {
    row.back().text += text;
  } else {
    row.push_back({.text = std::string(text), .look = look});
  }
}

/// Words and runs of spaces across the fragments of a row; a word may have several looks.
struct WordOfRow {
  ScreenRow parts = {};
  std::size_t columns = 0;
  bool is_blank = false;
};

std::vector<WordOfRow> words_of(const ScreenRow& row) {
  std::vector<WordOfRow> words;
  for (const Fragment& fragment : row) {
    std::string_view rest = fragment.text;
    while (!rest.empty()) {
      const bool blank = rest.front() == ' ';
      const std::size_t end = std::min(blank ? rest.find_first_not_of(' ') : rest.find(' '), rest.size());
      if (words.empty() || words.back().is_blank != blank) words.push_back({.is_blank = blank});
      append(words.back().parts, rest.substr(0, end), fragment.look);
      words.back().columns += utf8::columns(rest.substr(0, end));
      rest.remove_prefix(end);
    }
  }
  return words;
}

class Wrapping {
 public:
  explicit Wrapping(std::size_t columns) : columns_(columns) {}

  std::vector<ScreenRow> run(const ScreenRow& row) {
    for (const WordOfRow& word : words_of(row)) {
      if (word.is_blank) {
        add_blank(word);
      } else {
        add_word(word);
      }
    }
    return std::move(rows_);
  }

 private:
  void add_blank(const WordOfRow& blank) {
    const bool is_indent = rows_.size() == 1 && used_ == 0;
    if (used_ + blank.columns < columns_ && (used_ != 0 || is_indent)) {
      add(blank);
    } else {
      pending_break_ = true;
    }
  }

  void add_word(const WordOfRow& word) {
    if (used_ != 0 && (pending_break_ || used_ + word.columns > columns_)) begin_row();
    pending_break_ = false;
    if (word.columns <= columns_) return add(word);
    for (const Fragment& part : word.parts) cut_in(part);
  }

  void add(const WordOfRow& word) {
    for (const Fragment& part : word.parts) append(rows_.back(), part.text, part.look);
    used_ += word.columns;
  }

  void cut_in(const Fragment& part) {
    std::string_view rest = part.text;
    while (!rest.empty()) {
      const std::string_view before = rest;
      static_cast<void>(utf8::next(rest));
      const std::string_view character = before.substr(0, before.size() - rest.size());
      const std::size_t width = utf8::columns(character);
      if (used_ != 0 && used_ + width > columns_) begin_row();
      append(rows_.back(), character, part.look);
      used_ += width;
    }
  }

  void begin_row() {
    drop_blanks_at_end();
    rows_.emplace_back();
    used_ = 0;
  }

  void drop_blanks_at_end() {
    ScreenRow& row = rows_.back();
    while (!row.empty()) {
      std::string& text = row.back().text;
      trim_end(text, " ");
      if (!text.empty()) return;
      row.pop_back();
    }
  }

  std::size_t columns_;
  std::vector<ScreenRow> rows_ = {ScreenRow()};
  std::size_t used_ = 0;
  bool pending_break_ = false;
};

}  // namespace

std::string safe_line(std::string_view text) {
  std::string spread;
  for (const char c : text) {
    if (c == '\t') {
      spread += "    ";
    } else {
      spread += c;
    }
  }
  return clean(spread, Breaks::space);
}

std::size_t columns_of(const ScreenRow& row) {
  std::size_t columns = 0;
  for (const Fragment& fragment : row) columns += utf8::columns(fragment.text);
  return columns;
}

std::vector<ScreenRow> wrapped(const ScreenRow& row, std::size_t columns) { return Wrapping(columns).run(row); }

ScreenRow shortened(const ScreenRow& row, std::size_t columns) {
  if (columns_of(row) <= columns) return row;
  ScreenRow kept;
  std::size_t used = 0;
  for (const Fragment& fragment : row) {
    std::string_view rest = fragment.text;
    while (!rest.empty()) {
      const std::string_view before = rest;
      static_cast<void>(utf8::next(rest));
      const std::string_view character = before.substr(0, before.size() - rest.size());
      const std::size_t width = utf8::columns(character);
      if (used + width + 1 > columns) {
        append(kept, "…", fragment.look);
        return kept;
      }
      append(kept, character, fragment.look);
      used += width;
    }
  }
  return kept;
}

ScreenRow padded(ScreenRow row, std::size_t columns) {
  const std::size_t used = columns_of(row);
  if (used < columns) append(row, std::string(columns - used, ' '), Look::plain);
  return row;
}

ScreenRow marks_below(const ScreenRow& row) {
  std::string marks;
  for (const Fragment& fragment : row) {
    const bool marked = fragment.look == Look::mine || fragment.look == Look::theirs;
    marks.append(utf8::columns(fragment.text), marked ? '~' : ' ');
  }
  trim_end(marks, " ");
  return marks.empty() ? ScreenRow() : ScreenRow{{.text = std::move(marks), .look = Look::plain}};
}

}  // namespace ws::cli::walk

/// Text in columns, measured in what a terminal shows (wide and combining characters count as they look).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/terminal.hpp"

namespace ws::cli {

using Cells = std::vector<std::string>;

/// Cells are cleaned, and cut with `…` where the table would be wider than the terminal; where even a dozen characters
/// of each column have no room the columns before the last one are left out. Columns are two spaces apart, without
/// borders; a column of numbers stands to the right. A column that is true in `rigid` is never cut. An empty `heading`
/// gives no heading line. The last column may be wrapped instead: sentences that nobody would read elsewhere.
enum class LastColumn { cut, wrapped };
std::string render_table(const Cells& heading,
                         std::vector<Cells> rows,
                         const Terminal& terminal,
                         const std::vector<bool>& rigid = {},
                         LastColumn last = LastColumn::cut);

/// The same table, row by row: each is measured first, and when all were, each is rendered. No row is kept.
class TableLayout {
 public:
  explicit TableLayout(Cells heading, std::vector<bool> rigid = {}, LastColumn last = LastColumn::cut);
  /// `row` is cleaned; all have as many cells as the heading has, or the first row.
  void measure(const Cells& row);
  /// After the last row: makes it as wide as the terminal allows, and renders the heading line, if there is one.
  std::string begin(const Terminal& terminal);
  /// A line with its newline; several where the last column is wrapped.
  std::string line(const Cells& row) const;

 private:
  std::size_t total(const std::vector<std::size_t>& columns) const;
  void begin_columns(std::size_t count);
  void fit_into(std::size_t available);

  Cells heading_;
  std::vector<bool> rigid_;
  LastColumn last_;
  bool has_rows_ = false;
  std::vector<std::size_t> widths_ = {};
  std::vector<std::size_t> floors_ = {};  // no narrower than this
  std::vector<bool> right_ = {};
  std::vector<std::size_t> cells_ = {};  // which cell of a row a column shows
};

/// `text` cut to `columns` with `…`, or filled with spaces.
std::string fit(std::string_view text, std::size_t columns);
/// `text` cut to `columns` with `…` where it is longer.
std::string cut(std::string_view text, std::size_t columns);

/// `text` broken between words into lines of at most `columns`, all but the first indented.
std::string wrap(std::string_view text, std::size_t columns, std::size_t indent);
/// A message as `stream` shows it: on a terminal broken like that at its width less `margin`, but never in a command in
/// backticks: whoever pastes it gets no line break in it. In a pipe and with `--plain` as it is.
std::string wrap_for(
    const Terminal& terminal, Stream stream, std::string_view text, std::size_t indent = 0, std::size_t margin = 0);

}  // namespace ws::cli

#include "cli/terminal/table.hpp"

#include <algorithm>
#include <numeric>

#include "api-client/base/ascii.hpp"
#include "api-client/base/clean.hpp"
#include "api-client/base/utf8.hpp"
#include "api-client/base/uuid.hpp"

namespace ws::cli {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t min_width = 12;  // of a column that gives way: less says nothing

bool is_number(std::string_view text) {
  if (text.empty()) return false;
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; });
}

}  // namespace

std::string cut(std::string_view text, std::size_t columns) {
  if (utf8::columns(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::string shown;
  std::size_t used = 0;
  while (!text.empty()) {
    std::string one;
    utf8::append(one, utf8::next(text));
    const std::size_t width = utf8::columns(one);
    if (used + width > columns - 1) break;
    used += width;
    shown += one;
  }
  return shown + "…";
}

std::string fit(std::string_view text, std::size_t columns) {
  std::string shown = cut(text, columns);
  const std::size_t width = utf8::columns(shown);
  if (width < columns) shown.append(columns - width, ' ');
  return shown;
}

namespace {

std::size_t end_of_word(std::string_view text) { return std::min(text.find(' '), text.size()); }

/// A command in backticks is one word: a line break in it would be pasted too.
std::size_t end_of_word_or_command(std::string_view text) {
  bool is_in_command = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '`') is_in_command = !is_in_command;
    if (text[i] == ' ' && !is_in_command) return i;
  }
  return is_in_command ? end_of_word(text) : text.size();
}

std::string wrapped_at(std::string_view text,
                       std::size_t columns,
                       std::size_t indent,
                       std::size_t (*end_of)(std::string_view)) {
  // A row of a list keeps its indent.
  const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
  std::string wrapped(blanks, ' ');
  std::size_t used = 0;
  columns = columns > blanks ? columns - blanks : columns;
  text.remove_prefix(blanks);
  while (!text.empty()) {
    const std::size_t end = end_of(text);
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t width = utf8::columns(word);
    if (used > 0 && used + 1 + width > columns) {
      wrapped += '\n';
      wrapped.append(indent, ' ');
      used = 0;
    } else if (used > 0) {
      wrapped += ' ';
      ++used;
    }
    wrapped += word;
    used += width;
  }
  return wrapped;
}

}  // namespace

std::string wrap(std::string_view text, std::size_t columns, std::size_t indent) {
  return wrapped_at(text, columns, indent, end_of_word);
}

std::string wrap_for(
    const Terminal& terminal, Stream stream, std::string_view text, std::size_t indent, std::size_t margin) {
  if (!terminal.is_terminal(stream) || terminal.is_plain()) return std::string(text);
  constexpr std::size_t min_columns = 16;
  const auto columns = static_cast<std::size_t>(std::max(terminal.columns(), 0));
  const std::size_t width = columns > indent + margin + min_columns ? columns - indent - margin : min_columns;
  return wrapped_at(text, width, indent, end_of_word_or_command);
}

TableLayout::TableLayout(Cells heading, std::vector<bool> rigid, LastColumn last)
    : heading_(std::move(heading)), rigid_(std::move(rigid)), last_(last) {
  if (!heading_.empty()) begin_columns(heading_.size());
  for (std::size_t i = 0; i < heading_.size(); ++i) widths_[i] = utf8::columns(heading_[i]);
}

void TableLayout::begin_columns(std::size_t count) {
  widths_.assign(count, 0);
  right_.assign(count, true);
  rigid_.resize(count, false);
}

std::size_t TableLayout::total(const std::vector<std::size_t>& columns) const {
  return std::accumulate(columns.begin(), columns.end(), gap * (columns.size() - 1));
}

void TableLayout::measure(const Cells& row) {
  if (widths_.empty()) begin_columns(row.size());
  has_rows_ = true;
  for (std::size_t i = 0; i < widths_.size(); ++i) {
    widths_[i] = std::max(widths_[i], utf8::columns(row[i]));
    right_[i] = right_[i] && is_number(row[i]);
    rigid_[i] = rigid_[i] || is_uuid(row[i]);
  }
}

/// The widest columns give way until the line fits; identifiers, times and headings do not: half of one is of no use.
/// Where that is not enough, columns are left out: the first says what it is, the last has the id to act on it.
void TableLayout::fit_into(std::size_t available) {
  while (widths_.size() > 1 && total(floors_) > available) {
    const auto dropped = static_cast<std::ptrdiff_t>(widths_.size() > 2 ? widths_.size() - 2 : 1);
    widths_.erase(widths_.begin() + dropped);
    floors_.erase(floors_.begin() + dropped);
    right_.erase(right_.begin() + dropped);
    cells_.erase(cells_.begin() + dropped);
  }
  while (total(widths_) > available) {
    std::size_t widest = widths_.size();
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      const bool gives = widths_[i] > floors_[i];
      if (gives && (widest == widths_.size() || widths_[i] > widths_[widest])) widest = i;
    }
    if (widest == widths_.size()) return;
    --widths_[widest];
  }
}

std::string TableLayout::begin(const Terminal& terminal) {
  if (widths_.empty()) return {};
  for (std::size_t i = 0; i < widths_.size(); ++i) {
    const std::size_t headed = heading_.empty() ? 0 : utf8::columns(heading_[i]);
    cells_.push_back(i);
    right_[i] = right_[i] && has_rows_;
    floors_.push_back(rigid_[i] ? widths_[i] : std::min(widths_[i], std::max(headed, min_width)));
  }
  if (!terminal.is_plain()) fit_into(static_cast<std::size_t>(terminal.columns()));
  if (heading_.empty()) return {};
  std::string text = line(heading_);
  text.pop_back();
  return terminal.paint(Stream::out, Look::strong, text) + "\n";
}

std::string TableLayout::line(const Cells& row) const {
  std::string line;
  for (std::size_t i = 0; i < widths_.size(); ++i) {
    if (i > 0) line.append(gap, ' ');
    const bool is_wrapped = last_ == LastColumn::wrapped && i + 1 == widths_.size();
    if (is_wrapped) return line + wrap(row[cells_[i]], widths_[i], utf8::columns(line)) + "\n";
    const std::string cell = cut(row[cells_[i]], widths_[i]);
    const std::size_t padding = widths_[i] - std::min(widths_[i], utf8::columns(cell));
    if (right_[i]) line.append(padding, ' ');
    line += cell;
    if (!right_[i]) line.append(padding, ' ');
  }
  trim_end(line, " ");
  return line + "\n";
}

std::string render_table(const Cells& heading,
                         std::vector<Cells> rows,
                         const Terminal& terminal,
                         const std::vector<bool>& rigid,
                         LastColumn last) {
  TableLayout layout(heading, rigid, last);
  for (Cells& row : rows) {
    for (std::string& cell : row) cell = clean(cell, Breaks::space);
    layout.measure(row);
  }
  std::string text = layout.begin(terminal);
  if (heading.empty() && rows.empty()) return {};
  for (const Cells& row : rows) text += layout.line(row);
  return text;
}

}  // namespace ws::cli

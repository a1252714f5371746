#include "cli/terminal/table.hpp"

#include <algorithm>
#include <numeric>

#include "api-client/base/utf8.hpp"
#include "api-client/base/uuid.hpp"
#include "cli/terminal/clean.hpp"

namespace ws::cli {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t least_width = 12;  // of a column that gives way: less says nothing

bool is_number(std::string_view text) {
  if (text.empty()) return false;
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; });
}

std::vector<Cells> cleaned(const std::vector<Cells>& rows) {
  std::vector<Cells> safe = rows;
  for (Cells& row : safe) {
    for (std::string& cell : row) cell = clean(cell, Breaks::space);
  }
  return safe;
}

struct Layout {
  std::vector<std::size_t> widths = {};
  std::vector<std::size_t> floors = {};  ///< no narrower than this
  std::vector<bool> right = {};
  std::vector<std::size_t> cells = {};  ///< which cell of a row it shows

  std::size_t total(const std::vector<std::size_t>& columns) const {
    return std::accumulate(columns.begin(), columns.end(), gap * (columns.size() - 1));
  }
};

/// The widest columns give way until the line fits; identifiers, times and headings do not: half of one is of no use.
/// Where that is not enough, columns are left out: the first says what it is, the last has the id to act on it.
void fit_into(Layout& layout, std::size_t available) {
  while (layout.widths.size() > 1 && layout.total(layout.floors) > available) {
    const auto dropped = static_cast<std::ptrdiff_t>(layout.widths.size() > 2 ? layout.widths.size() - 2 : 1);
    layout.widths.erase(layout.widths.begin() + dropped);
    layout.floors.erase(layout.floors.begin() + dropped);
    layout.right.erase(layout.right.begin() + dropped);
    layout.cells.erase(layout.cells.begin() + dropped);
  }
  while (layout.total(layout.widths) > available) {
    std::size_t widest = layout.widths.size();
    for (std::size_t i = 0; i < layout.widths.size(); ++i) {
      const bool gives = layout.widths[i] > layout.floors[i];
      if (gives && (widest == layout.widths.size() || layout.widths[i] > layout.widths[widest])) widest = i;
    }
    if (widest == layout.widths.size()) return;
    --layout.widths[widest];
  }
}

std::string render_line(const Cells& row, const Layout& layout) {
  std::string line;
  for (std::size_t i = 0; i < layout.widths.size(); ++i) {
    if (i > 0) line.append(gap, ' ');
    const std::string cell = cut(row[layout.cells[i]], layout.widths[i]);
    const std::size_t padding = layout.widths[i] - std::min(layout.widths[i], utf8::columns(cell));
    if (layout.right[i]) line.append(padding, ' ');
    line += cell;
    if (!layout.right[i]) line.append(padding, ' ');
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
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
  std::string wrapped;
  std::size_t used = 0;
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

std::string wrap_message(std::string_view text, std::size_t columns, std::size_t indent) {
  return wrapped_at(text, columns, indent, end_of_word_or_command);
}

std::string render_table(const Cells& heading,
                         const std::vector<Cells>& rows,
                         const Terminal& terminal,
                         const std::vector<bool>& rigid) {
  const std::vector<Cells> cells = cleaned(rows);
  const std::size_t count = heading.empty() ? (cells.empty() ? 0 : cells.front().size()) : heading.size();
  if (count == 0) return {};
  Layout layout{.widths = std::vector<std::size_t>(count, 0), .right = std::vector<bool>(count, !cells.empty())};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t headed = heading.empty() ? 0 : utf8::columns(heading[i]);
    bool is_rigid = i < rigid.size() && rigid[i];
    layout.cells.push_back(i);
    for (const Cells& row : cells) {
      layout.widths[i] = std::max(layout.widths[i], utf8::columns(row[i]));
      layout.right[i] = layout.right[i] && is_number(row[i]);
      is_rigid = is_rigid || is_uuid(row[i]);
    }
    layout.widths[i] = std::max(layout.widths[i], headed);
    layout.floors.push_back(is_rigid ? layout.widths[i] : std::min(layout.widths[i], std::max(headed, least_width)));
  }
  if (!terminal.is_plain()) fit_into(layout, static_cast<std::size_t>(terminal.columns()));
  std::string text;
  if (!heading.empty()) text += terminal.paint(Stream::out, Look::strong, render_line(heading, layout)) + "\n";
  for (const Cells& row : cells) text += render_line(row, layout) + "\n";
  return text;
}

}  // namespace ws::cli

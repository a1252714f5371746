#include "cli/terminal/table.hpp"

#include <algorithm>
#include <numeric>

#include "api-client/base/utf8.hpp"
#include "api-client/base/uuid.hpp"
#include "cli/terminal/clean.hpp"

namespace ws::cli {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t least_width = 6;  // of a column that gives way

bool is_number(std::string_view text) {
  if (text.empty()) return false;
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; });
}

/// "2026-11-20 10:00", as lists show times.
bool is_time(std::string_view text) {
  constexpr std::string_view form = "0000-00-00 00:00";
  return std::ranges::equal(
      text, form, [](char c, char wanted) { return wanted == '0' ? c >= '0' && c <= '9' : c == wanted; });
}

std::vector<Cells> cleaned(const std::vector<Cells>& rows) {
  std::vector<Cells> safe = rows;
  for (Cells& row : safe) {
    for (std::string& cell : row) cell = clean(cell, Breaks::space);
  }
  return safe;
}

/// The widest columns give way until the line fits; identifiers and times do not: half of one is of no use.
void shrink(std::vector<std::size_t>& widths, const std::vector<bool>& rigid, std::size_t available) {
  const std::size_t gaps = gap * (widths.size() - 1);
  auto total = std::accumulate(widths.begin(), widths.end(), gaps);
  while (total > available) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (!rigid[i] && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    }
    if (widest == widths.size() || widths[widest] <= least_width) return;
    --widths[widest];
    --total;
  }
}

std::string render_line(const Cells& row, const std::vector<std::size_t>& widths, const std::vector<bool>& right) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) line.append(gap, ' ');
    const std::string cell = cut(row[i], widths[i]);
    const std::size_t padding = widths[i] - std::min(widths[i], utf8::columns(cell));
    if (right[i]) line.append(padding, ' ');
    line += cell;
    if (!right[i] && i + 1 < row.size()) line.append(padding, ' ');
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

std::string wrap(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string wrapped;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
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

std::string render_table(const Cells& heading, const std::vector<Cells>& rows, const Terminal& terminal) {
  const std::vector<Cells> cells = cleaned(rows);
  const std::size_t count = heading.empty() ? (cells.empty() ? 0 : cells.front().size()) : heading.size();
  if (count == 0) return {};
  std::vector<std::size_t> widths(count, 0);
  std::vector<bool> right(count, !cells.empty());
  std::vector<bool> rigid(count, false);
  for (std::size_t i = 0; i < heading.size(); ++i) widths[i] = utf8::columns(heading[i]);
  for (const Cells& row : cells) {
    for (std::size_t i = 0; i < count; ++i) {
      widths[i] = std::max(widths[i], utf8::columns(row[i]));
      right[i] = right[i] && is_number(row[i]);
      rigid[i] = rigid[i] || is_uuid(row[i]) || is_time(row[i]);
    }
  }
  if (!terminal.is_plain()) shrink(widths, rigid, static_cast<std::size_t>(terminal.columns()));
  std::string text;
  if (!heading.empty()) text += terminal.paint(Stream::out, Look::strong, render_line(heading, widths, right)) + "\n";
  for (const Cells& row : cells) text += render_line(row, widths, right) + "\n";
  return text;
}

}  // namespace ws::cli

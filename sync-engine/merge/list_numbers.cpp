#include "sync-engine/merge/list_numbers.hpp"

#include <cstdlib>
#include <map>
#include <vector>

#include "sync-engine/merge/markdown_lines.hpp"

namespace ws::sync::merge {
namespace {

using LineKind = MarkdownLine::Kind;

struct NumberedItem {
  std::size_t line = 0;
  std::string_view ordinal = {};
};
using NumberedList = std::vector<NumberedItem>;

/// The ordered lists of a text: items of one indentation and sign with nothing at or left of their margin between them.
class Lists {
 public:
  std::vector<NumberedList> read(const std::vector<MarkdownLine>& lines) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const MarkdownLine& line = lines[i];
      if (line.kind == LineKind::blank) continue;
      const ItemMark mark = line.kind == LineKind::item ? item_mark(line.text) : ItemMark{};
      const std::size_t margin = line.text.find_first_not_of(" \t");
      close_beyond(margin, mark);
      if (!mark.ordinal.empty()) open_[margin].items.push_back({.line = i, .ordinal = mark.ordinal});
      if (!mark.ordinal.empty()) open_[margin].sign = mark.sign;
    }
    close_beyond(0, {});
    return std::move(lists_);
  }

 private:
  struct Open {
    NumberedList items = {};
    char sign = 0;
  };

  /// A line at `margin` ends every list to the right of it, and one at its own margin that it is no item of.
  void close_beyond(std::size_t margin, const ItemMark& mark) {
    while (!open_.empty()) {
      const auto last = std::prev(open_.end());
      const bool goes_on =
          last->first < margin || (last->first == margin && !mark.ordinal.empty() && mark.sign == last->second.sign);
      if (goes_on) return;
      lists_.push_back(std::move(last->second.items));
      open_.erase(last);
    }
  }

  std::map<std::size_t, Open> open_ = {};  ///< by margin
  std::vector<NumberedList> lists_ = {};
};

unsigned long number(std::string_view digits) { return std::strtoul(std::string(digits).c_str(), nullptr, 10); }

bool counts_up(const NumberedList& list) {
  for (std::size_t i = 1; i < list.size(); ++i) {
    if (number(list[i].ordinal) != number(list[i - 1].ordinal) + 1) return false;
  }
  return true;
}

/// Whether the line below belongs to the item by its indentation.
bool hangs_on(const std::vector<MarkdownLine>& lines, std::size_t line) {
  std::size_t next = line + 1;
  while (next < lines.size() && lines[next].kind == LineKind::blank) ++next;
  if (next == lines.size()) return false;
  return lines[next].text.find_first_not_of(" \t") > lines[line].text.find_first_not_of(" \t");
}

}  // namespace

bool has_sequential_numbers(std::string_view text) {
  for (const NumberedList& list : Lists().read(markdown_lines(text))) {
    if (!counts_up(list)) return false;
  }
  return true;
}

std::string renumber_lists(std::string_view text) {
  const std::vector<MarkdownLine> lines = markdown_lines(text);
  std::map<std::size_t, std::string> renumbered;
  for (const NumberedList& list : Lists().read(lines)) {
    std::map<std::size_t, std::string> wanted;
    bool fits = true;
    for (std::size_t i = 0; i < list.size(); ++i) {
      std::string ordinal = std::to_string(number(list[0].ordinal) + i);
      if (ordinal == list[i].ordinal) continue;
      if (ordinal.size() != list[i].ordinal.size() && hangs_on(lines, list[i].line)) fits = false;
      wanted.emplace(list[i].line, std::move(ordinal));
    }
    if (fits) renumbered.merge(wanted);
  }
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i].text;
    const auto found = renumbered.find(i);
    if (found == renumbered.end()) {
      out += line;
    } else {
      const ItemMark mark = item_mark(line);
      out.append(line.substr(0, mark.indent))
          .append(found->second)
          .append(line.substr(mark.indent + mark.ordinal.size()));
    }
    out += '\n';
  }
  return out;
}

}  // namespace ws::sync::merge

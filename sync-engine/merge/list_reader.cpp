#include "sync-engine/merge/list_reader.hpp"

#include <algorithm>
#include <utility>

#include "api-client/base/ascii.hpp"
#include "api-client/base/utf8.hpp"

namespace ws::sync::merge {
namespace {

using EntryKind = MarkdownLine::Kind;

/// Of the entries of one place: to tell longer ones apart costs the product of their numbers.
constexpr std::size_t max_entries = 1000;

constexpr std::size_t tab_columns = 4;

std::string_view without_blanks_behind(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t");
  return last == std::string_view::npos ? std::string_view() : line.substr(0, last + 1);
}

/// `[label]: target`: its label. Empty: it is none.
std::string_view reference_label(std::string_view line) {
  const std::string_view text = trimmed(line, " ");
  const std::size_t end = text.find("]:");
  if (!text.starts_with('[') || text.starts_with("[^") || end == std::string_view::npos || end < 2) return {};
  return text.find('[', 1) < end ? std::string_view() : text.substr(1, end - 1);
}

bool is_delimiter(std::string_view row) {
  return row.find('-') != std::string_view::npos && row.find_first_not_of(" \t|:-") == std::string_view::npos;
}

struct FirstLink {
  std::string_view label = {};
  std::string_view target = {};
};

/// `[label](target)`, `[[target|label]]`, `<address>` or a bare address: the first of them.
FirstLink first_link(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("[[")) {
      const std::size_t end = rest.find("]]");
      if (end == std::string_view::npos) continue;
      const std::string_view inside = rest.substr(2, end - 2);
      const std::size_t bar = inside.find('|');
      return {.label = bar == std::string_view::npos ? inside : inside.substr(bar + 1),
              .target = inside.substr(0, bar)};
    }
    if (rest.starts_with('[')) {
      const std::size_t middle = rest.find("](");
      const std::size_t end = middle == std::string_view::npos ? middle : rest.find_first_of(") ", middle + 2);
      if (end == std::string_view::npos || rest.substr(1, middle - 1).find(']') != std::string_view::npos) continue;
      return {.label = rest.substr(1, middle - 1), .target = rest.substr(middle + 2, end - middle - 2)};
    }
    const bool is_address = rest.starts_with("http://") || rest.starts_with("https://");
    if (is_address) {
      const std::string_view target = rest.substr(0, std::min(rest.find_first_of(" \t)>|"), rest.size()));
      return {.label = target, .target = target};
    }
  }
  return {};
}

/// The same place, however it is written.
std::string plain_target(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.starts_with(scheme)) target.remove_prefix(scheme.size());
  }
  if (target.starts_with("www.")) target.remove_prefix(4);
  if (target.ends_with('/')) target.remove_suffix(1);
  return utf8::fold_key(target);
}

/// `**label**`, `__label__` or `` `label` `` at the start.
std::string_view marked_label(std::string_view text) {
  for (const std::string_view mark : {"**", "__", "`"}) {
    if (!text.starts_with(mark)) continue;
    const std::size_t end = text.find(mark, mark.size());
    if (end != std::string_view::npos && end > mark.size()) return text.substr(mark.size(), end - mark.size());
  }
  return {};
}

std::string_view issue_number(std::string_view text) {
  for (std::size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789", at + 1), text.size());
    if (end > at + 1) return text.substr(at, end - at);
  }
  return {};
}

/// Reads a place of a text that has nothing but entries of one kind and depth, and blank lines.
class ListReader {
 public:
  ListReader(const std::vector<MarkdownLine>& lines, Span span) : lines_(lines), span_(span) {}

  std::optional<ListPart> read() {
    for (std::size_t i = span_.begin; i < span_.end; ++i) {
      if (!take(lines_[i])) return std::nullopt;
    }
    for (ListEntry& entry : part_.entries) {
      if (entry.about.empty()) entry.about = "=" + entry.same;
    }
    part_.blanks_below = blanks_;
    if (part_.entries.size() > max_entries) return std::nullopt;
    return std::move(part_);
  }

 private:
  bool take(const MarkdownLine& line) {
    ListEntry* const last = part_.entries.empty() ? nullptr : &part_.entries.back();
    const bool may_hang = last != nullptr && last->kind == EntryKind::item && hangs(line, last->indent);
    switch (line.kind) {
      case EntryKind::blank: ++blanks_; return true;
      case EntryKind::item: return may_hang ? add_line(line.text) : begin(line);
      case EntryKind::table: return !is_delimiter(line.text) && begin(line);
      case EntryKind::prose:
        if (may_hang) return add_line(line.text);
        return !reference_label(line.text).empty() && begin(line);
      case EntryKind::rule:
      case EntryKind::code: return false;
    }
    return false;
  }

  bool begin(const MarkdownLine& line) {
    EntryHead head = head_of(line.kind, line.text);
    ListEntry entry{.kind = line.kind,
                    .about = std::move(head.about),
                    .label = std::move(head.label),
                    .indent = margin_of(line.text),
                    .blanks_above = std::exchange(blanks_, 0)};
    if (line.kind == EntryKind::table) entry.cells = cells_of(line.text).size();
    part_.entries.push_back(std::move(entry));
    const ItemMark mark = line.kind == EntryKind::item ? item_mark(line.text) : ItemMark{};
    part_.entries.back().mark = mark.whole.size() + mark.tick.size();
    std::string same(line.text);
    if (!mark.ordinal.empty()) same.replace(mark.indent, mark.ordinal.size(), "1");
    return add(line.text, same);
  }

  bool add_line(std::string_view line) { return add(line, line); }

  bool add(std::string_view line, std::string_view same) {
    ListEntry& entry = part_.entries.back();
    entry.text.append(blanks_, '\n');
    entry.same.append(blanks_, '\n');
    blanks_ = 0;
    entry.text.append(line).append("\n");
    entry.same.append(without_blanks_behind(same)).append("\n");
    return true;
  }

  const std::vector<MarkdownLine>& lines_;
  Span span_;
  ListPart part_ = {};
  std::size_t blanks_ = 0;
};

}  // namespace

std::vector<std::string_view> cells_of(std::string_view row) {
  std::vector<std::string_view> cells;
  row = trimmed(row, " \t");
  if (row.starts_with('|')) row.remove_prefix(1);
  if (row.ends_with('|') && !row.ends_with("\\|")) row.remove_suffix(1);
  bool in_code = false;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= row.size(); ++i) {
    if (i < row.size() && row[i] == '`') in_code = !in_code;
    const bool is_bar = i < row.size() && row[i] == '|' && !in_code && (i == 0 || row[i - 1] != '\\');
    if (i < row.size() && !is_bar) continue;
    cells.push_back(trimmed(row.substr(from, i - from), " \t"));
    from = i + 1;
  }
  return cells;
}

std::size_t margin_of(std::string_view line) {
  std::size_t columns = 0;
  for (const char c : line) {
    if (c != ' ' && c != '\t') break;
    columns += c == '\t' ? tab_columns - columns % tab_columns : 1;
  }
  return columns;
}

EntryHead head_of(EntryKind kind, std::string_view line) {
  EntryHead head;
  if (kind == EntryKind::prose) {
    head.label = utf8::fold_key(reference_label(line));
    head.about = "[" + head.label;
    return head;
  }
  std::string_view text = trimmed(line, " \t");
  if (kind == EntryKind::item) {
    const ItemMark mark = item_mark(line);
    text = trimmed(line.substr(mark.whole.size() + mark.tick.size()), " \t");
  }
  const FirstLink link = first_link(text);
  if (!link.label.empty()) head.label = utf8::fold_key(link.label);
  if (kind == EntryKind::table) head.label = utf8::fold_key(cells_of(line).front());
  if (!link.target.empty()) {
    head.about = "(" + plain_target(link.target) + "\n" + utf8::fold_key(link.label);
  } else if (kind == EntryKind::table) {
    head.about = "|" + head.label;
  } else if (const std::string_view marked = marked_label(text); !marked.empty()) {
    head.about = "*" + utf8::fold_key(marked);
  } else if (const std::string_view issue = issue_number(text); !issue.empty()) {
    head.about = issue;
  }
  return head;
}

bool begins_entry(const MarkdownLine& line) {
  switch (line.kind) {
    case EntryKind::item: return true;
    case EntryKind::table: return !is_delimiter(line.text);
    case EntryKind::prose: return !reference_label(line.text).empty();
    case EntryKind::blank:
    case EntryKind::rule:
    case EntryKind::code: return false;
  }
  return false;
}

bool hangs(const MarkdownLine& line, std::size_t indent) { return margin_of(line.text) > indent + 1; }

std::optional<ListPart> read_list(const std::vector<MarkdownLine>& lines, Span span) {
  return ListReader(lines, span).read();
}

Abouts count_abouts(const std::vector<MarkdownLine>& lines, Span span, Names names) {
  Abouts counts;
  for (std::size_t i = span.begin; i < span.end; ++i) {
    const MarkdownLine& line = lines[i];
    if (!begins_entry(line)) continue;
    std::string about = head_of(line.kind, line.text).about;
    if (about.empty() && names == Names::all) {
      const ItemMark mark = item_mark(line.text);
      about = "=" + std::string(trimmed(line.text.substr(mark.whole.size() + mark.tick.size()), " \t"));
    }
    if (!about.empty()) ++counts[std::move(about)];
  }
  return counts;
}

Abouts count_targets(std::string_view text) {
  Abouts counts;
  for (const MarkdownLine& line : markdown_lines(text)) {
    const bool is_row =
        line.kind == EntryKind::prose && trimmed(line.text, " \t").starts_with('|');  // without its head
    if (!begins_entry(line) && !is_row) continue;
    const FirstLink link = first_link(line.text);
    if (!link.target.empty() && !link.target.starts_with('#')) ++counts[plain_target(link.target)];
  }
  return counts;
}

}  // namespace ws::sync::merge

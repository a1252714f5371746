#include "sync-engine/merge/list_entries.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "api-client/base/ascii.hpp"
#include "api-client/base/utf8.hpp"

namespace ws::sync::merge {
namespace {

using EntryKind = MarkdownLine::Kind;

/// Of the entries of one place: to tell longer ones apart costs the product of their numbers.
constexpr std::size_t max_entries = 1000;
constexpr std::size_t neighbours_that_show_an_order = 3;

struct ListEntry {
  EntryKind kind = EntryKind::item;  ///< `item`, `table`, or `prose` for a reference definition
  std::string text = {};             ///< as written, with its newlines
  std::string same = {};             ///< equal ones are one entry: without its number and trailing blanks
  std::string about = {};            ///< two entries of one text that are about one thing are one too many
  std::string label = {};            ///< what lists are sorted by; empty: nothing of the kind
  std::size_t indent = 0;
  std::size_t mark = 0;          ///< bytes of its indentation, mark and tick
  std::size_t cells = 0;         ///< of a row
  std::size_t blanks_above = 0;  ///< blank lines
};

struct ListPart {
  std::vector<ListEntry> entries = {};
  std::size_t blanks_below = 0;

  std::size_t blanks_above() const { return entries.empty() ? blanks_below : entries.front().blanks_above; }
};

std::size_t margin_of(std::string_view line) {
  const std::size_t found = line.find_first_not_of(" \t");
  return found == std::string_view::npos ? line.size() : found;
}

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

/// What the first line of an entry says of it, without its mark.
struct EntryHead {
  std::string about = {};
  std::string label = {};
};

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

  /// Whether a line hangs on an entry at that margin.
  static bool hangs(const MarkdownLine& line, std::size_t indent) { return margin_of(line.text) > indent + 1; }

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

/// The words of an entry, folded and sorted.
std::vector<std::string> words_of(const ListEntry& entry) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : utf8::fold_key(std::string_view(entry.text).substr(entry.mark))) {
    const bool is_letter = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
    if (is_letter) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  std::ranges::sort(words);
  return words;
}

/// Whether one may be the other, edited.
bool is_alike(const ListEntry& a, const ListEntry& b) {
  if (!a.about.starts_with('=') && a.about == b.about) return true;
  const std::vector<std::string> of_a = words_of(a);
  const std::vector<std::string> of_b = words_of(b);
  std::vector<std::string> common;
  std::ranges::set_intersection(of_a, of_b, std::back_inserter(common));
  return !common.empty() && common.size() * 2 >= std::max(of_a.size(), of_b.size());
}

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// A longest common subsequence.
template <class Entries, class Equal>
Pairs equal_in_order(const Entries& a, const Entries& b, const Equal& equal) {
  std::vector<std::vector<std::uint32_t>> longest(a.size() + 1, std::vector<std::uint32_t>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      longest[i][j] = equal(a[i], b[j]) ? longest[i + 1][j + 1] + 1 : std::max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  Pairs pairs;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (equal(a[i], b[j])) {
      pairs.emplace_back(i++, j++);
    } else {
      longest[i + 1][j] >= longest[i][j + 1] ? ++i : ++j;
    }
  }
  return pairs;
}

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

/// What a side made of the entries of the base.
struct ListSide {
  const ListPart& part;
  std::vector<std::size_t> now = {};           ///< of each entry of the base: its place there, or `nowhere`
  std::vector<std::vector<std::size_t>> news;  ///< which entries came in before each entry of the base, and at the end
};

ListSide compare(const ListPart& base, const ListPart& part) {
  ListSide side{.part = part, .now = std::vector(base.entries.size(), nowhere), .news = {}};
  const auto same = [](const ListEntry& a, const ListEntry& b) { return a.same == b.same; };
  Pairs equal = equal_in_order(base.entries, part.entries, same);
  equal.emplace_back(base.entries.size(), part.entries.size());
  std::size_t from = 0;
  std::size_t at = 0;
  for (const auto& [next, place] : equal) {
    for (std::size_t i = from; i < next; ++i) {
      for (std::size_t j = at; j < place; ++j) {
        if (!is_alike(base.entries[i], part.entries[j])) continue;
        side.now[i] = j;
        at = j + 1;
        break;
      }
    }
    if (next < base.entries.size()) side.now[next] = place;
    from = next + 1;
    at = place + 1;
  }
  side.news.resize(base.entries.size() + 1);
  std::vector<bool> is_known(part.entries.size(), false);
  for (const std::size_t place : side.now) {
    if (place != nowhere) is_known[place] = true;
  }
  std::size_t gap = 0;
  std::size_t next_known = 0;
  for (std::size_t j = 0; j < part.entries.size(); ++j) {
    if (is_known[j]) {
      while (side.now[next_known] != j) ++next_known;
      gap = ++next_known;
    } else {
      side.news[gap].push_back(j);
    }
  }
  return side;
}

bool is_placeholder(const ListEntry& entry) {
  static constexpr std::array words = {"none", "n/a", "tbd", "todo", "-", "\xE2\x80\x93", "\xE2\x80\x94"};
  const std::string_view text = trimmed(std::string_view(entry.text).substr(entry.mark), " \t\n.*_()");
  return std::ranges::find(words, utf8::fold_key(text.empty() ? "-" : text)) != words.end();
}

/// The end of the run of entries, from `from` on, that the side removed.
std::size_t end_of_removed(const ListSide& side, std::size_t from) {
  std::size_t end = from;
  while (end < side.now.size() && side.now[end] == nowhere) ++end;
  return end;
}

/// Whether a side removes an entry at a place where it also brings one in; not counted: what both wrote in the place of
/// a placeholder.
bool replaces_any(const ListPart& base, const ListSide& side, const ListSide& other) {
  for (std::size_t gap = 0; gap <= base.entries.size(); ++gap) {
    if (side.news[gap].empty()) continue;
    const std::size_t end = end_of_removed(side, gap);
    for (std::size_t i = gap; i < end; ++i) {
      const bool both = other.now[i] == nowhere && !other.news[gap].empty();
      if (!both || !is_placeholder(base.entries[i])) return true;
    }
  }
  return false;
}

/// The entries around a place of the base, nearest first, as far as they show an order.
struct Neighbours {
  std::vector<std::string> above = {};
  std::vector<std::string> below = {};
  std::optional<std::size_t> blanks_between = {};  ///< blank lines between two of them
};

class NeighbourReader {
 public:
  NeighbourReader(const std::vector<MarkdownLine>& lines, const ListEntry& like) : lines_(lines), like_(like) {}

  Neighbours read(Span span) {
    Neighbours found;
    std::optional<std::size_t> blanks;
    for (std::size_t i = span.begin; i-- > 0 && found.above.size() < neighbours_that_show_an_order;)
      if (!take(lines_[i], found.above, blanks, found.blanks_between)) break;
    blanks.reset();
    for (std::size_t i = span.end; i < lines_.size() && found.below.size() < neighbours_that_show_an_order; ++i)
      if (!take(lines_[i], found.below, blanks, found.blanks_between)) break;
    return found;
  }

 private:
  /// False: the list ends here.
  bool take(const MarkdownLine& line,
            std::vector<std::string>& labels,
            std::optional<std::size_t>& blanks,
            std::optional<std::size_t>& between) const {
    if (line.kind == EntryKind::blank) {
      if (blanks) ++*blanks;
      return true;
    }
    const bool is_entry = line.kind == like_.kind && begins_entry(line);
    if (like_.kind == EntryKind::item && ListReader::hangs(line, like_.indent)) {
      blanks = blanks ? std::optional<std::size_t>(0) : blanks;
      return true;
    }
    if (!is_entry || margin_of(line.text) + 1 < like_.indent) return false;
    labels.push_back(head_of(line.kind, line.text).label);
    if (blanks && !between) between = blanks;
    blanks = 0;
    return true;
  }

  const std::vector<MarkdownLine>& lines_;
  const ListEntry& like_;
};

class ListMerger {
 public:
  ListMerger(const ListPart& base, const ListPart& ours, const ListPart& theirs, const Neighbours& around)
      : base_(base), ours_(compare(base, ours)), theirs_(compare(base, theirs)), around_(around) {}

  /// Whether the entries are in `result()` now.
  bool merge() {
    if (replaces_any(base_, ours_, theirs_) || replaces_any(base_, theirs_, ours_) || brings_twice()) return false;
    for (std::size_t i = 0; i <= base_.entries.size(); ++i) {
      if (!add_news(i)) return false;
      if (i < base_.entries.size() && !add_known(i)) return false;
    }
    return true;
  }

  const std::vector<const ListEntry*>& result() const { return result_; }

  std::string text() const {
    const ListPart& ours = ours_.part;
    const ListPart& theirs = theirs_.part;
    std::string text(fewer(ours.blanks_above(), theirs.blanks_above()), '\n');
    for (std::size_t i = 0; i < result_.size(); ++i) {
      if (i > 0) text.append(blanks_between(*result_[i - 1], *result_[i]), '\n');
      text += result_[i]->text;
    }
    return text.append(fewer(ours.blanks_below, theirs.blanks_below), '\n');
  }

 private:
  /// Of the two numbers of blank lines; those of a side without an entry hold nothing apart.
  std::size_t fewer(std::size_t ours, std::size_t theirs) const {
    if (ours_.part.entries.empty()) return theirs;
    return theirs_.part.entries.empty() ? ours : std::min(ours, theirs);
  }
  const ListEntry& our(std::size_t place) const { return ours_.part.entries[place]; }
  const ListEntry& their(std::size_t place) const { return theirs_.part.entries[place]; }

  std::vector<const ListEntry*> news(const ListSide& side, std::size_t gap) const {
    std::vector<const ListEntry*> entries;
    for (const std::size_t place : side.news[gap]) entries.push_back(&side.part.entries[place]);
    return entries;
  }

  /// Two new entries about one thing that are not one entry at one place; or one of the base at another place.
  bool brings_twice() const {
    std::map<std::string_view, std::pair<std::size_t, const ListEntry*>> by_us;
    std::set<std::string_view> known;
    for (const ListEntry& each : base_.entries) known.insert(each.about);
    for (const ListSide* side : {&ours_, &theirs_}) {
      for (std::size_t gap = 0; gap < side->news.size(); ++gap) {
        for (const ListEntry* each : news(*side, gap)) {
          if (known.contains(each->about)) return true;
        }
      }
    }
    for (std::size_t gap = 0; gap < ours_.news.size(); ++gap) {
      for (const ListEntry* each : news(ours_, gap)) by_us.emplace(each->about, std::pair(gap, each));
    }
    for (std::size_t gap = 0; gap < theirs_.news.size(); ++gap) {
      for (const ListEntry* each : news(theirs_, gap)) {
        const auto found = by_us.find(each->about);
        if (found == by_us.end()) continue;
        if (found->second.first != gap || found->second.second->same != each->same) return true;
      }
    }
    return false;
  }

  bool add_known(std::size_t i) {
    const ListEntry& before = base_.entries[i];
    const ListEntry* const ours = ours_.now[i] == nowhere ? nullptr : &our(ours_.now[i]);
    const ListEntry* const theirs = theirs_.now[i] == nowhere ? nullptr : &their(theirs_.now[i]);
    if (ours == nullptr && theirs == nullptr) return true;
    if (ours == nullptr || theirs == nullptr) return (ours == nullptr ? theirs : ours)->same == before.same;
    if (ours->same != before.same && theirs->same != before.same && ours->same != theirs->same) return false;
    result_.push_back(ours->same == before.same ? theirs : ours);
    return true;
  }

  bool add_news(std::size_t gap) {
    const std::vector<const ListEntry*> ours = news(ours_, gap);
    const std::vector<const ListEntry*> theirs = news(theirs_, gap);
    const auto same = [](const ListEntry* a, const ListEntry* b) { return a->same == b->same; };
    Pairs equal = equal_in_order(ours, theirs, same);
    // Equal ones in another order.
    const auto count = static_cast<std::size_t>(std::ranges::count_if(ours, [&](const ListEntry* each) {
      return std::ranges::any_of(theirs, [&](auto* t) { return same(each, t); });
    }));
    if (count != equal.size()) return false;
    equal.emplace_back(ours.size(), theirs.size());
    std::vector<const ListEntry*> together;
    std::size_t our_from = 0;
    std::size_t their_from = 0;
    for (const auto& [our_end, their_end] : equal) {
      for (std::size_t i = our_from; i < our_end; ++i) together.push_back(ours[i]);
      for (std::size_t i = their_from; i < their_end; ++i) together.push_back(theirs[i]);
      if (our_end < ours.size()) together.push_back(ours[our_end]);
      our_from = our_end + 1;
      their_from = their_end + 1;
    }
    if (!ours.empty() && !theirs.empty()) sort_where_sorted(gap, together);
    result_.insert(result_.end(), together.begin(), together.end());
    return true;
  }

  /// In the list's own order, where it has one into which all of them fit.
  void sort_where_sorted(std::size_t gap, std::vector<const ListEntry*>& entries) const {
    std::vector<std::string_view> above;  // nearest first
    for (std::size_t i = gap; i-- > 0 && above.size() < neighbours_that_show_an_order;)
      above.push_back(base_.entries[i].label);
    for (const std::string& each : around_.above) above.push_back(each);
    std::vector<std::string_view> below;
    for (std::size_t i = gap; i < base_.entries.size() && below.size() < neighbours_that_show_an_order; ++i)
      below.push_back(base_.entries[i].label);
    for (const std::string& each : around_.below) below.push_back(each);
    above.resize(std::min(above.size(), neighbours_that_show_an_order));
    below.resize(std::min(below.size(), neighbours_that_show_an_order));
    std::vector<std::string_view> around(above.rbegin(), above.rend());
    around.insert(around.end(), below.begin(), below.end());
    const auto is_empty = [](std::string_view label) { return label.empty(); };
    if (around.size() < neighbours_that_show_an_order || std::ranges::any_of(around, is_empty) ||
        !std::ranges::is_sorted(around))
      return;
    for (const ListEntry* each : entries) {
      const std::string_view label = each->label;
      if (label.empty() || (!above.empty() && label < above.front()) || (!below.empty() && label > below.front()))
        return;
    }
    std::ranges::stable_sort(entries, {}, [](const ListEntry* each) { return std::string_view(each->label); });
  }

  /// As one side has them; else as the list has them.
  std::size_t blanks_between(const ListEntry& above, const ListEntry& below) const {
    for (const ListPart* part : {&ours_.part, &theirs_.part}) {
      const std::vector<ListEntry>& entries = part->entries;
      for (std::size_t i = 1; i < entries.size(); ++i) {
        if (entries[i - 1].same == above.same && entries[i].same == below.same) return entries[i].blanks_above;
      }
    }
    for (const ListPart* part : {&ours_.part, &theirs_.part, &base_}) {
      if (part->entries.size() > 1) return part->entries[1].blanks_above;
    }
    if (around_.blanks_between) return *around_.blanks_between;
    return around_.above.empty() ? 0 : fewer(ours_.part.blanks_above(), theirs_.part.blanks_above());
  }

  const ListPart& base_;
  ListSide ours_;
  ListSide theirs_;
  const Neighbours& around_;
  std::vector<const ListEntry*> result_ = {};
};

using Abouts = std::map<std::string, std::size_t>;

/// `all`: also the entries of which nothing but their text says what they are about.
enum class Names { known, all };

/// What the entries of these lines are about, and how many are.
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

std::size_t count_in(const ListPart& part, std::string_view about) {
  return static_cast<std::size_t>(std::ranges::count(part.entries, about, &ListEntry::about));
}

std::size_t count_in(const Abouts& counts, const std::string& about) {
  const auto found = counts.find(about);
  return found == counts.end() ? 0 : found->second;
}

bool holds_other_lines(const ListPart& base, const ListPart& ours, const ListPart& theirs) {
  const ListEntry* first = nullptr;
  for (const ListPart* part : {&base, &ours, &theirs}) {
    for (const ListEntry& each : part->entries) {
      if (first == nullptr) first = &each;
      const std::size_t apart = std::max(first->indent, each.indent) - std::min(first->indent, each.indent);
      if (each.kind != first->kind || each.cells != first->cells || apart > 1) return true;
    }
  }
  return first == nullptr;
}

bool is_equal(const ListPart& a, const ListPart& b) {
  return a.blanks_below == b.blanks_below &&
         std::ranges::equal(a.entries, b.entries, [](const ListEntry& one, const ListEntry& other) {
           return one.text == other.text && one.blanks_above == other.blanks_above;
         });
}

}  // namespace

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

std::optional<std::string> ListEntries::merge(Span base, Span ours, Span theirs) {
  // A doubt that was found earlier.
  if (base.empty() && (ours.empty() || theirs.empty())) return std::nullopt;
  const auto in_base = ListReader(base_, base).read();
  const auto in_ours = ListReader(ours_, ours).read();
  const auto in_theirs = ListReader(theirs_, theirs).read();
  if (!in_base || !in_ours || !in_theirs || holds_other_lines(*in_base, *in_ours, *in_theirs)) return std::nullopt;
  if (is_equal(*in_base, *in_ours) || is_equal(*in_base, *in_theirs)) return std::nullopt;
  const ListEntry& like = !in_ours->entries.empty()     ? in_ours->entries.front()
                          : !in_theirs->entries.empty() ? in_theirs->entries.front()
                                                        : in_base->entries.front();
  const auto next = std::find_if(base_.begin() + static_cast<std::ptrdiff_t>(base.end),
                                 base_.end(),
                                 [](const auto& line) { return line.kind != EntryKind::blank; });
  if (next != base_.end() && like.kind == EntryKind::item && ListReader::hangs(*next, like.indent)) return std::nullopt;
  const Neighbours around = NeighbourReader(base_, like).read(base);
  ListMerger merger(*in_base, *in_ours, *in_theirs, around);
  if (!merger.merge()) return std::nullopt;
  if (!in_ours_) in_ours_ = count_abouts(ours_, {0, ours_.size()}, Names::known);
  if (!in_theirs_) in_theirs_ = count_abouts(theirs_, {0, theirs_.size()}, Names::known);
  Counts in_result;
  for (const ListEntry* each : merger.result()) ++in_result[each->about];
  for (const auto& [about, count] : in_result) {
    const std::size_t by_us = count_in(*in_ours_, about);
    const std::size_t by_them = count_in(*in_theirs_, about);
    const std::size_t outside = std::max(by_us - std::min(by_us, count_in(*in_ours, about)),
                                         by_them - std::min(by_them, count_in(*in_theirs, about)));
    if (!about.starts_with('=') && count + outside > std::max(by_us, by_them)) return std::nullopt;
  }
  return merger.text();
}

bool ListEntries::doubts(std::string_view merged,
                         const std::optional<std::string>& settled,
                         Span ours,
                         Span theirs) const {
  const auto holds_rows = [](const std::vector<MarkdownLine>& lines, Span span) {
    const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(span.begin);
    return std::any_of(begin, begin + static_cast<std::ptrdiff_t>(span.size()), [](const MarkdownLine& line) {
      return line.kind == EntryKind::table;
    });
  };
  const bool has_rows = holds_rows(ours_, ours) || holds_rows(theirs_, theirs);
  const auto entries_of = [&](std::string_view text) {
    std::vector<MarkdownLine> lines = markdown_lines(text);
    for (MarkdownLine& line : lines) {  // without its head a row looks like prose
      if (has_rows && line.kind == EntryKind::prose && line.text.find('|') != std::string_view::npos)
        line.kind = EntryKind::table;
    }
    return count_abouts(lines, {0, lines.size()}, Names::all);
  };
  const Abouts together = entries_of(merged);
  if (settled && entries_of(*settled) != together) return true;
  const Abouts by_us = count_abouts(ours_, ours, Names::all);
  const Abouts by_them = count_abouts(theirs_, theirs, Names::all);
  return std::ranges::any_of(together, [&](const auto& each) {
    const std::size_t most = std::max(count_in(by_us, each.first), count_in(by_them, each.first));
    return most > 0 && each.second > most;
  });
}

}  // namespace ws::sync::merge

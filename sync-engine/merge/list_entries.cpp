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

constexpr std::size_t neighbours_that_show_an_order = 3;

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
    if (like_.kind == EntryKind::item && hangs(line, like_.indent)) {
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

std::optional<std::string> ListEntries::merge(Span base, Span ours, Span theirs) {
  // A doubt that was found earlier.
  if (base.empty() && (ours.empty() || theirs.empty())) return std::nullopt;
  const auto in_base = read_list(base_, base);
  const auto in_ours = read_list(ours_, ours);
  const auto in_theirs = read_list(theirs_, theirs);
  if (!in_base || !in_ours || !in_theirs || holds_other_lines(*in_base, *in_ours, *in_theirs)) return std::nullopt;
  if (is_equal(*in_base, *in_ours) || is_equal(*in_base, *in_theirs)) return std::nullopt;
  const ListEntry& like = !in_ours->entries.empty()     ? in_ours->entries.front()
                          : !in_theirs->entries.empty() ? in_theirs->entries.front()
                                                        : in_base->entries.front();
  const auto next = std::find_if(base_.begin() + static_cast<std::ptrdiff_t>(base.end),
                                 base_.end(),
                                 [](const auto& line) { return line.kind != EntryKind::blank; });
  if (next != base_.end() && like.kind == EntryKind::item && hangs(*next, like.indent)) return std::nullopt;
  const Neighbours around = NeighbourReader(base_, like).read(base);
  ListMerger merger(*in_base, *in_ours, *in_theirs, around);
  if (!merger.merge()) return std::nullopt;
  if (!in_ours_) in_ours_ = count_abouts(ours_, {0, ours_.size()}, Names::known);
  if (!in_theirs_) in_theirs_ = count_abouts(theirs_, {0, theirs_.size()}, Names::known);
  Abouts in_result;
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

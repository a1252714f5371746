#include "cli/walk/diff_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "api-client/base/text.hpp"
#include "cli/output/human.hpp"
#include "sync-engine/merge/three_way.hpp"

namespace ws::cli::walk {
namespace {

constexpr std::size_t label_columns = 8;
constexpr std::string_view bar = " │ ";
constexpr std::size_t bar_columns = 3;

constexpr std::size_t max_diff_bytes = 64U << 10U;

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Words, runs of blanks, and each other character alone; newlines too.
std::vector<ByteRange> words_and_rest(std::string_view text) {
  std::vector<ByteRange> ranges;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (is_letter_or_digit(text[at])) {
      while (end < text.size() && is_letter_or_digit(text[end])) ++end;
    } else if (text[at] == ' ') {
      while (end < text.size() && text[end] == ' ') ++end;
    }
    ranges.push_back({at, end});
    at = end;
  }
  return ranges;
}

class Numbers {
 public:
  sync::merge::Sequence of(std::string_view text, const std::vector<ByteRange>& ranges) {
    sync::merge::Sequence sequence;
    for (const ByteRange& range : ranges) {
      const std::string key(text.substr(range.begin, range.end - range.begin));
      sequence.keys.push_back(known_.emplace(key, static_cast<std::uint32_t>(known_.size())).first->second);
    }
    return sequence;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> known_;
};

bool is_blank(std::string_view text) { return text.find_first_not_of(" \n") == std::string_view::npos; }

ByteRange without_blanks(std::string_view text, ByteRange range) {
  while (range.begin < range.end && is_blank(text.substr(range.begin, 1))) ++range.begin;
  while (range.begin < range.end && is_blank(text.substr(range.end - 1, 1))) --range.end;
  return range;
}

/// The lines of one text, with changed words in `look`.
std::vector<ScreenRow> highlighted(std::string_view text, const std::vector<ByteRange>& ranges, Look usual, Look look) {
  std::vector<ScreenRow> lines;
  auto range = ranges.begin();
  std::size_t offset = 0;
  for (const std::string_view line : split_lines(text)) {
    ScreenRow row;
    std::size_t at = 0;
    while (at < line.size()) {
      while (range != ranges.end() && range->end <= offset + at) ++range;
      const bool inside = range != ranges.end() && range->begin <= offset + at;
      std::size_t end = line.size();
      if (range != ranges.end()) end = std::min(end, (inside ? range->end : range->begin) - offset);
      row.push_back({.text = safe_line(line.substr(at, end - at)), .look = inside ? look : usual});
      at = end;
    }
    lines.push_back(std::move(row));
    offset += line.size() + 1;
  }
  return lines;
}

/// One line of a text, wrapped; each part with the marks below it.
using Parts = std::vector<std::vector<ScreenRow>>;

std::size_t rows_of(const Parts& parts) {
  std::size_t rows = 0;
  for (const auto& part : parts) rows += part.size();
  return rows;
}

bool has_change(const std::vector<ScreenRow>& part) {
  return std::ranges::any_of(part.front(), [](const Fragment& fragment) {
    return fragment.look == Look::mine || fragment.look == Look::theirs;
  });
}

/// The parts [begin, end) that fit into `most` rows, from the one above the first change of `where`; at least one.
ByteRange window_of(const Parts& parts, const Parts& where, std::size_t most) {
  const auto first = std::ranges::find_if(where, has_change) - where.begin();
  std::size_t begin = static_cast<std::size_t>(first) < where.size() ? static_cast<std::size_t>(first) : 0;
  begin -= std::min<std::size_t>(begin, 1);
  std::size_t end = begin;
  std::size_t rows = 0;
  while (end < parts.size() && (end == begin || rows + parts[end].size() <= most)) rows += parts[end++].size();
  while (begin > 0 && rows + parts[begin - 1].size() <= most) rows += parts[--begin].size();
  return {begin, end};
}

std::size_t common_lines(const std::vector<std::vector<std::string_view>>& texts, bool from_end, std::size_t spared) {
  std::size_t shortest = texts.front().size();
  for (const auto& text : texts) shortest = std::min(shortest, text.size());
  std::size_t count = 0;
  const auto at = [&](const std::vector<std::string_view>& text) {
    return from_end ? text[text.size() - 1 - count] : text[count];
  };
  while (spared + count < shortest &&
         std::ranges::all_of(texts, [&](const auto& text) { return at(text) == at(texts.front()); })) {
    ++count;
  }
  return count;
}

class Drawing {
 public:
  Drawing(const Choices& choices, const DiffLook& look)
      : choices_(choices), look_(look), beside_(look.columns >= side_by_side_from) {}

  DiffRows run() {
    if (beside_) add_titles();
    const auto& stretches = choices_.stretches();
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      if (stretches[i].kind == Stretch::Kind::same) {
        const auto lines = split_lines(stretches[i].merged);
        const bool is_first = i == 0;
        const bool is_last = i + 1 == stretches.size();
        // Of an unchanged text only the beginning is shown.
        const std::size_t above = is_first ? (is_last ? lines_of_an_unchanged_text : 0) : lines_around;
        drawn_.places.push_back({drawn_.rows.size(), drawn_.rows.size()});
        add_same(lines, above, is_last ? 0 : lines_around);
      } else {
        add_change(stretches[i], i);
      }
    }
    return std::move(drawn_);
  }

 private:
  std::size_t half() const { return (look_.columns - bar_columns) / 2; }

  void add_titles() {
    ScreenRow row = padded({{.text = " " + look_.mine, .look = Look::strong}}, half());
    row.push_back({.text = std::string(bar), .look = Look::faint});
    row.push_back({.text = look_.theirs, .look = Look::strong});
    drawn_.rows.push_back(std::move(row));
  }

  void add_same(const std::vector<std::string_view>& lines, std::size_t above, std::size_t below) {
    const bool folds = lines.size() > above + below + 1;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (folds && i == above) {
        i = lines.size() - below;
        const std::string words = fmt::format("⋯ {} unchanged", counted(lines.size() - above - below, "line"));
        drawn_.rows.push_back(
            {{.text = std::string(beside_ ? 1 : label_columns + 1, ' ') + words, .look = Look::faint}});
        if (i == lines.size()) break;
      }
      const std::vector<ScreenRow> row = {{{.text = safe_line(lines[i])}}};
      if (beside_) {
        add_pair(row, row);
      } else {
        add_labelled("", row, Look::plain);
      }
    }
  }

  /// The texts of one change, without the lines at both ends that all of them have.
  struct Sides {
    std::vector<ScreenRow> base = {};
    std::vector<ScreenRow> located = {};  ///< `base` with its changed words, which are not shown
    std::vector<ScreenRow> mine = {};
    std::vector<ScreenRow> theirs = {};
    std::vector<ScreenRow> merged = {};
  };

  void add_change(const Stretch& stretch, std::size_t index) {
    const std::optional<Take> taken = choices_.taken(index);
    const bool decided = stretch.kind == Stretch::Kind::collision && taken.has_value();
    const bool mine_holds = !decided || taken == Take::mine || taken == Take::both;
    const bool theirs_hold = !decided || taken == Take::theirs || taken == Take::both;
    const std::string& before_mine = choices_.has_base() ? stretch.base : stretch.theirs;
    const std::string& before_theirs = choices_.has_base() ? stretch.base : stretch.mine;
    Sides sides = {
        .base = highlighted(stretch.base, {}, Look::faint, Look::faint),
        .located = highlighted(stretch.base, changed_words(stretch.mine, stretch.base), Look::faint, Look::mine),
        .mine = side(stretch.mine, before_mine, Look::mine, mine_holds),
        .theirs = side(stretch.theirs, before_theirs, Look::theirs, theirs_hold),
        .merged = highlighted(stretch.merged, {}, Look::plain, Look::plain)};
    const bool shows_merged = stretch.kind == Stretch::Kind::merged && stretch.mine != stretch.theirs;
    std::vector<std::vector<std::string_view>> texts = {split_lines(stretch.mine), split_lines(stretch.theirs)};
    if (choices_.has_base()) texts.push_back(split_lines(stretch.base));
    if (shows_merged) texts.push_back(split_lines(stretch.merged));
    const std::size_t lead = common_lines(texts, false, 0);
    const std::size_t tail = common_lines(texts, true, lead);
    for (std::vector<ScreenRow>* rows : {&sides.base, &sides.located, &sides.mine, &sides.theirs, &sides.merged}) {
      if (rows->size() < lead + tail) continue;
      rows->erase(rows->end() - static_cast<std::ptrdiff_t>(tail), rows->end());
      rows->erase(rows->begin(), rows->begin() + static_cast<std::ptrdiff_t>(lead));
    }
    const std::vector<std::string_view>& lines = texts.front();
    const auto lead_end = lines.begin() + static_cast<std::ptrdiff_t>(lead);
    add_same({lines.begin(), lead_end}, index == 0 ? 0 : lines_around, lines_around);
    const std::size_t begin = drawn_.rows.size();
    limit_.reset();
    add_sides(stretch, index, sides);
    if (look_.cut_place == index && stretch.kind == Stretch::Kind::collision &&
        drawn_.rows.size() - begin > look_.most_rows) {
      drawn_.rows.resize(begin);
      drawn_.is_cut = true;
      const std::size_t texts_below = (choices_.has_base() ? 1 : 0) + (beside_ ? 1 : 2);
      const std::size_t room = look_.most_rows - std::min<std::size_t>(look_.most_rows, look_.has_headings ? 1 : 0);
      limit_ = std::max<std::size_t>(room / texts_below, 1);
      add_sides(stretch, index, sides);
      limit_.reset();
    }
    drawn_.places.push_back({begin, drawn_.rows.size()});
    const auto tail_begin = lines.end() - static_cast<std::ptrdiff_t>(tail);
    const bool is_last = index + 1 == choices_.stretches().size();
    add_same({tail_begin, lines.end()}, lines_around, is_last ? 0 : lines_around);
  }

  void add_sides(const Stretch& stretch, std::size_t index, const Sides& sides) {
    add_heading(index);
    if (choices_.has_base() && (!beside_ || stretch.kind == Stretch::Kind::collision)) {
      add_labelled("base", sides.base, Look::faint, &sides.located);
    }
    if (beside_) {
      add_pair(sides.mine, sides.theirs);
    } else {
      if (stretch.kind != Stretch::Kind::theirs) add_labelled(look_.mine, sides.mine, Look::mine);
      if (stretch.kind != Stretch::Kind::mine) add_labelled(look_.theirs, sides.theirs, Look::theirs);
    }
    if (stretch.kind == Stretch::Kind::merged && stretch.mine != stretch.theirs) {
      add_labelled("merged", sides.merged, Look::good);
    }
  }

  static std::vector<ScreenRow> side(const std::string& text, const std::string& before, Look look, bool holds) {
    if (!holds) return highlighted(text, {}, Look::faint, Look::faint);
    return highlighted(text, changed_words(before, text), Look::plain, look);
  }

  void add_heading(std::size_t index) {
    if (!look_.has_headings) return;
    const bool is_current = look_.current == index;
    const bool is_open = choices_.stretches()[index].kind == Stretch::Kind::collision;
    ScreenRow row = {
        {.text = is_current ? "▸ " : "  "},
        {.text = words_for_place(choices_, index), .look = is_current || is_open ? Look::strong : Look::faint}};
    const std::string taken = words_for_take(choices_, index);
    if (!taken.empty()) row.push_back({.text = " · " + taken, .look = Look::good});
    drawn_.rows.push_back(std::move(row));
  }

  Parts parts_of(const std::vector<ScreenRow>& lines, std::size_t room) const {
    Parts parts;
    for (const ScreenRow& line : lines) {
      for (ScreenRow& part : wrapped(line, room)) {
        ScreenRow marks = look_.has_color ? ScreenRow() : marks_below(part);
        parts.push_back({std::move(part)});
        if (!marks.empty()) parts.back().push_back(std::move(marks));
      }
    }
    return parts;
  }

  /// Of the parts those that are shown; `where`: the same parts with what changed in them.
  ByteRange shown_of(const Parts& parts, const Parts& where) const {
    if (!limit_ || rows_of(parts) <= *limit_) return {0, parts.size()};
    return window_of(parts, where, *limit_);
  }

  /// Rows after a label; "(nothing)" for an empty text.
  void add_labelled(const std::string& label,
                    std::vector<ScreenRow> lines,
                    Look look,
                    const std::vector<ScreenRow>* located = nullptr) {
    if (lines.empty()) lines = {{{.text = "(nothing)", .look = Look::faint}}};
    const std::size_t room =
        look_.columns > label_columns + bar_columns + 8 ? look_.columns - label_columns - bar_columns : 8;
    Parts parts = parts_of(lines, room);
    const bool has_located = located != nullptr && !located->empty();
    const ByteRange shown = shown_of(parts, has_located ? parts_of(*located, room) : parts);
    std::string label_left = label;
    for (std::size_t i = shown.begin; i < shown.end; ++i) {
      const bool is_edge = (i == shown.begin && shown.begin != 0) || (i + 1 == shown.end && shown.end != parts.size());
      for (std::size_t row = 0; row < parts[i].size(); ++row) {
        add_behind(std::exchange(label_left, ""), std::move(parts[i][row]), look, is_edge && row == 0);
      }
    }
  }

  void add_behind(const std::string& label, ScreenRow part, Look look, bool is_edge = false) {
    // Side by side, the bar separates the two sides. Where lines are cut, dots stand in its place.
    const std::string between = is_edge ? " ⋯ " : beside_ ? std::string(bar_columns, ' ') : std::string(bar);
    ScreenRow row = {{.text = fmt::format("{:>{}}", label, label_columns), .look = look},
                     {.text = between, .look = Look::faint}};
    std::ranges::move(part, std::back_inserter(row));
    drawn_.rows.push_back(std::move(row));
  }

  /// Each row with the blank or the dots before it.
  std::vector<ScreenRow> column(const std::vector<ScreenRow>& lines) const {
    Parts parts = parts_of(lines, half() - 1);
    const ByteRange shown = shown_of(parts, parts);
    std::vector<ScreenRow> rows;
    for (std::size_t i = shown.begin; i < shown.end; ++i) {
      const bool is_edge = (i == shown.begin && shown.begin != 0) || (i + 1 == shown.end && shown.end != parts.size());
      for (ScreenRow& row : parts[i]) {
        row.insert(row.begin(), {.text = is_edge ? "⋯" : " ", .look = is_edge ? Look::faint : Look::plain});
        rows.push_back(std::move(row));
      }
    }
    return rows;
  }

  void add_pair(const std::vector<ScreenRow>& left, const std::vector<ScreenRow>& right) {
    auto mine = column(left);
    auto theirs = column(right);
    const std::size_t height = std::max(mine.size(), theirs.size());
    mine.resize(height);
    theirs.resize(height);
    for (std::size_t i = 0; i < height; ++i) {
      ScreenRow row = padded(std::move(mine[i]), half());
      row.push_back({.text = std::string(bar.substr(0, bar.size() - 1)), .look = Look::faint});
      std::ranges::move(theirs[i], std::back_inserter(row));
      drawn_.rows.push_back(std::move(row));
    }
  }

  const Choices& choices_;
  const DiffLook& look_;
  bool beside_;
  DiffRows drawn_;
  std::optional<std::size_t> limit_ = {};  ///< rows of one text
};

std::string_view word_of(Take take) {
  switch (take) {
    case Take::mine: return "mine";
    case Take::theirs: return "theirs";
    case Take::both: return "both";
    case Take::merged: return "merged";
  }
  return "";
}

}  // namespace

std::vector<ByteRange> changed_words(std::string_view before, std::string_view after) {
  if (before.empty() || before.size() > max_diff_bytes || after.size() > max_diff_bytes) return {};
  const auto old_words = words_and_rest(before);
  const auto new_words = words_and_rest(after);
  Numbers numbers;
  const auto was = numbers.of(before, old_words);
  const auto is = numbers.of(after, new_words);
  const auto regions = sync::merge::three_way(was, is, was, std::vector<bool>(was.keys.size(), true));
  if (!regions) return {};
  std::vector<ByteRange> changed;
  bool has_common_word = false;
  for (const sync::merge::Region& region : *regions) {
    if (region.ours.empty()) continue;
    const ByteRange whole{new_words[region.ours.begin].begin, new_words[region.ours.end - 1].end};
    const ByteRange range = without_blanks(after, whole);
    const std::string_view text = after.substr(range.begin, range.end - range.begin);
    if (region.kind == sync::merge::Region::Kind::same) {
      has_common_word = has_common_word || !is_blank(text);
    } else if (!text.empty() && !changed.empty() &&
               is_blank(after.substr(changed.back().end, range.begin - changed.back().end))) {
      changed.back().end = range.end;
    } else if (!text.empty()) {
      changed.push_back(range);
    }
  }
  return has_common_word ? changed : std::vector<ByteRange>{};
}

DiffRows diff_rows(const Choices& choices, const DiffLook& look) { return Drawing(choices, look).run(); }

std::string words_for_take(const Choices& choices, std::size_t stretch) {
  const std::optional<Take> taken = choices.taken(stretch);
  if (!taken || *taken == Take::merged) return {};
  return fmt::format("taken: {}", word_of(*taken));
}

std::string words_for_place(const Choices& choices, std::size_t stretch) {
  const auto& stretches = choices.stretches();
  switch (stretches[stretch].kind) {
    case Stretch::Kind::same: return {};
    case Stretch::Kind::mine: return "only mine changed: it goes into the merge";
    case Stretch::Kind::theirs: return "only theirs changed: it goes into the merge";
    case Stretch::Kind::merged:
      return stretches[stretch].mine == stretches[stretch].theirs ? "both made the same change"
                                                                  : "both changed it: both go into the merge";
    case Stretch::Kind::collision: break;
  }
  const auto end = stretches.begin() + static_cast<std::ptrdiff_t>(stretch);
  const auto before =
      std::count_if(stretches.begin(), end, [](const Stretch& each) { return each.kind == Stretch::Kind::collision; });
  return fmt::format("place {} of {}", before + 1, choices.count(Stretch::Kind::collision));
}

}  // namespace ws::cli::walk

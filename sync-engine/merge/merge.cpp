#include "sync-engine/merge/merge.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <unordered_map>

#include "api-client/base/markdown.hpp"
#include "sync-engine/merge/body.hpp"
#include "sync-engine/merge/front_matter.hpp"
#include "sync-engine/merge/markdown_lines.hpp"
#include "sync-engine/merge/markers.hpp"
#include "sync-engine/merge/three_way.hpp"

namespace ws::sync::merge {
namespace {

// The numbers of ordered lists, which say nothing but the order: an item that comes in between renumbers the rest.

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

/// Whether each ordered list counts up by one from its first number. True without lists.
bool has_sequential_numbers(std::string_view text) {
  for (const NumberedList& list : Lists().read(markdown_lines(text))) {
    if (!counts_up(list)) return false;
  }
  return true;
}

/// The text with each ordered list counted up from its first number; the lines stay what they are otherwise. A list
/// in which a number would become longer or shorter above lines that stand indented below it keeps its numbers: their
/// indentation hangs on it.
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

using PieceKind = Piece::Kind;

constexpr std::size_t marker_length = 7;

Merge whole(PieceKind kind, std::string_view text) {
  return {.pieces = {{.kind = kind, .text = std::string(text)}}, .form = {}};
}

Merge collision(std::string_view base, std::string_view ours, std::string_view theirs) {
  return {.pieces = {{.kind = PieceKind::conflict,
                      .base = std::string(base),
                      .ours = std::string(ours),
                      .theirs = std::string(theirs),
                      .reason = Piece::Reason::collide}},
          .form = {}};
}

/// Texts with mixed line ends: whole lines, as they are.
Result<Merge> merge_raw(std::string_view base, std::string_view ours, std::string_view theirs) {
  WS_LET(const std::optional<std::string> merged, merge_lines(base, ours, theirs));
  Merge merge = merged ? whole(PieceKind::merged, *merged) : collision(base, ours, theirs);
  merge.form = {.ends = TextForm::Ends::lf, .final_newline = true};
  return merge;
}

struct Parts {
  std::string_view front_matter = {};
  std::string_view body = {};
};

Parts parts_of(std::string_view text) {
  const std::size_t offset = markdown::body_offset(text);
  return {.front_matter = text.substr(0, offset), .body = text.substr(offset)};
}

std::size_t count_lines(std::string_view text, std::string_view wanted) {
  std::size_t count = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line == wanted) ++count;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return count;
}

/// Whether front matter can be merged apart from the body: it is at the top of all three texts, or only new. Where a
/// side moved it off the first line, it would come once from the front matter and once from that body.
bool has_front_matter_apart(const Parts& base, const Parts& ours, const Parts& theirs) {
  const auto lacks = [](const Parts& parts) { return parts.front_matter.empty(); };
  if (!lacks(base)) return !lacks(ours) && !lacks(theirs);
  const auto may_hold_it = [&](const Parts& parts) {
    return lacks(parts) && count_lines(parts.body, "---") > count_lines(base.body, "---");
  };
  return !may_hold_it(ours) && !may_hold_it(theirs);
}

void append(std::vector<Piece>& pieces, std::vector<Piece> more) {
  std::ranges::move(more, std::back_inserter(pieces));
}

/// The lists of a clean result are numbered through.
void renumber(std::vector<Piece>& pieces) {
  const bool is_clean =
      std::ranges::none_of(pieces, [](const Piece& piece) { return piece.kind == PieceKind::conflict; });
  if (!is_clean) return;
  std::string text;
  for (const Piece& piece : pieces) text += piece.text;
  const std::string numbered = renumber_lists(text);
  std::size_t at = 0;
  for (Piece& piece : pieces) {
    const auto lines = std::ranges::count(piece.text, '\n');
    std::size_t end = at;
    for (std::ptrdiff_t i = 0; i < lines; ++i) end = numbered.find('\n', end) + 1;
    piece.text = numbered.substr(at, end - at);
    at = end;
  }
}

bool is_marker(std::string_view line, char sign) {
  return line.size() >= marker_length && line.find_first_not_of(sign) >= marker_length &&
         (line.size() == marker_length || line[marker_length] == ' ');
}

using KnownLines = std::unordered_map<std::string_view, std::uint32_t>;

struct WholeLines {
  std::vector<std::string_view> texts = {};  ///< with their newlines
  Sequence sequence = {};

  std::string_view text(Span span) const {
    if (span.empty()) return {};
    const char* const begin = texts[span.begin].data();
    const std::string_view last = texts[span.end - 1];
    return {begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
  }
};

WholeLines number_lines(std::string_view text, KnownLines& known) {
  WholeLines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    const auto next = static_cast<std::uint32_t>(known.size());
    lines.texts.push_back(line);
    lines.sequence.keys.push_back(known.try_emplace(line, next).first->second);
    text.remove_prefix(end);
  }
  return lines;
}

constexpr std::array<std::string_view, 3> marker_lines = {"<<<<<<< local", "||||||| base", ">>>>>>> remote"};

}  // namespace

bool Merge::is_clean() const {
  return std::ranges::none_of(pieces, [](const Piece& piece) { return piece.kind == PieceKind::conflict; });
}

std::string Merge::text() const {
  std::string lines;
  for (const Piece& piece : pieces) lines += piece.kind == PieceKind::conflict ? piece.ours : piece.text;
  return with_form(lines, form);
}

Result<Merge> merge_markdown(std::string_view base,
                             std::string_view ours,
                             std::string_view theirs,
                             const MergeOptions& options) {
  if (ours == theirs) return whole(ours == base ? PieceKind::same : PieceKind::both, ours);
  if (theirs == base) return whole(PieceKind::ours, ours);
  if (ours == base) return whole(PieceKind::theirs, theirs);
  const auto plain_base = take_form(base);
  const auto plain_ours = take_form(ours);
  const auto plain_theirs = take_form(theirs);
  if (!plain_base || !plain_ours || !plain_theirs) return merge_raw(base, ours, theirs);
  const auto form = merge_forms(plain_base->form, plain_ours->form, plain_theirs->form);
  if (!form) {
    Merge merge = collision(plain_base->lines, plain_ours->lines, plain_theirs->lines);
    merge.form = plain_ours->form;
    return merge;
  }
  Parts in_base = parts_of(plain_base->lines);
  Parts in_ours = parts_of(plain_ours->lines);
  Parts in_theirs = parts_of(plain_theirs->lines);
  if (!has_front_matter_apart(in_base, in_ours, in_theirs)) {
    in_base = {.body = plain_base->lines};
    in_ours = {.body = plain_ours->lines};
    in_theirs = {.body = plain_theirs->lines};
  }
  Merge merge{.pieces = {}, .form = *form};
  WS_LET(merge.pieces,
         merge_front_matter(in_base.front_matter, in_ours.front_matter, in_theirs.front_matter, options.merge_later));
  const bool is_numbered = has_sequential_numbers(in_base.body) && has_sequential_numbers(in_ours.body) &&
                           has_sequential_numbers(in_theirs.body);
  WS_LET(std::vector<Piece> body,
         merge_body(in_base.body, in_ours.body, in_theirs.body, is_numbered ? Ordinals::follow : Ordinals::kept));
  if (is_numbered) renumber(body);
  append(merge.pieces, std::move(body));
  return merge;
}

std::string with_markers(const Merge& merge, std::string_view our_label, std::string_view their_label) {
  return with_markers(merge,
                      Markers{.ours = std::string(our_label),
                              .base = "base",
                              .theirs = std::string(their_label),
                              .size = marker_length,
                              .style = MarkerStyle::diff3});
}

bool has_markers(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (is_marker(line, '<') || is_marker(line, '|') || is_marker(line, '>')) return true;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return false;
}

Result<std::optional<std::string>> merge_lines(std::string_view base, std::string_view ours, std::string_view theirs) {
  using Merged = std::optional<std::string>;
  if (ours == theirs || theirs == base) return Merged(ours);
  if (ours == base) return Merged(theirs);
  KnownLines known;
  const WholeLines in_base = number_lines(base, known);
  const WholeLines in_ours = number_lines(ours, known);
  const WholeLines in_theirs = number_lines(theirs, known);
  const std::vector<bool> anchors(in_base.texts.size(), true);
  WS_LET(const std::vector<Region> regions, three_way(in_base.sequence, in_ours.sequence, in_theirs.sequence, anchors));
  std::string merged;
  for (const Region& region : regions) {
    if (region.kind == Region::Kind::conflict) return Merged();
    merged += region.kind == Region::Kind::theirs ? in_theirs.text(region.theirs) : in_ours.text(region.ours);
  }
  return Merged(std::move(merged));
}

bool adds_markers(std::string_view text, const std::vector<std::string_view>& others) {
  return std::any_of(marker_lines.begin(), marker_lines.end(), [&](std::string_view line) {
    const std::size_t count = count_lines(text, line);
    return count > 0 && std::all_of(others.begin(), others.end(), [&](std::string_view other) {
             return count_lines(other, line) < count;
           });
  });
}

}  // namespace ws::sync::merge

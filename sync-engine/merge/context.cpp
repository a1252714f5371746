#include "sync-engine/merge/context.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "api-client/base/ascii.hpp"
#include "api-client/base/utf8.hpp"
#include "sync-engine/merge/list_reader.hpp"

namespace ws::sync::merge {
namespace {

using LineKind = MarkdownLine::Kind;
using Columns = std::vector<std::string>;

/// A row below the head of its table, or the first line of an item, with the lines that give it its meaning.
struct ReadLine {
  LineKind kind = LineKind::item;
  std::size_t line = 0;
  std::string written = {};          ///< equal ones are one: without padding, and the number of an item
  std::string subject = {};          ///< the first cell; the text of an item without its mark
  std::size_t rests_on = 0;          ///< the line of the head, or of the parent
  const Columns* columns = nullptr;  ///< of a row
  std::string parent = {};           ///< the subject of the item that an item hangs on; empty: none

  bool reads_as(const ReadLine& other) const {
    return parent == other.parent && (columns == nullptr || *columns == *other.columns);
  }
};

/// The rows and items of one text, to be looked up.
class ContextIndex {
 public:
  explicit ContextIndex(const std::vector<MarkdownLine>& lines) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].kind == LineKind::blank) continue;
      while (!open_.empty() && !hangs(lines[i], open_.back().margin)) open_.pop_back();
      if (lines[i].kind == LineKind::item) add_item(i, lines[i].text);
      if (lines[i].kind == LineKind::table) add_row(i, lines[i].text, i > 0 && lines[i - 1].kind == LineKind::table);
    }
    for (const ReadLine& each : lines_) {
      auto& alike = written_[{each.kind, each.written}];
      if (alike.empty() || !alike.back()->reads_as(each)) alike.push_back(&each);
      subjects_.emplace(each.kind, each.subject);
    }
  }
  ContextIndex(const ContextIndex&) = delete;
  ContextIndex& operator=(const ContextIndex&) = delete;

  const std::vector<ReadLine>& lines() const { return lines_; }
  /// Those that are written so, each way to read them at least once.
  const std::vector<const ReadLine*>& like(const ReadLine& line) const {
    static const std::vector<const ReadLine*> none;
    const auto found = written_.find({line.kind, line.written});
    return found == written_.end() ? none : found->second;
  }
  bool has(LineKind kind, std::string_view subject) const { return subjects_.contains(std::pair(kind, subject)); }

 private:
  struct OpenItem {
    std::size_t line = 0;
    std::size_t margin = 0;
    std::string subject = {};
  };

  void add_item(std::size_t i, std::string_view text) {
    const ItemMark mark = item_mark(text);
    std::string written(trimmed_end(text, " \t"));
    if (!mark.ordinal.empty()) written.replace(mark.indent, mark.ordinal.size(), "1");
    const std::string subject(trimmed(text.substr(mark.whole.size() + mark.tick.size()), " \t"));
    lines_.push_back({.line = i,
                      .written = std::move(written),
                      .subject = subject,
                      .rests_on = open_.empty() ? i : open_.back().line,
                      .parent = open_.empty() ? std::string() : open_.back().subject});
    open_.push_back({.line = i, .margin = margin_of(text), .subject = subject});
  }

  void add_row(std::size_t i, std::string_view text, bool goes_on) {
    const std::vector<std::string_view> cells = cells_of(text);
    if (!goes_on) {
      head_ = i;
      Columns& columns = heads_.emplace_back();
      for (const std::string_view cell : cells) columns.push_back(utf8::fold_key(cell));
    }
    if (i < head_ + 2) return;
    std::string written;
    for (const std::string_view cell : cells) written.append("|").append(cell);
    lines_.push_back({.kind = LineKind::table,
                      .line = i,
                      .written = std::move(written),
                      .subject = std::string(cells.front()),
                      .rests_on = head_,
                      .columns = &heads_.back()});
  }

  std::vector<ReadLine> lines_ = {};
  std::deque<Columns> heads_ = {};
  std::vector<OpenItem> open_ = {};
  std::size_t head_ = 0;
  std::map<std::pair<LineKind, std::string_view>, std::vector<const ReadLine*>> written_ = {};
  std::set<std::pair<LineKind, std::string_view>> subjects_ = {};
};

/// Whether a column of the one stands at another place of the other, or not at all.
bool moves_columns(const Columns& before, const Columns& after) {
  if (before.size() != after.size()) return true;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool is_same = before[i] == after[i];
    if (!is_same &&
        (std::ranges::find(after, before[i]) != after.end() || std::ranges::find(before, after[i]) != before.end()))
      return true;
  }
  return false;
}

class ContextCheck {
 public:
  ContextCheck(const ContextIndex& base, const ContextIndex& ours, const ContextIndex& theirs)
      : base_(base), sides_{&ours, &theirs} {}

  /// Of a line of the merged text, whether both sides that hold it as written there read it otherwise. What was merged
  /// inside the line stands in neither.
  bool is_out_of_context(const ReadLine& line, const ContextIndex& merged) const {
    return line.kind == LineKind::table ? is_under_other_columns(line) : gets_another_parent(line, merged);
  }

 private:
  bool is_under_other_columns(const ReadLine& row) const {
    if (!base_.like(row).empty()) return false;
    bool is_known = false;
    for (const ContextIndex* side : sides_) {
      for (const ReadLine* each : side->like(row)) {
        const bool is_edited = base_.has(row.kind, row.subject);
        const bool fits = is_edited ? !moves_columns(*each->columns, *row.columns) : *each->columns == *row.columns;
        if (fits) return false;
        is_known = true;
      }
    }
    return is_known;
  }

  bool gets_another_parent(const ReadLine& item, const ContextIndex& merged) const {
    bool is_doubtful = false;
    for (const ContextIndex* side : sides_) {
      for (const ReadLine* each : side->like(item)) {
        if (each->parent == item.parent) return false;
        // Else the other side may have edited the parent.
        is_doubtful = is_doubtful || item.parent.empty() || side->has(LineKind::item, item.parent) ||
                      merged.has(LineKind::item, each->parent);
      }
    }
    return is_doubtful;
  }

  const ContextIndex& base_;
  std::array<const ContextIndex*, 2> sides_;
};

/// The merged text with one side's lines where it is a conflict, and the piece of each line.
struct MergedLines {
  std::string text = {};
  std::vector<std::size_t> pieces = {};

  MergedLines(const std::vector<Piece>& from, std::string Piece::*side) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::string& part = from[i].kind == Piece::Kind::conflict ? from[i].*side : from[i].text;
      text += part;
      pieces.resize(pieces.size() + static_cast<std::size_t>(std::ranges::count(part, '\n')), i);
    }
  }
};

/// The changed pieces among some.
Span changed_pieces(const std::vector<Piece>& pieces, Span span) {
  while (!span.empty() && pieces[span.begin].kind == Piece::Kind::same) ++span.begin;
  while (!span.empty() && pieces[span.end - 1].kind == Piece::Kind::same) --span.end;
  return span;
}

Piece one_conflict(const std::vector<Piece>& pieces, Span span) {
  Piece whole{.kind = Piece::Kind::conflict, .reason = Piece::Reason::context};
  for (std::size_t i = span.begin; i < span.end; ++i) {
    const bool is_same = pieces[i].kind == Piece::Kind::same;
    whole.base += is_same ? pieces[i].text : pieces[i].base;
    whole.ours += is_same ? pieces[i].text : pieces[i].ours;
    whole.theirs += is_same ? pieces[i].text : pieces[i].theirs;
  }
  return whole;
}

/// `ends`: of each piece, the end of the conflict that begins with it, or of an earlier one.
std::vector<Piece> with_conflicts(std::vector<Piece> pieces, const std::map<std::size_t, std::size_t>& ends) {
  std::vector<Piece> joined;
  std::size_t done = 0;
  for (auto next = ends.begin(); next != ends.end();) {
    Span span{next->first, next->second};
    for (++next; next != ends.end() && next->first < span.end; ++next) span.end = std::max(span.end, next->second);
    for (; done < span.begin; ++done) joined.push_back(std::move(pieces[done]));
    joined.push_back(one_conflict(pieces, span));
    done = span.end;
  }
  for (; done < pieces.size(); ++done) joined.push_back(std::move(pieces[done]));
  return joined;
}

}  // namespace

void doubt_lines_out_of_context(std::vector<Piece>& pieces,
                                const std::vector<MarkdownLine>& base,
                                const std::vector<MarkdownLine>& ours,
                                const std::vector<MarkdownLine>& theirs) {
  const ContextIndex in_base(base);
  const ContextIndex in_ours(ours);
  const ContextIndex in_theirs(theirs);
  const ContextCheck check(in_base, in_ours, in_theirs);
  std::map<std::size_t, std::size_t> ends;
  for (std::string Piece::*side : {&Piece::ours, &Piece::theirs}) {
    const MergedLines merged(pieces, side);
    const std::vector<MarkdownLine> lines = markdown_lines(merged.text);
    const ContextIndex in_merged(lines);
    for (const ReadLine& line : in_merged.lines()) {
      const std::size_t last = merged.pieces[line.line];
      if (pieces[last].kind == Piece::Kind::conflict || !check.is_out_of_context(line, in_merged)) continue;
      const Span changed = changed_pieces(pieces, {merged.pieces[line.rests_on], last + 1});
      if (changed.empty()) continue;
      std::size_t& end = ends[changed.begin];
      end = std::max(end, changed.end);
    }
  }
  if (!ends.empty()) pieces = with_conflicts(std::move(pieces), ends);
}

}  // namespace ws::sync::merge

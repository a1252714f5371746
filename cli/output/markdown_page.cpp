#include "cli/output/markdown_page.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/clean.hpp"
#include "api-client/base/markdown.hpp"
#include "api-client/base/text.hpp"
#include "api-client/base/utf8.hpp"
#include "cli/output/styled_text.hpp"

namespace ws::cli {
namespace {

using markdown::Part;
using Kind = Part::Kind;

constexpr std::size_t narrowest = 20;
constexpr std::size_t widest_page = 120;
constexpr std::size_t narrowest_cell = 8;
constexpr std::size_t cell_gap = 2;

/// The style of the text inside `part`, where `outer` is the style around it.
Look look_inside(Kind kind, Look outer) {
  switch (kind) {
    case Kind::strong: return Look::strong;
    case Kind::emphasis: return outer == Look::strong ? outer : Look::emphasis;
    case Kind::struck: return Look::struck;
    case Kind::link: return outer == Look::plain ? Look::link : outer;
    default: return outer;
  }
}

std::string words_of(const Part& part) {
  std::string words = part.text;
  for (const Part& inner : part.parts) words += words_of(inner);
  return words;
}

/// Whether a link has a useful target: not an API path, as in links to sources of answers.
bool leads_somewhere(const Part& part) {
  if (part.kind != Kind::link && part.kind != Kind::image) return false;
  return !part.target.empty() && part.target != words_of(part) && part.target.substr(0, 4) != "/v1/";
}

void add_inline(const Part& part, Look look, const Terminal& terminal, StyledText& text) {
  switch (part.kind) {
    case Kind::text: return text.add(part.text, look);
    case Kind::code:
      // Without colour keep the backticks, so that code can be distinguished.
      return text.add(terminal.has_color(Stream::out) ? part.text : "`" + part.text + "`", Look::code);
    case Kind::html: return text.add_unbroken(part.text, Look::faint);
    case Kind::soft_break: return text.add(" ", look);
    case Kind::line_break: return text.end_line();
    default: break;
  }
  if (part.kind == Kind::image) text.add("[image] ", Look::faint);
  for (const Part& inner : part.parts) add_inline(inner, look_inside(part.kind, look), terminal, text);
  if (leads_somewhere(part)) {
    text.add(" ", look);
    text.add_unbroken("(" + part.target + ")", Look::faint);
  }
}

class Page {
 public:
  explicit Page(const Terminal& terminal)
      : terminal_(terminal),
        columns_(std::clamp(static_cast<std::size_t>(terminal.columns()), narrowest, widest_page)) {}

  void blocks(const std::vector<Part>& parts, bool tight = false) {
    bool first = true;
    for (const Part& part : parts) {
      if (!first && !tight) blank();
      first = false;
      block(part);
    }
  }
  /// Adds a line of our own below the text.
  void note(std::string_view words) {
    if (!text_.empty()) blank();
    line(faint(fmt::format("({})", words)));
  }
  std::string take() { return std::move(text_); }

 private:
  /// The prefix of a block's lines, which may differ on the first: "• ", and two spaces on the lines below.
  struct Margin {
    std::string first = {};
    std::string rest = {};
    std::size_t columns = 0;
    bool used = false;  // the first line has been written
  };

  void block(const Part& part) {
    switch (part.kind) {
      case Kind::heading: return heading(part);
      case Kind::list: return list(part);
      case Kind::quote:
        return inside({.first = faint("│ "), .rest = faint("│ "), .columns = 2}, [&] { blocks(part.parts); });
      case Kind::code_block: return verbatim(part.text, Look::code);
      case Kind::html_block: return verbatim(part.text, Look::faint);
      case Kind::rule: return line(faint(repeated("─", room())));
      case Kind::table: return table(part);
      default: return prose(part, Look::plain);
    }
  }

  void heading(const Part& part) {
    StyledText text;
    text.add(std::string(static_cast<std::size_t>(part.level), '#') + " ", Look::faint);
    for (const Part& inner : part.parts) add_inline(inner, Look::strong, terminal_, text);
    for (const StyledLine& one : text.lines(room(), terminal_)) line(one.text);
  }

  void prose(const Part& part, Look look) {
    StyledText text;
    for (const Part& inner : part.parts) add_inline(inner, look, terminal_, text);
    for (const StyledLine& one : text.lines(room(), terminal_)) line(one.text);
  }

  void list(const Part& part) {
    int number = part.level;
    bool first = true;
    for (const Part& item : part.parts) {
      if (!first && !part.tight) blank();
      first = false;
      std::string mark = part.level > 0 ? std::to_string(number++) + ". " : "• ";
      if (item.checked) mark = *item.checked ? "[x] " : "[ ] ";
      const std::size_t columns = utf8::columns(mark);
      inside({.first = mark, .rest = std::string(columns, ' '), .columns = columns}, [&] {
        blocks(item.parts, part.tight);
        if (item.parts.empty()) line("");
      });
    }
  }

  void verbatim(const std::string& text, Look look) {
    const std::string safe = clean(text, Breaks::keep);
    inside({.first = "    ", .rest = "    ", .columns = 4}, [&] {
      for (const std::string_view each : split_lines(safe)) line(terminal_.paint(Stream::out, look, each));
    });
  }

  using Row = std::vector<StyledText>;

  void table(const Part& part) {
    std::vector<Row> rows;
    for (const Part& row : part.parts) {
      Row cells;
      for (const Part& cell : row.parts) {
        StyledText text;
        for (const Part& inner : cell.parts) {
          add_inline(inner, rows.empty() ? Look::strong : Look::plain, terminal_, text);
        }
        cells.push_back(std::move(text));
      }
      rows.push_back(std::move(cells));
    }
    if (rows.empty() || rows.front().empty()) return;
    const std::vector<std::size_t> widths = widths_of(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      table_row(rows[i], part.parts[i], widths);
      if (i == 0) {
        line(faint(repeated("─", std::accumulate(widths.begin(), widths.end(), cell_gap * (widths.size() - 1)))));
      }
    }
  }

  /// Each column is as wide as its cells need; if that is too much, the widest columns shrink and their cells wrap.
  std::vector<std::size_t> widths_of(const std::vector<Row>& rows) const {
    std::vector<std::size_t> widths(rows.front().size(), 1);
    for (const Row& row : rows) {
      for (std::size_t i = 0; i < std::min(row.size(), widths.size()); ++i) {
        widths[i] = std::max(widths[i], row[i].widest());
      }
    }
    while (std::accumulate(widths.begin(), widths.end(), cell_gap * (widths.size() - 1)) > room()) {
      std::size_t& widest = *std::ranges::max_element(widths);
      if (widest <= narrowest_cell) break;
      --widest;
    }
    return widths;
  }

  void table_row(const Row& row, const Part& part, const std::vector<std::size_t>& widths) {
    std::vector<std::vector<StyledLine>> cells;
    std::size_t height = 1;
    for (std::size_t i = 0; i < std::min(row.size(), widths.size()); ++i) {
      cells.push_back(row[i].lines(widths[i], terminal_));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t at = 0; at < height; ++at) {
      std::string text;
      std::size_t owed = 0;  // spaces, written only if a cell follows
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const StyledLine cell = at < cells[i].size() ? cells[i][at] : StyledLine();
        const std::size_t spare = widths[i] - std::min(widths[i], cell.columns);
        const Part::Align align = part.parts[i].align;
        const std::size_t before = align == Part::Align::left ? 0 : align == Part::Align::right ? spare : spare / 2;
        if (cell.columns > 0) text += std::string(owed + before, ' ') + cell.text;
        owed = cell.columns > 0 ? spare - before + cell_gap : owed + widths[i] + cell_gap;
      }
      line(text);
    }
  }

  template <class Body>
  void inside(Margin margin, Body body) {
    margins_.push_back(std::move(margin));
    body();
    margins_.pop_back();
  }

  std::size_t room() const {
    std::size_t used = 0;
    for (const Margin& margin : margins_) used += margin.columns;
    return used + narrowest > columns_ ? narrowest : columns_ - used;
  }

  void line(const std::string& text) {
    std::string whole;
    for (Margin& margin : margins_) {
      whole += margin.used ? margin.rest : margin.first;
      margin.used = true;
    }
    whole += text;
    trim_end(whole, " ");
    text_ += whole + "\n";
  }

  /// An empty line between blocks, only with margins that are shown on every line, such as that of a quote.
  void blank() { line(""); }

  std::string faint(const std::string& text) const { return terminal_.paint(Stream::out, Look::faint, text); }

  static std::string repeated(std::string_view text, std::size_t times) {
    std::string whole;
    for (std::size_t i = 0; i < times; ++i) whole += text;
    return whole;
  }

  const Terminal& terminal_;
  std::size_t columns_;
  std::vector<Margin> margins_ = {};
  std::string text_ = {};
};

}  // namespace

std::string render_markdown(std::string_view source, const Terminal& terminal) {
  Page page(terminal);
  const Part whole = markdown::parse(source);
  page.blocks(whole.parts);
  if (whole.is_limited)
    page.note("parts of this text are shown without formatting: there is too much markup in one place");
  return page.take();
}

}  // namespace ws::cli

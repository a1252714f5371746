#include "sync-engine/links/references.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "api-client/base/byte_set.hpp"
#include "api-client/base/markdown.hpp"
#include "api-client/base/markdown_layout.hpp"
#include "api-client/base/utf8.hpp"
#include "sync-engine/links/inline_scan.hpp"
#include "sync-engine/links/targets.hpp"

namespace ws::sync::links {
namespace {

using Kind = Reference::Kind;
using markdown::Layout;

/// One line of front matter: what may be a value.
class FrontMatterScan {
 public:
  FrontMatterScan(std::string_view text, std::size_t end, std::vector<Reference>& into)
      : text_(text.substr(0, end)), into_(into) {}

  void run() {
    std::size_t at = 0;
    while (at < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      line_ = text_.substr(0, end);
      take_line(at, end);
      at = end + 1;
    }
  }

 private:
  void take_line(std::size_t begin, std::size_t end) {
    while (end > begin && (text_[end - 1] == '\r' || text_[end - 1] == ' ')) --end;
    const std::size_t first = std::min(line_.find_first_not_of(" \t", begin), end);
    const std::size_t indent = first - begin;
    if (first == end) return;
    if (block_indent_ && indent > *block_indent_) return;
    block_indent_.reset();
    if (text_[first] == '#') return;
    std::size_t value = first;
    while (value < end && text_[value] == '-' && value + 1 < end && text_[value + 1] == ' ')
      value = std::min(line_.find_first_not_of(' ', value + 1), end);
    const bool is_item = value != first;
    if (value < end && text_[value] != '"' && text_[value] != '\'' && text_[value] != '[') {
      const std::size_t colon = line_.find(": ", value);
      if (colon != std::string_view::npos) {
        value = std::min(line_.find_first_not_of(' ', colon + 1), end);
      } else if (!is_item) {
        return;
      }
    }
    if (value == end) return;
    if (text_[value] == '|' || text_[value] == '>') {
      block_indent_ = indent;
      return;
    }
    take_value(value, end);
  }

  void take_value(std::size_t begin, std::size_t end) {
    if (text_[begin] == '[' && text_.substr(begin, 2) != "[[") {
      const std::size_t close = line_.rfind(']');
      if (close == std::string_view::npos || close <= begin) return;
      for (std::size_t at = begin + 1; at < close;) {
        const std::size_t comma = std::min(line_.find(',', at), close);
        take_scalar(at, comma);
        at = comma + 1;
      }
      return;
    }
    take_scalar(begin, end);
  }

  void take_scalar(std::size_t begin, std::size_t end) {
    while (begin < end && (text_[begin] == ' ' || text_[begin] == '\t')) ++begin;
    while (end > begin && (text_[end - 1] == ' ' || text_[end - 1] == '\t')) --end;
    if (begin == end) return;
    const std::size_t whole_begin = begin;
    std::size_t whole_end = end;
    const char quote = text_[begin];
    if (quote == '"' || quote == '\'') {
      const std::size_t close = line_.find(quote, begin + 1);
      if (close == std::string_view::npos || close >= end) return;
      whole_end = close + 1;
      ++begin;
      end = close;
    } else if (const std::size_t comment = text_.substr(0, end).find(" #", begin); comment != std::string_view::npos) {
      end = comment;
      while (end > begin && text_[end - 1] == ' ') --end;
      whole_end = end;
    }
    const std::string_view value = text_.substr(begin, end - begin);
    if (value.find_first_of("\\&*!") != std::string_view::npos) return;
    if (value.starts_with("[[")) {
      std::vector<std::string> ids;
      return scan_inlines(text_, begin, end, into_, ids);
    }
    if (value.find_first_of("./") == std::string_view::npos) return;
    auto reference = read_target(text_, {.kind = Kind::front_matter, .begin = begin, .end = end});
    if (!reference || reference->path.empty()) return;
    reference->begin = whole_begin;
    reference->end = whole_end;
    into_.push_back(std::move(*reference));
  }

  std::string_view text_;
  std::string_view line_ = {};  ///< the text up to the end of the line in hand
  std::vector<Reference>& into_;
  std::optional<std::size_t> block_indent_ = {};  ///< of the key whose value is the block below
};

/// Whether a mark of a reference is among what was masked.
bool hides_references(std::string_view body, std::string_view masked) {
  if (masked.empty()) return false;
  for (std::size_t at = 0; at < body.size(); ++at) {
    if (body[at] != masked[at] && std::string_view("[]<").find(body[at]) != std::string_view::npos) return true;
  }
  return false;
}

class NoteReader {
 public:
  explicit NoteReader(std::string_view text) : text_(text) {}

  NoteLinks read() {
    const std::size_t body = markdown::body_offset(text_);
    if (body > 0) FrontMatterScan(text_, body, note_.references).run();
    const std::string_view rest = text_.substr(body);
    // Every reference and every heading has one of these.
    static constexpr ByteSet marks("[<#=-");
    if (marks.find_in(rest) == std::string_view::npos) return std::move(note_);
    layout_ = markdown::layout(rest);
    parsed_ = layout_.masked.empty() ? rest : layout_.masked;
    note_.is_cut = hides_references(rest, layout_.masked);
    const std::size_t from = note_.references.size();
    scan_body();
    drop_unconfirmed(from);
    for (std::size_t i = from; i < note_.references.size(); ++i) shift(note_.references[i], body);
    std::sort(note_.references.begin(), note_.references.end(), [](const Reference& a, const Reference& b) {
      return std::pair(a.begin, b.end) < std::pair(b.begin, a.end);
    });
    add_headings();
    return std::move(note_);
  }

 private:
  static void shift(Reference& reference, std::size_t by) {
    for (std::size_t Reference::*place :
         {&Reference::begin, &Reference::end, &Reference::target_begin, &Reference::target_end, &Reference::path_end})
      reference.*place += by;
  }

  std::size_t offset(std::size_t line) const {
    return line < layout_.lines.size() ? layout_.lines[line] : parsed_.size();
  }

  /// Without text but the marks of quotes.
  bool is_blank(std::size_t line) const {
    const std::string_view text = parsed_.substr(0, offset(line + 1));
    return text.find_first_not_of(" \t\r\n>", offset(line)) == std::string_view::npos;
  }

  void scan_body() {
    auto next_break = layout_.breaks.begin();
    auto raw = layout_.raws.begin();
    bool in_comment = false;
    std::size_t begin = 0;
    const std::size_t lines = layout_.lines.size();
    for (std::size_t line = 0; line <= lines;) {
      while (raw != layout_.raws.end() && raw->end <= line) ++raw;
      while (next_break != layout_.breaks.end() && *next_break < line) ++next_break;
      const bool is_raw = raw != layout_.raws.end() && raw->begin <= line && raw->begin < raw->end;
      const bool is_break = next_break != layout_.breaks.end() && *next_break == line;
      if (line == lines || is_raw || is_break || is_blank(line)) {
        scan_segment(begin, line, in_comment);
        begin = line;
      }
      if (line == lines) return;
      if (is_raw) {
        if (raw->kind == Layout::Raw::Kind::html)
          scan_html(parsed_, offset(line), offset(raw->end), in_comment, note_.references, note_.anchors);
        line = std::max(raw->end, line + 1);
        begin = line;
      } else {
        ++line;
      }
    }
  }

  void scan_segment(std::size_t first, std::size_t last, bool& in_comment) {
    std::size_t begin = offset(first);
    const std::size_t end = offset(last);
    if (begin >= end) return;
    // A comment that a block of HTML began goes on behind a blank line, for whoever reads the page.
    if (in_comment) {
      const std::size_t close = parsed_.substr(0, end).find("-->", begin);
      if (close == std::string_view::npos) return;
      in_comment = false;
      begin = close + 3;
    }
    const std::size_t text = std::min(skip_marks(begin, end), end);
    const std::size_t from = scan_definitions(parsed_, text, end, note_.references);
    const bool is_note = parsed_.compare(text, 2, "[^") == 0;
    const std::size_t before = note_.references.size();
    scan_inlines(parsed_, from, end, note_.references, note_.anchors);
    // cmark is not asked about footnotes: it would take the first word for a target.
    for (std::size_t i = before; is_note && i < note_.references.size(); ++i) confirmed_.push_back(i);
  }

  /// The marks of quotes and items that may stand before a definition.
  std::size_t skip_marks(std::size_t at, std::size_t end) const {
    const std::string_view text = parsed_.substr(0, end);
    while (true) {
      at = std::min(text.find_first_not_of(" \t\r\n>", at), end);
      std::size_t mark = at;
      while (mark < end && text[mark] >= '0' && text[mark] <= '9') ++mark;
      const std::string_view signs = mark == at ? "-*+" : ".)";
      const bool is_mark = mark + 1 < end && signs.find(text[mark]) != std::string_view::npos &&
                           (text[mark + 1] == ' ' || text[mark + 1] == '\t');
      if (!is_mark) return at;
      at = mark + 1;
    }
  }

  /// What cmark takes for no link is none: a link in the text of a link, a bracket that an emphasis hides.
  void drop_unconfirmed(std::size_t from) {
    std::map<std::string_view, std::size_t> known;
    for (const std::string& target : layout_.targets) ++known[target];
    std::size_t i = 0;
    const auto is_unknown = [&](const Reference& reference) {
      const std::size_t place = i++;
      if (place < from || (reference.kind != Kind::link && reference.kind != Kind::image)) return false;
      if (std::ranges::binary_search(confirmed_, place)) return false;
      const std::string_view raw =
          parsed_.substr(reference.target_begin, reference.target_end - reference.target_begin);
      if (raw.find_first_of("\\&") != std::string_view::npos) return false;
      const auto found = known.find(raw);
      if (found == known.end() || found->second == 0) return true;
      --found->second;
      return false;
    };
    std::vector<Reference> kept;
    for (Reference& reference : note_.references) {
      if (!is_unknown(reference)) kept.push_back(std::move(reference));
    }
    note_.references = std::move(kept);
  }

  void add_headings() {
    std::map<std::string, std::size_t> seen;
    for (const Layout::Heading& heading : layout_.headings) {
      std::string slug = utf8::slug(heading.text);
      const std::size_t count = seen[slug]++;
      if (count > 0) slug += "-" + std::to_string(count);
      note_.anchors.push_back(std::move(slug));
    }
  }

  std::string_view text_;
  NoteLinks note_ = {};
  Layout layout_ = {};
  std::string_view parsed_ = {};             ///< the body as cmark was given it
  std::vector<std::size_t> confirmed_ = {};  ///< places in `references`
};

}  // namespace

NoteLinks read_note(std::string_view text) { return NoteReader(text).read(); }

std::vector<Reference> read_references(std::string_view text) { return read_note(text).references; }

TextPlaces::TextPlaces(std::string_view text) {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    lines_.push_back(at + 1);
  }
}

Place TextPlaces::of(std::size_t offset) const {
  const auto after = std::upper_bound(lines_.begin(), lines_.end(), offset);
  return {.line = static_cast<std::size_t>(after - lines_.begin()), .column = offset - *std::prev(after) + 1};
}

}  // namespace ws::sync::links

#include "api-client/base/markdown_layout.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#include "api-client/base/byte_set.hpp"
#include "api-client/base/markdown_bounds.hpp"

namespace ws::markdown {
namespace {

/// cmark's memory for one text, given back as a whole: for a note it asks for a hundred small pieces. The one of a
/// thread is found by a variable, for cmark's allocator is given no context.
class Arena {
 public:
  Arena() { current = this; }
  ~Arena() { current = nullptr; }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  cmark_mem* mem() { return &mem_; }

 private:
  static constexpr std::size_t step = alignof(std::max_align_t);
  static constexpr std::size_t chunk_bytes = std::size_t{32} << 10U;

  static void* calloc(std::size_t count, std::size_t bytes) {
    if (bytes != 0 && count > std::numeric_limits<std::size_t>::max() / 2 / bytes) std::abort();  // as cmark does
    return std::memset(current->take(count * bytes), 0, count * bytes);
  }
  static void* realloc(void* old, std::size_t bytes) {
    void* const grown = current->take(bytes);
    if (old == nullptr) return grown;
    std::size_t before = 0;
    std::memcpy(&before, static_cast<std::byte*>(old) - step, sizeof before);
    return std::memcpy(grown, old, std::min(before, bytes));
  }
  static void free(void* /*in the arena*/) {}

  /// In front of each piece is its size.
  void* take(std::size_t bytes) {
    const std::size_t whole = step + (bytes + step - 1) / step * step;
    if (whole > left_) {
      left_ = std::max(chunk_bytes, whole);
      chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(left_));
      next_ = chunks_.back().get();
    }
    std::byte* const piece = next_;
    std::memcpy(piece, &bytes, sizeof bytes);
    next_ += whole;
    left_ -= whole;
    return piece + step;
  }

  static thread_local Arena* current;
  cmark_mem mem_ = {.calloc = calloc, .realloc = realloc, .free = free};
  std::vector<std::unique_ptr<std::byte[]>> chunks_ = {};
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
};
thread_local Arena* Arena::current = nullptr;

std::vector<std::size_t> line_offsets(std::string_view text) {
  constexpr std::size_t usual_line_bytes = 48;
  std::vector<std::size_t> lines;
  lines.reserve(text.size() / usual_line_bytes + 8);
  lines.push_back(0);
  if (text.find('\r') == std::string_view::npos) {
    for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
      lines.push_back(at + 1);
    }
    return lines;
  }
  static constexpr ByteSet line_ends("\r\n");
  for (std::size_t at = line_ends.find_in(text); at != std::string_view::npos; at = line_ends.find_in(text, at)) {
    at += text.substr(at, 2) == "\r\n" ? 2 : 1;
    lines.push_back(at);
  }
  return lines;
}

/// The next byte that a line of mere prose does not have. Each is looked for by `memchr`, once.
class NextMark {
 public:
  explicit NextMark(std::string_view text) : text_(text) {}

  bool is_between(std::size_t begin, std::size_t end) {
    bool found = false;
    for (std::size_t i = 0; i < marks.size(); ++i) {
      if (next_[i] < begin || !is_known_) next_[i] = std::min(text_.find(marks[i], begin), text_.size());
      found = found || next_[i] < end;
    }
    is_known_ = true;
    return found;
  }

 private:
  static constexpr std::string_view marks = std::string_view("[<>|\0", 5);
  std::string_view text_;
  std::array<std::size_t, marks.size()> next_ = {};
  bool is_known_ = false;
};

/// What cmark is given: the same blocks and links in fewer bytes. Paragraphs of mere prose, that begin and end no other
/// block, and hold no link, become one letter.
class Condensed {
 public:
  Condensed(std::string_view body, const std::vector<std::size_t>& starts) : body_(body), lines_(starts), marks_(body) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    bool may_be_prose = !body.starts_with(byte_order_mark);
    for (std::size_t first = 0; first < lines_.size();) {
      std::size_t last = first;
      while (last < lines_.size() && !is_blank(last)) ++last;
      if (last > first && may_be_prose && is_prose(first, last)) {
        first = add_prose(first, last);
      } else {
        for (last = std::max(last, first + 1); first < last; ++first) add(line_at(first), first);
      }
      may_be_prose = true;
    }
  }

  std::string text = {};
  std::vector<std::size_t> lines = {};  ///< which line of the body each is
  std::vector<Layout::Raw> prose = {};

 private:
  std::string_view line_at(std::size_t line) const {
    const std::size_t end = line + 1 < lines_.size() ? lines_[line + 1] : body_.size();
    return body_.substr(lines_[line], end - lines_[line]);
  }

  bool is_blank(std::size_t line) const {
    for (const char c : line_at(line)) {
      if (c != ' ' && c != '\t' && c != '\r' && c != '\n') return false;
    }
    return true;
  }

  /// Whether these lines can be nothing but text of a paragraph, or of a block whose text is not asked for.
  bool is_prose(std::size_t first, std::size_t last) {
    const std::size_t end = last < lines_.size() ? lines_[last] : body_.size();
    for (std::size_t line = first; line < last; ++line) {
      const auto begin = static_cast<unsigned char>(body_[lines_[line]]);
      const bool begins_a_word = (begin >= 'A' && begin <= 'Z') || (begin >= 'a' && begin <= 'z') || begin >= 0x80;
      if (!begins_a_word) return false;
    }
    return !marks_.is_between(lines_[first], end);
  }

  /// One line for it and for the prose that follows; gives the line behind.
  std::size_t add_prose(std::size_t first, std::size_t last) {
    const std::size_t begin = first;
    add("x\n", first);
    std::size_t end = last;
    while (true) {
      std::size_t next = end;
      while (next < lines_.size() && is_blank(next)) ++next;
      std::size_t behind = next;
      while (behind < lines_.size() && !is_blank(behind)) ++behind;
      if (behind == next || !is_prose(next, behind)) break;
      end = behind;
    }
    prose.push_back({.kind = Layout::Raw::Kind::prose, .begin = begin, .end = end});
    return end;
  }

  void add(std::string_view line, std::size_t place) {
    text += line;
    lines.push_back(place);
  }

  std::string_view body_;
  const std::vector<std::size_t>& lines_;
  NextMark marks_;
};

/// The masked lines, in their places.
void put_masked(std::string_view masked, const Condensed& fed, Layout& layout) {
  const std::vector<std::size_t> offsets = line_offsets(masked);
  auto prose = fed.prose.begin();
  for (std::size_t line = 0; line < offsets.size(); ++line) {
    while (prose != fed.prose.end() && prose->begin < fed.lines[line]) ++prose;
    if (prose != fed.prose.end() && prose->begin == fed.lines[line]) continue;
    const std::size_t end = line + 1 < offsets.size() ? offsets[line + 1] : masked.size();
    masked.copy(layout.masked.data() + layout.lines[fed.lines[line]], end - offsets[line], offsets[line]);
  }
}

class LayoutReader {
 public:
  LayoutReader(Layout& layout, const std::vector<std::size_t>& lines, bool is_masked)
      : layout_(layout), lines_(lines), is_masked_(is_masked) {}

  void enter(cmark_node* node) {
    const cmark_node_type type = cmark_node_get_type(node);
    if (is_block(type)) return enter_block(node, type);
    if (type == CMARK_NODE_LINK || type == CMARK_NODE_IMAGE) {
      const char* target = cmark_node_get_url(node);
      layout_.targets.push_back(unmasked(target == nullptr ? "" : target));
    }
    if (!in_heading_) return;
    if (type == CMARK_NODE_TEXT || type == CMARK_NODE_CODE) {
      const char* literal = cmark_node_get_literal(node);
      if (literal != nullptr) layout_.headings.back().text += unmasked(literal);
    } else if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK) {
      layout_.headings.back().text += ' ';
    }
  }

  void leave(cmark_node* node) {
    if (cmark_node_get_type(node) == CMARK_NODE_HEADING) in_heading_ = false;
  }

 private:
  static bool is_block(cmark_node_type type) { return (type & CMARK_NODE_TYPE_MASK) == CMARK_NODE_TYPE_BLOCK; }

  std::string unmasked(std::string text) const {
    if (is_masked_) unmask_syntax(text);
    return text;
  }

  /// Which line of the body that is.
  std::size_t in_body(std::size_t line) const { return line < lines_.size() ? lines_[line] : layout_.lines.size(); }

  /// cmark counts lines from 1.
  static std::size_t first_line(cmark_node* node) {
    return static_cast<std::size_t>(std::max(cmark_node_get_start_line(node), 1)) - 1;
  }

  void enter_block(cmark_node* node, cmark_node_type type) {
    const std::size_t first = first_line(node);
    layout_.breaks.push_back(in_body(first));
    if (type == CMARK_NODE_CODE_BLOCK || type == CMARK_NODE_HTML_BLOCK) {
      add_raw(node, type, first);
    } else if (type == CMARK_NODE_HEADING || type == CMARK_NODE_THEMATIC_BREAK) {
      layout_.breaks.push_back(in_body(static_cast<std::size_t>(std::max(cmark_node_get_end_line(node), 1))));
    }
    if (type == CMARK_NODE_HEADING) {
      layout_.headings.push_back({.line = in_body(first)});
      in_heading_ = true;
    }
  }

  /// Counts the lines in the literal: for a fence whose quote ends, cmark's end line is one too high.
  void add_raw(cmark_node* node, cmark_node_type type, std::size_t first) {
    const char* literal = cmark_node_get_literal(node);
    const std::string_view text = literal == nullptr ? "" : literal;
    auto count = static_cast<std::size_t>(std::ranges::count(text, '\n'));
    if (!text.empty() && text.back() != '\n') ++count;
    if (type == CMARK_NODE_CODE_BLOCK) {
      int length = 0;
      int offset = 0;
      char character = 0;
      if (cmark_node_get_fenced(node, &length, &offset, &character) != 0) ++count;
    }
    const bool is_code = type == CMARK_NODE_CODE_BLOCK;
    const std::size_t end = in_body(first + count);
    layout_.raws.push_back(
        {.kind = is_code ? Layout::Raw::Kind::code : Layout::Raw::Kind::html, .begin = in_body(first), .end = end});
    layout_.breaks.push_back(end);
  }

  Layout& layout_;
  const std::vector<std::size_t>& lines_;
  bool is_masked_ = false;
  bool in_heading_ = false;
};

}  // namespace

Layout layout(std::string_view body) {
  Layout read;
  read.lines = line_offsets(body);
  const Condensed fed(body, read.lines);
  const std::optional<std::string> harmless = mask_costly_syntax(fed.text);
  if (harmless) {
    read.masked = body;
    put_masked(*harmless, fed, read);
  }
  const std::string& given = harmless ? *harmless : fed.text;
  // Once: cmark's own guard is for one thread.
  [[maybe_unused]] static const bool is_registered = (cmark_gfm_core_extensions_ensure_registered(), true);
  Arena arena;
  cmark_parser* const parser = cmark_parser_new_with_mem(CMARK_OPT_DEFAULT, arena.mem());
  static cmark_syntax_extension* const table = cmark_find_syntax_extension("table");
  if (table != nullptr) cmark_parser_attach_syntax_extension(parser, table);
  cmark_parser_feed(parser, given.data(), given.size());
  cmark_iter* const walk = cmark_iter_new(cmark_parser_finish(parser));
  LayoutReader reader(read, fed.lines, harmless.has_value());
  for (auto event = cmark_iter_next(walk); event != CMARK_EVENT_DONE; event = cmark_iter_next(walk)) {
    cmark_node* node = cmark_iter_get_node(walk);
    event == CMARK_EVENT_ENTER ? reader.enter(node) : reader.leave(node);
  }
  read.raws.insert(read.raws.end(), fed.prose.begin(), fed.prose.end());
  std::ranges::sort(read.raws, {}, &Layout::Raw::begin);
  std::ranges::sort(read.breaks);
  std::ranges::sort(read.targets);
  return read;
}

}  // namespace ws::markdown

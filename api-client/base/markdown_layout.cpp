#include "api-client/base/markdown_layout.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#include "api-client/base/byte_set.hpp"
#include "api-client/base/handle.hpp"
#include "api-client/base/markdown_bounds.hpp"

namespace ws::markdown {
namespace {

void free_layout_node(cmark_node* node) noexcept { cmark_node_free(node); }
using LayoutNode = Handle<cmark_node, free_layout_node>;
void free_layout_walk(cmark_iter* walk) noexcept { cmark_iter_free(walk); }
using LayoutWalk = Handle<cmark_iter, free_layout_walk>;
void free_layout_parser(cmark_parser* parser) noexcept { cmark_parser_free(parser); }
using LayoutParser = Handle<cmark_parser, free_layout_parser>;

std::vector<std::size_t> line_offsets(std::string_view text) {
  std::vector<std::size_t> lines = {0};
  static constexpr ByteSet line_ends("\r\n");
  for (std::size_t at = line_ends.find_in(text); at != std::string_view::npos; at = line_ends.find_in(text, at)) {
    at += text.substr(at, 2) == "\r\n" ? 2 : 1;
    lines.push_back(at);
  }
  return lines;
}

/// Whether the line can be nothing but text of a paragraph, or of a block whose text is not asked for: it begins and
/// ends no other block, and no link.
bool is_prose(std::string_view line) {
  static constexpr ByteSet marks(std::string_view("[<>|\0", 5));
  const auto first = static_cast<unsigned char>(line.empty() ? '\0' : line.front());
  const bool begins_a_word = (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z') || first >= 0x80;
  return begins_a_word && marks.find_in(line) == std::string_view::npos;
}

/// The same blocks and links in fewer bytes: paragraphs of mere prose become one letter a line. cmark spends most of
/// its time on the inside of paragraphs.
std::string without_prose(std::string_view text, const std::vector<std::size_t>& lines) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  std::string less;
  less.reserve(text.size());
  const auto line_at = [&](std::size_t line) {
    const std::size_t end = line + 1 < lines.size() ? lines[line + 1] : text.size();
    return text.substr(lines[line], end - lines[line]);
  };
  const auto is_blank = [](std::string_view line) {
    return line.find_first_not_of(" \t\r\n") == std::string_view::npos;
  };
  for (std::size_t first = 0; first < lines.size();) {
    std::size_t last = first;
    bool all_prose = first > 0 || !text.starts_with(byte_order_mark);
    while (last < lines.size() && !is_blank(line_at(last))) all_prose = is_prose(line_at(last++)) && all_prose;
    if (last == first)
      ++last;
    else if (all_prose) {
      for (; first < last; ++first) less += "x\n";
      continue;
    }
    for (; first < last; ++first) less += line_at(first);
  }
  return less;
}

class LayoutReader {
 public:
  explicit LayoutReader(Layout& layout, bool is_masked) : layout_(layout), is_masked_(is_masked) {}

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

  /// cmark counts lines from 1.
  static std::size_t first_line(cmark_node* node) {
    return static_cast<std::size_t>(std::max(cmark_node_get_start_line(node), 1)) - 1;
  }

  void enter_block(cmark_node* node, cmark_node_type type) {
    const std::size_t first = first_line(node);
    layout_.breaks.push_back(first);
    if (type == CMARK_NODE_CODE_BLOCK || type == CMARK_NODE_HTML_BLOCK) {
      add_raw(node, type, first);
    } else if (type == CMARK_NODE_HEADING || type == CMARK_NODE_THEMATIC_BREAK) {
      layout_.breaks.push_back(static_cast<std::size_t>(std::max(cmark_node_get_end_line(node), 1)));
    }
    if (type == CMARK_NODE_HEADING) {
      layout_.headings.push_back({.line = first});
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
    layout_.raws.push_back(
        {.kind = is_code ? Layout::Raw::Kind::code : Layout::Raw::Kind::html, .begin = first, .end = first + count});
    layout_.breaks.push_back(first + count);
  }

  Layout& layout_;
  bool is_masked_ = false;
  bool in_heading_ = false;
};

}  // namespace

Layout layout(std::string_view body) {
  Layout read;
  std::optional<std::string> harmless = mask_costly_syntax(body);
  const bool is_masked = harmless.has_value();
  read.text = harmless ? std::move(*harmless) : std::string(body);
  read.lines = line_offsets(body);
  // Once: cmark's own guard is for one thread.
  [[maybe_unused]] static const bool is_registered = (cmark_gfm_core_extensions_ensure_registered(), true);
  const LayoutParser parser(cmark_parser_new(CMARK_OPT_DEFAULT));
  if (cmark_syntax_extension* table = cmark_find_syntax_extension("table")) {
    cmark_parser_attach_syntax_extension(parser.get(), table);
  }
  const std::string fed = without_prose(read.text, read.lines);
  cmark_parser_feed(parser.get(), fed.data(), fed.size());
  const LayoutNode document(cmark_parser_finish(parser.get()));
  const LayoutWalk walk(cmark_iter_new(document.get()));
  LayoutReader reader(read, is_masked);
  for (auto event = cmark_iter_next(walk.get()); event != CMARK_EVENT_DONE; event = cmark_iter_next(walk.get())) {
    cmark_node* node = cmark_iter_get_node(walk.get());
    event == CMARK_EVENT_ENTER ? reader.enter(node) : reader.leave(node);
  }
  std::ranges::sort(read.breaks);
  std::ranges::sort(read.targets);
  return read;
}

}  // namespace ws::markdown

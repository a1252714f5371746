#include "api-client/base/markdown.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#include "api-client/base/handle.hpp"
#include "api-client/base/markdown_bounds.hpp"

namespace ws::markdown {
namespace {

void free_node(cmark_node* node) noexcept { cmark_node_free(node); }
void free_text(char* text) noexcept { std::free(text); }
void free_walk(cmark_iter* walk) noexcept { cmark_iter_free(walk); }
using Node = Handle<cmark_node, free_node>;
using Text = Handle<char, free_text>;
using Walk = Handle<cmark_iter, free_walk>;
void free_parser(cmark_parser* parser) noexcept { cmark_parser_free(parser); }
using Parser = Handle<cmark_parser, free_parser>;

/// The text of a heading without markup.
std::string plain_text(cmark_node* node) {
  std::string text;
  const Walk walk(cmark_iter_new(node));
  while (true) {
    const cmark_event_type event = cmark_iter_next(walk.get());
    if (event == CMARK_EVENT_DONE) return text;
    if (event != CMARK_EVENT_ENTER) continue;
    cmark_node* part = cmark_iter_get_node(walk.get());
    const cmark_node_type type = cmark_node_get_type(part);
    if (type == CMARK_NODE_TEXT || type == CMARK_NODE_CODE) {
      const char* literal = cmark_node_get_literal(part);
      if (literal != nullptr) text += literal;
    } else if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK) {
      text += ' ';
    }
  }
}

struct Heading {
  int level = 1;
  std::size_t line = 1;  ///< counted from 1 in the body
  std::string text = {};
};

/// Top-level headings of the document (headings inside quotes and lists do not start a section).
std::vector<Heading> headings(std::string_view body) {
  const std::optional<std::string> harmless = mask_costly_syntax(body);
  if (harmless) body = *harmless;
  const Node document(cmark_parse_document(body.data(), body.size(), CMARK_OPT_DEFAULT));
  std::vector<Heading> found;
  for (cmark_node* node = cmark_node_first_child(document.get()); node != nullptr; node = cmark_node_next(node)) {
    if (cmark_node_get_type(node) != CMARK_NODE_HEADING) continue;
    found.push_back({.level = cmark_node_get_heading_level(node),
                     .line = static_cast<std::size_t>(cmark_node_get_start_line(node)),
                     .text = plain_text(node)});
    if (harmless) unmask_syntax(found.back().text);
  }
  return found;
}

constexpr int deepest_part = 40;

std::string text_or_empty(const char* text) { return text == nullptr ? std::string() : std::string(text); }

/// The kinds that map to a fixed cmark type. Tables and strikethrough are not among them: their types are assigned at
/// run time.
std::optional<Part::Kind> plain_kind(cmark_node_type type) {
  switch (type) {
    case CMARK_NODE_DOCUMENT: return Part::Kind::document;
    case CMARK_NODE_BLOCK_QUOTE: return Part::Kind::quote;
    case CMARK_NODE_LIST: return Part::Kind::list;
    case CMARK_NODE_ITEM: return Part::Kind::item;
    case CMARK_NODE_CODE_BLOCK: return Part::Kind::code_block;
    case CMARK_NODE_HTML_BLOCK: return Part::Kind::html_block;
    case CMARK_NODE_PARAGRAPH: return Part::Kind::paragraph;
    case CMARK_NODE_HEADING: return Part::Kind::heading;
    case CMARK_NODE_THEMATIC_BREAK: return Part::Kind::rule;
    case CMARK_NODE_TEXT: return Part::Kind::text;
    case CMARK_NODE_SOFTBREAK: return Part::Kind::soft_break;
    case CMARK_NODE_LINEBREAK: return Part::Kind::line_break;
    case CMARK_NODE_CODE: return Part::Kind::code;
    case CMARK_NODE_HTML_INLINE: return Part::Kind::html;
    case CMARK_NODE_EMPH: return Part::Kind::emphasis;
    case CMARK_NODE_STRONG: return Part::Kind::strong;
    case CMARK_NODE_LINK: return Part::Kind::link;
    case CMARK_NODE_IMAGE: return Part::Kind::image;
    default: return std::nullopt;
  }
}

std::optional<Part::Kind> kind_of(cmark_node* node) {
  if (const auto kind = plain_kind(cmark_node_get_type(node))) return kind;
  const std::string_view name = cmark_node_get_type_string(node);
  if (name == "table") return Part::Kind::table;
  if (name == "table_row" || name == "table_header") return Part::Kind::row;
  if (name == "table_cell") return Part::Kind::cell;
  if (name == "strikethrough") return Part::Kind::struck;
  return std::nullopt;
}

Part::Align align_of(std::uint8_t letter) {
  if (letter == 'c') return Part::Align::center;
  return letter == 'r' ? Part::Align::right : Part::Align::left;
}

void align_columns(cmark_node* node, Part& table) {
  const std::size_t columns = cmark_gfm_extensions_get_table_columns(node);
  const std::uint8_t* letters = cmark_gfm_extensions_get_table_alignments(node);
  for (Part& row : table.parts) {
    for (std::size_t i = 0; letters != nullptr && i < std::min(columns, row.parts.size()); ++i) {
      row.parts[i].align = align_of(letters[i]);
    }
  }
}

Part part_of(cmark_node* node, Part::Kind kind, int depth) {
  Part part{.kind = kind};
  part.text = text_or_empty(cmark_node_get_literal(node));
  if (kind == Part::Kind::link || kind == Part::Kind::image) part.target = text_or_empty(cmark_node_get_url(node));
  if (kind == Part::Kind::heading) part.level = cmark_node_get_heading_level(node);
  if (kind == Part::Kind::list) {
    part.tight = cmark_node_get_list_tight(node) != 0;
    if (cmark_node_get_list_type(node) == CMARK_ORDERED_LIST) part.level = cmark_node_get_list_start(node);
  }
  if (kind == Part::Kind::item && std::string_view(cmark_node_get_type_string(node)) == "tasklist") {
    part.checked = cmark_gfm_extensions_get_tasklist_item_checked(node);
  }
  if (depth == deepest_part) return part;
  for (cmark_node* child = cmark_node_first_child(node); child != nullptr; child = cmark_node_next(child)) {
    if (const auto known = kind_of(child)) part.parts.push_back(part_of(child, *known, depth + 1));
  }
  if (kind == Part::Kind::table) align_columns(node, part);
  return part;
}

// NOLINTNEXTLINE(misc-no-recursion): at most `deepest_part` levels
void restore_all(Part& part) {
  unmask_syntax(part.text);
  unmask_syntax(part.target);
  for (Part& inner : part.parts) restore_all(inner);
}

}  // namespace

Part parse(std::string_view source) {
  source.remove_prefix(body_offset(source));
  const std::optional<std::string> harmless = mask_costly_syntax(source);
  if (harmless) source = *harmless;
  cmark_gfm_core_extensions_ensure_registered();
  const Parser parser(cmark_parser_new(CMARK_OPT_DEFAULT));
  for (const char* name : {"table", "strikethrough", "tasklist"}) {
    if (cmark_syntax_extension* known = cmark_find_syntax_extension(name)) {
      cmark_parser_attach_syntax_extension(parser.get(), known);
    }
  }
  cmark_parser_feed(parser.get(), source.data(), source.size());
  const Node document(cmark_parser_finish(parser.get()));
  Part whole = part_of(document.get(), Part::Kind::document, 0);
  whole.is_limited = harmless.has_value();
  if (harmless) restore_all(whole);
  return whole;
}

std::size_t body_offset(std::string_view source) {
  const auto line_at = [&](std::size_t start) {
    const std::size_t end = source.find('\n', start);
    return source.substr(start, end == std::string_view::npos ? end : end - start);
  };
  const auto is_rule = [](std::string_view line) { return line == "---" || line == "---\r"; };
  if (!is_rule(line_at(0))) return 0;
  std::size_t start = source.find('\n');
  while (start != std::string_view::npos) {
    ++start;
    if (is_rule(line_at(start))) {
      const std::size_t end = source.find('\n', start);
      return end == std::string_view::npos ? source.size() : end + 1;
    }
    start = source.find('\n', start);
  }
  return 0;
}

std::optional<std::string> first_heading(std::string_view source) {
  for (Heading& heading : headings(source.substr(body_offset(source)))) {
    if (heading.level == 1 && !heading.text.empty()) return std::move(heading.text);
  }
  return std::nullopt;
}

std::string plain_text(std::string_view source) {
  const std::optional<std::string> harmless = mask_costly_syntax(source);
  if (harmless) source = *harmless;
  const Node document(cmark_parse_document(source.data(), source.size(), CMARK_OPT_DEFAULT));
  const Text text(cmark_render_plaintext(document.get(), CMARK_OPT_DEFAULT, 0));
  std::string words = text_or_empty(text.get());
  if (harmless) unmask_syntax(words);
  return words;
}

std::vector<Section> sections(std::string_view source, std::size_t at_most) {
  const std::size_t offset = body_offset(source);
  const std::string_view body = source.substr(offset);
  std::vector<Section> cut;
  std::array<std::string, 7> path;  // by level; [0] is unused
  Section current;
  std::size_t begin = 0;  // offset of the current section in `source`
  std::size_t line = 1;
  std::size_t position = offset;
  const auto finish = [&](std::size_t end) {
    current.text = source.substr(begin, end - begin);
    if (!current.text.empty()) cut.push_back(current);
    begin = end;
  };
  for (const Heading& heading : headings(body)) {
    if (cut.size() + 1 >= at_most) break;
    while (line < heading.line) {
      const std::size_t next = source.find('\n', position);
      position = next == std::string_view::npos ? source.size() : next + 1;
      ++line;
    }
    finish(position);
    const auto level = static_cast<std::size_t>(heading.level);
    path[level] = heading.text;
    for (std::size_t deeper = level + 1; deeper < path.size(); ++deeper) path[deeper].clear();
    current.level = heading.level;
    current.heading_path.clear();
    for (std::size_t i = 1; i <= level; ++i) {
      if (!path[i].empty()) current.heading_path.push_back(path[i]);
    }
  }
  finish(source.size());
  return cut;
}

}  // namespace ws::markdown

/// Reads the lines of a list as entries: their text, their subject, and the key by which two versions are matched.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync-engine/merge/markdown_lines.hpp"

namespace ws::sync::merge {

struct ListEntry {
  MarkdownLine::Kind kind = MarkdownLine::Kind::item;  ///< `item`, `table`, or `prose` for a reference definition
  std::string text = {};                               ///< as written, with its newlines
  std::string same = {};   ///< equal ones are one entry: without its number and trailing blanks
  std::string about = {};  ///< two entries of one text that are about one thing are one too many
  std::string label = {};  ///< what lists are sorted by; empty: nothing of the kind
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

/// What the first line of an entry says of it, without its mark.
struct EntryHead {
  std::string about = {};
  std::string label = {};
};

/// Of a line that begins an entry of that kind.
EntryHead head_of(MarkdownLine::Kind kind, std::string_view line);

/// The cells of a row, without their padding; one at least.
std::vector<std::string_view> cells_of(std::string_view row);

/// The columns of its indentation.
std::size_t margin_of(std::string_view line);

/// Whether an item, a row or a reference definition begins with that line.
bool begins_entry(const MarkdownLine& line);

/// Whether a line hangs on an entry at that margin.
bool hangs(const MarkdownLine& line, std::size_t indent);

/// A place of a text that has nothing but entries and blank lines; empty where anything else is in it, or more entries
/// than can be compared.
std::optional<ListPart> read_list(const std::vector<MarkdownLine>& lines, Span span);

using Abouts = std::map<std::string, std::size_t>;

/// `all`: also the entries of which nothing but their text says what they are about.
enum class Names { known, all };

/// What the entries of these lines are about, and how many are.
Abouts count_abouts(const std::vector<MarkdownLine>& lines, Span span, Names names);

/// The places that the first links of entries lead to; not those inside the text itself.
Abouts count_targets(std::string_view text);

}  // namespace ws::sync::merge

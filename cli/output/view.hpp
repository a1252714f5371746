/// How resources look on a terminal: views as data, and the functions that render them.
///
/// A view is made of patterns, texts with members in braces: `Revision {content_revision}[, by {updated_by.name}]`.
/// `{path:how}` shows the member at a dotted path, where `how` is one of
///   time   "2 hours ago"                size   "1.2 MB", of a number of bytes or of a text
///   ms     "1.5 s"                      count  how many items or members
///   words  underscores as blanks        path   a list as "A › B"
///   short  an id's ending               yes    "yes" where it is true, else empty
///   until  "expires in 3 days", or "does not expire" where it is null
///   wrap   as it is, in several lines where a table has no room; in the last column
/// Without `how` a list is its items with commas. `{}` is the value itself, `{@name}` what the command knows. What
/// stands in brackets is left out where a member in it is missing, null or empty; so is the whole text otherwise.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "api-client/base/clock.hpp"
#include "api-client/base/json.hpp"
#include "api-client/base/small_list.hpp"
#include "cli/terminal/table.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

/// What a view needs beside the resource.
struct ViewContext {
  Time now = {};
  bool has_person = true;                                      ///< a program that gets a table gets whole ids
  std::map<std::string, std::string, std::less<>> known = {};  ///< for `{@name}`: "server", "query"
  std::set<std::string> shown_ids = {};                        ///< of what was rendered
};

/// A label and the text beside it.
struct Fact {
  std::string_view label = {};
  std::string_view text = {};
};

/// A column of a table: the heading, and the pattern of a cell.
struct ViewColumn {
  std::string_view heading = {};
  std::string_view cell = {};
};

/// The items of a member as a table below the facts; equal rows are shown once.
struct ViewPart {
  std::string_view path = {};
  SmallList<ViewColumn, 4> columns = {};
};

using Rendering = std::string (*)(const Json& value, ViewContext& context, const Terminal& terminal);

struct View {
  SmallList<std::string_view, 2> of = {};     ///< operation ids, or names of ours like "ws.status"
  std::string_view title = {};                ///< pattern
  SmallList<std::string_view, 5> lines = {};  ///< patterns: sentences, or the one line that a write answers with
  SmallList<Fact, 9> facts = {};
  std::string_view markdown = {};  ///< the path of a Markdown text, rendered below
  SmallList<ViewPart, 2> parts = {};
  SmallList<ViewColumn, 7> columns = {};  ///< of a list
  Rendering list = nullptr;               ///< of a list that is no table; gets the whole answer
  std::string_view none = {};             ///< of an empty list: "No documents."
};

/// The view of an operation's answer, or of a name of ours; null where there is none.
using FindView = const View* (*)(std::string_view shape);

/// The pattern filled; empty where a member outside of brackets is missing, null or empty.
std::string fill(std::string_view pattern, const Json& value, ViewContext& context);

/// One resource.
std::string render_view(const View& view, const Json& value, ViewContext& context, const Terminal& terminal);
/// One resource that has no view: its members with dotted names, the empty ones left out.
std::string render_members(const Json& value, ViewContext& context, const Terminal& terminal);
/// `items` in columns; equal rows are shown once.
std::string render_columns(std::span<const ViewColumn> columns,
                           const Json& items,
                           ViewContext& context,
                           const Terminal& terminal);

/// The parts of such a table, for who renders it row by row.
Cells headings_of(std::span<const ViewColumn> columns);
std::vector<bool> rigid_columns(std::span<const ViewColumn> columns);
Cells fill_row(std::span<const ViewColumn> columns, const Json& item, ViewContext& context);

/// A value for a person: times relative, lists with commas, objects in lists as their number.
std::string shown_text(const Json& value, ViewContext& context);

}  // namespace ws::cli

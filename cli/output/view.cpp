#include "cli/output/view.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/utf8.hpp"
#include "api-client/base/uuid.hpp"
#include "cli/output/format.hpp"
#include "cli/output/human.hpp"
#include "cli/output/markdown_page.hpp"
#include "cli/terminal/table.hpp"

namespace ws::cli {
namespace {

constexpr std::size_t narrowest_value = 16;   // columns beside the longest label
constexpr std::size_t max_shown_ids = 2'000;  // no more are remembered (`ShownIds`)

bool is_time(std::string_view text) {
  return text.size() >= 20 && text.size() <= 32 && text[4] == '-' && text[7] == '-' && text[10] == 'T' &&
         text[13] == ':' && text[16] == ':' && parse_rfc3339(text).has_value();
}

std::string counted(const Json& value) {
  if (value.is_structured() && !value.empty()) return std::to_string(value.size());
  return value.is_number() ? plain_text(value) : std::string();
}

std::string joined_texts(const Json& list, std::string_view separator) {
  std::string text;
  for (const Json& item : list) {
    if (item.is_structured()) return counted(list);
    text += (text.empty() ? "" : std::string(separator)) + plain_text(item);
  }
  return text;
}

std::string size_text(const Json& value) {
  if (value.is_string()) return human_size(value.get_ref<const std::string&>().size());
  return value.is_number_integer() && value >= 0 ? human_size(value.get<std::uint64_t>()) : plain_text(value);
}

std::string with_blanks(std::string text) {
  std::ranges::replace(text, '_', ' ');
  return text;
}

std::string as(std::string_view how, const Json& value, ViewContext& context) {
  if (how == "until" && value.is_null()) return "does not expire";
  if (value.is_null()) return {};
  const std::string text = value.is_structured() ? std::string() : plain_text(value);
  if (is_uuid(text) && context.shown_ids.size() < max_shown_ids) context.shown_ids.insert(text);
  if (how == "time") return relative_time(text, context.now);
  if (how == "until" || how == "end") {
    const auto time = parse_rfc3339(text);
    const bool is_past = time && *time <= context.now;
    const std::string_view verb = how == "end" ? (is_past ? "ended" : "ends") : (is_past ? "expired" : "expires");
    return fmt::format("{} {}", verb, relative_time(text, context.now));
  }
  if (how == "size") return size_text(value);
  if (how == "ms") return value.is_number_integer() ? human_duration(value.get<std::int64_t>()) : text;
  if (how == "count") return counted(value);
  if (how == "words") return with_blanks(value.is_array() ? joined_texts(value, ", ") : text);
  if (how == "path") return value.is_array() ? joined_texts(value, " › ") : text;
  if (how == "short") return context.has_person ? short_id(text) : text;
  if (how == "yes") return value == true ? "yes" : "";
  if (value.is_array()) return joined_texts(value, ", ");
  return value.is_object() ? counted(value) : text;
}

/// What `{...}` stands for.
std::string member_text(std::string_view inside, const Json& value, ViewContext& context) {
  const std::size_t colon = inside.find(':');
  const std::string_view path = inside.substr(0, colon);
  const std::string_view how = colon == std::string_view::npos ? std::string_view() : inside.substr(colon + 1);
  if (path.starts_with('@')) {
    const auto known = context.known.find(path.substr(1));
    return known == context.known.end() ? std::string() : known->second;
  }
  const Json* const found = path.empty() ? &value : at_path(value, path);
  return found == nullptr ? std::string() : as(how, *found, context);
}

/// Fills up to the end of the pattern, or of the bracket that it is in. Empty where a member is missing.
std::optional<std::string> fill_part(std::string_view& pattern, const Json& value, ViewContext& context) {
  std::string text;
  bool is_missing = false;
  while (!pattern.empty() && pattern.front() != ']') {
    const char sign = pattern.front();
    pattern.remove_prefix(1);
    if (sign == '[') {
      text += fill_part(pattern, value, context).value_or("");
      if (!pattern.empty()) pattern.remove_prefix(1);
    } else if (sign == '{') {
      const std::size_t end = std::min(pattern.find('}'), pattern.size());
      const std::string member = member_text(pattern.substr(0, end), value, context);
      is_missing = is_missing || member.empty();
      text += member;
      pattern.remove_prefix(std::min(end + 1, pattern.size()));
    } else {
      text += sign;
    }
  }
  if (is_missing) return std::nullopt;
  return text;
}

using Lines = std::vector<std::pair<std::string, std::string>>;

/// Labels, and beside them the texts, wrapped.
std::string label_lines(const Lines& members, const Terminal& terminal) {
  std::size_t widest = 0;
  for (const auto& [label, text] : members) widest = std::max(widest, utf8::columns(label));
  const auto columns = static_cast<std::size_t>(terminal.columns());
  const std::size_t room = columns - std::min(columns - std::min(columns, narrowest_value), widest + 2);
  std::string lines;
  for (const auto& [label, text] : members) {
    lines += terminal.paint(Stream::out, Look::faint, fit(label, widest)) + "  ";
    lines += (terminal.is_plain() ? text : wrap(text, room, widest + 2)) + "\n";
  }
  return lines;
}

bool is_markdown(std::string_view key) { return key == "content" || key == "answer"; }

void add_block(std::string& text, const std::string& block) {
  if (block.empty()) return;
  text += (text.empty() ? "" : "\n") + block;
  if (text.back() != '\n') text += '\n';
}

/// Times, ids and paths of folders: half of one is of no use.
bool is_rigid(std::string_view cell) {
  return cell == "{id}" || cell == "{folder}" || cell.ends_with("_id}") || cell.ends_with(":time}") ||
         cell.ends_with(":short}");
}

std::string part_table(const ViewPart& part, const Json& value, ViewContext& context, const Terminal& terminal) {
  const Json* const items = at_path(value, part.path);
  if (items == nullptr || !items->is_array() || items->empty()) return {};
  return render_columns(part.columns, *items, context, terminal);
}

}  // namespace

std::string fill(std::string_view pattern, const Json& value, ViewContext& context) {
  return clean(fill_part(pattern, value, context).value_or(""), Breaks::space);
}

std::string shown_text(const Json& value, ViewContext& context) {
  const std::string text = as("", value, context);
  return value.is_string() && is_time(text) ? relative_time(text, context.now) : text;
}

std::string render_view(const View& view, const Json& value, ViewContext& context, const Terminal& terminal) {
  std::string text;
  if (const std::string title = fill(view.title, value, context); !title.empty()) {
    text += terminal.paint(Stream::out, Look::strong, title) + "\n";
  }
  const auto columns = static_cast<std::size_t>(terminal.columns());
  for (const std::string_view pattern : view.lines) {
    const std::string line = fill(pattern, value, context);
    if (!line.empty()) text += (terminal.is_plain() ? line : wrap(line, columns, 0)) + "\n";
  }
  Lines facts;
  for (const auto& [label, pattern] : view.facts) {
    std::string fact = fill(pattern, value, context);
    if (!fact.empty()) facts.emplace_back(label, std::move(fact));
  }
  text += label_lines(facts, terminal);
  if (const Json* markdown = view.markdown.empty() ? nullptr : at_path(value, view.markdown);
      markdown != nullptr && markdown->is_string()) {
    add_block(text, render_markdown(markdown->get_ref<const std::string&>(), terminal));
  }
  for (const ViewPart& part : view.parts) add_block(text, part_table(part, value, context, terminal));
  return text;
}

std::string render_members(const Json& value, ViewContext& context, const Terminal& terminal) {
  Lines members;
  std::string blocks;
  for (const auto& [key, found] : flatten(value)) {
    const std::string text = shown_text(*found, context);
    if (text.empty()) continue;
    const std::string name = clean(key, Breaks::space);
    if (text.find('\n') == std::string::npos) {
      members.emplace_back(name, clean(text, Breaks::space));
      continue;
    }
    blocks += "\n" + terminal.paint(Stream::out, Look::faint, name) + "\n";
    blocks += is_markdown(key) ? render_markdown(text, terminal) : clean(text, Breaks::keep);
    if (blocks.back() != '\n') blocks += '\n';
  }
  return label_lines(members, terminal) + blocks;
}

Cells headings_of(std::span<const ViewColumn> columns) {
  Cells headings;
  for (const ViewColumn& column : columns) headings.emplace_back(column.heading);
  return headings;
}

std::vector<bool> rigid_columns(std::span<const ViewColumn> columns) {
  std::vector<bool> rigid;
  for (const ViewColumn& column : columns) rigid.push_back(is_rigid(column.cell));
  return rigid;
}

Cells fill_row(std::span<const ViewColumn> columns, const Json& item, ViewContext& context) {
  Cells row;
  for (const ViewColumn& column : columns) row.push_back(fill(column.cell, item, context));
  return row;
}

std::string render_columns(std::span<const ViewColumn> columns,
                           const Json& items,
                           ViewContext& context,
                           const Terminal& terminal) {
  std::vector<Cells> rows;
  std::set<Cells> known;
  for (const Json& item : items) {
    Cells row = fill_row(columns, item, context);
    if (known.insert(row).second) rows.push_back(std::move(row));
  }
  const bool is_wrapped = !columns.empty() && columns.back().cell.ends_with(":wrap}");
  return render_table(headings_of(columns),
                      std::move(rows),
                      terminal,
                      rigid_columns(columns),
                      is_wrapped ? LastColumn::wrapped : LastColumn::cut);
}

}  // namespace ws::cli

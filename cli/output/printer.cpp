#include "cli/output/printer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/yaml.hpp"
#include "api-client/contract/secrets.hpp"
#include "cli/terminal/programs.hpp"
#include "cli/terminal/table.hpp"

namespace ws::cli {
namespace {

const Json& items_of(const Json& whole) {
  static const Json none = Json::array();
  const Json* const found = find_items(whole);
  return found == nullptr ? none : *found;
}

std::vector<const Json*> pointers_to(const Json& items) {
  std::vector<const Json*> pointers;
  for (const Json& item : items) pointers.push_back(&item);
  return pointers;
}

/// The key in a member of the answer that is a secret; empty: there is none.
std::string find_new_key(const Json& value) {
  if (!value.is_structured()) return {};
  for (const auto& [name, member] : value.items()) {
    const auto* const text = member.get_ptr<const std::string*>();
    if (text == nullptr) {
      if (std::string key = find_new_key(member); !key.empty()) return key;
    } else if (value.is_object() && text->starts_with(contract::key_prefix) && !contract::secret_kind(name).empty()) {
      return *text;
    }
  }
  return {};
}

/// Without what tells a person nothing.
Json without_noise(Json value) {
  if (!value.is_object()) return value;
  for (const char* const key : {"v", "object", "links"}) value.erase(key);
  return value;
}

}  // namespace

Printer::Printer(Terminal& terminal, PrinterOptions options) : terminal_(terminal), options_(std::move(options)) {
  context_.now = options_.now;
  context_.has_person = is_on_screen();
}

void Printer::put(std::string_view text) {
  if (!awaited_key_.empty() && text.find(awaited_key_) != std::string_view::npos) awaited_key_.clear();
  if (to_file() || paging_) {
    collected_ += text;
    return;
  }
  // Flush the text that is held for the pager first.
  if (!collected_.empty()) terminal_.write(Stream::out, std::exchange(collected_, {}));
  terminal_.write(Stream::out, text);
}

void Printer::raw(std::string_view bytes) {
  if (is_on_screen()) return put(clean(bytes, Breaks::keep));
  put(bytes);
}

void Printer::put_json(std::string_view json) {
  // One write, so that a reader of the pipe gets whole lines.
  std::string line = is_on_screen() ? escape_json(json) : std::string(json);
  if (line.empty() || line.back() != '\n') line += '\n';
  put(line);
}

void Printer::page(std::string_view text) {
  const bool before = std::exchange(paging_, !options_.pager.empty());
  put(text);
  paging_ = before;
}

void Printer::line(std::string_view text) { put(std::string(text) + "\n"); }

void Printer::sentence(std::string_view text) {
  line(is_on_screen() ? wrap_for(terminal_, Stream::out, text) : std::string(text));
}

bool Printer::has_exact_numbers(const Json& value, Numbers numbers) {
  auto checked = check_numbers(value, numbers);
  if (!checked && !failure_) failure_ = checked.error();
  return checked.has_value();
}

/// `--jq` over the document, `--template` over each of `items`.
void Printer::shaped(const Json& document, const Json& items) {
  if (options_.line_of) {
    for (const Json& one : items) {
      if (has_exact_numbers(pick(one, options_.line_of->members()))) raw(options_.line_of->fill(one) + "\n");
    }
    return;
  }
  if (!has_exact_numbers(document, Numbers::of_53_bits)) return;
  auto ran = options_.jq->run(dump(document), [this](std::string_view text) { raw(std::string(text) + "\n"); });
  if (ran || failure_) return;
  failure_ = std::move(ran).error();
  // What a program fails with may be anything that it was given, in any form.
  if (contract::holds_secret(document)) {
    failure_->what = "--jq: the program failed; its message is not shown, as the answer holds a secret";
  }
}

void Printer::json(const Json& value) {
  if (is_shaped()) return shaped(value, Json::array({value}));
  if (!has_exact_numbers(value)) return;
  switch (options_.format) {
    case Format::yaml: return raw(to_yaml(value));
    case Format::ndjson: return put_json(dump(value));
    default: return put_json(dump(value, terminal_.is_terminal(Stream::out) ? 2 : -1));
  }
}

void Printer::table_resource(std::string_view shape, const Json& value) {
  const View* const view = options_.fields.empty() ? view_of(shape) : nullptr;
  std::string text = view == nullptr ? std::string() : render_view(*view, value, context_, terminal_);
  // An answer of another kind than the view expects is shown as it is.
  if (text.empty()) text = render_members(options_.fields.empty() ? without_noise(value) : value, context_, terminal_);
  page(text);
}

std::span<const ViewColumn> Printer::columns_of_view(std::string_view operation) const {
  const View* const view = options_.fields.empty() ? view_of(operation) : nullptr;
  return view == nullptr ? std::span<const ViewColumn>() : view->columns;
}

bool Printer::has_list_view(std::string_view operation) const {
  const View* const view = options_.fields.empty() ? view_of(operation) : nullptr;
  return view != nullptr && view->list != nullptr;
}

void Printer::table_list(std::string_view shape, const Json& whole, const Json& items) {
  if (has_list_view(shape)) return page(view_of(shape)->list(whole, context_, terminal_));
  if (const auto columns = columns_of_view(shape); !columns.empty()) {
    return page(render_columns(columns, items, context_, terminal_));
  }
  const Json first = items.empty() ? Json() : items.front();
  rows(options_.fields.empty() ? columns_for(shape, first) : columns_of_fields(options_.fields), items);
}

std::string_view Printer::none_of(std::string_view shape) const {
  const View* const view = view_of(shape);
  return view == nullptr || view->none.empty() ? "No results." : view->none;
}

std::vector<std::string> Printer::named_members() const {
  std::vector<std::string> named = options_.fields;
  if (options_.line_of) std::ranges::copy(options_.line_of->members(), std::back_inserter(named));
  return named;
}

/// Whether the members that were asked for exist; where not, that is the failure, and nothing is printed.
bool Printer::has_members(std::string_view shape, const std::vector<const Json*>& items) {
  if (missing_is_empty_) return !failure_;
  auto checked = check_members(named_members(), items, shape);
  if (!checked && !failure_) failure_ = std::move(checked).error();
  return !failure_;
}

/// Of the object itself, else of the first that it holds: `{"event": {"id": ...}}`. Where there is none, no line.
void Printer::print_id(const Json& value) {
  std::string id = id_of(value);
  for (const Json& member : value) {
    if (id.empty() && member.is_object()) id = id_of(member);
  }
  if (!id.empty()) raw(id + "\n");
}

void Printer::resource(std::string_view shape, const Json& value, std::string_view body) {
  awaited_key_ = find_new_key(value);
  print_resource(shape, value, body);
  if (!std::exchange(awaited_key_, {}).empty() && !failure_) unshown_ = body.empty() ? dump(value) : std::string(body);
}

void Printer::print_resource(std::string_view shape, const Json& value, std::string_view body) {
  if (!has_members(shape, {&value})) return;
  const Json picked = options_.fields.empty() ? Json() : pick(value, options_.fields);
  const Json& shown = options_.fields.empty() ? value : picked;
  if (is_shaped()) return shaped(shown, Json::array({value}));
  const bool is_as_it_came = options_.format == Format::json && options_.fields.empty() && !body.empty();
  if (!is_as_it_came && options_.format != Format::ids && !has_exact_numbers(shown)) return;
  switch (options_.format) {
    case Format::json:
      if (!options_.fields.empty() || body.empty()) return json(shown);
      return put_json(body);
    case Format::ndjson: return put_json(dump(shown));
    case Format::yaml: return raw(to_yaml(shown));
    case Format::ids: return print_id(value);
    case Format::table: return table_resource(shape, shown);
    case Format::tsv:
      for (const auto& [key, found] : flatten(shown)) {
        raw(escape_tsv(key) + "\t" + escape_tsv(plain_text(*found)) + "\n");
      }
      return;
    case Format::csv:
      line("key,value");
      for (const auto& [key, found] : flatten(shown)) {
        raw(escape_csv(key) + "," + escape_csv(plain_text(*found)) + "\n");
      }
      return;
  }
}

Cells Printer::cells_of(const std::vector<Column>& columns, const Json& item) {
  const bool table = options_.format == Format::table;
  Cells row;
  for (const Column& column : columns) {
    const Json* found = at_path(item, column.path);
    row.push_back(found == nullptr ? std::string() : table ? shown_text(*found, context_) : plain_text(*found));
  }
  return row;
}

void Printer::put_column_names(const std::vector<Column>& columns) {
  if (options_.format != Format::csv || columns.empty()) return;
  std::string text;
  for (const Column& column : columns) text += (text.empty() ? "" : ",") + escape_csv(column.path);
  raw(text + '\n');
}

void Printer::put_rows(const std::vector<Column>& columns, const Json& items) {
  const bool csv = options_.format == Format::csv;
  std::string text;
  for (const Json& item : items) {
    const Cells row = cells_of(columns, item);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += csv ? ',' : '\t';
      text += csv ? escape_csv(row[i]) : escape_tsv(row[i]);
    }
    text += '\n';
  }
  raw(text);
}

void Printer::rows(const std::vector<Column>& columns, const Json& items) {
  if (options_.format != Format::table) {
    put_column_names(columns);
    return put_rows(columns, items);
  }
  std::vector<Cells> cells;
  cells.reserve(items.size());
  for (const Json& item : items) cells.push_back(cells_of(columns, item));
  Cells heading;
  for (const Column& column : columns) heading.push_back(column.heading);
  page(render_table(heading, std::move(cells), terminal_));
}

void Printer::item(const Json& item) {
  const Json picked = options_.fields.empty() ? Json() : pick(item, options_.fields);
  const Json& shown = options_.fields.empty() ? item : picked;
  if (is_shaped()) return shaped(shown, Json::array({item}));
  if (options_.format == Format::ids) {
    if (const std::string id = id_of(item); !id.empty()) raw(id + "\n");
    return;
  }
  if (has_exact_numbers(shown)) put_json(dump(shown));
}

void Printer::list(std::string_view operation, const Json& whole, std::string_view body) {
  const Json& items = items_of(whole);
  if (!has_members(operation, pointers_to(items))) return;
  if (options_.format == Format::table && items.empty() && !is_shaped()) return;
  if (options_.line_of && !streams()) return shaped(whole, items);
  if (streams()) {
    for (const Json& one : items) item(one);
    return;
  }
  if (options_.jq && options_.fields.empty()) return shaped(whole, items);
  const bool is_as_it_came = options_.format == Format::json && !options_.jq && !body.empty();
  if (options_.fields.empty() && !is_as_it_came && !has_exact_numbers(whole)) return;
  for (const Json& one : options_.fields.empty() ? Json::array() : items) {
    if (!has_exact_numbers(pick(one, options_.fields))) return;
  }
  if (options_.format == Format::json || options_.format == Format::yaml || options_.jq) {
    if (options_.fields.empty() && options_.format == Format::yaml) return raw(to_yaml(whole));
    if (options_.fields.empty()) return is_as_it_came ? put_json(body) : json(whole);
    Json picked = whole;
    for (const std::string_view key : item_members) {
      if (!picked.is_object() || !picked.contains(key) || !picked[std::string(key)].is_array()) continue;
      for (Json& one : picked[std::string(key)]) one = pick(one, options_.fields);
    }
    return json(picked);
  }
  if (options_.format == Format::table) return table_list(operation, whole, items);
  const Json first = items.empty() ? Json() : items.front();
  rows(options_.fields.empty() ? columns_for(operation, first) : columns_of_fields(options_.fields), items);
}

void Printer::each(std::string_view operation, const Json& items) {
  if (!has_members(operation, pointers_to(items))) return;
  if (!is_shaped() && !streams()) return list(operation, {{"data", items}}, {});
  for (const Json& one : items) item(one);
}

Result<void> Printer::check() const { return options_.file ? options_.file->check() : Result<void>(); }

Result<void> Printer::finish() {
  if (!to_file() && !collected_.empty()) show(terminal_, options_.pager, std::exchange(collected_, {}));
  if (failure_) return fail(*failure_);
  if (!to_file()) return {};
  return options_.file->write(terminal_, collected_);
}

}  // namespace ws::cli

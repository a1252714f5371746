#include "cli/output/printer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/replaced_file.hpp"
#include "api-client/base/utf8.hpp"
#include "api-client/base/yaml.hpp"
#include "cli/output/markdown_page.hpp"
#include "cli/output/search_page.hpp"
#include "cli/terminal/clean.hpp"
#include "cli/terminal/pager.hpp"
#include "cli/terminal/table.hpp"

namespace ws::cli {
namespace {

const Json& items_of(const Json& whole) {
  static const Json none = Json::array();
  for (const std::string_view key : {"data", "threads"}) {
    const Json* found = find(whole, key);
    if (found != nullptr && found->is_array()) return *found;
  }
  return none;
}

/// A key and its value, one a line; long texts stand by themselves below.
bool is_block(std::string_view text) { return text.find('\n') != std::string_view::npos; }

/// Members that hold Markdown.
bool is_markdown(std::string_view key) { return key == "content" || key == "answer"; }

constexpr std::size_t narrowest_value = 16;  // columns beside the longest key

bool is_noise(std::string_view key) {
  return key == "v" || key == "object" || key == "links" || key.substr(0, 6) == "links.";
}

}  // namespace

Printer::Printer(Terminal& terminal, PrinterOptions options) : terminal_(terminal), options_(std::move(options)) {}

void Printer::put(std::string_view text) {
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

/// `--jq` over the document, `--template` over each of `items`.
void Printer::shaped(const Json& document, const Json& items) {
  if (options_.line_of) {
    for (const Json& one : items) raw(options_.line_of->fill(one) + "\n");
    return;
  }
  auto ran = options_.jq->run(dump(document), [this](std::string_view text) { raw(std::string(text) + "\n"); });
  if (!ran && !failure_) failure_ = std::move(ran).error();
}

void Printer::json(const Json& value) {
  if (is_shaped()) return shaped(value, Json::array({value}));
  switch (options_.format) {
    case Format::yaml: return raw(to_yaml(value));
    case Format::ndjson: return put_json(dump(value));
    default: return put_json(dump(value, terminal_.is_terminal(Stream::out) ? 2 : -1));
  }
}

void Printer::table_resource(const Json& value) {
  std::vector<std::pair<std::string, std::string>> members;
  for (const auto& [key, found] : flatten(value)) {
    if (!is_noise(key)) members.emplace_back(key, shown_text(*found));
  }
  std::size_t widest = 0;
  for (const auto& [key, text] : members) {
    if (!is_block(text)) widest = std::max(widest, utf8::columns(key));
  }
  std::string lines;
  std::string blocks;
  for (const auto& [key, text] : members) {
    const std::string name = clean(key, Breaks::space);
    if (is_block(text)) {
      blocks += "\n" + terminal_.paint(Stream::out, Look::faint, name) + "\n";
      blocks += is_markdown(key) ? render_markdown(text, terminal_) : clean(text, Breaks::keep);
      if (blocks.back() != '\n') blocks += '\n';
      continue;
    }
    const std::string shown = clean(text, Breaks::space);
    const std::size_t room =
        static_cast<std::size_t>(terminal_.columns()) -
        std::min<std::size_t>(static_cast<std::size_t>(terminal_.columns()) - narrowest_value, widest + 2);
    if (shown.empty()) {
      lines += terminal_.paint(Stream::out, Look::faint, name) + "\n";
      continue;
    }
    lines += terminal_.paint(Stream::out, Look::faint, fit(name, widest)) + "  ";
    lines += (terminal_.is_plain() ? shown : wrap(shown, room, widest + 2)) + "\n";
  }
  page(lines + blocks);
}

void Printer::seek_fields(const Json& item) {
  sought_ = true;
  for (const std::string& path : options_.fields) {
    if (at_path(item, path) == nullptr || std::ranges::find(found_fields_, path) != found_fields_.end()) continue;
    found_fields_.push_back(path);
  }
}

std::vector<std::string> Printer::missing_fields() const {
  std::vector<std::string> missing;
  for (const std::string& path : options_.fields) {
    if (sought_ && std::ranges::find(found_fields_, path) == found_fields_.end()) missing.push_back(path);
  }
  return missing;
}

void Printer::resource(const Json& value, std::string_view body) {
  seek_fields(value);
  const Json picked = options_.fields.empty() ? Json() : pick(value, options_.fields);
  const Json& shown = options_.fields.empty() ? value : picked;
  if (is_shaped()) return shaped(shown, Json::array({value}));
  switch (options_.format) {
    case Format::json:
      if (!options_.fields.empty() || body.empty()) return json(shown);
      return put_json(body);
    case Format::ndjson: return put_json(dump(shown));
    case Format::yaml: return raw(to_yaml(shown));
    case Format::ids: return raw(id_of(value) + "\n");
    case Format::table: return table_resource(shown);
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

void Printer::rows(const std::vector<Column>& columns, const Json& items) {
  const bool table = options_.format == Format::table;
  std::vector<Cells> cells;
  cells.reserve(items.size());
  for (const Json& item : items) {
    Cells row;
    for (const Column& column : columns) {
      const Json* found = at_path(item, column.path);
      row.push_back(found == nullptr ? std::string() : table ? shown_text(*found) : plain_text(*found));
    }
    cells.push_back(std::move(row));
  }
  if (table) {
    Cells heading;
    for (const Column& column : columns) heading.push_back(column.heading);
    return page(render_table(heading, cells, terminal_));
  }
  const bool csv = options_.format == Format::csv;
  std::string text;
  if (csv) {
    for (const Column& column : columns) text += (text.empty() ? "" : ",") + escape_csv(column.path);
    text += '\n';
  }
  for (const Cells& row : cells) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += csv ? ',' : '\t';
      text += csv ? escape_csv(row[i]) : escape_tsv(row[i]);
    }
    text += '\n';
  }
  raw(text);
}

void Printer::item(const Json& item) {
  seek_fields(item);
  const Json picked = options_.fields.empty() ? Json() : pick(item, options_.fields);
  const Json& shown = options_.fields.empty() ? item : picked;
  if (is_shaped()) return shaped(shown, Json::array({item}));
  if (options_.format == Format::ids) return raw(id_of(item) + "\n");
  put_json(dump(shown));
}

void Printer::list(std::string_view operation, const Json& whole, std::string_view body) {
  const Json& items = items_of(whole);
  if (options_.line_of && !streams()) return shaped(whole, items);
  if (streams()) {
    for (const Json& one : items) item(one);
    return;
  }
  for (const Json& one : items) seek_fields(one);
  if (options_.format == Format::json || options_.format == Format::yaml || options_.jq) {
    if (options_.fields.empty()) {
      if (options_.format == Format::json || options_.jq) return resource(whole, body);
      return raw(to_yaml(whole));
    }
    Json shaped = whole;
    for (const std::string_view key : {"data", "threads"}) {
      if (!shaped.is_object() || !shaped.contains(key) || !shaped[std::string(key)].is_array()) continue;
      for (Json& one : shaped[std::string(key)]) one = pick(one, options_.fields);
    }
    return json(shaped);
  }
  if (options_.format == Format::table && operation == "search.run" && options_.fields.empty()) {
    return page(render_search_results(items, query_, terminal_));
  }
  const Json first = items.empty() ? Json() : items.front();
  rows(options_.fields.empty() ? columns_for(operation, first) : columns_of_fields(options_.fields), items);
}

/// A device or a pipe is written into; only files are replaced.
bool Printer::is_stream() const {
  std::error_code ignored;
  const auto there = std::filesystem::status(options_.file, ignored);
  return std::filesystem::exists(there) && !std::filesystem::is_regular_file(there) &&
         !std::filesystem::is_directory(there);
}

Result<void> Printer::check() const {
  if (!to_file() || is_stream()) return {};
  std::error_code error;
  const auto there = std::filesystem::symlink_status(options_.file, error);
  if (there.type() == std::filesystem::file_type::none) {
    return fail(Failure::Kind::disk, "cannot write " + options_.file + ": " + error.message());
  }
  if (std::filesystem::is_directory(there)) return fail(Failure::Kind::disk, options_.file + " is a folder");
  if (std::filesystem::exists(there) && options_.overwrite == Overwrite::no) {
    return fail(Failure::Kind::disk, "the file " + options_.file + " is there already", "add --force to replace it");
  }
  WS_LET(const std::filesystem::path target, follow_link(options_.file));
  const std::filesystem::path folder = target.parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0) return {};
  return fail(Failure::Kind::disk, "cannot write " + options_.file + ": " + std::strerror(errno));
}

Result<void> Printer::write_stream() const {
  const Descriptor stream(::open(options_.file.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (stream && write_all(stream.get(), collected_)) return {};
  return fail(Failure::Kind::disk, "cannot write " + options_.file + ": " + std::strerror(errno));
}

Result<void> Printer::finish() {
  if (!to_file() && !collected_.empty()) show(terminal_, options_.pager, std::exchange(collected_, {}));
  if (failure_) return fail(*failure_);
  if (!to_file()) return {};
  if (is_stream()) return write_stream();
  WS_TRY(check());
  WS_LET(const std::filesystem::path target, follow_link(options_.file));
  return write_file(target, collected_);
}

}  // namespace ws::cli

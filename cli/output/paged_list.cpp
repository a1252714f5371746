#include "cli/output/paged_list.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/sha256.hpp"
#include "cli/output/members.hpp"
#include "cli/output/spool.hpp"
#include "cli/terminal/table.hpp"

namespace ws::cli {
namespace {

/// The name of the list in a page.
std::string_view name_of_items(const Json& page) {
  for (const std::string_view key : item_members) {
    const Json* const found = find(page, key);
    if (found != nullptr && found->is_array()) return key;
  }
  return item_members[0];
}

Json take_items(Json& page) {
  const std::string_view key = name_of_items(page);
  if (find(page, key) == nullptr) return Json::array();
  return std::exchange(page[std::string(key)], Json::array());
}

/// Each is printed from what was read, so that a number that was changed by reading must not get there.
Result<void> check_items(const Printer& printer, const Json& items) {
  const std::vector<std::string>& fields = printer.fields();
  for (const Json& item : items) {
    WS_TRY(check_numbers(fields.empty() ? item : pick(item, fields), Numbers::of_64_bits));
  }
  return {};
}

Json cursor_json(const std::string& next_cursor) { return next_cursor.empty() ? Json() : Json(next_cursor); }

/// Every page is printed when it comes.
class PrintedPages final : public PagedList {
 public:
  PrintedPages(Printer& printer, std::string_view operation) : printer_(printer), operation_(operation) {}
  Result<void> add(Json page) override {
    printer_.list(operation_, page, {});
    return {};
  }
  Result<void> finish(const std::string&) override { return {}; }

 private:
  Printer& printer_;
  std::string operation_;
};

/// The members of the first page are kept, and the items of all.
class JoinedPages final : public PagedList {
 public:
  JoinedPages(Printer& printer, std::string_view operation) : printer_(printer), operation_(operation) {}
  Result<void> add(Json page) override {
    if (whole_.is_null()) {
      whole_ = std::move(page);
      return {};
    }
    Json& all = whole_[std::string(name_of_items(whole_))];
    for (Json& item : take_items(page)) all.push_back(std::move(item));
    return {};
  }
  Result<void> finish(const std::string& next_cursor) override {
    whole_["next_cursor"] = cursor_json(next_cursor);
    printer_.list(operation_, whole_, {});
    return {};
  }

 private:
  Printer& printer_;
  std::string operation_;
  Json whole_;
};

/// TSV and CSV: the columns are those of the first item.
class RowPages final : public PagedList {
 public:
  RowPages(Printer& printer, std::string_view operation) : printer_(printer), operation_(operation) {}
  Result<void> add(Json page) override {
    const Json items = take_items(page);
    if (items.empty()) return {};
    WS_TRY(check_items(printer_, items));
    begin(items.front());
    printer_.put_rows(columns_, items);
    return {};
  }
  Result<void> finish(const std::string&) override {
    begin(Json());
    return {};
  }

 private:
  void begin(const Json& first) {
    if (std::exchange(is_begun_, true)) return;
    const std::vector<std::string>& fields = printer_.fields();
    columns_ = fields.empty() ? columns_for(operation_, first) : columns_of_fields(fields);
    printer_.put_column_names(columns_);
  }

  Printer& printer_;
  std::string operation_;
  std::vector<Column> columns_ = {};
  bool is_begun_ = false;
};

/// JSON: one document, in which the items of all pages stand where those of the first page stood.
class DocumentPages final : public PagedList {
 public:
  explicit DocumentPages(Printer& printer) : printer_(printer) {}
  Result<void> add(Json page) override {
    const Json items = take_items(page);
    WS_TRY(check_items(printer_, items));
    if (whole_.is_null()) whole_ = std::move(page);
    std::string text;
    for (const Json& item : items) {
      if (std::exchange(has_items_, true)) text += ',';
      text += dump(printer_.fields().empty() ? item : pick(item, printer_.fields()));
    }
    return items_.add(text);
  }
  Result<void> finish(const std::string& next_cursor) override {
    whole_["next_cursor"] = cursor_json(next_cursor);
    const std::string_view list = name_of_items(whole_);
    std::string text(1, '{');
    bool is_first = true;
    for (const auto& member : whole_.items()) {
      if (!std::exchange(is_first, false)) text += ',';
      text += dump(Json(member.key()));
      text += ':';
      if (member.key() != list) {
        text += dump(member.value());
        continue;
      }
      printer_.put_text(text += '[');
      WS_TRY(items_.drain([this](std::string_view piece) { printer_.put_text(piece); }));
      text.assign(1, ']');
    }
    printer_.put_text(text += "}\n");
    return {};
  }

 private:
  Printer& printer_;
  Json whole_;
  Spool items_;
  bool has_items_ = false;
};

/// The beginning of a row's SHA-256: enough to tell rows apart.
struct RowHash {
  std::uint64_t first;
  std::uint64_t second;
  bool operator==(const RowHash&) const = default;
};
struct HashOfRow {
  std::size_t operator()(const RowHash& row) const { return row.first; }
};

/// A table: the cells of each row, cleaned, each ended by a NUL, each row by a newline.
class TablePages final : public PagedList {
 public:
  TablePages(Printer& printer, std::string_view operation)
      : printer_(printer), operation_(operation), view_(printer.columns_of_view(operation)) {}

  Result<void> add(Json page) override {
    const Json items = take_items(page);
    WS_TRY(check_items(printer_, items));
    std::string text;
    for (const Json& item : items) {
      begin(item);
      Cells row = view_.empty() ? printer_.cells_of(columns_, item) : printer_.cells_of(view_, item);
      for (std::string& cell : row) cell = clean(cell, Breaks::space);
      const std::string line = encoded(row);
      // A view shows equal rows once.
      if (!view_.empty() && !known_.insert(hash_of(line)).second) continue;
      layout_->measure(row);
      text += line;
    }
    return rows_.add(text);
  }

  Result<void> finish(const std::string&) override {
    if (!layout_) return {};
    printer_.page(layout_->begin(printer_.terminal()));
    std::string rest;
    return rows_.drain([&](std::string_view piece) {
      rest += piece;
      std::string lines;
      std::size_t done = 0;
      for (std::size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n', done)) {
        lines += layout_->line(decoded(std::string_view(rest).substr(done, end - done)));
        done = end + 1;
      }
      rest.erase(0, done);
      printer_.page(lines);
    });
  }

 private:
  void begin(const Json& first) {
    if (layout_) return;
    if (!view_.empty()) {
      layout_.emplace(headings_of(view_), rigid_columns(view_));
      return;
    }
    columns_ = printer_.fields().empty() ? columns_for(operation_, first) : columns_of_fields(printer_.fields());
    Cells headings;
    for (const Column& column : columns_) headings.push_back(column.heading);
    layout_.emplace(std::move(headings));
  }

  static std::string encoded(const Cells& row) {
    std::string line;
    for (const std::string& cell : row) (line += cell) += '\0';
    return line + '\n';
  }
  static Cells decoded(std::string_view line) {
    Cells row;
    for (std::size_t end = line.find('\0'); end != std::string_view::npos; end = line.find('\0')) {
      row.emplace_back(line.substr(0, end));
      line.remove_prefix(end + 1);
    }
    return row;
  }
  static RowHash hash_of(std::string_view line) {
    const Sha256 hash = Sha256::of(line);
    RowHash row{};
    std::memcpy(&row, hash.bytes().data(), sizeof row);
    return row;
  }

  Printer& printer_;
  std::string operation_;
  std::span<const ViewColumn> view_;  // empty: the columns are those of the first item, or of --fields
  std::vector<Column> columns_ = {};
  std::optional<TableLayout> layout_;
  std::unordered_set<RowHash, HashOfRow> known_;
  Spool rows_;
};

/// Whether no later page can show that a member that was asked for is missing everywhere.
bool are_known(const std::vector<std::string>& members, std::string_view operation) {
  if (members.empty()) return true;
  const contract::Schema* const schema = item_schema(operation);
  return schema != nullptr && check_members(members, *schema).has_value();
}

}  // namespace

std::unique_ptr<PagedList> begin_list(Printer& printer, std::string_view operation) {
  if (printer.streams()) return std::make_unique<PrintedPages>(printer, operation);
  if (printer.is_shaped() || !are_known(printer.fields(), operation)) {
    return std::make_unique<JoinedPages>(printer, operation);
  }
  switch (printer.format()) {
    case Format::tsv:
    case Format::csv: return std::make_unique<RowPages>(printer, operation);
    case Format::json:
      if (printer.is_on_screen()) break;  // indented
      return std::make_unique<DocumentPages>(printer);
    case Format::table:
      if (printer.has_list_view(operation)) break;
      return std::make_unique<TablePages>(printer, operation);
    case Format::yaml:
    case Format::ndjson:
    case Format::ids: break;
  }
  return std::make_unique<JoinedPages>(printer, operation);
}

}  // namespace ws::cli

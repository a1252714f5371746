/// Prints the result of a command on stdout (or into `--output FILE`), in the requested format.
///
/// JSON is printed as it was received. Text for a terminal is cleaned; everything else keeps every byte, escaped as
/// the format asks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "cli/output/format.hpp"
#include "cli/output/jq.hpp"
#include "cli/output/members.hpp"
#include "cli/output/output_file.hpp"
#include "cli/output/template.hpp"
#include "cli/output/view.hpp"
#include "cli/terminal/table.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

struct PrinterOptions {
  Format format = Format::table;
  std::vector<std::string> fields = {};
  std::optional<JqProgram> jq = {};      ///< over the whole document; NDJSON: over each item
  std::optional<Template> line_of = {};  ///< `--template`: a line an item
  std::optional<OutputFile> file = {};   ///< empty: stdout
  std::string pager = {};                ///< the command that shows what is longer than the screen; empty: none
  FindView find_view = nullptr;          ///< null: nothing has a view
  Time now = {};                         ///< times on a terminal are relative to it
};

class Printer {
 public:
  Printer(Terminal& terminal, PrinterOptions options);

  Format format() const { return options_.format; }
  const std::vector<std::string>& fields() const { return options_.fields; }
  /// Whether `--jq` or `--template` is given.
  bool is_shaped() const { return options_.jq || options_.line_of; }
  /// The members that `--fields` and `--template` name.
  std::vector<std::string> named_members() const;
  /// A change was made: from now on a member that was asked for and is missing is empty, and no failure.
  void take_missing_as_empty() { missing_is_empty_ = true; }
  /// What views show as `{@name}`.
  void know(std::string name, std::string value) { context_.known[std::move(name)] = std::move(value); }
  /// What is said of an empty list: "No documents."
  std::string_view none_of(std::string_view shape) const;
  /// The ids that were shown to a person, whole or as their endings.
  const std::set<std::string>& shown_ids() const { return context_.shown_ids; }

  /// One resource. `shape`: the operation that it came from, or a name of ours. `body` is what came, byte for byte
  /// (empty: ours, printed from `value`).
  void resource(std::string_view shape, const Json& value, std::string_view body);
  /// The last answer that has a new key, which exists nowhere else, of which what was printed did not show it; empty:
  /// none.
  const std::string& unshown() const { return unshown_; }
  void resource(const Json& value, std::string_view body = {}) { resource({}, value, body); }
  /// A page or the whole of a list: `whole` with its `data`, as it came or joined. `body` as above. A table without
  /// rows is nothing.
  void list(std::string_view operation, const Json& whole, std::string_view body);
  /// The parts of a list that is printed as it comes (`paged_list.hpp`): rows of TSV or CSV, their heading (CSV alone
  /// has one), the cells of a table's row, text of a document.
  void put_rows(const std::vector<Column>& columns, const Json& items);
  void put_column_names(const std::vector<Column>& columns);
  Cells cells_of(const std::vector<Column>& columns, const Json& item);
  Cells cells_of(std::span<const ViewColumn> columns, const Json& item) { return fill_row(columns, item, context_); }
  void put_text(std::string_view text) { put(text); }
  /// The columns of the operation's view; empty: it has none, or `--fields` names others.
  std::span<const ViewColumn> columns_of_view(std::string_view operation) const;
  /// Whether the operation's list is shown by a function of its own.
  bool has_list_view(std::string_view operation) const;
  const Terminal& terminal() const { return terminal_; }
  /// One item of a list under way; only for formats that need no look at the others (`streams`, `is_shaped`).
  void item(const Json& item);
  /// What several calls of the operation answered, each shaped by itself; only with `--fields` or where `is_shaped`.
  void each(std::string_view operation, const Json& items);
  bool streams() const { return options_.format == Format::ndjson || options_.format == Format::ids; }
  /// Our own JSON; carries `v: 1` already.
  void json(const Json& value);
  /// Remote bytes: unchanged, but sanitized on a terminal.
  void raw(std::string_view bytes);
  /// Our own text for people that may be longer than the screen: cleaned already, with its colours and newlines.
  void page(std::string_view text);
  /// A line of ours for people, on stdout.
  void line(std::string_view text);
  /// The same for prose: broken between words at the width of the terminal.
  void sentence(std::string_view text);

  /// Whether `--output FILE` may be written, as `OutputFile::check`.
  Result<void> check() const;
  /// Shows what was kept for the pager, and writes `--output FILE`, whole or not at all (a device or pipe: into it).
  /// Fails with `disk`, or as `--jq` did.
  Result<void> finish();
  /// Whether `finish` will fail whatever the file.
  bool has_failed() const { return failure_.has_value(); }
  /// Whether text waits for the pager, or for the end.
  bool is_holding() const { return !collected_.empty() && !to_file(); }
  /// Whether a terminal shows what is printed.
  bool is_on_screen() const { return terminal_.is_terminal(Stream::out) && !to_file(); }

 private:
  void print_resource(std::string_view shape, const Json& value, std::string_view body);
  void print_id(const Json& value);
  void put(std::string_view text);
  void put_json(std::string_view json);
  bool to_file() const { return options_.file.has_value(); }
  bool has_exact_numbers(const Json& value, Numbers numbers = Numbers::of_64_bits);
  bool has_members(std::string_view shape, const std::vector<const Json*>& items);
  const View* view_of(std::string_view shape) const {
    return options_.find_view == nullptr ? nullptr : options_.find_view(shape);
  }
  void shaped(const Json& document, const Json& items);
  void table_resource(std::string_view shape, const Json& value);
  void table_list(std::string_view shape, const Json& whole, const Json& items);
  void rows(const std::vector<Column>& columns, const Json& items);

  Terminal& terminal_;
  PrinterOptions options_;
  std::string collected_;  // of --output, or for the pager
  bool missing_is_empty_ = false;
  bool paging_ = false;  // what is printed now may go through the pager
  std::optional<Failure> failure_;
  std::string awaited_key_;  // of the answer that is printed now, until it is
  std::string unshown_;
  ViewContext context_;
};

}  // namespace ws::cli

/// Prints the result of a command on stdout (or into `--output FILE`), in the requested format.
///
/// JSON is printed as it was received. Text for a terminal is cleaned; everything else keeps every byte, escaped as
/// the format asks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "cli/output/format.hpp"
#include "cli/output/jq.hpp"
#include "cli/output/template.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

enum class Overwrite { no, yes };

struct PrinterOptions {
  Format format = Format::table;
  std::vector<std::string> fields = {};
  std::optional<JqProgram> jq = {};      ///< over the whole document; NDJSON: over each item
  std::optional<Template> line_of = {};  ///< `--template`: a line an item
  std::string file = {};                 ///< empty or "-": stdout
  Overwrite overwrite = Overwrite::no;
  std::string pager = {};  ///< the command that shows what is longer than the screen; empty: none
};

class Printer {
 public:
  Printer(Terminal& terminal, PrinterOptions options);

  Format format() const { return options_.format; }
  const std::vector<std::string>& fields() const { return options_.fields; }
  /// Those of `--fields` that nothing printed so far had; empty where nothing was printed.
  std::vector<std::string> missing_fields() const;

  /// One resource. `body` is what came, byte for byte (empty: ours, printed from `value`).
  void resource(const Json& value, std::string_view body);
  /// A page or the whole of a list: `whole` with its `data`, as it came or joined. `body` as above.
  void list(std::string_view operation, const Json& whole, std::string_view body);
  /// What a search asked for; a table of its results marks these words.
  void mark_words_of(std::string query) { query_ = std::move(query); }
  /// One item of a list under way; only for formats that need no look at the others (`streams`).
  void item(const Json& item);
  bool streams() const { return options_.format == Format::ndjson || options_.format == Format::ids; }
  /// Our own JSON; carries `v: 1` already.
  void json(const Json& value);
  /// Remote bytes: unchanged, but sanitized on a terminal.
  void raw(std::string_view bytes);
  /// Our own text for people that may be longer than the screen: cleaned already, with its colours and newlines.
  void page(std::string_view text);
  /// A line of ours for people, on stdout.
  void line(std::string_view text);

  /// Whether `--output FILE` may be written: fails with `disk` where its folder cannot be written to, or where it is
  /// there already and `--force` is not given. To be asked before anything is sent.
  Result<void> check() const;
  /// Shows what was kept for the pager, and writes `--output FILE`, whole or not at all (a device or pipe: into it).
  /// Fails with `disk`, or as `--jq` did.
  Result<void> finish();

 private:
  /// Whether a terminal shows what is printed.
  bool is_on_screen() const { return terminal_.is_terminal(Stream::out) && !to_file(); }
  bool is_stream() const;
  Result<void> write_stream() const;
  void put(std::string_view text);
  void put_json(std::string_view json);
  bool to_file() const { return !options_.file.empty() && options_.file != "-"; }
  void seek_fields(const Json& item);
  bool is_shaped() const { return options_.jq || options_.line_of; }
  void shaped(const Json& document, const Json& items);
  void table_resource(const Json& value);
  void rows(const std::vector<Column>& columns, const Json& items);

  Terminal& terminal_;
  PrinterOptions options_;
  std::string collected_;  // of --output, or for the pager
  bool paging_ = false;    // what is printed now may go through the pager
  std::optional<Failure> failure_;
  std::string query_;
  std::vector<std::string> found_fields_;
  bool sought_ = false;  // something was printed that could have had the fields
};

}  // namespace ws::cli

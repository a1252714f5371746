/// Prints what a command found: data on stdout (or into `--output FILE`), in the format that was asked for.
///
/// JSON is printed as it was received. Text for a terminal is cleaned; everything else keeps every byte, escaped as
/// the format asks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "cli/output/format.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

enum class Overwrite { no, yes };

struct PrinterOptions {
  Format format = Format::table;
  std::vector<std::string> fields = {};
  std::string file = {};  ///< empty or "-": stdout
  Overwrite overwrite = Overwrite::no;
};

class Printer {
 public:
  Printer(Terminal& terminal, PrinterOptions options);

  Format format() const { return options_.format; }
  const std::vector<std::string>& fields() const { return options_.fields; }

  /// One resource. `body` is what came, byte for byte (empty: ours, printed from `value`).
  void resource(const Json& value, std::string_view body);
  /// A page or the whole of a list: `whole` with its `data`, as it came or joined. `body` as above.
  void list(std::string_view operation, const Json& whole, std::string_view body);
  /// One item of a list under way; only for formats that need no look at the others (`streams`).
  void item(const Json& item);
  bool streams() const { return options_.format == Format::ndjson || options_.format == Format::ids; }
  /// Our own JSON; carries `v: 1` already.
  void json(const Json& value);
  /// Bytes as they are.
  void raw(std::string_view bytes);
  /// A line for people, on stdout.
  void line(std::string_view text);

  /// Whether `--output FILE` may be written: fails with `disk` where it is there already and `--force` is not given.
  Result<void> check() const;
  /// Writes `--output FILE`, whole or not at all. Fails with `disk`.
  Result<void> finish();

 private:
  void table_resource(const Json& value);
  void rows(const std::vector<Column>& columns, const Json& items);

  Terminal& terminal_;
  PrinterOptions options_;
  std::string collected_;  // of --output
};

}  // namespace ws::cli

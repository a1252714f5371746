/// A list that comes in pages and is printed as one.
///
/// NDJSON, ids, TSV and CSV are printed page by page. JSON is one document, and a table is as wide as its widest rows:
/// their text waits for the last page in a `Spool`. What looks at the whole document (`--jq`, YAML, a view of its own)
/// keeps it in memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "cli/output/printer.hpp"

namespace ws::cli {

class PagedList {
 public:
  PagedList() = default;
  PagedList(const PagedList&) = delete;
  PagedList& operator=(const PagedList&) = delete;
  virtual ~PagedList() = default;

  /// A page, with its list. Fails with `disk`.
  virtual Result<void> add(Json page) = 0;
  /// After the last page; `next_cursor` is where the list goes on, empty at its end. Fails with `disk`.
  virtual Result<void> finish(const std::string& next_cursor) = 0;
};

/// `printer` outlives it. `operation` as in `Printer::list`.
std::unique_ptr<PagedList> begin_list(Printer& printer, std::string_view operation);

}  // namespace ws::cli

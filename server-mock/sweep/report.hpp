/// The report of a sweep, for a terminal, as JSON, as JUnit XML and as one HTML page. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api-client/base/json.hpp"
#include "server-mock/output/print.hpp"
#include "server-mock/sweep/coverage.hpp"
#include "server-mock/sweep/sweep.hpp"

namespace ws::mock::sweep {

/// Known findings: id -> reason.
using Accepted = std::map<std::string, std::string>;

struct ReportView {
  Accepted accepted = {};  ///< counted, but not a failure
  std::size_t width = 80;  ///< of the terminal, in columns
  bool colour = false;
};

/// Findings that are not accepted.
std::size_t new_findings(const Report& report, const Accepted& accepted);

/// The ids of accepted findings that this sweep should have met and did not.
std::vector<std::string> stale_ids(const Report& report, const Accepted& accepted);

/// Groups findings by operation and cause, each with journal lines, advice and the command to reproduce it, then the
/// counts and the coverage.
TerminalText render_text(const Report& report, const ReportView& view);
Json to_json(const Report& report, const Accepted& accepted);
/// One test case for each row.
std::string render_junit(const Report& report, const Accepted& accepted);
/// A self-contained HTML file: a table of requests and faults; clicking a cell shows the journal of the row.
std::string render_html(const Report& report, const Accepted& accepted);

/// One row in full: requests, output of the command, findings.
TerminalText render_row(const RowResult& result, const ReportView& view);
/// The rows of the plan, one per line.
std::string render_plan(const Plan& plan);

}  // namespace ws::mock::sweep

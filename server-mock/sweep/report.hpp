/// The report of a sweep, for a terminal, as JSON, as JUnit XML and as one HTML page. Pure.
#pragma once

#include <set>
#include <string>

#include "api-client/base/json.hpp"
#include "server-mock/sweep/coverage.hpp"
#include "server-mock/sweep/sweep.hpp"

namespace ws::mock::sweep {

struct ReportView {
  std::set<std::string> accepted = {};  ///< ids of known findings: they are counted, and are no failure
  std::size_t width = 80;               ///< of the terminal, in columns
  bool colour = false;
};

/// Findings that are not accepted.
std::size_t new_findings(const Report& report, const std::set<std::string>& accepted);

/// Findings by operation and cause, each with what the journal shows, what to do and the command that shows it again;
/// then the counts and the coverage.
std::string render_text(const Report& report, const ReportView& view);
Json to_json(const Report& report, const std::set<std::string>& accepted);
/// A case for each row.
std::string render_junit(const Report& report, const std::set<std::string>& accepted);
/// One file that needs no other: requests x faults, a click shows the journal of a row.
std::string render_html(const Report& report, const std::set<std::string>& accepted);

/// One row, whole: its requests, the output of the command, its findings.
std::string render_row(const RowResult& result, const ReportView& view);
/// The rows of the plan, a line each.
std::string render_plan(const Plan& plan);

}  // namespace ws::mock::sweep

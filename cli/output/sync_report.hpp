/// Renders the report of a sync, and computes its exit code.
#pragma once

#include <string>

#include "api-client/base/json.hpp"
#include "cli/base/exit_code.hpp"
#include "cli/output/sync_outcome.hpp"
#include "cli/terminal/terminal.hpp"
#include "sync-engine/engine.hpp"

namespace ws::cli {

/// For a terminal: a line for each file (at most `max_rows`; 0: all), what was skipped, the sum, the next command.
std::string render_report(const sync::Report& report,
                          ReportStage stage,
                          const Terminal& terminal,
                          std::size_t max_rows,
                          const Invocation& called = {});
/// For a pipe: {state, action, path, previous_path, reason, document_id} of each row, as a list prints its items.
Json report_items(const sync::Report& report);
/// The same without the id, `state<TAB>action<TAB>path<TAB>previous path<TAB>reason`, one a line: 100,000 rows at once.
/// Of a plan also what is left alone, without an action: `skipped` or `detached`, its path and why.
std::string report_to_tsv(const sync::Report& report, ReportStage stage);

/// The first that applies (`cli.md`, "Local Markdown sync"): signal, 2, 4, 14, 12, what ended the run, 13, 7, 0.
ExitCode exit_code_of_run(const sync::Report& report, int signal);
/// Of `status --exit-code`: 7 on conflicts, 13 when anything else is pending.
ExitCode exit_code_of_status(const sync::Report& report);

}  // namespace ws::cli

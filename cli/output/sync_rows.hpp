/// The lines of a sync's report for a terminal: one for each file, and what is left alone.
#pragma once

#include <string>

#include "cli/terminal/terminal.hpp"
#include "sync-engine/engine.hpp"

namespace ws::cli {

enum class ReportStage {
  planned,    ///< status, plan, --dry-run
  staged,     ///< push
  published,  ///< commit
  done,       ///< run, pull
};

/// The API archives documents; an attachment leaves the list of attachments.
bool leaves_the_list(const sync::Action& action);

/// At most `max_rows` files (0: all), then what was skipped and what is not synced. `margin`: columns that the stamp of
/// each line takes.
std::string render_rows(
    const sync::Report& report, ReportStage stage, const Terminal& terminal, std::size_t max_rows, std::size_t margin);

}  // namespace ws::cli

#include "cli/output/sync_report.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/output/format.hpp"
#include "cli/terminal/table.hpp"

namespace ws::cli {
namespace {

using sync::Report;
using sync::Row;

/// Each line with the stamp before it.
std::string stamped(const std::string& text, const std::string& stamp) {
  if (stamp.empty()) return text;
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    out += stamp + text.substr(begin, end - begin);
    begin = end;
  }
  return out;
}

constexpr std::size_t column_count = 6;
constexpr std::size_t tsv_column_count = 5;  // without the id, as ever
constexpr std::array<std::string_view, column_count> column_names = {
    "state", "action", "path", "previous_path", "reason", "document_id"};

/// Good as long as the row.
std::array<std::string_view, column_count> values_of(const Row& row) {
  const sync::Action& action = row.action;
  return {sync::name(row.state),
          sync::name(action.kind),
          action.path.text(),
          action.previous_path ? action.previous_path->text() : std::string_view(),
          row.error ? std::string_view(row.error->what) : action.reason,
          action.document.text};
}

}  // namespace

std::string render_report(
    const Report& report, ReportStage stage, const Terminal& terminal, std::size_t max_rows, const Invocation& called) {
  const std::size_t margin = std::min(called.stamp.size(), static_cast<std::size_t>(terminal.columns()));
  std::string text = render_rows(report, stage, terminal, max_rows, margin);
  for (const std::string& line : render_outcome(report, stage, called)) {
    const Look look = report.guard || !report.conflicts.empty() ? Look::warning : Look::plain;
    text += terminal.paint(Stream::out, look, wrap_for(terminal, Stream::out, line, 0, margin)) + "\n";
  }
  return stamped(text, called.stamp);
}

Json report_items(const Report& report) {
  Json items = Json::array();
  for (const Row& row : report.rows) {
    const std::array<std::string_view, column_count> values = values_of(row);
    Json item = Json::object();
    for (std::size_t i = 0; i < column_count; ++i) {
      const bool is_missing = values[i].empty() && column_names[i] != "reason";
      item[std::string(column_names[i])] = is_missing ? Json() : Json(values[i]);
    }
    items.push_back(std::move(item));
  }
  return items;
}

std::string report_to_tsv(const Report& report, ReportStage stage) {
  std::string text;
  for (const Row& row : report.rows) {
    const std::array<std::string_view, column_count> values = values_of(row);
    for (std::size_t i = 0; i < tsv_column_count; ++i) {
      if (i > 0) text += '\t';
      text += escape_tsv(values[i]);
    }
    text += '\n';
  }
  if (stage != ReportStage::planned) return text;
  for (const sync::Skipped& one : report.skipped) {
    text += fmt::format("skipped\t\t{}\t\t{}\n", escape_tsv(one.path), sync::name(one.reason));
  }
  for (const sync::Detached& one : report.detached) {
    text += fmt::format("detached\t\t{}\t\t{}\n", escape_tsv(one.path.text()), escape_tsv(one.reason));
  }
  return text;
}

ExitCode exit_code_of_run(const Report& report, int signal) {
  if (report.ended_by) return exit_code_of(*report.ended_by, signal);
  const auto failed = [](const Row& row) { return row.state == Row::State::failed; };
  if (std::ranges::any_of(report.rows, failed)) return ExitCode::partial;
  return report.guard || !report.conflicts.empty() ? ExitCode::conflict : ExitCode::done;
}

ExitCode exit_code_of_status(const Report& report) {
  bool pending = false;
  for (const Row& row : report.rows) {
    if (row.action.kind == sync::ActionKind::conflict) return ExitCode::conflict;
    pending = pending || row.action.kind != sync::ActionKind::unchanged;
  }
  if (!report.conflicts.empty()) return ExitCode::conflict;
  return pending ? ExitCode::partial : ExitCode::done;
}

}  // namespace ws::cli

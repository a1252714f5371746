#include "cli/output/sync_rows.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "api-client/base/utf8.hpp"
#include "cli/output/human.hpp"
#include "cli/terminal/clean.hpp"
#include "cli/terminal/table.hpp"

namespace ws::cli {
namespace {

using sync::ActionKind;
using sync::Report;
using sync::Row;

constexpr std::size_t max_asides = 10;
constexpr std::string_view shows_all = "--verbose shows all";

struct ActionWords {
  std::string_view planned;
  std::string_view done;
};

ActionWords words_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::push_create: return {"send new", "sent new"};
    case ActionKind::push_update: return {"send", "sent"};
    case ActionKind::push_delete: return {"archive on service", "archived on service"};
    case ActionKind::push_move: return {"move on service", "moved on service"};
    case ActionKind::pull_create: return {"receive new", "received new"};
    case ActionKind::pull_update: return {"receive", "received"};
    case ActionKind::pull_delete: return {"delete here", "deleted here"};
    case ActionKind::pull_move: return {"move here", "moved here"};
    case ActionKind::conflict: return {"conflict", "conflict"};
    case ActionKind::unchanged: return {"unchanged", "unchanged"};
    case ActionKind::merge: return {"merge", "merged"};
    case ActionKind::adopt: return {"adopt", "adopted"};
  }
  return {};
}

std::string word_of(const Row& row, ReportStage stage) {
  if (row.state == Row::State::failed) return "failed";
  const ActionKind kind = row.action.kind;
  if (leaves_the_list(row.action)) {
    return stage == ReportStage::planned || row.state == Row::State::planned ? "remove on service"
                                                                             : "removed on service";
  }
  if (row.state == Row::State::staged) return kind == ActionKind::push_create ? "staged new" : "staged";
  if (stage == ReportStage::planned || row.state == Row::State::planned) return std::string(words_of(kind).planned);
  return std::string(words_of(kind).done);
}

Look look_of(const Row& row) {
  if (row.state == Row::State::failed) return Look::bad;
  if (row.action.kind == ActionKind::conflict) return Look::warning;
  return row.state == Row::State::done ? Look::good : Look::plain;
}

std::string path_of(const Row& row) {
  std::string path(row.action.path.text());
  if (row.action.previous_path) path = std::string(row.action.previous_path->text()) + " -> " + path;
  return clean(path, Breaks::space);
}

std::string reason_of(const Row& row) { return clean(row.error ? row.error->what : row.action.reason, Breaks::space); }

bool is_move(const Row& row) {
  return (row.action.kind == ActionKind::push_move || row.action.kind == ActionKind::pull_move) &&
         row.action.previous_path && row.state != Row::State::failed;
}

/// The folder that was renamed with the file of this row; null: none.
const sync::RenamedFolder* folder_renamed_with(const Row& row, const Report& report) {
  if (!is_move(row)) return nullptr;
  const std::string_view from = row.action.previous_path->text();
  const std::string_view to = row.action.path.text();
  for (const sync::RenamedFolder& folder : report.renamed_folders) {
    const bool is_below = from.starts_with(folder.from + "/") && to.starts_with(folder.to + "/");
    if (is_below && from.substr(folder.from.size()) == to.substr(folder.to.size())) return &folder;
  }
  return nullptr;
}

/// Without the files of folders that were renamed as a whole: these get a line each, put into `lines`.
std::vector<const Row*> rows_to_show(const Report& report, ReportStage stage, std::string& lines) {
  std::vector<const Row*> rows;
  std::map<std::pair<std::string_view, const sync::RenamedFolder*>, std::size_t> files;
  for (const Row& row : report.rows) {
    const sync::RenamedFolder* const folder = folder_renamed_with(row, report);
    if (folder == nullptr) {
      rows.push_back(&row);
      continue;
    }
    const bool is_done = stage != ReportStage::planned && row.state == Row::State::done;
    ++files[{is_done ? "renamed folder" : "rename folder", folder}];
  }
  for (const auto& [line, count] : files) {
    lines += fmt::format("  {} {}/ to {}/ ({})\n",
                         line.first,
                         clean(line.second->from, Breaks::space),
                         clean(line.second->to, Breaks::space),
                         counted(count, "file"));
  }
  return rows;
}

/// The reason beside what takes `used` columns: cut at the terminal's width; of a failure all of it, in further lines.
std::string reason_beside(const Row& row, std::size_t used, std::size_t columns, const Terminal& terminal) {
  constexpr std::size_t least_columns = 24;
  constexpr std::size_t indent = 4;
  const std::string reason = reason_of(row);
  if (row.state != Row::State::failed) return used >= columns ? reason : cut(reason, columns - used);
  const std::size_t margin = static_cast<std::size_t>(terminal.columns()) - columns;
  if (used + least_columns <= columns) return wrap_for(terminal, Stream::out, reason, used, margin);
  if (!terminal.is_terminal(Stream::out) || terminal.is_plain()) return reason;
  return "\n" + std::string(indent, ' ') + wrap_for(terminal, Stream::out, reason, indent, margin);
}

/// `margin`: columns that the stamp of each line takes.
std::string render_lines(const std::vector<const Row*>& rows,
                         ReportStage stage,
                         const Terminal& terminal,
                         std::size_t shown,
                         std::size_t margin) {
  std::size_t word_width = 0;
  std::size_t path_width = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    word_width = std::max(word_width, word_of(*rows[i], stage).size());
    path_width = std::max(path_width, utf8::columns(path_of(*rows[i])));
  }
  const std::size_t columns = static_cast<std::size_t>(terminal.columns()) - margin;
  path_width =
      std::min(path_width, std::max<std::size_t>(24, columns > word_width + 30 ? columns - word_width - 30 : 0));
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const Row& row = *rows[i];
    std::string line = "  " + terminal.paint(Stream::out, look_of(row), fit(word_of(row, stage), word_width)) + "  ";
    const std::string path = path_of(row);
    if (reason_of(row).empty()) {
      text += line + path + "\n";
      continue;
    }
    const std::size_t path_columns = std::max(path_width, utf8::columns(path));
    line += fit(path, path_columns) + "  ";
    const std::string reason = reason_beside(row, word_width + 6 + path_columns, columns, terminal);
    if (reason.starts_with('\n')) line.erase(line.find_last_not_of(' ') + 1);
    text += line + terminal.paint(Stream::out, Look::faint, reason) + "\n";
  }
  return text;
}

/// What is left alone, at most `max_asides` of each sort where not all are asked for.
std::string asides(const Report& report, const Terminal& terminal, bool all) {
  std::string text;
  const auto add = [&](std::string_view word, std::string_view path, std::string_view reason) {
    text += "  " + terminal.paint(Stream::out, Look::warning, word) + "  " + clean(path, Breaks::space);
    if (!reason.empty()) text += "  " + terminal.paint(Stream::out, Look::faint, clean(reason, Breaks::space));
    text += "\n";
  };
  const auto shown_of = [all](std::size_t count) { return all ? count : std::min(count, max_asides); };
  const auto add_rest = [&](std::size_t count, std::string_view what) {
    if (count > shown_of(count))
      text += fmt::format("  and {} more {} ({})\n", count - shown_of(count), what, shows_all);
  };
  for (std::size_t i = 0; i < shown_of(report.skipped.size()); ++i) {
    std::string reason(sync::name(report.skipped[i].reason));
    std::ranges::replace(reason, '_', ' ');
    add("skipped", report.skipped[i].path, reason);
  }
  add_rest(report.skipped.size(), "skipped");
  for (std::size_t i = 0; i < shown_of(report.detached.size()); ++i) {
    add("kept as it is", report.detached[i].path.text(), report.detached[i].reason);
  }
  add_rest(report.detached.size(), "kept as they are");
  for (std::size_t i = 0; i < shown_of(report.others.size()); ++i) add("not synced", report.others[i], "");
  add_rest(report.others.size(), "not synced");
  return text;
}

}  // namespace

bool leaves_the_list(const sync::Action& action) { return action.attachment && action.kind == ActionKind::push_delete; }

std::string render_rows(
    const Report& report, ReportStage stage, const Terminal& terminal, std::size_t max_rows, std::size_t margin) {
  std::string text;
  const std::vector<const Row*> rows = rows_to_show(report, stage, text);
  const std::size_t shown = max_rows == 0 ? rows.size() : std::min(max_rows, rows.size());
  text += render_lines(rows, stage, terminal, shown, margin);
  if (shown < rows.size()) text += fmt::format("  and {} more ({})\n", rows.size() - shown, shows_all);
  return text + asides(report, terminal, max_rows == 0);
}

}  // namespace ws::cli

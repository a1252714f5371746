#include "cli/output/sync_report.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/clean.hpp"
#include "api-client/base/utf8.hpp"
#include "cli/output/format.hpp"
#include "cli/output/human.hpp"
#include "cli/terminal/table.hpp"

namespace ws::cli {
namespace {

using sync::ActionKind;
using sync::Report;
using sync::Row;
using sync::SkipReason;

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
    case ActionKind::pull_delete: return {"remove here", "removed here"};
    case ActionKind::pull_move: return {"move here", "moved here"};
    case ActionKind::conflict: return {"conflict", "conflict"};
    case ActionKind::unchanged: return {"unchanged", "unchanged"};
    case ActionKind::merge: return {"merge", "merged"};
    case ActionKind::adopt: return {"match", "matched"};
  }
  return {};
}

std::string word_of(const Row& row, ReportStage stage, const ReversalWords* reversal) {
  if (row.state == Row::State::failed) return "failed";
  const ActionKind kind = row.action.kind;
  const bool is_planned = stage == ReportStage::planned || row.state == Row::State::planned;
  if (reversal != nullptr && reverses_both_sides(row.action))
    return std::string(is_planned ? reversal->planned : reversal->done);
  if (reversal != nullptr && (kind == ActionKind::pull_create || kind == ActionKind::pull_update))
    return is_planned ? "restore here" : "restored here";
  if (leaves_the_list(row.action)) {
    return is_planned ? "remove on service" : "removed on service";
  }
  if (row.state == Row::State::staged) return kind == ActionKind::push_create ? "staged new" : "staged";
  return std::string(is_planned ? words_of(kind).planned : words_of(kind).done);
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

/// Without the operation and the address, which the rows of a run have in common.
std::string why_failed(const Failure& failure) {
  const std::string& operation = failure.call.operation;
  if (operation.empty() || !failure.what.starts_with(operation + ": ")) return failure.what;
  const std::size_t begin = failure.call.http_status == 0 ? failure.what.rfind(": ") : operation.size();
  return failure.what.substr(begin + 2);
}

std::string reason_of(const Row& row, const Report& report, const ReversalWords* reversal) {
  std::string reason = row.error ? why_failed(*row.error) : std::string(row.action.reason);
  if (row.action.kind == ActionKind::conflict && !row.error) {
    const auto conflict = std::ranges::find_if(report.conflicts, [&](const sync::Conflict& each) {
      return each.path == row.action.path && each.row().reason == row.action.reason;
    });
    if (conflict != report.conflicts.end()) return ws::cli::reason_of(*conflict);
  }
  if (reversal != nullptr && !row.error && reverses_both_sides(row.action)) {
    switch (row.action.kind) {
      case ActionKind::push_create: return "restored here and on the service";
      case ActionKind::push_move: return "renamed here and on the service";
      case ActionKind::push_delete: return "removed here and on the service";
      case ActionKind::merge: return "here and on the service; later edits are kept";
      default: return "here and on the service";
    }
  }
  const auto archived_by = report.archived_by.find(row.action.path);
  const bool is_archived = row.action.kind == ActionKind::pull_delete && !row.error;
  if (is_archived && archived_by != report.archived_by.end()) {
    constexpr std::string_view archived = "archived on the service";
    if (reason.starts_with(archived)) reason.insert(archived.size(), " by " + archived_by->second);
  }
  return clean(reason, Breaks::space);
}

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

/// A line of the report.
struct Line {
  Look look = Look::plain;
  std::string word = {};
  std::string path = {};
  std::string reason = {};
  std::string whole = {};  ///< of a line that is not about one file
};

/// Folders that were renamed as a whole get a line each, in place of their files.
std::vector<Line> lines_of_files(const Report& report,
                                 ReportStage stage,
                                 std::size_t max_rows,
                                 const ReversalWords* reversal) {
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
  std::vector<Line> lines;
  lines.reserve(files.size());
  for (const auto& [line, count] : files) {
    lines.push_back({.whole = fmt::format("{} {}/ to {}/ ({})",
                                          line.first,
                                          clean(line.second->from, Breaks::space),
                                          clean(line.second->to, Breaks::space),
                                          counted(count, "file"))});
  }
  const std::size_t shown = max_rows == 0 ? rows.size() : std::min(max_rows, rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Row& row = *rows[i];
    lines.push_back({.look = look_of(row),
                     .word = word_of(row, stage, reversal),
                     .path = path_of(row),
                     .reason = reason_of(row, report, reversal)});
  }
  if (shown < rows.size()) lines.push_back({.whole = fmt::format("and {} more ({})", rows.size() - shown, shows_all)});
  return lines;
}

std::string_view words_for_detached(std::string_view reason) {
  const auto known = sync::find_skip_reason(reason);
  if (known) return words_for(*known);
  return reason == "absent" ? "missing from the service's list, but perhaps not deleted" : reason;
}

/// What is left alone, at most `max_asides` of each sort where not all are asked for.
void add_asides(const Report& report, ReportStage stage, bool all, std::vector<Line>& lines) {
  const auto add = [&lines](std::string_view word, std::string_view path, std::string_view reason) {
    lines.push_back({.look = Look::warning,
                     .word = std::string(word),
                     .path = clean(path, Breaks::space),
                     .reason = clean(reason, Breaks::space)});
  };
  const auto shown_of = [all](std::size_t count) { return all ? count : std::min(count, max_asides); };
  const auto add_rest = [&](std::size_t count, std::string_view what) {
    if (count == shown_of(count)) return;
    lines.push_back({.whole = fmt::format("and {} more {} ({})", count - shown_of(count), what, shows_all)});
  };
  // A run names foreign files once, as remarks; what was refused needs no name any more.
  std::vector<sync::Skipped> skipped = report.skipped;
  std::erase_if(skipped, [stage](const sync::Skipped& each) {
    return each.reason == SkipReason::declined || (stage == ReportStage::done && each.reason == SkipReason::foreign);
  });
  for (std::size_t i = 0; i < shown_of(skipped.size()); ++i) {
    add("skipped", skipped[i].path, words_for(skipped[i].reason));
  }
  add_rest(skipped.size(), "skipped");
  for (std::size_t i = 0; i < shown_of(report.detached.size()); ++i) {
    add("kept as it is", report.detached[i].path.text(), words_for_detached(report.detached[i].reason));
  }
  add_rest(report.detached.size(), "kept as they are");
  for (std::size_t i = 0; i < shown_of(report.others.size()); ++i) add("not synced", report.others[i], "");
  add_rest(report.others.size(), "not synced");
}

/// The reason beside what takes `used` columns: all of it, in further lines where the terminal is narrow.
std::string reason_beside(const Line& line, std::size_t used, std::size_t columns, const Terminal& terminal) {
  constexpr std::size_t min_columns = 24;
  constexpr std::size_t indent = 4;
  const std::size_t margin = static_cast<std::size_t>(terminal.columns()) - columns;
  if (used + utf8::columns(line.reason) <= columns) return line.reason;
  if (used + min_columns <= columns) return wrap_for(terminal, Stream::out, line.reason, used, margin);
  if (!terminal.is_terminal(Stream::out) || terminal.is_plain()) return line.reason;
  return "\n" + std::string(indent, ' ') + wrap_for(terminal, Stream::out, line.reason, indent, margin);
}

std::string render_lines(const std::vector<Line>& lines, const Terminal& terminal, std::size_t margin) {
  std::size_t word_width = 0;
  std::size_t path_width = 0;
  std::size_t reason_width = 0;
  for (const Line& line : lines) {
    word_width = std::max(word_width, line.word.size());
    path_width = std::max(path_width, utf8::columns(line.path));
    reason_width = std::max(reason_width, utf8::columns(line.reason));
  }
  const std::size_t columns = static_cast<std::size_t>(terminal.columns()) - margin;
  const std::size_t others = word_width + 6 + std::min<std::size_t>(reason_width, 24);
  path_width = std::min(path_width, std::max<std::size_t>(24, columns > others ? columns - others : 0));
  std::string text;
  for (const Line& line : lines) {
    if (!line.whole.empty()) {
      text += "  " + line.whole + "\n";
      continue;
    }
    std::string begin = "  " + terminal.paint(Stream::out, line.look, fit(line.word, word_width)) + "  ";
    if (line.reason.empty()) {
      text += begin + line.path + "\n";
      continue;
    }
    const std::size_t path_columns = std::max(path_width, utf8::columns(line.path));
    begin += fit(line.path, path_columns) + "  ";
    const std::string reason = reason_beside(line, word_width + 6 + path_columns, columns, terminal);
    if (reason.starts_with('\n')) trim_end(begin, " ");
    text += begin + terminal.paint(Stream::out, Look::faint, reason) + "\n";
  }
  return text;
}

/// At most `max_rows` files (0: all), then what was skipped and what is not synced.
std::string render_rows(
    const Report& report, ReportStage stage, const Terminal& terminal, std::size_t max_rows, const Invocation& called) {
  const std::size_t margin = std::min(called.stamp.size(), static_cast<std::size_t>(terminal.columns()));
  std::vector<Line> lines = lines_of_files(report, stage, max_rows, reversal_words(called));
  if (!called.were_told) add_asides(report, stage, max_rows == 0, lines);
  return render_lines(lines, terminal, margin);
}

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
          action.document.text()};
}

}  // namespace

std::string_view words_for(SkipReason skip_reason) {
  switch (skip_reason) {
    case SkipReason::symlink: return "a symbolic link";
    case SkipReason::unreadable: return "cannot be read";
    case SkipReason::not_utf8: return "not UTF-8 text: save it as UTF-8 to sync it";
    case SkipReason::holds_nul: return "contains a NUL byte: remove it, or save a UTF-16 text as UTF-8";
    case SkipReason::too_large: return "too large: a note may have 1 MiB, another file 100 MiB (`ws help ignoring`)";
    case SkipReason::ignored: return "ignored";
    case SkipReason::twin: return "another path here differs only in case or accents";
    case SkipReason::dangerous_name: return "the name is not safe on this system";
    case SkipReason::busy: return "changed while it was read; the next run tries again";
    case SkipReason::special: return "not a regular file";
    case SkipReason::unportable_name: return "other systems cannot hold the name";
    case SkipReason::refused: return "refused by the service; sent again once the file changes";
    case SkipReason::no_room: return "does not fit on the disk; the next run tries again";
    case SkipReason::no_path: return "the service gives it no path";
    case SkipReason::no_id: return "the service gives it no usable id";
    case SkipReason::damaged: return "the service's text cannot be read; the next run tries again";
    case SkipReason::reserved_name: return "the name is reserved for the list of attachments";
    case SkipReason::missing_scope: return "the key may not read or write files";
    case SkipReason::attachments_off: return "attachments are off";
    case SkipReason::excluded: return "excluded by `attachments_exclude:`";
    case SkipReason::empty: return "empty, which the service cannot store";
    case SkipReason::ambiguous_name: return "the link matches several files equally well";
    case SkipReason::foreign: return "only a text from the service shows it; `ws sync attachments add` sends it";
    case SkipReason::held:
      return "held; `ws sync attachments accept` accepts it, `ws sync attachments refuse` refuses it";
    case SkipReason::growth: return "waiting: receiving this much needs --allow-large";
    case SkipReason::declined: return "refused with `ws sync attachments refuse`";
    case SkipReason::elsewhere: return "a placeholder of another program, without the content";
    case SkipReason::tied_elsewhere: return "a synced folder of its own; run `ws sync` in it";
    case SkipReason::archived: return "the service no longer has it; edit it to send it again, or remove it";
    case SkipReason::left_out: return "left out here; `ws sync take` brings it back";
  }
  return "";
}

std::string reason_of(const sync::Conflict& conflict) {
  std::string text(conflict.row().reason);
  const bool has_other_name = conflict.remote && conflict.remote->path != conflict.path;
  if (conflict.beside) {
    text += "; theirs is " + conflict.beside->string();
  } else if (conflict.is_about(sync::ConflictSubject::place) && has_other_name) {
    text += "; on the service: " + conflict.remote->path.string();
  }
  return clean(text, Breaks::space);
}

bool leaves_the_list(const sync::Action& action) { return action.attachment && action.kind == ActionKind::push_delete; }

std::string render_report(
    const Report& report, ReportStage stage, const Terminal& terminal, std::size_t max_rows, const Invocation& called) {
  const std::size_t margin = std::min(called.stamp.size(), static_cast<std::size_t>(terminal.columns()));
  std::string text = render_rows(report, stage, terminal, max_rows, called);
  for (const std::string& line : render_outcome(report, stage, called)) {
    const Look look = report.guard || report.growth || !report.conflicts.empty() ? Look::warning : Look::plain;
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
  const auto was_done = [](const Row& row) { return row.state == Row::State::done || row.state == Row::State::staged; };
  // 11 promises that nothing was applied.
  const bool is_cut_off = report.ended_by && report.ended_by->kind == Failure::Kind::unreachable;
  if (is_cut_off && std::ranges::any_of(report.rows, was_done)) return ExitCode::partial;
  if (report.ended_by) return exit_code_of(*report.ended_by, signal);
  const auto failed = [](const Row& row) { return row.state == Row::State::failed; };
  if (std::ranges::any_of(report.rows, failed)) return ExitCode::partial;
  return report.guard || report.growth || !report.conflicts.empty() ? ExitCode::conflict : ExitCode::done;
}

ExitCode exit_code_of_status(const Report& report) {
  bool pending = report.growth.has_value();
  for (const Row& row : report.rows) {
    if (row.action.kind == sync::ActionKind::conflict) return ExitCode::conflict;
    pending = pending || row.action.kind != sync::ActionKind::unchanged;
  }
  if (!report.conflicts.empty()) return ExitCode::conflict;
  return pending ? ExitCode::partial : ExitCode::done;
}

}  // namespace ws::cli

#include "cli/output/sync_report.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/shell_command.hpp"
#include "api-client/base/utf8.hpp"
#include "cli/output/format.hpp"
#include "cli/terminal/clean.hpp"
#include "cli/terminal/table.hpp"

namespace ws::cli {
namespace {

using sync::Action;
using sync::ActionKind;
using sync::Report;
using sync::Row;

constexpr std::size_t max_asides = 10;
constexpr std::string_view shows_all = "--verbose shows all";

struct Words {
  std::string_view planned;
  std::string_view done;
  std::string_view plural;  ///< in the sum: "3 sent"
};

/// One row a kind of action. In the sum, `new` and not new are counted together.
Words words_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::push_create: return {"send new", "sent new", "sent"};
    case ActionKind::push_update: return {"send", "sent", "sent"};
    case ActionKind::push_delete: return {"archive on service", "archived on service", "archived on the service"};
    case ActionKind::push_move: return {"move on service", "moved on service", "moved on the service"};
    case ActionKind::pull_create: return {"receive new", "received new", "received"};
    case ActionKind::pull_update: return {"receive", "received", "received"};
    case ActionKind::pull_delete: return {"delete here", "deleted here", "deleted here"};
    case ActionKind::pull_move: return {"move here", "moved here", "moved here"};
    case ActionKind::conflict: return {"conflict", "conflict", "in conflict"};
    case ActionKind::unchanged: return {"unchanged", "unchanged", "unchanged"};
    case ActionKind::merge: return {"merge", "merged", "merged"};
    case ActionKind::adopt: return {"adopt", "adopted", "adopted"};
  }
  return {};
}

std::string_view planned_sum(ActionKind kind) {
  switch (kind) {
    case ActionKind::push_create:
    case ActionKind::push_update: return "to send";
    case ActionKind::push_delete: return "to archive on the service";
    case ActionKind::push_move: return "to move on the service";
    case ActionKind::pull_create:
    case ActionKind::pull_update: return "to receive";
    case ActionKind::pull_delete: return "to delete here";
    case ActionKind::pull_move: return "to move here";
    case ActionKind::merge: return "to merge";
    case ActionKind::adopt: return "to adopt";
    case ActionKind::conflict: return "in conflict";
    case ActionKind::unchanged: return "unchanged";
  }
  return "";
}

/// The API archives documents; an attachment leaves the list of attachments.
bool leaves_the_list(const Action& action) { return action.attachment && action.kind == ActionKind::push_delete; }

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

std::string plural(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
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
                         plural(count, "file", "files"));
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
std::string render_rows(const std::vector<const Row*>& rows,
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

/// One line for each kind of remark, whatever their number.
std::vector<std::string> remark_lines(const Report& report) {
  std::vector<std::string> lines;
  std::size_t unportable = 0;
  std::string first;
  for (const sync::Remark& remark : report.remarks) {
    switch (remark.word) {
      case sync::Remark::Word::state_remade:
        lines.emplace_back(
            "the sync state of this tree was lost and is rebuilt: what was deleted since the last sync comes back");
        break;
      case sync::Remark::Word::attachments_off:
        lines.emplace_back(
            "notes here show files that are not synced: `attachments: linked` in .ws/config.yaml syncs them");
        break;
      case sync::Remark::Word::manifest_damaged:
        lines.emplace_back(
            "the list of attachments on the service was edited by hand or is outdated: it deletes nothing, and `ws "
            "sync` rewrites it");
        break;
      case sync::Remark::Word::asset_in_doubt:
        lines.push_back(fmt::format(
            "the outcome of an earlier upload of {} is unknown: it was sent again, and the service may have it twice",
            clean(remark.path, Breaks::space)));
        break;
      case sync::Remark::Word::same_revision:
        lines.push_back(
            fmt::format("the service changed {} without a new revision, which is a fault of the service: `ws sync log` "
                        "has the text "
                        "before it",
                        clean(remark.path, Breaks::space)));
        break;
      case sync::Remark::Word::unportable_name:
        if (++unportable == 1) first = clean(remark.path, Breaks::space);
        break;
    }
  }
  if (unportable == 0) return lines;
  const std::string others = unportable == 1 ? "" : fmt::format(" and {} more", unportable - 1);
  lines.push_back(fmt::format("other systems cannot hold {}{}: `names: portable` in .ws/config.yaml would refuse {}",
                              first,
                              others,
                              unportable == 1 ? "it" : "them"));
  return lines;
}

/// "delete 12 of 30 files here and archive all 30 documents on the service".
std::string losses_of(const sync::Guard& guard) {
  std::string text;
  const auto add = [&](std::string_view verb, std::size_t count, std::string_view noun) {
    if (count == 0) return;
    const std::string many =
        count == guard.tracked ? fmt::format("all {}", count) : fmt::format("{} of {}", count, guard.tracked);
    text += fmt::format("{}{} {} {}", text.empty() ? "" : " and ", verb, many, noun);
  };
  add("delete", guard.deletes_here, "files here");
  add("archive", guard.deletes_there, "documents on the service");
  add("empty", guard.emptied_here, "files here");
  add("empty", guard.emptied_there, "documents on the service");
  return text.empty() ? "delete nothing" : text;
}

std::string guard_text(const sync::Guard& guard, ReportStage stage) {
  if (stage == ReportStage::planned && !guard.foreign_source && !guard.empty_listing) {
    return fmt::format("a sync would stop and ask: it would {}", losses_of(guard));
  }
  if (guard.foreign_source) return "stopped: the service answered for another source; nothing was changed";
  if (guard.empty_listing) {
    return fmt::format("stopped: the service no longer has any of the {} documents; nothing was changed",
                       guard.tracked);
  }
  std::string text = fmt::format("stopped: this would {}; nothing was changed", losses_of(guard));
  if (guard.absent > 0) text += fmt::format(" ({} are missing from the service's list)", guard.absent);
  return text;
}

/// `ws sync resolve PATH ...` with what may be said about it.
ShellCommand resolve_command(ShellCommand program, const sync::Conflict& conflict) {
  program.add({"sync", "resolve"}).path(conflict.path.text());
  if (conflict.kind() == sync::ConflictKind::path) {
    program.add({"--path"});
  } else {
    program.add({"--keep"});
  }
  if (conflict.row().find(sync::Keep::both) != nullptr) return program.add({"local|remote|both"});
  if (conflict.row().find(sync::Keep::remote) != nullptr) return program.add({"local|remote"});
  return program.add({"local"});
}

ShellCommand sync_of(ShellCommand program) { return program.add({"sync"}); }

void add_next_steps(const Report& report,
                    ReportStage stage,
                    const Invocation& called,
                    std::vector<std::string>& lines) {
  const ShellCommand& program = called.program;
  if (report.guard || report.held_back) {
    ShellCommand again = sync_of(program);
    again.words(called.verb);
    if (!called.only.empty()) again.add({"--only=", called.only});
    lines.push_back("to confirm: " + again.add({"--allow-deletes"}).ticked());
  }
  if (report.guard) return;
  // A conflict without an id is one that a plan foresees; nothing can be decided yet.
  const auto is_open = [stage](const sync::Conflict& one) { return stage != ReportStage::planned || !one.id.empty(); };
  const auto first = std::ranges::find_if(report.conflicts, is_open);
  if (first == report.conflicts.end()) {
    if (!report.conflicts.empty())
      lines.push_back(sync_of(program).ticked() + " records what collides and sends the rest");
    return;
  }
  const auto count = static_cast<std::size_t>(std::ranges::count_if(report.conflicts, is_open));
  lines.push_back(fmt::format("{} open: {} lists {}",
                              plural(count, "conflict is", "conflicts are"),
                              sync_of(program).add({"conflicts"}).ticked(),
                              count == 1 ? "it" : "them"));
  lines.push_back(resolve_command(program, *first).ticked() + " decides");
}

void add_links(const Report& report, const Invocation& called, std::vector<std::string>& lines) {
  const auto links_command = [&](std::string_view verb) {
    ShellCommand program = called.program;
    return program.add({"links", std::string(verb)}).ticked();
  };
  if (report.links_mended > 0) {
    lines.push_back(fmt::format("edited {} to renamed files", plural(report.links_mended, "link", "links")));
  }
  if (report.links_of_renames > 0) {
    lines.push_back(fmt::format("the renames here break {}: {} updates {}",
                                plural(report.links_of_renames, "link", "links"),
                                links_command("fix"),
                                report.links_of_renames == 1 ? "it" : "them"));
  }
  if (report.broken_links > 0) {
    lines.push_back(fmt::format("{} nowhere: {} lists {}",
                                plural(report.broken_links, "link leads", "links lead"),
                                links_command("check"),
                                report.broken_links == 1 ? "it" : "them"));
  }
}

/// "2 skipped, 1 kept as it is"; empty where nothing is.
std::string left_alone_sum(const Report& report) {
  std::string text;
  if (!report.skipped.empty()) text = fmt::format("{} skipped", report.skipped.size());
  if (!report.detached.empty()) {
    text += fmt::format("{}{} kept as {}",
                        text.empty() ? "" : ", ",
                        report.detached.size(),
                        report.detached.size() == 1 ? "it is" : "they are");
  }
  return text;
}

std::string_view counted_as(const Row& row) {
  if (leaves_the_list(row.action) && row.state != Row::State::failed) {
    return row.state == Row::State::done ? "removed on the service" : "to remove on the service";
  }
  switch (row.state) {
    case Row::State::failed: return "failed";
    case Row::State::staged: return "staged";
    case Row::State::planned: return planned_sum(row.action.kind);
    case Row::State::done: break;
  }
  return words_of(row.action.kind).plural;
}

std::string render_sum(const Report& report, ReportStage stage) {
  Sum sum;
  sum.add(report);
  const std::string text = sum.text();
  const std::string left_alone = left_alone_sum(report);
  if (!text.empty()) return left_alone.empty() ? text : text + ", " + left_alone;
  if (stage == ReportStage::published) return "nothing is staged";
  if (report.partial && stage != ReportStage::staged) return "nothing to do for the selected files; other files differ";
  const std::string but = left_alone.empty() ? "" : " but for what is left alone: " + left_alone;
  switch (stage) {
    case ReportStage::published: break;
    case ReportStage::planned: return "both sides are the same" + but;
    case ReportStage::staged: return "nothing to stage" + (left_alone.empty() ? "" : ", " + left_alone);
    case ReportStage::done: return "nothing to do: both sides are the same" + but;
  }
  return text;
}

/// Why files failed and what to do about it, each once: the rows have room for what happened alone.
void add_hints(const Report& report, std::vector<std::string>& lines) {
  constexpr std::size_t most = 3;
  std::vector<std::string> hints;
  for (const Row& row : report.rows) {
    if (row.state != Row::State::failed || !row.error || row.error->hint.empty() || hints.size() == most) continue;
    std::string hint = clean(row.error->hint, Breaks::space);
    if (std::ranges::find(hints, hint) == hints.end()) hints.push_back(std::move(hint));
  }
  std::ranges::move(hints, std::back_inserter(lines));
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
          action.document.text};
}

}  // namespace

void Sum::add(const Report& report) {
  for (const Row& row : report.rows) {
    if (row.action.kind == ActionKind::unchanged) continue;
    const std::string_view word = counted_as(row);
    const auto known = std::ranges::find(counts_, word, &std::pair<std::string_view, std::size_t>::first);
    if (known == counts_.end()) {
      counts_.emplace_back(word, 1);
    } else {
      ++known->second;
    }
  }
}

std::string Sum::text() const {
  std::string text;
  for (const auto& [word, number] : counts_) text += (text.empty() ? "" : ", ") + fmt::format("{} {}", number, word);
  return text;
}

std::vector<std::string> render_outcome(const Report& report, ReportStage stage, const Invocation& called) {
  std::vector<std::string> lines;
  if (report.guard) {
    lines.push_back(guard_text(*report.guard, stage));
  } else if (!report.rows.empty() || report.conflicts.empty()) {
    lines.push_back(render_sum(report, stage));
  }
  if (report.held_back) {
    lines.push_back(fmt::format("held back: this would {}; the rest is synced", losses_of(*report.held_back)));
  }
  if (report.not_included > 0) {
    lines.push_back(fmt::format("{} not synced: no Markdown, and not named by `include:` in .ws/config.yaml",
                                plural(report.not_included, "file is", "files are")));
  }
  if (std::ranges::any_of(report.rows, [](const Row& row) { return row.state == Row::State::staged; })) {
    lines.push_back(sync_of(called.program).add({"commit"}).ticked() + " publishes what is staged");
  }
  add_hints(report, lines);
  add_links(report, called, lines);
  for (std::string& line : remark_lines(report)) lines.push_back(std::move(line));
  add_next_steps(report, stage, called, lines);
  return lines;
}

std::string render_report(
    const Report& report, ReportStage stage, const Terminal& terminal, std::size_t max_rows, const Invocation& called) {
  std::string text;
  const std::vector<const Row*> rows = rows_to_show(report, stage, text);
  const std::size_t shown = max_rows == 0 ? rows.size() : std::min(max_rows, rows.size());
  const std::size_t margin = std::min(called.stamp.size(), static_cast<std::size_t>(terminal.columns()));
  text += render_rows(rows, stage, terminal, shown, margin);
  if (shown < rows.size()) text += fmt::format("  and {} more ({})\n", rows.size() - shown, shows_all);
  text += asides(report, terminal, max_rows == 0);
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
    if (row.action.kind == ActionKind::conflict) return ExitCode::conflict;
    pending = pending || row.action.kind != ActionKind::unchanged;
  }
  if (!report.conflicts.empty()) return ExitCode::conflict;
  return pending ? ExitCode::partial : ExitCode::done;
}

}  // namespace ws::cli

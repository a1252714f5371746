#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api-client/base/clean.hpp"
#include "cli/output/human.hpp"
#include "cli/output/sync_report.hpp"

namespace ws::cli {
namespace {

using sync::ActionKind;
using sync::Report;
using sync::Row;

/// A new document and an edited one are counted together.
std::string_view done_sum(ActionKind kind) {
  switch (kind) {
    case ActionKind::push_create:
    case ActionKind::push_update: return "sent";
    case ActionKind::push_delete: return "archived on the service";
    case ActionKind::push_move: return "moved on the service";
    case ActionKind::pull_create:
    case ActionKind::pull_update: return "received";
    case ActionKind::pull_delete: return "removed here";
    case ActionKind::pull_move: return "moved here";
    case ActionKind::conflict: return "in conflict";
    case ActionKind::unchanged: return "unchanged";
    case ActionKind::merge: return "merged";
    case ActionKind::adopt: return "matched";
  }
  return "";
}

std::string_view planned_sum(ActionKind kind) {
  switch (kind) {
    case ActionKind::push_create:
    case ActionKind::push_update: return "to send";
    case ActionKind::push_delete: return "to archive on the service";
    case ActionKind::push_move: return "to move on the service";
    case ActionKind::pull_create:
    case ActionKind::pull_update: return "to receive";
    case ActionKind::pull_delete: return "to remove here";
    case ActionKind::pull_move: return "to move here";
    case ActionKind::merge: return "to merge";
    case ActionKind::adopt: return "to match";
    case ActionKind::conflict: return "in conflict";
    case ActionKind::unchanged: return "unchanged";
  }
  return "";
}

/// "`note.md`, edited by NAME, shows `secrets.json`, which is not synced: ..."
std::string foreign_line(const sync::Remark& remark, const Invocation& called) {
  ShellCommand program = called.program;
  const std::string by = remark.by.empty() ? "elsewhere" : "by " + clean(remark.by, Breaks::space);
  return fmt::format("`{}`, edited {}, shows `{}`, which is not synced: {} sends it",
                     clean(remark.note, Breaks::space),
                     by,
                     clean(remark.path, Breaks::space),
                     program.add({"sync", "attachments", "add"}).path(remark.path).in_backticks());
}

/// One line for each kind of remark, whatever their number; of foreign files one each, up to a few.
std::vector<std::string> remark_lines(const Report& report, const Invocation& called) {
  constexpr std::size_t most_foreign = 5;
  std::size_t foreign = 0;
  std::vector<std::string> lines;
  std::size_t unportable = 0;
  std::string first;
  for (const sync::Remark& remark : report.remarks) {
    switch (remark.word) {
      case sync::Remark::Word::state_remade:
        lines.emplace_back(
            "the sync state of this folder was lost and is rebuilt: what was deleted since the last sync comes back");
        break;
      case sync::Remark::Word::attachments_off:
        lines.emplace_back(
            "notes here show files that are not synced: set `attachments: linked` in .ws/config.yaml to sync them");
        break;
      case sync::Remark::Word::cut_off:
        lines.emplace_back(
            "an earlier command was interrupted, and the next one finishes it first: what is shown here may change by "
            "that");
        break;
      case sync::Remark::Word::manifest_damaged:
        lines.emplace_back(
            "the list of attachments on the service was edited by hand or is outdated: it deletes nothing, and `ws "
            "sync` rewrites it");
        break;
      case sync::Remark::Word::foreign_file:
        if (++foreign <= most_foreign) lines.push_back(foreign_line(remark, called));
        break;
      case sync::Remark::Word::open_to_others:
        lines.push_back(
            fmt::format("every user of this machine may write to {} and change what is synced: {} prevents that",
                        clean(remark.path, Breaks::space),
                        ShellCommand{"chmod", "o-w"}.path(remark.path).in_backticks()));
        break;
      case sync::Remark::Word::agent_note:
        lines.push_back(fmt::format("{} comes from {}, and programs obey it: read it before you start one",
                                    clean(remark.path, Breaks::space),
                                    remark.by.empty() ? "elsewhere" : clean(remark.by, Breaks::space)));
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
  if (foreign > most_foreign) {
    ShellCommand program = called.program;
    lines.push_back(fmt::format("texts from the service show {} more: {} lists them",
                                foreign - most_foreign,
                                program.add({"sync", "attachments"}).in_backticks()));
  }
  if (unportable == 0) return lines;
  const std::string others = unportable == 1 ? "" : fmt::format(" and {} more", unportable - 1);
  lines.push_back(fmt::format("other systems cannot hold {}{}: `names: portable` in .ws/config.yaml refuses {}",
                              first,
                              others,
                              unportable == 1 ? "it" : "them"));
  return lines;
}

/// "remove 10 of 10 files on the service and archive all 30 documents on the service".
std::string losses_of(const sync::Guard& guard) {
  std::string text;
  const auto add_many = [&](std::string_view verb, const std::string& many, std::string_view noun) {
    text += fmt::format("{}{} {} {}", text.empty() ? "" : " and ", verb, many, noun);
  };
  const auto add_files = [&](std::size_t count, std::string_view noun) {
    if (count > 0) add_many("remove", fmt::format("{} of {}", count, guard.files_tracked), noun);
  };
  const auto add = [&](std::string_view verb, std::size_t count, std::string_view noun) {
    if (count == 0) return;
    const std::string many =
        count == guard.tracked ? fmt::format("all {}", count) : fmt::format("{} of {}", count, guard.tracked);
    add_many(verb, many, noun);
  };
  add_files(guard.files_deleted_here, "files here");
  add_files(guard.files_deleted_there, "files on the service");
  add("remove", guard.deletes_here, "notes here");
  add("archive", guard.deletes_there, "documents on the service");
  add("empty", guard.emptied_here, "notes here");
  add("empty", guard.emptied_there, "documents on the service");
  return text.empty() ? "delete no file" : text;
}

std::string guard_text(const sync::Guard& guard, ReportStage stage, std::string_view what = "a sync") {
  if (stage == ReportStage::planned && !guard.foreign_source && !guard.empty_listing) {
    return fmt::format("{} would stop and ask, because it would {}", what, losses_of(guard));
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

bool is_gone_here(const sync::Guard& guard) {
  return !guard.foreign_source && !guard.empty_listing && guard.deletes_there + guard.files_deleted_there > 0;
}

bool is_gone_there(const sync::Guard& guard) {
  return !guard.foreign_source && !guard.empty_listing && guard.deletes_here + guard.files_deleted_here > 0;
}

/// What became there of what goes here: an attachment cannot be archived.
std::string_view gone_there(bool has_notes, bool has_files) {
  if (!has_files) return "archived on the service";
  return has_notes ? "archived or deleted on the service" : "deleted on the service";
}

/// What a guard is about, by folder: "  notes/2024/  120 missing here".
void add_losses(const Report& report, std::vector<std::string>& lines) {
  constexpr std::size_t most = 10;
  std::map<std::pair<std::string, std::string_view>, std::size_t> folders;
  for (const Row& row : report.rows) {
    const bool is_here = row.action.kind == ActionKind::pull_delete;
    if (!is_here && row.action.kind != ActionKind::push_delete) continue;
    const std::string_view path = row.action.path.text();
    const std::size_t slash = path.rfind('/');
    const bool is_file = row.action.attachment;
    const std::string_view what = is_here ? gone_there(!is_file, is_file) : "missing here";
    ++folders[{slash == std::string_view::npos ? "" : std::string(path.substr(0, slash + 1)), what}];
  }
  std::size_t shown = 0;
  for (const auto& [folder, count] : folders) {
    if (++shown > most) break;
    lines.push_back(fmt::format(
        "  {}  {} {}", folder.first.empty() ? "./" : clean(folder.first, Breaks::space), count, folder.second));
  }
  if (folders.size() > most) {
    lines.push_back(fmt::format("  and {} more", counted(folders.size() - most, "folder")));
  }
}

std::string held_back_text(const sync::Guard& guard) {
  return fmt::format("held back, because it would {}; the rest is synced", losses_of(guard));
}

std::string growth_text(const sync::Growth& growth) {
  return fmt::format("{} of {} {} waiting: receiving this much needs a confirmation",
                     counted(growth.files, "file"),
                     human_size(growth.bytes),
                     growth.files == 1 ? "is" : "are");
}

/// `ws sync resolve PATH ...` with what may be said about it.
ShellCommand resolve_command(ShellCommand program, const sync::Conflict& conflict) {
  program.add({"sync", "resolve"}).path(conflict.path.text());
  if (conflict.kind() == sync::ConflictKind::path) {
    program.add({"--path"});
  } else {
    program.add({"--keep"});
  }
  const auto offers = [&](sync::Keep keep) { return conflict.row().find(keep) != nullptr; };
  const bool has_theirs = offers(sync::Keep::remote);
  if (offers(sync::Keep::both)) return has_theirs ? program.add({"mine|theirs|both"}) : program.add({"mine|both"});
  if (!has_theirs) return program.add({"mine"});
  return offers(sync::Keep::local) ? program.add({"mine|theirs"}) : program.add({"theirs"});
}

bool went_back(const sync::Conflict& one) { return one.which == sync::ConflictCase::service_went_back; }

ShellCommand sync_of(ShellCommand program) { return program.add({"sync"}); }

void add_next_steps(const Report& report,
                    ReportStage stage,
                    const Invocation& called,
                    std::vector<std::string>& lines) {
  const ShellCommand& program = called.program;
  const bool is_run = reversal_words(called) == nullptr;
  const auto confirm_with = [&](std::string_view flag) {
    ShellCommand again = sync_of(program);
    again.words(called.verb);
    if (!called.only.empty()) again.add({"--only=", called.only});
    lines.push_back("to confirm: " + again.words(flag).in_backticks());
  };
  const sync::Guard* const stopped = report.guard ? &*report.guard : report.held_back ? &*report.held_back : nullptr;
  if (stopped != nullptr && is_gone_here(*stopped) && is_run) {
    lines.push_back("to restore what is missing here: " +
                    sync_of(program).add({"restore", "--deleted"}).in_backticks());
  }
  const bool is_stopped = report.guard.has_value();
  if (is_stopped && is_gone_there(*stopped) && is_run && !called.verb.starts_with("push")) {
    ShellCommand keep = sync_of(program);
    lines.push_back(fmt::format("to keep here what was {}: ", gone_there_words(*stopped)) +
                    keep.words(called.verb).add({"--keep-archived"}).in_backticks());
  }
  if (stopped != nullptr) confirm_with("--allow-deletes");
  if (report.growth && !report.guard) confirm_with("--allow-large");
  if (report.guard) return;
  if (report.conflicts.empty()) return;
  const std::size_t count = report.conflicts.size();
  if (stage == ReportStage::planned && std::ranges::any_of(report.conflicts, went_back)) {
    lines.push_back(fmt::format("{} changes nothing until that is decided: {}",
                                sync_of(program).in_backticks(),
                                resolve_command(program, report.conflicts.front()).in_backticks()));
    return;
  }
  if (stage == ReportStage::planned) {  // those that it foresees are not open yet
    lines.push_back(fmt::format("{} leaves {} open and the {} as {}, and syncs the rest; {} then decides {}",
                                sync_of(program).in_backticks(),
                                counted(count, "conflict", "conflicts"),
                                count == 1 ? "file" : "files",
                                count == 1 ? "it is" : "they are",
                                sync_of(program).add({"resolve"}).in_backticks(),
                                count == 1 ? "it" : "them"));
    return;
  }
  lines.push_back(fmt::format("{} open, and your {}: {} lists {}",
                              counted(count, "conflict is", "conflicts are"),
                              count == 1 ? "file is as it was" : "files are as they were",
                              sync_of(program).add({"conflicts"}).in_backticks(),
                              count == 1 ? "it" : "them"));
  if (called.may_walk) {
    lines.push_back(fmt::format(
        "to decide {}: {}", count == 1 ? "it" : "them one by one", sync_of(program).add({"resolve"}).in_backticks()));
  } else {
    lines.push_back(fmt::format("to decide {}: {}",
                                count == 1 ? "it" : "the first",
                                resolve_command(program, report.conflicts.front()).in_backticks()));
  }
}

void add_links(const Report& report, ReportStage stage, const Invocation& called, std::vector<std::string>& lines) {
  const auto links_command = [&](std::string_view verb) {
    ShellCommand program = called.program;
    return program.add({"links", std::string(verb)}).in_backticks();
  };
  if (report.links_mended > 0) {
    lines.push_back(fmt::format("{} {} to renamed files",
                                stage == ReportStage::planned ? "would edit" : "edited",
                                counted(report.links_mended, "link")));
  }
  if (report.links_of_renames > 0) {
    lines.push_back(fmt::format("the renames here break {}: {} updates {}",
                                counted(report.links_of_renames, "link"),
                                links_command("fix"),
                                report.links_of_renames == 1 ? "it" : "them"));
  }
  constexpr std::size_t most_unread = 3;
  for (std::size_t i = 0; i < std::min(most_unread, report.unread_links.size()); ++i) {
    lines.push_back(
        fmt::format("{} has too many links in one paragraph to read them all: files that it shows may not be synced, "
                    "and broken links may not be found",
                    clean(report.unread_links[i], Breaks::space)));
  }
  if (report.broken_links > 0) {
    lines.push_back(fmt::format("{} broken: {} lists {}",
                                counted(report.broken_links, "link is", "links are"),
                                links_command("check"),
                                report.broken_links == 1 ? "it" : "them"));
  }
}

/// "2 shown files are not synced"; empty where all are, and all links could be read.
std::string not_synced_sum(const Report& report) {
  std::string text;
  if (report.not_synced > 0) text = counted(report.not_synced, "shown file is", "shown files are") + " not synced";
  if (!report.unread_links.empty()) {
    text += fmt::format("{}{} too many links in one paragraph",
                        text.empty() ? "" : ", ",
                        counted(report.unread_links.size(), "note has", "notes have"));
  }
  return text;
}

/// "2 skipped, 1 kept as it is"; empty where nothing is.
std::string left_alone_sum(const Report& report) {
  std::string text;
  const std::size_t others = report.skipped.size() - std::min<std::size_t>(report.not_synced, report.skipped.size());
  if (others > 0) text = fmt::format("{} skipped", others);
  if (!report.detached.empty()) {
    text += fmt::format("{}{} kept as {}",
                        text.empty() ? "" : ", ",
                        report.detached.size(),
                        report.detached.size() == 1 ? "it is" : "they are");
  }
  return text;
}

std::string_view counted_as(const Row& row, const ReversalWords* reversal) {
  const ActionKind kind = row.action.kind;
  const bool is_restored = kind == ActionKind::pull_create || kind == ActionKind::pull_update;
  if (reversal != nullptr && row.state != Row::State::failed) {
    const bool is_done = row.state == Row::State::done;
    if (reverses_both_sides(row.action)) return is_done ? reversal->done : reversal->to_do;
    if (is_restored) return is_done ? "restored here" : "to restore here";
  }
  if (leaves_the_list(row.action) && row.state != Row::State::failed) {
    return row.state == Row::State::done ? "removed on the service" : "to remove on the service";
  }
  switch (row.state) {
    case Row::State::failed: return "failed";
    case Row::State::staged: return "staged";
    case Row::State::planned: return planned_sum(kind);
    case Row::State::done: break;
  }
  return done_sum(kind);
}

std::string render_sum(const Report& report, ReportStage stage, const ReversalWords* reversal) {
  Sum sum;
  sum.add(report, reversal);
  std::string text = sum.text();
  const std::string not_synced = not_synced_sum(report);
  const std::string left_alone = left_alone_sum(report);
  if (!text.empty() && !not_synced.empty()) text += ", " + not_synced;
  if (!text.empty()) return left_alone.empty() ? text : text + ", " + left_alone;
  if (report.ended_by) return "nothing was done";
  if (stage == ReportStage::published) return "nothing is staged";
  // The line about these follows.
  if (report.held_back) return "nothing else to do";
  if (report.partial && stage != ReportStage::staged) return "nothing to do for the selected files; other files differ";
  // What is left alone may be on one side only.
  const bool compares = stage == ReportStage::planned || stage == ReportStage::done;
  if (compares && !not_synced.empty()) {
    return "in sync; " + not_synced + (left_alone.empty() ? "" : ", " + left_alone);
  }
  switch (stage) {
    case ReportStage::published: break;
    case ReportStage::planned: return left_alone.empty() ? "both sides are the same" : "nothing to do; " + left_alone;
    case ReportStage::staged: return "nothing to stage" + (left_alone.empty() ? "" : ", " + left_alone);
    case ReportStage::done:
      return left_alone.empty() ? "nothing to do: both sides are the same" : "nothing to do; " + left_alone;
  }
  return text;
}

/// Why files failed and what to do about it, each once: the rows have room for what happened alone.
void add_hints(const Report& report, std::vector<std::string>& lines) {
  constexpr std::size_t most = 3;
  std::vector<std::string> hints;
  for (const Row& row : report.rows) {
    if (row.state != Row::State::failed || !row.error || row.error->hint.empty() || hints.size() == most) continue;
    // The error that ended the run is printed after the rows, with its hint.
    if (report.ended_by && report.ended_by->what == row.error->what) continue;
    std::string hint = clean(row.error->hint, Breaks::space);
    if (std::ranges::find(hints, hint) == hints.end()) hints.push_back(std::move(hint));
  }
  std::ranges::move(hints, std::back_inserter(lines));
}

}  // namespace

const ReversalWords* reversal_words(const Invocation& called) {
  static constexpr ReversalWords undo = {"undo", "undone", "to undo"};
  static constexpr ReversalWords redo = {"redo", "redone", "to redo"};
  if (called.verb.starts_with("undo")) return &undo;
  return called.verb.starts_with("redo") ? &redo : nullptr;
}

bool reverses_both_sides(const sync::Action& action) {
  return action.kind == ActionKind::merge || (is_push(action.kind) && action.reason.empty());
}

void Sum::add(const Report& report, const ReversalWords* reversal) {
  for (const Row& row : report.rows) {
    if (row.action.kind == ActionKind::unchanged) continue;
    const std::string_view word = counted_as(row, reversal);
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

std::optional<Failure> stop_of(const Report& report, const Invocation& called) {
  const auto stopped = [&](std::string what, std::string_view code) {
    std::vector<std::string> next;
    add_next_steps(report, ReportStage::done, called, next);
    return Failure{.kind = Failure::Kind::conflict,
                   .what = std::move(what),
                   .hint = report.guard || report.held_back ? fmt::format("{}", fmt::join(next, "; "))
                           : next.empty()                   ? std::string()
                                                            : next.front(),
                   .code = std::string(code)};
  };
  if (report.guard) {
    const std::string_view code = report.guard->foreign_source  ? "foreign_source"
                                  : report.guard->empty_listing ? "empty_listing"
                                                                : "too_many_deletes";
    return stopped(guard_text(*report.guard, ReportStage::done), code);
  }
  if (report.held_back) return stopped(held_back_text(*report.held_back), "too_many_deletes");
  if (report.growth) return stopped(growth_text(*report.growth), "too_much_to_receive");
  if (std::ranges::none_of(report.conflicts, went_back)) return std::nullopt;
  return stopped("stopped: the service went back to an older state; nothing was changed", "rewound");
}

std::string_view gone_there_words(const sync::Guard& guard) {
  return gone_there(guard.deletes_here > 0, guard.files_deleted_here > 0);
}

std::vector<std::string> render_outcome(const Report& report, ReportStage stage, const Invocation& called) {
  std::vector<std::string> lines;
  const ReversalWords* const reversal = reversal_words(called);
  if (report.guard) {
    // The files that an undo removes lie here: its rows say what becomes of each.
    lines.push_back(guard_text(*report.guard, stage, reversal != nullptr ? "it" : "a sync"));
    if (reversal == nullptr) add_losses(report, lines);
  } else if (!report.rows.empty() || report.conflicts.empty()) {
    lines.push_back(render_sum(report, stage, reversal));
  }
  if (report.growth) {
    lines.push_back(growth_text(*report.growth));
  }
  if (report.held_back) {
    lines.push_back(held_back_text(*report.held_back));
  }
  if (report.not_included > 0 && !called.were_told) {
    lines.push_back(fmt::format("{} not synced: not Markdown, and {} (`ws help ignoring`)",
                                counted(report.not_included, "file is", "files are"),
                                report.only_notes          ? "attachments are off"
                                : report.not_included == 1 ? "no synced note links to it"
                                                           : "no synced note links to them"));
  }
  if (std::ranges::any_of(report.rows, [](const Row& row) { return row.state == Row::State::staged; })) {
    lines.push_back("nobody sees what is staged before it is published: " +
                    sync_of(called.program).add({"commit"}).in_backticks());
  }
  add_hints(report, lines);
  add_links(report, stage, called, lines);
  for (std::string& line : remark_lines(report, called)) lines.push_back(std::move(line));
  add_next_steps(report, stage, called, lines);
  return lines;
}

}  // namespace ws::cli

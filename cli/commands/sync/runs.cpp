// The runs of a tree: what each changed, and how one is taken back.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/text.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/commands/sync/tree.hpp"
#include "cli/output/human.hpp"
#include "cli/terminal/table.hpp"
#include "sync-engine/git/changed_lines.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;
using sync::ChangeOrigin;
using sync::OperationDetails;
using sync::OperationRow;

constexpr std::size_t shown_runs = 20;

Result<std::uint64_t> parse_number(std::string_view what, const std::string& text) {
  const auto number = parse_whole<std::uint64_t>(text).value_or(0);
  if (number > 0) return number;
  return fail(Failure::Kind::usage, fmt::format("{} is a number of at least 1, not `{}`", what, text));
}

std::string_view action_of(const OperationRow& row) {
  if (!row.before) return "created";
  if (!row.after) return "deleted";
  if (row.before->path == row.after->path) return row.before->hash == row.after->hash ? "agreed" : "changed";
  return row.before->hash == row.after->hash ? "moved" : "moved and changed";
}

std::string_view origin_of(const OperationRow& row) {
  if (row.origins.has(ChangeOrigin::merged)) return "merged";
  if (row.origins.has(ChangeOrigin::decided)) return "decided";
  if (row.origins.has(ChangeOrigin::sent)) return "sent";
  return row.origins.has(ChangeOrigin::restored) ? "restored" : "received";
}

/// {"sent": 3, "received": 2}
std::map<std::string_view, std::size_t> counts_of(const OperationDetails& details) {
  std::map<std::string_view, std::size_t> counts;
  for (const OperationRow& row : details.rows) ++counts[origin_of(row)];
  return counts;
}

/// What a change was called: by the side that it went to, in the words of the reports.
struct ChangeWords {
  std::string_view created, updated, deleted, moved, moved_and_updated;
};
constexpr ChangeWords words_of_sent = {
    "sent new", "sent", "archived on the service", "moved on the service", "moved and sent"};
constexpr ChangeWords words_of_received = {
    "received new", "received", "removed here", "moved here", "moved here and received"};
constexpr ChangeWords words_of_local = {
    "created here", "changed here", "removed here", "renamed here", "renamed and changed here"};

/// What became of the document.
std::string_view word_for_people(const OperationRow& row) {
  if (row.origins.has(ChangeOrigin::merged)) return "merged";
  if (row.origins.has(ChangeOrigin::decided)) return "resolved";
  const bool is_sent = row.origins.has(ChangeOrigin::sent);
  const bool is_received = row.origins.has(ChangeOrigin::received);
  const ChangeWords& words = is_sent ? words_of_sent : is_received ? words_of_received : words_of_local;
  if (!row.before) return words.created;
  if (!row.after) return is_sent && row.document.empty() ? "removed on the service" : words.deleted;
  const bool is_same_text = row.before->hash == row.after->hash;
  const bool is_same_path = row.before->path == row.after->path;
  // The file has had that name already: the service got it.
  if (is_same_path && is_same_text) return is_sent ? words.moved : "matched";
  if (is_same_path) return words.updated;
  return is_same_text ? words.moved : words.moved_and_updated;
}

/// "3 sent, 1 moved on the service": in the order of the rows.
std::string shown_counts(const OperationDetails& details) {
  std::vector<std::pair<std::string_view, std::size_t>> counts;
  for (const OperationRow& row : details.rows) {
    const std::string_view word = word_for_people(row);
    const auto known = std::ranges::find(counts, word, &std::pair<std::string_view, std::size_t>::first);
    if (known == counts.end()) {
      counts.emplace_back(word, 1);
    } else {
      ++known->second;
    }
  }
  std::string text;
  for (const auto& [word, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
  return text.empty() ? "nothing" : text;
}

std::string note_of(const OperationDetails& details) {
  if (details.operation.stage != sync::Operation::Stage::closed) return "interrupted; the next run finishes it";
  if (details.is_undone) return "undone";
  if (details.operation.undoes == 0) return "";
  return fmt::format("undoes run {}{}", details.operation.undoes, details.operation.is_partial ? ", in part" : "");
}

/// "run 3 (ws sync run, 2 hours ago)"; with the time itself where no terminal shows it.
std::string described(Session& session, const sync::Operation& run) {
  const std::string time = to_rfc3339(run.time);
  const bool is_on_screen = session.terminal().is_terminal(Stream::out);
  return fmt::format("run {} ({}, {})",
                     run.id,
                     clean(run.command, Breaks::space),
                     is_on_screen ? relative_time(time, session.world().clock.now()) : time);
}

Json operation_to_json(const OperationDetails& details) {
  const sync::Operation& one = details.operation;
  Json counts = Json::object();
  for (const auto& [way, count] : counts_of(details)) counts[std::string(way)] = count;
  return {{"run", one.id},
          {"time", to_rfc3339(one.time)},
          {"kind", one.kind},
          {"command", one.command},
          {"device", text_or_null(one.device)},
          {"revision_before", one.revision_before.number},
          {"revision_after", one.revision_after.number},
          {"counts", std::move(counts)},
          {"undoes", one.undoes == 0 ? Json() : Json(one.undoes)},
          {"partial", one.is_partial},
          {"taken_back", details.is_undone},
          {"finished", one.stage == sync::Operation::Stage::closed}};
}

Json version_to_json(const std::optional<sync::Version>& version) {
  if (!version) return {};
  return {{"path", version->path.text()},
          {"content_sha256", version->hash.hex()},
          {"content_revision", version->revision.number},
          {"text", version->blob.hex()}};
}

Json row_to_json(const OperationRow& row) {
  const bool is_moved = row.before && row.after && row.before->path != row.after->path;
  return {{"action", action_of(row)},
          {"path", row.path().text()},
          {"previous_path", is_moved ? Json(row.before->path.text()) : Json()},
          {"way", origin_of(row)},
          {"document_id", row.document.empty() ? Json() : Json(row.document.text)},
          {"before", version_to_json(row.before)},
          {"after", version_to_json(row.after)}};
}

Result<std::string> text_of(sync::SyncEngine& engine, const std::optional<sync::Version>& version) {
  return version ? engine.text(version->blob) : Result<std::string>(std::string());
}

/// A file that a note shows: its bytes are no text, and not in the history.
bool is_binary(const OperationRow& row) {
  return row.document.empty() && !(row.before && !row.before->blob.empty()) && !(row.after && !row.after->blob.empty());
}

Result<std::string> hunks_of(sync::SyncEngine& engine, const OperationRow& row) {
  if (is_binary(row)) return "Binary files differ\n";
  WS_LET(const std::string before, text_of(engine, row.before));
  WS_LET(const std::string after, text_of(engine, row.after));
  return sync::git::diff_text(before, after);
}

Result<void> print_diff(Session& session, SyncTree& tree, const OperationDetails& details) {
  std::string page;
  for (const OperationRow& row : details.rows) {
    if (!row.changes()) continue;
    const auto name = [](std::string_view side, const std::optional<sync::Version>& version) {
      return version ? fmt::format("{}/{}", side, clean(version->path.text(), Breaks::space)) : "/dev/null";
    };
    WS_LET(const std::string hunks, hunks_of(*tree.engine, row));
    page += fmt::format("--- {}\n+++ {}\n", name("before", row.before), name("after", row.after));
    page += coloured_diff(session, hunks);
  }
  session.printer().page(page);
  return {};
}

/// `ws sync show STATE PATH`: the text alone, byte for byte where no person reads it.
Result<ExitCode> show_text(Session& session) {
  const std::vector<std::string>& words = session.arguments().words;
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), Network::none));
  WS_LET(const sync::RelativePath path, path_argument(tree.root, words[1]));
  WS_LET(const std::string text, tree.engine->text_in(words[0], path));
  if (is_json(session.format())) {
    session.printer().json({{"v", 1}, {"state", words[0]}, {"path", path.text()}, {"content", text}});
    return ExitCode::done;
  }
  session.printer().raw(session.format() == Format::table ? clean(text, Breaks::keep) : text);
  return ExitCode::done;
}

Result<ExitCode> show(Session& session) {
  if (session.arguments().words.size() == 2) return show_text(session);
  WS_LET(const std::uint64_t id, parse_number("RUN", session.arguments().words.front()));
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), Network::none));
  WS_LET(const OperationDetails details, tree.engine->operation(id));
  const bool with_texts = session.has("diff");
  if (session.format() == Format::table || session.format() == Format::tsv) {
    if (with_texts) {
      WS_TRY(print_diff(session, tree, details));
      return ExitCode::done;
    }
    if (session.format() == Format::table) {
      const std::string note = note_of(details);
      const std::string& device = details.operation.device;
      session.printer().line(described(session, details.operation) +
                             (device.empty() ? "" : ", on " + clean(device, Breaks::space)));
      session.printer().line(shown_counts(details) + (note.empty() ? "" : "; " + note));
    }
  }
  Json rows = Json::array();
  for (const OperationRow& row : details.rows) {
    Json value = row_to_json(row);
    if (session.format() == Format::table) value["action"] = word_for_people(row);
    if (with_texts) {
      WS_LET(value["hunks"], hunks_of(*tree.engine, row));
    }
    rows.push_back(std::move(value));
  }
  if (session.format() == Format::json || session.format() == Format::yaml) {
    Json whole = operation_to_json(details);
    whole["v"] = 1;
    whole["rows"] = std::move(rows);
    session.printer().json(whole);
    return ExitCode::done;
  }
  return print_own_list(session, "ws.run_rows", {{"v", 1}, {"data", std::move(rows)}, {"next_cursor", nullptr}});
}

/// On a terminal among the rows, else a note: a pipe gets the rows alone.
void say(Session& session, const std::string& text) {
  if (session.format() == Format::table) {
    session.printer().sentence(text);
  } else {
    session.note(text);
  }
}

/// Many that stay for one reason get one line.
void print_left(Session& session, const sync::UndoReport& undone) {
  constexpr std::size_t most = 20;
  constexpr std::size_t most_alike = 3;
  std::map<std::string_view, std::size_t> alike;
  for (const sync::LeftAlone& each : undone.left) ++alike[each.why];
  const std::string_view verb = session.command().words == "sync redo" ? "redone" : "undone";
  std::set<std::string_view> told;
  std::size_t lines = 0;
  std::size_t unshown = 0;
  for (const sync::LeftAlone& left : undone.left) {
    const std::size_t count = alike[left.why];
    if (count > most_alike && !told.insert(left.why).second) continue;
    if (++lines > most) {
      ++unshown;
      continue;
    }
    std::string path = clean(left.path.text(), Breaks::space);
    if (count > most_alike) path += fmt::format(" and {} more", count - 1);
    if (session.format() == Format::table) {
      session.printer().line(fmt::format("  not {}  {}  {}", verb, path, left.why));
    } else {
      session.note(fmt::format("not {}: {}, {}", verb, path, left.why));
    }
  }
  if (unshown > 0) session.note(fmt::format("  and {} more, not {}", unshown, verb));
}

/// What the API cannot take back, told before it is done and after.
void print_limits(Session& session, const sync::UndoReport& undone) {
  if (undone.undone.is_first && !undone.report.rows.empty()) {
    say(session,
        "nothing was synced here before that run: what it sent stays here and is archived on the service, what it "
        "received stays on the service and is removed here; `ws sync` would sync both again");
  }
  if (undone.anew.empty()) return;
  const OperationRow& first = undone.anew.front();
  const std::size_t others = undone.anew.size() - 1;
  say(session,
      fmt::format("{}{} back with a new id; the comments stay on the archived document{} ({}{})",
                  clean(first.path().text(), Breaks::space),
                  others == 0 ? " comes" : fmt::format(" and {} come", counted(others, "other document")),
                  others == 0 ? "" : "s",
                  clean(first.document.text, Breaks::space),
                  others == 0 ? "" : ", ..."));
}

Json undo_to_json(const sync::UndoReport& undone, bool is_planned) {
  Json value = sync::to_json(undone.report);
  Json left = Json::array();
  for (const sync::LeftAlone& each : undone.left) left.push_back({{"path", each.path.text()}, {"reason", each.why}});
  Json anew = Json::array();
  for (const OperationRow& row : undone.anew) {
    anew.push_back({{"path", row.path().text()}, {"document_id", row.document.text}});
  }
  Json passed = Json::array();
  for (const sync::Operation& each : undone.passed) passed.push_back(each.id);
  value["undoes"] = undone.undone.id;
  value["passed_over"] = std::move(passed);
  value["planned"] = is_planned;
  value["left"] = std::move(left);
  value["further_back"] = undone.further_back ? Json(*undone.further_back) : Json();
  value["anew"] = std::move(anew);
  return value;
}

/// The run that the last undo has undone; null: its record is gone.
std::optional<sync::Operation> redone_run(SyncTree& tree, const sync::UndoReport& undone) {
  if (undone.undone.undoes == 0) return std::nullopt;
  auto details = tree.engine->operation(undone.undone.undoes);
  return details ? std::optional(std::move(details->operation)) : std::nullopt;
}

/// What is undone, or done again: the rows below say only what differs from it.
std::string undo_header(Session& session, SyncTree& tree, const sync::UndoReport& undone) {
  if (session.command().words != "sync redo") return "Undoing " + described(session, undone.undone);
  if (const auto run = redone_run(tree, undone))
    return fmt::format("Redoing {}, which run {} undid", described(session, *run), undone.undone.id);
  return fmt::format("Redoing what {} undid", described(session, undone.undone));
}

/// What people may not expect: others wrote what goes. Empty: there is no such thing. The first run's undo leaves it
/// there.
std::string received_text(const Session& session, SyncTree& tree, const sync::UndoReport& undone) {
  const bool sends =
      std::ranges::any_of(undone.report.rows, [](const sync::Row& row) { return is_push(row.action.kind); });
  if (session.command().words == "sync redo" || undone.undone.is_first || !sends) return {};
  const auto details = tree.engine->operation(undone.undone.id);
  if (!details) return {};
  const auto received = std::ranges::count_if(
      details->rows, [](const OperationRow& row) { return row.origins == ChangeOrigin::received && row.changes(); });
  if (received == 0) return {};
  return fmt::format("It received {}: undoing it takes {} from the service too, for everybody",
                     counted(static_cast<std::size_t>(received), "change"),
                     received == 1 ? "that" : "those");
}

/// The command that leads back.
std::string undo_footer(const Session& session, const SyncTree& tree, std::uint64_t operation) {
  ShellCommand back = program_for(tree);
  if (session.command().words == "sync undo" && session.arguments().words.empty()) {
    back.words("sync redo");
  } else {  // the last run that is not undone may be a later one
    back.add({"sync", "undo", std::to_string(operation)});
  }
  return fmt::format("This is run {}; to reverse it: {}", operation, back.in_backticks());
}

/// The part of the report that is about the undo: what else lies here was not asked for.
sync::Report shown_report(sync::Report report) {
  report.skipped.clear();
  report.detached.clear();
  report.not_synced = 0;
  report.not_included = 0;
  return report;
}

/// Where the run received what others wrote, a person is asked first. True: that was said.
Result<bool> confirm_received(Session& session, SyncTree& tree, sync::UndoOptions options) {
  if (options.redo || options.dry_run || !session.terminal().may_ask() || is_json(session.format())) return false;
  options.dry_run = true;
  WS_LET(const sync::UndoReport planned, tree.engine->undo(options));
  const std::string received = received_text(session, tree, planned);
  if (received.empty() || session.has("yes")) return false;
  WS_LET(const bool yes,
         session.confirm(fmt::format("{}. {}: undo it?", undo_header(session, tree, planned), received)));
  if (!yes) return fail(Failure::Kind::usage, "not confirmed; nothing was changed");
  return true;
}

void print_undo(
    Session& session, SyncTree& tree, const sync::UndoReport& undone, bool is_planned, bool was_told = false) {
  if (session.format() == Format::json || session.format() == Format::ndjson || session.format() == Format::yaml) {
    return session.printer().json(undo_to_json(undone, is_planned));
  }
  const bool is_table = session.format() == Format::table;
  for (const sync::Operation& each : undone.passed)
    say(session, described(session, each) + ": nothing of it is left to undo");
  say(session, undo_header(session, tree, undone));
  const std::string received = was_told ? std::string() : received_text(session, tree, undone);
  if (!received.empty()) say(session, received);
  print_limits(session, undone);
  print_left(session, undone);
  const bool is_nothing = undone.report.rows.empty() && !undone.report.guard && undone.report.conflicts.empty();
  if (is_nothing) {
    const std::string_view verb = session.command().words == "sync redo" ? "redo" : "undo";
    say(session,
        undone.left.empty() ? fmt::format("nothing of it is left to {}", verb)
                            : fmt::format("nothing of it can be {}ne", verb));
    if (undone.further_back) {
      ShellCommand further = program_for(tree);
      further.add({"sync", "undo", std::to_string(*undone.further_back)});
      say(session, "to go further back: " + further.in_backticks());
    }
    return;
  }
  print_report(session,
               tree,
               is_table ? shown_report(undone.report) : undone.report,
               is_planned ? ReportStage::planned : ReportStage::done);
  if (session.has("dry-run")) return say(session, "nothing was changed");
  if (is_table && !is_planned && undone.report.operation) {
    session.printer().sentence(undo_footer(session, tree, *undone.report.operation));
  }
}

ExitCode exit_code_of_undo(const Session& session, const sync::UndoReport& undone) {
  const ExitCode run = exit_code_of_run(undone.report, session.world().caught_signal());
  return run == ExitCode::done && !undone.left.empty() ? ExitCode::partial : run;
}

Result<ExitCode> take_back(Session& session, bool redo) {
  sync::UndoOptions options{.redo = redo, .dry_run = session.has("dry-run")};
  const std::vector<std::string>& words = session.arguments().words;
  if (!words.empty()) {
    WS_LET(options.operation, parse_number("RUN", words.front()));
  }
  WS_LET(sync::RunOptions run, run_options(session));
  options.allow_deletes = run.allow_deletes;
  options.only = std::move(run.only);
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), options.dry_run ? Network::to_look : Network::needed));
  WS_LET(const bool was_told, confirm_received(session, tree, options));
  WS_LET(sync::UndoReport undone, tree.engine->undo(options));
  if (undone.report.guard && !options.dry_run && session.terminal().may_ask() && !session.has("json")) {
    print_undo(session, tree, undone, false);
    if (session.confirm_word("type `delete` to continue; anything else cancels:", "delete")) {
      options.allow_deletes = true;
      WS_LET(undone, tree.engine->undo(options));
    } else {
      session.note("nothing was changed");
      return exit_code_of_undo(session, undone);
    }
  }
  print_undo(session, tree, undone, options.dry_run, was_told);
  if (options.dry_run) return ExitCode::done;
  const ExitCode exit = exit_code_of_undo(session, undone);
  print_stop(session, tree, undone.report, exit);
  const bool is_silent = session.has("quiet") && session.format() != Format::table && !is_json(session.format());
  if (is_silent && exit == ExitCode::partial && !undone.left.empty()) {
    const sync::LeftAlone& first = undone.left.front();
    session.print_failure({.kind = Failure::Kind::partial,
                           .what = fmt::format("{} not undone; the first is {}: {}",
                                               counted(undone.left.size(), "file was", "files were"),
                                               clean(first.path.text(), Breaks::space),
                                               first.why)},
                          exit);
  }
  if (undone.report.ended_by) session.print_failure(*undone.report.ended_by, exit);
  return exit;
}

std::vector<Flag> undo_flags() {
  std::vector<Flag> flags = step_flags();
  for (Flag& flag : run_flags()) {
    if (flag.name == "allow-deletes") flags.insert(flags.begin(), std::move(flag));
  }
  return flags;
}

}  // namespace

Result<ExitCode> list_runs(Session& session) {
  std::size_t limit = shown_runs;
  if (const auto wanted = session.arguments().value("max-items")) {
    WS_LET(limit, parse_number("--max-items", *wanted));
  }
  if (session.has("all")) limit = 0;
  if (!session.arguments().words.empty()) {
    return fail(Failure::Kind::usage, "--runs takes no PATH", "`ws sync show RUN` lists the files of one");
  }
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), Network::none));
  WS_LET(const std::vector<OperationDetails> runs, tree.engine->operations(limit));
  const bool for_people = session.format() == Format::table || session.format() == Format::tsv;
  Json list = {{"v", 1}, {"data", Json::array()}, {"next_cursor", nullptr}};
  for (const OperationDetails& each : runs) {
    Json value = operation_to_json(each);
    if (for_people) {
      value["counts"] = shown_counts(each);
      const std::string note = note_of(each);
      value["changes"] = note.empty() ? shown_counts(each) : fmt::format("{}; {}", shown_counts(each), note);
      value["note"] = note;
    }
    list["data"].push_back(std::move(value));
  }
  const ExitCode exit = print_own_list(session, "ws.runs", list);
  if (session.format() == Format::table && !runs.empty()) {
    session.note(fmt::format("{} lists what a run changed; {} undoes it",
                             program_for(tree).add({"sync", "show", "RUN"}).in_backticks(),
                             program_for(tree).add({"sync", "undo", "RUN"}).in_backticks()));
  }
  return exit;
}

Command sync_show_command() {
  return {.words = "sync show",
          .summary = "Show what a run changed, or a file in a state of the history",
          .details =
              "With RUN: each document with its path and its text before and after; --diff shows the texts line by "
              "line. With STATE and PATH: the text of that file in that state.",
          .arguments = {{.placeholder = "RUN|STATE",
                         .help = "a run that `ws sync log --runs` lists, or a state that `ws sync log` lists"},
                        {.placeholder = "PATH", .help = "a file in the folder, with STATE", .count = Count::optional}},
          .flags = {{.name = "diff", .help = "what changed in each text"}},
          .examples = {"ws sync show 12", "ws sync show 12 --diff", "ws sync show 1f2e3d4c5b notes/a.md"},
          .run = show};
}

Command sync_undo_command() {
  return {
      .words = "sync undo",
      .summary = "Undo a run, here and on the service",
      .details =
          "Undoes what the run changed, here and on the service. What somebody changed since is merged, or left as "
          "it is and listed; nothing is overwritten. An archived document comes back as a new document with a new id, "
          "and its comments stay on the archived one. What the run received from others goes from the service too: on "
          "a terminal it asks first. -n shows what would be done; `ws sync redo` undoes the undo.",
      .arguments = {{.placeholder = "RUN",
                     .help = "a run that `ws sync log --runs` lists; the last that is not undone, if not given",
                     .count = Count::optional}},
      .flags = undo_flags(),
      .examples = {"ws sync undo", "ws sync undo 12 -n", "ws sync undo 12 --only 'notes/*'"},
      .run = [](Session& session) { return take_back(session, false); }};
}

Command sync_redo_command() {
  return {.words = "sync redo",
          .summary = "Undo the last undo",
          .details = "The same as `ws sync undo RUN`, where RUN is the last undo.",
          .flags = undo_flags(),
          .examples = {"ws sync redo", "ws sync redo -n"},
          .run = [](Session& session) { return take_back(session, true); }};
}

}  // namespace ws::cli

// A run taken back, or done again: asked, shown, and what of it stays.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/text.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/sync/file_steps.hpp"
#include "cli/commands/sync/tree.hpp"
#include "cli/output/human.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;
using sync::ChangeOrigin;
using sync::OperationRow;

/// On a terminal among the rows, else a note: a pipe gets the rows alone.
void say(Session& session, const std::string& text) {
  if (session.format() == Format::table) {
    session.printer().sentence(text);
  } else {
    session.note(text);
  }
}

void print_left(Session& session, const sync::UndoReport& undone) {
  const std::string_view verb = session.command().words == "sync redo" ? "redone" : "undone";
  const LeftLines left = lines_of_left(undone.left);
  for (const LeftLines::Line& each : left.lines) {
    if (session.format() == Format::table) {
      session.printer().line(fmt::format("  not {}  {}  {}", verb, each.files, each.why));
    } else {
      session.note(fmt::format("not {}: {}, {}", verb, each.files, each.why));
    }
  }
  if (left.unshown > 0) session.note(fmt::format("  and {} more, not {}", left.unshown, verb));
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
                  clean(first.document.text(), Breaks::space),
                  others == 0 ? "" : ", ..."));
}

Json undo_to_json(const sync::UndoReport& undone, bool is_planned) {
  Json value = sync::to_json(undone.report);
  Json left = Json::array();
  for (const sync::LeftAlone& each : undone.left) left.push_back({{"path", each.path.text()}, {"reason", each.why}});
  Json anew = Json::array();
  for (const OperationRow& row : undone.anew) {
    anew.push_back({{"path", row.path().text()}, {"document_id", row.document.text()}});
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
      details->rows, [](const OperationRow& row) { return row.origins.has(ChangeOrigin::received) && row.changes(); });
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
    WS_LET(options.operation, positive_number("RUN", words.front()));
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

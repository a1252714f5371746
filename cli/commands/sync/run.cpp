// Keeping a folder in step: init, run, status, plan and the steps one by one.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/shell_command.hpp"
#include "cli/commands/shared/account.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/sync/share.hpp"
#include "cli/commands/sync/tree.hpp"
#include "cli/output/human.hpp"
#include "cli/state/tree_register.hpp"
#include "cli/terminal/table.hpp"
#include "sync-engine/remote/api_remote.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const Session& session) {
  const std::vector<std::string>& words = session.arguments().words;
  return words.empty() ? fs::current_path() : fs::absolute(words.front());
}

Network needs_network(const Session& session) { return session.has("dry-run") ? Network::to_look : Network::needed; }

/// Ctrl-C ends a run between two steps: what was published stays so, and the next run does the rest.
Failure stopped_after(Failure failure, const sync::Report& report) {
  if (failure.kind == Failure::Kind::unknown_outcome && failure.call.operation == "sync.commit")
    failure.hint = "run the same command again: it finds out what was published, and sends nothing twice";
  const auto was_done = [](const sync::Row& row) {
    return row.state == sync::Row::State::done || row.state == sync::Row::State::staged;
  };
  if (failure.kind == Failure::Kind::unreachable && std::ranges::any_of(report.rows, was_done))
    failure.hint = "run the same command again: it does the rest";
  if (failure.kind != Failure::Kind::cancelled) return failure;
  const auto in_state = [&](sync::Row::State state) {
    return std::ranges::count_if(
        report.rows, [state](const sync::Row& row) { return sync::is_push(row.action.kind) && row.state == state; });
  };
  const auto published = in_state(sync::Row::State::done);
  // Staging publishes nothing; a commit without an answer may have.
  const bool is_in_doubt = failure.call.applied == Applied::unknown && failure.call.operation != "sync.push";
  failure.what = fmt::format("stopped: {} of {} changes {} published",
                             published,
                             published + in_state(sync::Row::State::planned) + in_state(sync::Row::State::staged),
                             is_in_doubt ? "are known to be" : "were");
  failure.hint = is_in_doubt ? "run the same command again: it finds out what was published, and continues"
                             : "run the same command again to continue";
  return failure;
}

/// A person who stopped a run is shown what was done; the error counts what was not.
sync::Report without_planned(sync::Report report) {
  std::erase_if(report.rows, [](const sync::Row& row) { return row.state == sync::Row::State::planned; });
  return report;
}

/// The report, and what ended it early; `exit` stands for both.
ExitCode finish(Session& session, SyncTree& tree, const sync::Report& report, ReportStage stage, ExitCode exit) {
  if (report.ended_by && report.ended_by->kind == Failure::Kind::cancelled && session.format() == Format::table) {
    const sync::Report done = without_planned(report);
    if (!done.rows.empty()) print_report(session, tree, done, stage);
    session.print_failure(stopped_after(*report.ended_by, report), exit);
    return exit;
  }
  // A command that failed prints its error alone, unless there is something to tell that it did.
  const bool did_any = std::ranges::any_of(report.rows, [](const sync::Row& row) {
    return row.state == sync::Row::State::done || row.state == sync::Row::State::staged;
  });
  if (!report.ended_by || did_any || !is_json(session.format())) print_report(session, tree, report, stage);
  print_undo_hint(session, tree, report);
  if (stage != ReportStage::planned) print_stop(session, tree, report, exit);
  if (report.ended_by) session.print_failure(session.with_hint(stopped_after(*report.ended_by, report)), exit);
  return exit;
}

/// What a run fails with that did not come to a report.
Failure stopped_early(Failure failure) {
  if (failure.kind != Failure::Kind::cancelled) return failure;
  failure.what = "stopped before anything was published";
  failure.hint = "run the same command again to continue";
  return failure;
}

/// What the first run would send, before it does.
Result<void> print_what_is_sent(Session& session, const fs::path& folder, bool is_in_project) {
  SyncTree tree{.root = folder};
  WS_TRY(open_engine(session, tree));
  WS_LET(const sync::Report report, tree.engine->status({.offline = true}));
  tree.progress->clear();
  const auto created = [&](bool attachment) {
    return std::ranges::count_if(report.rows, [attachment](const sync::Row& row) {
      return row.action.kind == sync::ActionKind::push_create && row.action.attachment == attachment;
    });
  };
  const auto notes = created(false);
  const auto files = created(true);
  if (notes + files == 0) return {};
  const auto counted = [](auto count, std::string_view word) {
    return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
  };
  const std::string sent = counted(notes, "note") + (files == 0 ? "" : " and " + counted(files, "attachment"));
  const auto left_out = report.skipped.size() + report.not_included;
  const std::string left =
      left_out == 0 ? "" : " (" + counted(left_out, "other file") + " left out: `ws sync status` says why)";
  session.printer().sentence(
      fmt::format("The first `ws sync` will send {}{}; {} can see them on the service.",
                  sent,
                  left,
                  is_in_project ? "everybody in the Workspace" : "you and the Workspace's admins"));
  return {};
}

/// Folders that nobody means to sync, or that are synced already in another way. Fails with `usage`.
Result<void> check_place(Session& session, const sync::InitOptions& options) {
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(options.folder, error);
  const auto home = session.world().environment.text("HOME");
  const bool is_home = home && folder == fs::weakly_canonical(*home, error);
  if (is_home || folder == folder.root_path()) {
    return fail(
        Failure::Kind::usage,
        fmt::format("{} is your {} folder: everything in it would be sent", folder.string(), is_home ? "home" : "root"),
        "name a folder of notes in it");
  }
  const auto trees = TreeRegister(session.paths().state).all();
  if (!trees) return {};
  for (const TiedTree& tree : *trees) {
    const fs::path other = fs::weakly_canonical(tree.folder, error);
    const bool is_tied = fs::exists(other / ".ws", error);
    if (is_tied && other != folder && (other.string() + "/").starts_with(folder.string() + "/")) {
      return fail(Failure{.kind = Failure::Kind::usage,
                          .what = fmt::format("{} holds the synced folder {}", folder.string(), other.string()),
                          .hint = "sync another folder, or stop syncing that one first",
                          .code = "already_tied"});
    }
    const bool makes_source = options.source_id.empty() && options.name.empty();
    if (other == folder && !is_tied && makes_source && tree.base_url == options.base_url) {
      return fail(Failure{.kind = Failure::Kind::usage,
                          .what = fmt::format("{} was synced with \"{}\" before, and its .ws is missing",
                                              folder.string(),
                                              clean(tree.name, Breaks::space)),
                          .hint = "join it again: " + join_command(tree.source_id).in_backticks() +
                                  "; --name makes a new source instead",
                          .code = "was_tied"});
    }
  }
  return {};
}

Result<ExitCode> init(Session& session) {
  const int places = static_cast<int>(session.has("project")) + static_cast<int>(session.has("root")) +
                     static_cast<int>(session.has("source"));
  if (places > 1) return fail(Failure::Kind::usage, "give one of --project, --root and --source");
  if (session.has("shared") && (session.has("root") || session.has("source")))
    return fail(Failure::Kind::usage, "--shared makes a source in a Project: it takes --project alone");
  sync::InitOptions options{.folder = folder_of(session),
                            .name = session.arguments().value("name").value_or(""),
                            .project_id = session.arguments().value("project").value_or(""),
                            .root_node_id = session.arguments().value("root").value_or(""),
                            .source_id = session.arguments().value("source").value_or(""),
                            .trusted = session.settings().trusted};
  if (const auto word = session.arguments().value("attachments")) {
    const auto mode = sync::find_attachment_mode(*word);
    if (!mode) return fail(Failure::Kind::usage, "--attachments takes linked, all or off, not `" + *word + "`");
    options.attachments = *mode;
  }
  WS_LET(const BaseUrl url, session.base_url());
  options.base_url = url.text;
  options.origin = url.origin;
  WS_TRY(check_place(session, options));
  if (session.has("dry-run")) {
    session.printer().sentence(options.folder.string() + " would sync with " + url.text);
    return ExitCode::done;
  }
  WS_LET(Client * client, session.client());
  WS_LET(const Key key, session.key());
  WS_LET(options.account, account_of(session, key));
  options.profile = key.stored ? key.stored->profile : "";
  std::error_code error;
  const bool is_new = !fs::exists(options.folder, error);
  if (is_new) {
    WS_LET(const bool agreed, session.confirm(fmt::format("there is no folder {}: make it?", options.folder.string())));
    if (!agreed) return fail(Failure::Kind::usage, "not confirmed; nothing was changed");
  }
  WS_TRY(make_folders(options.folder));
  if (session.has("shared") && options.project_id.empty()) {
    const std::string title = options.name.empty() ? options.folder.filename().string() : options.name;
    WS_LET(const NewProject project, make_project(*client, title));
    options.project_id = project.id;
  }
  const auto remote = sync::make_api_remote(*client);
  const auto made = sync::init(options, *remote, session.world().clock, session.world().random);
  if (!made) {
    if (is_new) fs::remove(options.folder, error);  // one that is not empty stays
    return fail(made.error());
  }
  const sync::TreeBinding& binding = *made;
  register_tree(session, options.folder, binding);
  if (!binding.kept_aside.empty()) {
    session.note("the .ws of an older version is kept as " + binding.kept_aside +
                 ": its history.git (a bare git repository), conflicts and tmp stay readable");
  }
  const std::string join = join_command(binding.source_id).text();
  if (session.format() == Format::table) {
    session.printer().sentence(options.folder.string() + " now syncs with \"" + clean(binding.name, Breaks::space) +
                               "\" at " + url.text + ".");
    const bool is_in_project = !options.project_id.empty();
    if (options.source_id.empty()) WS_TRY(print_what_is_sent(session, options.folder, is_in_project));
    session.printer().sentence(
        std::string(options.source_id.empty()
                        ? "Next: `ws sync`. "
                        : "Next: `ws sync` receives its notes, and sends those of this folder. ") +
        (is_in_project ? "Anybody in the Workspace can sync the same notes:"
                       : "To sync the same notes on another machine:"));
    session.printer().line("  " + join);
    return ExitCode::done;
  }
  session.printer().resource({{"v", 1},
                              {"source_id", binding.source_id},
                              {"client_id", binding.client_id},
                              {"name", binding.name},
                              {"folder", options.folder.string()},
                              {"base_url", binding.base_url},
                              {"join", join}});
  return ExitCode::done;
}

/// The last line of a preview: its rows read like those of a run.
void print_unchanged(Session& session) {
  if (session.format() == Format::table) session.printer().sentence("nothing was changed");
}

enum class AboutDeletes { nothing, bring_back, keep, confirm };

/// The guard stopped it: a person may bring back what is gone here, keep what was archived there, or confirm by typing
/// the word.
AboutDeletes ask_about_deletes(Session& session, SyncTree& tree, const sync::Report& report) {
  for (const std::string& line : render_outcome(report, ReportStage::done, invocation_of(session, tree)))
    session.note(line);
  const sync::Guard& guard = *report.guard;
  const bool is_known_service = !guard.foreign_source && !guard.empty_listing;
  const std::size_t gone_here = is_known_service ? guard.deletes_there + guard.files_deleted_there : 0;
  const std::size_t gone_there = is_known_service ? guard.deletes_here + guard.files_deleted_here : 0;
  std::string question;
  if (gone_here > 0) {
    question = fmt::format("{} missing here: type `r` to restore {}{} ",
                           counted(gone_here, "file is", "files are"),
                           gone_here == 1 ? "it" : "them",
                           gone_there > 0 ? ";" : ",");
  }
  if (gone_there > 0) {
    question += fmt::format("{} {}: type `keep` to keep {} here, ",
                            counted(gone_there, "file was", "files were"),
                            gone_there_words(guard),
                            gone_there == 1 ? "it" : "them");
  }
  question += gone_here > 0 && gone_there > 0 ? "or `delete` to remove them on both sides; anything else cancels:"
              : guard.deletes_there > 0       ? "or `delete` to archive them on the service; anything else cancels:"
              : gone_here > 0                 ? "or `delete` to remove them on the service; anything else cancels:"
              : gone_there > 0                ? "or `delete` to remove them here; anything else cancels:"
                                              : "type `delete` to continue; anything else cancels:";
  const std::string asked = wrap_for(session.terminal(), Stream::err, clean(question, Breaks::space), 0);
  const std::string answer = session.terminal().ask(asked + " ");
  if (answer == "delete") return AboutDeletes::confirm;
  if (gone_there > 0 && answer == "keep") return AboutDeletes::keep;
  return gone_here > 0 && answer == "r" ? AboutDeletes::bring_back : AboutDeletes::nothing;
}

bool may_answer_guard(Session& session, const sync::Report& report) {
  return report.guard && !session.has("json") && session.terminal().may_ask();
}

/// Runs again as long as somebody answers the guard.
Result<void> answer_guard(Session& session, SyncTree& tree, sync::RunOptions& options, sync::Report& report) {
  while (may_answer_guard(session, report)) {
    switch (ask_about_deletes(session, tree, report)) {
      case AboutDeletes::nothing: session.note("nothing was changed"); return {};
      case AboutDeletes::keep: options.keep_archived = true; break;
      case AboutDeletes::confirm: options.allow_deletes = true; break;
      case AboutDeletes::bring_back: {
        WS_LET(const sync::BroughtBack back, tree.engine->bring_back({.wanted = options.only, .only_missing = true}));
        session.note(fmt::format("{} restored", counted(back.steps.size(), "file is", "files are")));
        break;
      }
    }
    WS_LET(report, tree.engine->run(options));
  }
  return {};
}

/// The same for files that wait.
bool confirms_growth(Session& session) {
  if (!session.terminal().may_ask() || session.has("json")) return false;
  return session.confirm_word("type `receive` to receive them, anything else to leave them waiting:", "receive");
}

Result<ExitCode> run_sync(Session& session) {
  WS_LET(sync::RunOptions options, run_options(session));
  WS_LET(SyncTree tree, open_tree(session, folder_of(session), needs_network(session)));
  if (session.has("dry-run")) {
    WS_LET(const sync::Report planned, tree.engine->status(options));
    const ExitCode exit = finish(session, tree, planned, ReportStage::planned, ExitCode::done);
    print_unchanged(session);
    return exit;
  }
  auto ran = tree.engine->run(options);
  if (!ran) return fail(stopped_early(std::move(ran).error()));
  sync::Report report = std::move(*ran);
  if (may_answer_guard(session, report)) {
    WS_TRY(answer_guard(session, tree, options, report));
    if (report.guard) return exit_code_of_run(report, session.world().caught_signal());
  }
  const ExitCode exit = finish_run(session, tree, report, ReportStage::done);
  if (!report.growth || report.guard || !confirms_growth(session)) return exit;
  options.allow_large = true;
  WS_LET(report, tree.engine->run(options));
  return finish_run(session, tree, report, ReportStage::done);
}

Result<ExitCode> show_status(Session& session) {
  WS_LET(sync::RunOptions options, run_options(session));
  options.name_others = session.format() == Format::table;
  WS_LET(SyncTree tree, open_tree(session, folder_of(session), options.offline ? Network::none : Network::to_look));
  WS_LET(const sync::Report report, tree.engine->status(options));
  const ExitCode exit = session.has("exit-code") ? exit_code_of_status(report) : ExitCode::done;
  if (session.format() == Format::table) {
    if (!tree.account.empty()) session.printer().sentence("Syncing as " + tree.account + ".");
    WS_LET(const std::vector<sync::LeftOutName> left_out, tree.engine->left_out());
    if (!left_out.empty()) {
      session.printer().sentence(fmt::format("{} left out here on purpose: `ws sync leave` lists {}.",
                                             counted(left_out.size(), "name is", "names are"),
                                             left_out.size() == 1 ? "it" : "them"));
    }
  }
  return finish(session, tree, report, ReportStage::planned, exit);
}

enum class Step { pull, push, commit };

/// The plan of one step alone: what a run would do in its direction.
sync::Report only_step(sync::Report report, Step step) {
  const auto others = std::erase_if(report.rows, [step](const sync::Row& row) {
    const sync::ActionKind kind = row.action.kind;
    if (kind == sync::ActionKind::conflict || kind == sync::ActionKind::merge) return false;
    return step == Step::pull ? sync::is_push(kind) : sync::is_pull(kind);
  });
  report.partial = report.partial || others > 0;
  return report;
}

/// What the steps leave to a whole run: files that could not be sent, and what was edited meanwhile. For people alone:
/// it walks the folder once more.
void print_still_unsent(Session& session, SyncTree& tree, bool with_notes) {
  if (session.format() != Format::table) return;
  const auto left = tree.engine->status({.offline = true});
  tree.progress->clear();
  if (!left) return;
  std::size_t notes = 0;
  std::size_t attachments = 0;
  for (const sync::Row& row : left->rows) {
    if (!sync::is_push(row.action.kind)) continue;
    if (row.action.attachment) {
      attachments += with_notes || row.state != sync::Row::State::staged ? 1 : 0;
    } else if (with_notes) {
      ++notes;
    }
  }
  if (notes + attachments == 0) return;
  const std::string what = notes == 0 ? counted(attachments, "attachment")
                           : attachments == 0
                               ? counted(notes, "note")
                               : fmt::format("{} and {}", counted(notes, "note"), counted(attachments, "attachment"));
  session.printer().sentence(fmt::format("not sent yet: {}; {} sends {}",
                                         what,
                                         program_for(tree).add({"sync"}).in_backticks(),
                                         notes + attachments == 1 ? "it" : "them"));
}

Result<ExitCode> run_step(Session& session, Step step) {
  WS_LET(sync::RunOptions options, run_options(session));
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), needs_network(session)));
  if (session.has("dry-run")) {
    if (step == Step::pull) options.half = sync::Half::here;
    const bool publishes = step == Step::commit;
    WS_LET(sync::Report planned, publishes ? tree.engine->commit(options) : tree.engine->status(options));
    if (!publishes) planned = only_step(std::move(planned), step);
    const ReportStage stage = publishes ? ReportStage::published : ReportStage::planned;
    const ExitCode exit = finish(session, tree, planned, stage, ExitCode::done);
    print_unchanged(session);
    return exit;
  }
  switch (step) {
    case Step::pull: {
      WS_LET(const sync::Report report, tree.engine->pull(options));
      return finish_run(session, tree, report, ReportStage::done);
    }
    case Step::push: {
      WS_LET(const sync::Report report, tree.engine->push(options));
      const ExitCode exit = finish_run(session, tree, report, ReportStage::staged);
      if (!report.guard && !report.ended_by) print_still_unsent(session, tree, false);
      return exit;
    }
    case Step::commit: {
      WS_LET(const sync::Report report, tree.engine->commit(options));
      const ExitCode exit = finish_run(session, tree, report, ReportStage::published);
      if (!report.ended_by) print_still_unsent(session, tree, true);
      return exit;
    }
  }
  return ExitCode::unexpected;
}

const Word folder_word = {.placeholder = "DIR",
                          .help = "a synced folder, or one in it; the working directory, if not given",
                          .count = Count::optional};

std::vector<Flag> joined_flags(std::vector<Flag> first, const std::vector<Flag>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

ExitCode finish_run(Session& session, SyncTree& tree, const sync::Report& report, ReportStage stage) {
  return finish(session, tree, report, stage, exit_code_of_run(report, session.world().caught_signal()));
}

Command sync_init_command() {
  return {
      .words = "sync init",
      .summary = "Set up a folder for sync",
      .details =
          "It makes a source on the service, by default a new empty Page named after the folder, or joins an existing "
          "one. No content is sent; `ws sync` does that.",
      .arguments = {{.placeholder = "DIR", .help = "the folder; here, if not given", .count = Count::optional}},
      .flags =
          {{.name = "name",
            .placeholder = "NAME",
            .help = "of the source; else the folder's",
            .limits = "1-200 characters"},
           {.name = "project", .placeholder = "ID", .help = "sync what is in this Project", .names = Subject::project},
           {.name = "root", .placeholder = "NODE", .help = "sync what is below this node", .names = Subject::thing},
           {.name = "source",
            .placeholder = "ID",
            .help = "join an existing source; the end of an id or a name does where a folder here has it",
            .names = Subject::thing},
           {.name = "shared", .help = "make a Project for it, or use that of --project: the whole Workspace sees it"},
           {.name = "attachments",
            .placeholder = "MODE",
            .help = "which files beside the notes are synced: those that notes show, all, or none",
            .limits = "linked, all or off",
            .fallback = "linked"}},
      .examples = {"ws sync init ~/notes", "ws sync init --source 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b"},
      .run = init};
}

Command sync_run_command() {
  return {.words = "sync run",
          .summary = "Sync: pull, merge and push",
          .details =
              "`ws sync` is the same. Edits on both sides are merged where they do not collide; what collides is "
              "recorded as a conflict, and everything else is synced. Nothing is overwritten.",
          .arguments = {folder_word},
          .flags = run_flags(),
          .examples = {"ws sync", "ws sync ~/notes --json", "ws sync -n"},
          .run = run_sync};
}

Command sync_status_command() {
  return {.words = "sync status",
          .summary = "Show what differs, and change nothing",
          .arguments = {folder_word},
          .flags = {{.name = "offline", .help = "without the network, compared with what the last sync received"},
                    {.name = "exit-code", .help = "end with 7 on conflicts, 13 when anything else is pending"},
                    flag_named("no-merge")},
          .examples = {"ws sync status", "ws sync status --offline --exit-code"},
          .run = show_status};
}

Command sync_plan_command() {
  Command command = sync_status_command();
  command.words = "sync plan";
  command.summary = "Show what a run would do";
  command.arguments = {};
  command.flags = joined_flags(std::move(command.flags),
                               {flag_named("accept-deletes"),
                                flag_named("allow-deletes"),
                                flag_named("keep-archived"),
                                flag_named("allow-large")});
  command.examples = {"ws sync plan", "ws sync plan --json"};
  return command;
}

Command sync_pull_command() {
  return {.words = "sync pull",
          .summary = "Apply what comes from the service",
          .details = "A clean merge stays as a local edit until it is pushed.",
          .flags = joined_flags({flag_named("no-merge"),
                                 flag_named("accept-deletes"),
                                 flag_named("allow-deletes"),
                                 flag_named("keep-archived"),
                                 flag_named("allow-large")},
                                step_flags()),
          .examples = {"ws sync pull", "ws sync pull -n"},
          .run = [](Session& session) { return run_step(session, Step::pull); }};
}

Command sync_push_command() {
  return {.words = "sync push",
          .summary = "Stage what changed here; nobody sees it until `ws sync commit`",
          .flags = joined_flags({flag_named("allow-deletes")}, step_flags()),
          .examples = {"ws sync push && ws sync commit -m 'New chapter'"},
          .run = [](Session& session) { return run_step(session, Step::push); }};
}

Command sync_commit_command() {
  return {.words = "sync commit",
          .summary = "Publish what is staged",
          .flags = joined_flags({flag_named("message")}, step_flags()),
          .examples = {"ws sync commit -m 'New chapter'"},
          .run = [](Session& session) { return run_step(session, Step::commit); }};
}

}  // namespace ws::cli

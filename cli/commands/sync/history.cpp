// What the local history holds: its states, a text brought back; and what differs now.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/text.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/commands/sync/tree.hpp"
#include "cli/output/human.hpp"
#include "cli/output/sync_report.hpp"
#include "cli/state/tree_register.hpp"
#include "sync-engine/git/changed_lines.hpp"
#include "sync-engine/git/object.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t shown_states = 50;
constexpr std::size_t state_id_length = 10;

Json state_to_json(const sync::HistoryState& state) {
  Json changes = Json::array();
  for (const sync::HistoryChange& change : state.changes) {
    changes.push_back({{"path", change.path}, {"deleted", !change.blob.has_value()}});
  }
  return {{"state", state.id.substr(0, state_id_length)},
          {"time", to_rfc3339(state.time)},
          {"author", state.author},
          {"message", state.message},
          {"files", state.changes.size()},
          {"first", state.changes.empty() ? Json() : Json(state.changes.front().path)},
          {"id", state.id},
          {"changes", std::move(changes)}};
}

Result<ExitCode> log(Session& session) {
  if (session.has("runs")) return list_runs(session);
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), Network::none));
  sync::LogOptions options{.limit = shown_states};
  const std::vector<std::string>& words = session.arguments().words;
  if (!words.empty()) {
    WS_LET(options.path, path_argument(tree.root, words.front()));
  }
  if (const auto wanted = session.arguments().value("max-items")) {
    options.limit = parse_whole<std::size_t>(*wanted).value_or(0);
    if (options.limit == 0) {
      return fail(Failure::Kind::usage, "--max-items takes a number of at least 1, not `" + *wanted + "`");
    }
  }
  if (session.has("all")) options.limit = 0;
  WS_LET(const std::vector<sync::HistoryState> states, tree.engine->log(options));
  std::error_code ignored;
  if (states.empty() && options.path && !fs::exists(fs::symlink_status(tree.root / options.path->string(), ignored))) {
    return fail(Failure::Kind::not_found,
                fmt::format("there is no file {}, and the history holds none of that name", words.front()));
  }
  std::optional<sync::git::ObjectId> now;  // the newest state with the text of the file is marked
  if (options.path) {
    if (const auto text = read_file(tree.root / options.path->string()))
      now = sync::git::object_id(sync::git::ObjectType::blob, *text);
  }
  Json list = {{"v", 1}, {"data", Json::array()}, {"next_cursor", nullptr}};
  for (const sync::HistoryState& state : states) {
    Json value = state_to_json(state);
    const bool is_as_now = now && std::ranges::any_of(state.changes, [&](const auto& one) { return one.blob == now; });
    if (session.format() == Format::table && is_as_now) {
      value["message"] = state.message + " (as the file is now)";
      now.reset();
    }
    if (session.format() == Format::table && state.changes.size() > 1) value["more"] = state.changes.size() - 1;
    list["data"].push_back(std::move(value));
  }
  print_own_list(session, "ws.states", list, words.empty() ? "" : "The history has no state of " + words.front() + ".");
  if (options.limit != 0 && states.size() == options.limit) {
    session.note(fmt::format("only the last {} are shown; --all shows every one", options.limit));
  }
  if (session.format() == Format::table && options.path && !states.empty()) {
    ShellCommand restore = program_for(tree);
    restore.add({"sync", "restore"}).path(options.path->text()).add({"--at", "STATE"});
    session.note(restore.in_backticks() + " restores it as in one of them");
  }
  return ExitCode::done;
}

Result<ExitCode> untie(Session& session) {
  const std::vector<std::string>& words = session.arguments().words;
  WS_LET(const fs::path root, sync::find_root(words.empty() ? fs::current_path() : fs::path(words.front())));
  const auto binding = sync::read_binding(root, session.settings().trusted);
  if (!words.empty() && !fs::exists(fs::path(words.front()) / ".ws")) {
    return fail(
        Failure::Kind::usage, words.front() + " is not a synced folder itself", "its folder is " + root.string());
  }
  const std::string shown = clean(root.string(), Breaks::space);
  const auto print_tied = [&](bool is_tied) {
    session.printer().resource({{"v", 1},
                                {"folder", root.string()},
                                {"source_id", binding ? Json(binding->source_id) : Json()},
                                {"tied", is_tied}});
  };
  if (session.has("dry-run") && session.format() != Format::table) {
    print_tied(true);
    return ExitCode::done;
  }
  if (session.has("dry-run")) {
    session.printer().sentence(
        fmt::format("would stop syncing {}, and delete its local history; its files stay", shown));
    return ExitCode::done;
  }
  WS_LET(const bool yes,
         session.confirm(fmt::format(
             "stop syncing {}? Its files stay here and on the service; its local history is deleted", shown)));
  if (!yes) return fail(Failure::Kind::usage, "not confirmed; nothing was changed");
  WS_TRY(sync::untie(root, session.settings().trusted));
  WS_TRY(TreeRegister(Paths::of(session.world().environment).state).remove(root));
  if (session.format() != Format::table) {
    print_tied(false);
    return ExitCode::done;
  }
  session.printer().sentence(shown + " is no longer synced; all of its files are still there");
  if (binding) {
    session.note("to sync it again: " +
                 ShellCommand{"ws", "sync", "init", "--source", binding->source_id}.in_backticks());
  }
  return ExitCode::done;
}

Result<ExitCode> roots(Session& session) {
  WS_LET(const std::vector<TiedTree> trees, TreeRegister(Paths::of(session.world().environment).state).all());
  Json list = {{"v", 1}, {"data", Json::array()}, {"next_cursor", nullptr}};
  for (const TiedTree& tree : trees) {
    const auto binding = sync::read_binding(tree.folder, session.settings().trusted);
    const bool is_it = binding && binding->source_id == tree.source_id;
    list["data"].push_back({{"folder", tree.folder.string()},
                            {"state",
                             !is_it                              ? "missing"
                             : session.format() == Format::table ? "synced"
                                                                 : "tied"},
                            {"name", tree.name},
                            {"source_id", tree.source_id},
                            {"base_url", tree.base_url}});
  }
  return print_own_list(session, "ws.roots", list);
}

/// Half a sentence: "3 states and 12 texts", "3 states, 12 texts and 1 attachment file".
std::string shown_loss(const sync::GcReport& report) {
  const std::string states = counted(report.states_dropped, "state");
  const std::string texts = counted(report.texts_dropped, "text");
  if (report.files_dropped == 0) return states + " and " + texts;
  return fmt::format("{}, {} and {}", states, texts, counted(report.files_dropped, "attachment file"));
}

void print_gc(Session& session, const sync::GcReport& report, const sync::GcOptions& options) {
  const std::string from = to_rfc3339(options.keep_from).substr(0, 10);
  const std::string kept = fmt::format("{} kept", counted(report.states_kept, "state"));
  const bool is_nothing = report.states_dropped == 0 && report.texts_dropped == 0 && report.files_dropped == 0;
  if (options.dry_run) {
    return session.printer().sentence(
        is_nothing
            ? fmt::format("nothing is older than {}: nothing would be dropped, {}", from, kept)
            : fmt::format("would drop {} older than {}; {}; nothing was changed", shown_loss(report), from, kept));
  }
  const std::string size = fmt::format("{} -> {}", human_size(report.bytes_before), human_size(report.bytes_after));
  if (is_nothing) return session.printer().sentence(fmt::format("nothing is older than {}; {}, {}", from, kept, size));
  session.printer().sentence(fmt::format("dropped {} older than {}; {}, {}", shown_loss(report), from, kept, size));
}

/// What is younger may be missed tomorrow.
constexpr std::chrono::hours asks_below{7 * 24};

/// "runs 1 to 3 can no longer be undone"; empty where all can.
Result<std::string> runs_beyond_undo(SyncTree& tree, const sync::GcOptions& options) {
  WS_LET(const std::vector<sync::OperationDetails> runs, tree.engine->operations(0));
  std::vector<std::uint64_t> lost;
  for (const sync::OperationDetails& each : runs) {
    if (each.operation.time < options.keep_from) lost.push_back(each.operation.id);
  }
  if (lost.empty()) return std::string();
  const auto [first, last] = std::ranges::minmax(lost);
  const std::string which = first == last ? fmt::format("run {}", first) : fmt::format("runs {} to {}", first, last);
  return fmt::format("{} can {} be undone", which, options.dry_run ? "then no longer" : "no longer");
}

Result<ExitCode> gc(Session& session) {
  const std::string keep = session.arguments().value("keep").value_or("90d");
  const auto age = parse_duration(keep);
  if (!age || age->count() < 0) {
    return fail(Failure::Kind::usage, "--keep takes a time like 90d or 12h, not `" + keep + "`");
  }
  const sync::GcOptions options{.keep_from = session.world().clock.now() - *age, .dry_run = session.has("dry-run")};
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), Network::none));
  WS_LET(const std::string lost, runs_beyond_undo(tree, options));
  if (*age < asks_below && !options.dry_run && !lost.empty()) {
    WS_LET(const bool yes, session.confirm(lost + ": delete the history but for the last " + keep + "?"));
    if (!yes) return fail(Failure::Kind::usage, "not confirmed; nothing was changed");
  }
  WS_LET(const sync::GcReport report, tree.engine->gc(options));
  if (session.format() == Format::table) {
    print_gc(session, report, options);
    if (!lost.empty()) session.printer().sentence(lost);
    return ExitCode::done;
  }
  const std::uint64_t freed = report.bytes_before - std::min(report.bytes_before, report.bytes_after);
  session.printer().resource({{"v", 1},
                              {"dry_run", options.dry_run},
                              {"keep_from", to_rfc3339(options.keep_from)},
                              {"states_dropped", report.states_dropped},
                              {"states_kept", report.states_kept},
                              {"texts_dropped", report.texts_dropped},
                              {"files_dropped", report.files_dropped},
                              {"bytes_before", report.bytes_before},
                              {"bytes_after", options.dry_run ? Json() : Json(report.bytes_after)},
                              {"bytes_freed", options.dry_run ? Json() : Json(freed)}});
  return ExitCode::done;
}

std::string name_of(std::string_view side, const std::optional<sync::RelativePath>& path) {
  return path ? fmt::format("{}/{}", side, path->text()) : "/dev/null";
}

Json difference_to_json(const sync::Difference& difference) {
  const auto path = [](const std::optional<sync::RelativePath>& p) { return p ? Json(p->text()) : Json(); };
  const auto size = [](const std::optional<std::uint64_t>& bytes) { return bytes ? Json(*bytes) : Json(); };
  const sync::FileSizes sizes = difference.file.value_or(sync::FileSizes{});
  return {{"side", difference.side == sync::Side::here ? "local" : "remote"},
          {"path", path(difference.after ? difference.after : difference.before)},
          {"before", path(difference.before)},
          {"after", path(difference.after)},
          {"hunks", difference.hunks},
          {"what", difference.file ? "attachment" : "document"},
          {"bytes_before", size(sizes.before_bytes)},
          {"bytes_after", size(sizes.after_bytes)}};
}

/// Stands in place of the hunks.
std::string shown_sizes(const sync::FileSizes& sizes) {
  if (!sizes.before_bytes) return "a new file: " + human_size(*sizes.after_bytes);
  const std::string before = human_size(*sizes.before_bytes);
  if (!sizes.after_bytes) return "a file of " + before;
  if (sizes.is_same) return "the same file: " + before;
  return fmt::format("the files differ: {} before, {} now", before, human_size(*sizes.after_bytes));
}

/// "deleted here", of a file that is gone on one side.
std::string_view shown_end(const sync::Difference& difference) {
  if (difference.side == sync::Side::here) return "deleted here";
  return difference.file ? "removed on the service" : "archived on the service";
}

/// `ws sync diff --state STATE PATH`: from that state to the file as it is now.
Result<ExitCode> diff_to_state(Session& session, const std::string& state) {
  const std::vector<std::string>& words = session.arguments().words;
  if (words.empty()) {
    return fail(Failure::Kind::usage, "--state needs PATH", "`ws sync log` lists the states and the files of each");
  }
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), Network::none));
  WS_LET(const sync::RelativePath path, path_argument(tree.root, words.front()));
  WS_LET(const std::string before, tree.engine->text_in(state, path));
  WS_LET(const std::optional<std::string> now, tree.engine->local_text(path));
  WS_LET(const std::string hunks, sync::git::diff_text(before, now.value_or("")));
  const ExitCode exit = session.has("exit-code") && now != before ? ExitCode::partial : ExitCode::done;
  if (session.format() != Format::table && session.format() != Format::tsv) {
    session.printer().json({{"v", 1}, {"state", state}, {"path", path.text()}, {"deleted", !now}, {"hunks", hunks}});
    return exit;
  }
  const std::string shown = clean(path.text(), Breaks::space);
  if (now == before) {
    session.note(shown + " is as it was in " + state);
  } else {
    session.printer().page(fmt::format("--- {}/{}\n+++ {}\n", state, shown, now ? "local/" + shown : "/dev/null") +
                           coloured_diff(session, hunks));
  }
  return exit;
}

/// With --exit-code: 7 when what is shown ends, or has ended, in a conflict, else 13 when anything differs.
Result<ExitCode> exit_code_of_diff(Session& session,
                                   sync::SyncEngine& engine,
                                   const sync::RunOptions& options,
                                   bool differs) {
  if (!session.has("exit-code")) return ExitCode::done;
  WS_LET(const sync::Report report, engine.status(options));
  if (exit_code_of_status(report) == ExitCode::conflict) return ExitCode::conflict;
  return differs ? ExitCode::partial : ExitCode::done;
}

Result<ExitCode> diff(Session& session) {
  if (const auto state = session.arguments().value("state")) return diff_to_state(session, *state);
  WS_LET(sync::RunOptions options, run_options(session));
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), options.offline ? Network::none : Network::to_look));
  const std::vector<std::string>& words = session.arguments().words;
  std::string wanted;
  if (!words.empty()) {
    wanted = path_in_tree(tree.root, words.front());
    if (wanted == ".." || wanted.starts_with("../")) {
      return fail(Failure::Kind::usage,
                  fmt::format("{} is not in the synced folder {}", words.front(), tree.root.string()));
    }
    options.only = [wanted](const sync::RelativePath& path) {
      return wanted == "." || path.text() == wanted || path.text().starts_with(wanted + "/");
    };
  }
  WS_LET(const std::vector<sync::Difference> found, tree.engine->diff(options));
  std::error_code error;
  const auto is_here = [&] { return fs::exists(fs::symlink_status(tree.root / wanted, error)); };
  if (found.empty() && !wanted.empty() && !is_here()) {
    return fail(Failure::Kind::not_found, fmt::format("{} is neither here nor on the service", words.front()));
  }
  WS_LET(const ExitCode exit, exit_code_of_diff(session, *tree.engine, options, !found.empty()));
  if (session.format() != Format::table && session.format() != Format::tsv) {
    Json list = {{"v", 1}, {"data", Json::array()}, {"next_cursor", nullptr}};
    for (const sync::Difference& difference : found) list["data"].push_back(difference_to_json(difference));
    print_own_list(session, "ws.diff", list);
    return exit;
  }
  std::string text;
  for (const sync::Difference& difference : found) {
    const bool is_ours = difference.side == sync::Side::here;
    const std::string after = name_of(is_ours ? "local" : "remote", difference.after);
    if (!difference.after && difference.before)
      text += fmt::format("{}: {}\n", shown_end(difference), clean(difference.before->text(), Breaks::space));
    text += fmt::format(
        "--- {}\n+++ {}\n", clean(name_of("base", difference.before), Breaks::space), clean(after, Breaks::space));
    text += difference.file ? shown_sizes(*difference.file) + "\n" : coloured_diff(session, difference.hunks);
  }
  session.printer().page(text);
  if (found.empty()) session.note("both sides are the same");
  return exit;
}

}  // namespace

std::string coloured_diff(Session& session, const std::string& hunks) {
  std::string out;
  for (const std::string_view hunk_line : split_lines(hunks)) {
    const std::string line = clean(hunk_line, Breaks::keep);
    const Look look = line.starts_with('+')   ? Look::good
                      : line.starts_with('-') ? Look::bad
                      : line.starts_with('@') ? Look::faint
                                              : Look::plain;
    out += session.terminal().paint(Stream::out, look, line) + "\n";
  }
  return out;
}

Command sync_log_command() {
  return {
      .words = "sync log",
      .summary = "List the states that the local history holds, the newest first",
      .details =
          "The local history holds every text that was ever synced, overwritten or deleted here. It is a bare git "
          "repository, "
          ".ws/history.git, that plain git reads. --runs lists the runs instead: `ws sync undo RUN` undoes one.",
      .arguments = {{.placeholder = "PATH", .help = "only states that changed this file", .count = Count::optional}},
      .flags = {{.name = "runs", .help = "the runs, and how much each changed"},
                {.name = "all", .help = "every state, not only the last 50"},
                {.name = "max-items", .letter = 'n', .placeholder = "N", .help = "at most N"}},
      .examples = {"ws sync log", "ws sync log notes/a.md --json", "ws sync log --runs -n 5"},
      .run = log};
}

Command sync_roots_command() {
  return {.words = "sync roots",
          .summary = "List the folders that you sync",
          .details = "A folder that was moved or removed since shows as `missing`.",
          .examples = {"ws sync roots", "ws sync roots --json"},
          .run = roots};
}

Command sync_untie_command() {
  return {.words = "sync untie",
          .summary = "Stop syncing a folder, and keep its files",
          .details =
              "It asks, then removes the folder's .ws with the local history: no earlier run can be undone after that. "
              "No file is touched, and nothing is sent: changes that were not synced yet exist only here.",
          .arguments = {{.placeholder = "DIR", .help = "the folder; this one, if not given", .count = Count::optional}},
          .examples = {"ws sync untie --yes", "ws sync untie ~/notes --yes"},
          .run = untie};
}

Command sync_gc_command() {
  return {
      .words = "sync gc",
      .summary = "Delete old states of the local history",
      .details =
          "Keeps the states of that time, and every text and attachment that this folder still needs; drops the rest "
          "and packs the history again. Runs of before can no longer be undone; below 7 days it asks first. -n shows "
          "what "
          "would be dropped.",
      .flags = {{.name = "keep",
                 .placeholder = "TIME",
                 .help = "keep the states of this time",
                 .limits = "as in 90d, 12h",
                 .fallback = "90d"},
                {.name = "wait-lock",
                 .placeholder = "S",
                 .help = "how long to wait for another ws that is running in this folder",
                 .fallback = "0"}},
      .examples = {"ws sync gc --keep 90d", "ws sync gc -n --keep 30d"},
      .run = gc};
}

Command sync_diff_command() {
  return {
      .words = "sync diff",
      .summary = "Show what each side changed, line by line",
      .details = "Of a picture, or another file that notes show, the sizes are shown.",
      .arguments = {{.placeholder = "PATH", .help = "a file or folder; all, if not given", .count = Count::optional}},
      .flags = {{.name = "state",
                 .placeholder = "STATE",
                 .help = "what changed in PATH since a state that `ws sync log` lists"},
                {.name = "offline", .help = "without the network, compared with what the last sync received"},
                {.name = "exit-code", .help = "end with 7 on conflicts, 13 when anything else differs"}},
      .examples = {"ws sync diff", "ws sync diff notes/a.md --offline", "ws sync diff notes/a.md --state 1f2e3d4c5b"},
      .run = diff};
}

}  // namespace ws::cli

// What brings files back: from the local history, and from the service.
#include "sync-engine/run/bring_back.hpp"

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
using sync::BringBack;

constexpr std::size_t shown_state_digits = 10;
constexpr std::string_view run_prefix = "run:";

Result<sync::BroughtBack> bring_back(Session& session, SyncTree& tree, const BringBack& wish) {
  auto found = tree.engine->bring_back(wish);
  if (found || found.error().code != "needs_service") return found;
  WS_LET(tree, open_tree(session, fs::current_path(), Network::needed));
  return tree.engine->bring_back(wish);
}

/// One file, to the newest text that differs, or to that of a state.
/// ", of Grace Hopper, 2 hours ago"; empty where the history does not tell.
std::string origin_of_state(Session& session, SyncTree& tree, const sync::RelativePath& path, const std::string& id) {
  const auto states = tree.engine->log({.path = path});
  if (!states) return {};
  const auto state = std::ranges::find(*states, id, &sync::HistoryState::id);
  if (state == states->end()) return {};
  const std::string author = clean(state->author, Breaks::space);
  return fmt::format("{}{}, {}",
                     author.empty() ? "" : ", of ",
                     author,
                     relative_time(to_rfc3339(state->time), session.world().clock.now()));
}

Result<ExitCode> restore_file(Session& session, SyncTree& tree) {
  WS_LET(const sync::RelativePath path, path_argument(tree.root, session.arguments().words.front()));
  const bool is_planned = session.has("dry-run");
  std::error_code ignored;
  const bool was_here = fs::exists(fs::symlink_status(tree.root / path.string(), ignored));
  auto outcome = tree.engine->restore(path, session.arguments().value("at"), is_planned);
  if (!outcome && outcome.error().code == "needs_service") {
    WS_LET(tree, open_tree(session, fs::current_path(), Network::needed));
    outcome = tree.engine->restore(path, session.arguments().value("at"), is_planned);
  }
  WS_LET(const sync::Restored restored, std::move(outcome));
  if (session.format() != Format::table) {
    session.printer().resource({{"v", 1},
                                {"path", path.text()},
                                {"state", restored.state},
                                {"changed", restored.changed},
                                {"dry_run", is_planned}});
    return ExitCode::done;
  }
  const std::string shown = clean(path.text(), Breaks::space);
  if (!restored.changed) {
    session.printer().sentence(shown + " already has that text");
    return ExitCode::done;
  }
  const std::string state = restored.state.substr(0, shown_state_digits);
  if (is_planned) {
    session.printer().sentence(fmt::format("would restore {} as in state {}", shown, state));
    return ExitCode::done;
  }
  session.printer().sentence(
      fmt::format("restored {} as in state {}{}", shown, state, origin_of_state(session, tree, path, restored.state)));
  session.note(fmt::format("{}{} undoes it; the next {} sends what differs from the service",
                           was_here ? "what it replaced is kept; " : "",
                           program_for(tree).add({"sync", "undo"}).in_backticks(),
                           program_for(tree).add({"sync"}).in_backticks()));
  return ExitCode::done;
}

/// Patterns of which none means anything, as of `leave`.
Result<void> check_match(const std::vector<Wanted>& wanted, const sync::BroughtBack& found) {
  const bool are_patterns = !wanted.empty() && std::ranges::all_of(wanted, &Wanted::is_pattern);
  return are_patterns && found.matches_none ? fail(sync::no_match()) : Result<void>();
}

/// Names that are neither here nor brought back.
void add_unknown(const SyncTree& tree, const std::vector<Wanted>& wanted, sync::BroughtBack& found) {
  for (const Wanted& each : wanted) {
    const auto path = sync::RelativePath::parse(each.path);
    std::error_code ignored;
    if (each.is_pattern || !path || fs::exists(fs::symlink_status(tree.root / each.path, ignored))) continue;
    const auto takes = [&each](const sync::RelativePath& one) { return each.takes(one.text()); };
    const bool is_known = std::ranges::any_of(found.steps, takes, sync::place_of) ||
                          std::ranges::any_of(found.left, takes, &sync::LeftAlone::path);
    if (!is_known) found.left.push_back({.path = *path, .why = "it is not here, and the history does not have it"});
  }
}

Result<ExitCode> restore(Session& session) {
  const std::vector<std::string>& words = session.arguments().words;
  const bool only_missing = session.has("deleted");
  if (words.empty() && !only_missing) {
    return fail(Failure::Kind::usage,
                "no file to restore is given",
                "give PATH, a folder or a pattern, or --deleted for all that was deleted here");
  }
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), Network::none));
  WS_LET(const std::vector<Wanted> wanted, wanted_files(session, tree));
  const std::string at = session.arguments().value("at").value_or("");
  BringBack wish{.wanted = as_filter(wanted), .only_missing = only_missing, .dry_run = session.has("dry-run")};
  const auto is_file = [&tree](const Wanted& each) {
    std::error_code ignored;
    return !each.is_pattern && each.path != "." && !fs::is_directory(tree.root / each.path, ignored);
  };
  const bool is_one_file = wanted.size() == 1 && is_file(wanted.front()) && !only_missing;
  if (at.starts_with(run_prefix)) {
    const auto run = parse_whole<std::uint64_t>(at.substr(run_prefix.size()));
    if (!run) return fail(Failure::Kind::usage, "--at takes run:N or a state of `ws sync log`, not `" + at + "`");
    wish.to = BringBack::To::run;
    wish.run = *run;
  } else if (!at.empty()) {
    wish.to = BringBack::To::state;
    wish.state = at;
  }
  std::optional<Failure> no_file;
  if (is_one_file && wish.to != BringBack::To::run) {
    Result<ExitCode> restored = restore_file(session, tree);
    if (restored || restored.error().kind != Failure::Kind::not_found) return restored;
    no_file = restored.error();
  }
  // A folder that is gone looks like a file.
  if (at.empty() && !only_missing && !no_file) {
    for (const Wanted& each : wanted) {
      auto path = sync::RelativePath::parse(each.path);
      if (path && is_file(each)) wish.to_newest.push_back(std::move(*path));
    }
  }
  WS_LET(sync::BroughtBack found, bring_back(session, tree, wish));
  if (!no_file) add_unknown(tree, wanted, found);
  if (no_file && found.steps.empty() && found.left.empty()) return fail(std::move(*no_file));
  WS_TRY(check_match(wanted, found));
  return tell_steps(
      session,
      found,
      wish.dry_run,
      {.nothing = only_missing ? "nothing was deleted here since the last run" : "nothing differs from that state"});
}

Result<ExitCode> reset(Session& session) {
  const std::vector<std::string>& words = session.arguments().words;
  if (words.empty() && !session.has("all")) {
    return fail(Failure::Kind::usage, "no file to reset is given", "give PATH, a folder or a pattern, or --all");
  }
  if (!words.empty() && session.has("all")) return fail(Failure::Kind::usage, "give PATH or --all, not both");
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), Network::needed));
  WS_LET(const std::vector<Wanted> wanted, wanted_files(session, tree));
  BringBack wish{.to = BringBack::To::service, .wanted = as_filter(wanted), .dry_run = true};
  const StepWords told{.nothing = "nothing to reset: the files here are as the service has them",
                       .next = "`ws sync undo` undoes it"};
  WS_LET(const sync::BroughtBack planned, tree.engine->bring_back(wish));
  WS_TRY(check_match(wanted, planned));
  for (const Wanted& each : wanted) {
    std::error_code ignored;
    const bool is_found = each.is_pattern || fs::exists(fs::symlink_status(tree.root / each.path, ignored)) ||
                          std::ranges::any_of(planned.steps, [&](const sync::FileStep& step) {
                            return each.takes((step.to ? *step.to : *step.from).text());
                          });
    if (!is_found)
      return fail(Failure::Kind::not_found, fmt::format("{} is neither here nor on the service", each.word));
  }
  if (planned.steps.empty() && wanted.size() == 1) {
    WS_LET(const std::vector<sync::KnownDocument> known, tree.engine->documents());
    const std::string& place = wanted.front().path;
    const bool is_note = sync::is_markdown(place) && !wanted.front().is_pattern;
    if (is_note && std::ranges::none_of(known, [&](const auto& one) { return one.row.disk_path().text() == place; }))
      return fail(Failure::Kind::not_found,
                  fmt::format("{} was never sent: the service has nothing to reset it to", wanted.front().word),
                  "it stays as it is");
  }
  if (session.has("dry-run") || planned.steps.empty())
    return tell_steps(session, planned, session.has("dry-run"), told);
  if (!session.has("yes") && session.format() == Format::table) list_steps(session, planned.steps, false, true);
  WS_LET(const bool yes,
         session.confirm(fmt::format("take the service's version ({}), and keep what is replaced in the history?",
                                     shown_counts(planned.steps))));
  if (!yes) return fail(Failure::Kind::usage, "not confirmed; nothing was changed");
  wish.dry_run = false;
  WS_LET(const sync::BroughtBack found, tree.engine->bring_back(wish));
  return tell_steps(session, found, false, told);
}

}  // namespace

Command sync_restore_command() {
  return {.words = "sync restore",
          .summary = "Restore files from the local history",
          .details =
              "A file gets the newest text that differs from its present one: without --at, the same command again "
              "brings the present one back. A folder or a pattern gets what both sides last agreed on, and --deleted "
              "restores "
              "everything that was deleted here. All of it is one run, which `ws sync undo` undoes. The network is "
              "needed only for pictures that are not kept here. The change is local until the next `ws sync`.",
          .arguments = {{.placeholder = "PATH",
                         .help = "a file, a folder, or a pattern such as 'notes/*.md'",
                         .count = Count::any}},
          .flags = {{.name = "deleted", .help = "only what was deleted here since the last run"},
                    {.name = "at",
                     .placeholder = "STATE",
                     .help = "run:N, as that run left it, or a state that `ws sync log` lists"}},
          .examples = {"ws sync restore notes/a.md",
                       "ws sync restore --deleted",
                       "ws sync restore notes --at run:12",
                       "ws sync restore notes/a.md --at 1f2e3d4c5b"},
          .run = restore};
}

Command sync_reset_command() {
  return {.words = "sync reset",
          .summary = "Reset files to what the service has",
          .details =
              "Discards the edits, renames and deletes made here: each file gets the text and the name that it has on "
              "the service. The texts go to the local history, and `ws sync undo` undoes all of it. Files that were "
              "never sent stay.",
          .arguments = {{.placeholder = "PATH", .help = "a file, a folder, or a pattern", .count = Count::any}},
          .flags = {{.name = "all", .help = "every file of the folder"}},
          .examples = {"ws sync reset notes/a.md", "ws sync reset notes", "ws sync reset --all --yes"},
          .run = reset};
}

}  // namespace ws::cli

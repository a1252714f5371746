// `ws sync leave` and `ws sync take`: what is not to be here, and stays on the service.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/uuid.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/sync/file_steps.hpp"
#include "cli/commands/sync/tree.hpp"
#include "cli/output/human.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

Json name_to_json(const sync::LeftOutName& each) {
  return {{"name", each.name}, {"path", each.note ? Json(each.note->text()) : Json(each.name)}};
}

ExitCode list_names(Session& session, const std::vector<sync::LeftOutName>& names, std::string_view nothing) {
  if (session.format() != Format::table) {
    Json data = Json::array();
    for (const sync::LeftOutName& each : names) data.push_back(name_to_json(each));
    session.printer().resource({{"v", 1}, {"left_out", std::move(data)}});
    return ExitCode::done;
  }
  if (names.empty()) session.printer().sentence(std::string(nothing));
  for (const sync::LeftOutName& each : names) {
    session.printer().line(clean(each.note ? each.note->text() : each.name, Breaks::space));
  }
  return ExitCode::done;
}

/// The whole folder is no part of it.
Result<sync::RelativePath> place_of_word(const Wanted& wanted) {
  if (wanted.path == ".") {
    return fail(Failure::Kind::usage,
                "the whole folder cannot be left out",
                "`ws sync untie` stops syncing it and keeps its files");
  }
  return sync::RelativePath::parse(wanted.path);
}

Result<ExitCode> leave(Session& session) {
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), Network::none));
  WS_LET(const std::vector<Wanted> wanted, wanted_files(session, tree));
  if (wanted.empty()) {
    WS_LET(const std::vector<sync::LeftOutName> names, tree.engine->left_out());
    return list_names(session, names, "nothing is left out here");
  }
  sync::LeaveWish wish{.dry_run = session.has("dry-run")};
  std::vector<Wanted> patterns;
  for (const Wanted& one : wanted) {
    if (one.is_pattern) {
      patterns.push_back(one);
      continue;
    }
    WS_LET(sync::RelativePath place, place_of_word(one));
    wish.places.push_back(std::move(place));
  }
  wish.pattern = as_filter(patterns);
  WS_LET(const sync::BroughtBack found, tree.engine->leave(wish));
  ShellCommand take = program_for(tree);
  take.add({"sync", "take"});
  for (const Wanted& one : wanted) take.path(one.path);
  return tell_steps(session,
                    found,
                    wish.dry_run,
                    {.nothing = "none of it is on this machine; files that arrive there are left out too",
                     .next = fmt::format("it stays on the service; {} brings it back", take.in_backticks())});
}

Result<ExitCode> take(Session& session) {
  const std::vector<std::string>& words = session.arguments().words;
  if (words.empty() != session.has("all")) return fail(Failure::Kind::usage, "give PATH or --all");
  const bool is_planned = session.has("dry-run");
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), is_planned ? Network::none : Network::needed));
  sync::TakeWish wish{.all = session.has("all"), .dry_run = is_planned};
  WS_LET(const std::vector<Wanted> wanted, wanted_files(session, tree));
  WS_LET(const std::vector<sync::LeftOutName> names, tree.engine->left_out());
  const auto is_listed = [&names](const Wanted& one) {
    return std::ranges::any_of(names, [&](const sync::LeftOutName& each) {
      return each.note ? each.note->text() == one.path : each.name == one.path;
    });
  };
  std::vector<Wanted> patterns;
  for (const Wanted& one : wanted) {
    if (is_uuid(one.word)) {
      wish.documents.emplace_back(one.word);
    } else if (one.is_pattern && !is_listed(one)) {
      patterns.push_back(one);
    } else {
      WS_LET(sync::RelativePath place, sync::RelativePath::parse(one.path));
      wish.places.push_back(std::move(place));
    }
  }
  wish.pattern = as_filter(patterns);
  WS_LET(const sync::Taken taken, tree.engine->take(wish));
  if (!taken.report) return list_names(session, taken.names, "nothing is left out here");
  const sync::Report& report = *taken.report;
  if (report.ended_by) session.note("no longer left out; the next `ws sync` receives the files that are missing here");
  return finish_run(session, tree, report, ReportStage::done);
}

}  // namespace

Command sync_leave_command() {
  return {.words = "sync leave",
          .summary = "Leave files out here; they stay on the service",
          .details =
              "Removes files of this folder on this machine only: on the service, and for everybody else, nothing "
              "changes, now or later. A note stays left out wherever it is moved on the service, a folder with all "
              "files that are added to it later. A file that is not in sync with the service, or has an open conflict, "
              "is refused, and then nothing is done. The "
              "texts stay in the local history; `ws sync take` brings the files back, and so does `ws sync undo`. "
              "Without PATH, what is left out is listed.",
          .arguments = {{.placeholder = "PATH",
                         .help = "a file, a folder, or a pattern such as 'scans/*.pdf'",
                         .count = Count::any}},
          .examples = {"ws sync leave archive", "ws sync leave notes/big.md 'scans/*.pdf'", "ws sync leave"},
          .run = leave};
}

Command sync_take_command() {
  return {.words = "sync take",
          .summary = "Bring back what is left out here",
          .details =
              "The opposite of `ws sync leave`: receives the files as the service has them now. A file of yours at "
              "such a path is never replaced: the two are a conflict, like any two new files.",
          .arguments = {{.placeholder = "PATH",
                         .help = "as `ws sync leave` lists it, a pattern, or an id",
                         .count = Count::any}},
          .flags = {{.name = "all", .help = "everything that is left out"}},
          .examples = {"ws sync take archive", "ws sync take --all"},
          .run = take};
}

}  // namespace ws::cli

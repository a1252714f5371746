#include "cli/commands/sync/link_tree.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api-client/base/clean.hpp"
#include "cli/output/human.hpp"
#include "cli/output/sync_report.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

Result<bool> follows_gitignore(const Session& session) {
  const std::string given = session.arguments().value("gitignore").value_or("yes");
  if (given != "yes" && given != "no")
    return fail(Failure::Kind::usage, "--gitignore takes yes or no, not `" + given + "`");
  return given == "yes";
}

}  // namespace

std::string move_command(const sync::RelativePath& from, const std::string& to) {
  return ShellCommand{"ws", "links", "mv", from.text(), to}.text();
}

std::string fix_command(const sync::FixOptions& options) {
  ShellCommand command{"ws", "links", "fix"};
  for (const auto& [from, to] : options.renames) command.add({"--rename=", from + "=" + to});
  return command.text();
}

Result<LinkTree> LinkTree::open(Session& session, const fs::path& place, const fs::path& fallback) {
  LinkTree tree(session);
  std::error_code error;
  fs::path start = fs::weakly_canonical(place, error);
  while (!fs::is_directory(start, error) && start.has_relative_path()) start = start.parent_path();
  if (sync::find_root(start)) {
    if (session.has("gitignore"))
      return fail(Failure::Kind::usage,
                  "--gitignore is for folders that are not synced",
                  "leave it out: .wsignore says what a synced folder leaves out");
    WS_LET(tree.tied_, open_tree(session, start, Network::none));
    tree.root_ = tree.tied_->root;
    return tree;
  }
  tree.root_ = sync::find_work_tree(start).value_or(fs::weakly_canonical(fallback, error));
  WS_LET(sync::RootFolder folder, sync::RootFolder::open(tree.root_));
  tree.folder_ = std::make_unique<sync::RootFolder>(std::move(folder));
  return tree;
}

Result<sync::RelativePath> LinkTree::path(const std::string& given) const {
  auto path = sync::RelativePath::parse(path_in_tree(root_, given));
  if (path) return path;
  return fail(Failure::Kind::usage,
              is_synced() ? path.error().what : fmt::format("{} is not in {}", given, root_.string()),
              is_synced() ? fmt::format("{} is not in the synced folder {}", given, root_.string())
                          : "run the command in the folder that holds both, or name that with -C");
}

Result<void> LinkTree::read_folder() {
  WS_LET(const bool gitignore, follows_gitignore(*session_));
  WS_LET(const ProgressStyle style, parse_progress(session_->arguments().value("progress"), session_->terminal()));
  ProgressLine progress(session_->terminal(), session_->has("quiet") ? ProgressStyle::none : style);
  sync::UntiedOptions options{.follows_gitignore = gitignore};
  options.seen = [&](std::uint64_t names) { progress.update("looking at files", names, 0); };
  WS_LET(untied_, sync::UntiedFolder::open(root_, options));
  for (const sync::Skipped& each : untied_->unread_notes())
    session_->note(fmt::format("{}: not read: {}", clean(each.path, Breaks::space), words_for(each.reason)));
  return {};
}

Result<sync::CheckedLinks> LinkTree::broken_links(const std::string& place) {
  if (tied_) return tied_->engine->broken_links(place);
  if (sync::UntiedEdits::are_unfinished(*folder_))
    session_->note("note: a rename was interrupted here; the same `ws links` command, run again, finishes it");
  WS_TRY(read_folder());
  return untied_->broken_links(place);
}

Result<bool> LinkTree::finish_interrupted(const std::vector<std::string>& commands, bool dry_run) {
  if (tied_) return false;
  if (dry_run) {
    if (!sync::UntiedEdits::are_unfinished(*folder_)) return false;
    return fail(Failure::Kind::usage,
                "a rename was interrupted here, and -n changes nothing",
                "run the command without -n to finish it");
  }
  WS_LET(edits_, sync::UntiedEdits::open(*folder_));
  if (session_->world().end_in_own_time != nullptr && sync::UntiedEdits::are_unfinished(*folder_))
    session_->world().end_in_own_time(SecondSignal::kills);
  WS_LET(const std::optional<sync::UntiedDone> done, edits_->finish_interrupted());
  if (!done) return false;
  session_->note(fmt::format("finished what was interrupted: {} ({} renamed, links edited in {})",
                             clean(done->command, Breaks::space),
                             counted(done->renamed, "file"),
                             counted(done->edited, "note")));
  print_left(*done);
  return std::ranges::find(commands, done->command) != commands.end();
}

void LinkTree::print_left(const sync::UntiedDone& done) {
  for (const std::string& path : done.left)
    session_->note(fmt::format("{} was left as it is: it changed during the rename", clean(path, Breaks::space)));
  if (!done.kept.empty())
    session_->note(
        fmt::format("{} holds texts that were written during the rename: look at them, then remove it", done.kept));
}

Result<sync::Relinked> LinkTree::carry_out(sync::RelinkPlan plan, const std::string& command) {
  // From here on Ctrl-C waits for the end, which is near; a kill is finished by the next command.
  if (session_->world().end_in_own_time != nullptr) session_->world().end_in_own_time(SecondSignal::kills);
  if (plan.steps.empty()) return std::move(plan.told);
  WS_LET(const sync::UntiedDone done, edits_->carry_out(plan, command));
  print_left(done);
  return std::move(plan.told);
}

Result<sync::Relinked> LinkTree::move(const sync::RelativePath& from, const sync::RelativePath& to, bool dry_run) {
  if (tied_) return tied_->engine->move(from, to, dry_run);
  WS_TRY(read_folder());
  WS_LET(sync::RelinkPlan plan, untied_->plan_move(from, to));
  if (dry_run) return std::move(plan.told);
  return carry_out(std::move(plan), move_command(from, to.string()));
}

Result<sync::Relinked> LinkTree::fix(const sync::FixOptions& options, bool dry_run) {
  if (tied_) return tied_->engine->fix_links(options, dry_run);
  WS_TRY(read_folder());
  WS_LET(sync::RelinkPlan plan, untied_->plan_fix(options));
  if (dry_run) return std::move(plan.told);
  return carry_out(std::move(plan), fix_command(options));
}

}  // namespace ws::cli

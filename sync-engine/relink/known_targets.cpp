#include "sync-engine/relink/known_targets.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "sync-engine/survey/survey.hpp"

namespace ws::sync {
namespace {

using links::NewTarget;
using links::Reference;
using links::Renames;
using links::TreeFiles;

TreeFiles tree_before(const TreeFiles& now, const Renames& renamed) {
  std::map<std::string_view, std::string_view> back;
  for (const auto& [from, to] : renamed) back.emplace(to, from);
  std::vector<std::string> paths;
  paths.reserve(now.paths().size());
  for (const std::string& path : now.paths()) {
    const auto from = back.find(path);
    paths.emplace_back(from == back.end() ? std::string_view(path) : from->second);
  }
  return TreeFiles(std::move(paths));
}

/// Renames that the operations of this tree tell of; and those that no run has seen yet.
Result<Renames> known_renames(Session& session, Renames& unsent) {
  WS_LET(Renames renames, session.state.operations().renames());
  WS_LET(const Survey found, survey(session, {.offline = true, .dry_run = true}, PullMode::inspect));
  unsent = renames_of(found.plan);
  for (const auto& [from, to] : unsent) {
    renames.insert_or_assign(from, to);
    renames.erase(to);  // it is a name in use again
  }
  return renames;
}

/// `FROM=TO` of folders becomes that of the files in them.
Renames expanded(const TreeFiles& files, const Renames& given) {
  Renames renames;
  for (const auto& [from, to] : given) {
    if (files.has_file(to)) renames.emplace(from, to);
    const std::string begin = to + "/";
    for (auto file = std::ranges::lower_bound(files.paths(), begin);
         file != files.paths().end() && file->starts_with(begin);
         ++file)
      renames.emplace(from + file->substr(to.size()), *file);
  }
  return renames;
}

}  // namespace

Renames renames_of(const Plan& plan) {
  Renames renames;
  for (const Action& action : plan.actions) {
    if (action.kind == ActionKind::push_move && action.previous_path)
      renames.emplace(action.previous_path->string(), action.path.string());
  }
  return renames;
}

EarlierTree::EarlierTree(const TreeFiles& now, Renames renamed)
    : renamed_(std::move(renamed)), before_(tree_before(now, renamed_)), rewriter_(before_, renamed_) {
  for (const auto& [from, to] : renamed_) back_.emplace(to, from);
}

const std::string& EarlierTree::place_of(const std::string& note) const {
  const auto was = back_.find(note);
  return was == back_.end() ? note : was->second;
}

std::vector<NewTarget> EarlierTree::new_targets(const std::string& note,
                                                const std::vector<Reference>& references) const {
  const std::string& place = place_of(note);
  if (place == note && renamed_.contains(note)) return {};  // a new file in the place of one that was renamed
  std::vector<NewTarget> targets = rewriter_.new_targets(place, references);
  if (place == note) return targets;
  // Links that followed the other renames before their note was renamed.
  const TreeFiles& now = rewriter_.after();
  for (std::size_t i = 0; i < references.size(); ++i) {
    const Reference& reference = references[i];
    if (reference.path.empty() || before_.resolve(place, reference).state != links::Resolution::State::none) continue;
    const links::Resolution file = now.resolve(place, reference);
    if (file.state != links::Resolution::State::file || now.resolve(note, reference).path == file.path) continue;
    targets.push_back({.reference = i, .file = file.path, .path = target_in_style(now, note, reference, file)});
  }
  return targets;
}

Result<KnownTargets> KnownTargets::find(Session* session, const LinkIndex& index, const Renames& given) {
  Renames unsent;
  Renames renames = expanded(index.files(), given);
  if (given.empty() && session != nullptr) {
    WS_LET(renames, known_renames(*session, unsent));
  }
  KnownTargets known{links::LinkMender(index.files(), std::move(renames))};
  if (!unsent.empty()) known.unsent_ = std::make_unique<EarlierTree>(index.files(), unsent);
  return known;
}

std::vector<NewTarget> KnownTargets::of(const std::string& note, const std::vector<Reference>& references) const {
  std::vector<NewTarget> targets;
  if (unsent_) targets = unsent_->new_targets(note, references);
  std::set<std::size_t> known;
  for (const NewTarget& each : targets) known.insert(each.reference);
  for (NewTarget& each : mender_.new_targets(note, references)) {
    if (!known.contains(each.reference)) targets.push_back(std::move(each));
  }
  return targets;
}

}  // namespace ws::sync

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

/// Renames that the operations of this tree tell of, the newest last; and those that no run has seen yet.
Result<Renames> known_renames(Session& session, Renames& unsent) {
  Renames renames;
  std::map<DocumentId, std::string> last;
  WS_LET(std::vector<Operation> operations, session.state.operations().list());
  std::ranges::reverse(operations);
  const auto note = [&](const std::string& from, const std::string& to) {
    renames.insert_or_assign(from, to);
    renames.erase(to);  // it is a name in use again
  };
  for (const Operation& operation : operations) {
    WS_LET(const std::vector<OperationRow> rows, session.state.operations().rows(operation.id));
    for (const OperationRow& row : rows) {
      // A decision about two new names is recorded with those: the name that both began with is that of an earlier row.
      const auto known = row.document.empty() ? last.end() : last.find(row.document);
      if (known != last.end() && row.before && known->second != row.before->path.text())
        note(known->second, row.before->path.string());
      if (row.before && row.after && row.before->path != row.after->path)
        note(row.before->path.string(), row.after->path.string());
      if (row.after && !row.document.empty()) last.insert_or_assign(row.document, row.after->path.string());
    }
  }
  WS_LET(const Survey found, survey(session, {.offline = true, .dry_run = true}, PullMode::inspect));
  unsent = renames_of(found.plan);
  for (const auto& [from, to] : unsent) note(from, to);
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

std::map<std::string, std::vector<std::string>> earlier_places(const Renames& renames) {
  std::map<std::string, std::vector<std::string>> places;
  for (const auto& [from, to] : renames) {
    std::string now = to;
    for (std::size_t hops = 0; hops < renames.size(); ++hops) {
      const auto next = renames.find(now);
      if (next == renames.end()) break;
      now = next->second;
    }
    places[now].push_back(from);
  }
  return places;
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
  return rewriter_.new_targets(place_of(note), references);
}

Result<KnownTargets> KnownTargets::find(Session& session, const LinkIndex& index, const Renames& given) {
  KnownTargets known(index);
  Renames unsent;
  if (given.empty()) {
    WS_LET(known.renames_, known_renames(session, unsent));
  } else {
    known.renames_ = expanded(index.files(), given);
  }
  known.earlier_ = earlier_places(known.renames_);
  if (!unsent.empty()) known.unsent_ = std::make_unique<EarlierTree>(index.files(), unsent);
  return known;
}

std::vector<NewTarget> KnownTargets::of(const std::string& note, const std::vector<Reference>& references) const {
  std::vector<NewTarget> targets;
  if (unsent_) targets = unsent_->new_targets(note, references);
  std::set<std::size_t> known;
  for (const NewTarget& each : targets) known.insert(each.reference);
  const auto places = earlier_.find(note);
  for (std::size_t i = 0; i < references.size(); ++i) {
    if (known.contains(i) || references[i].is_guess() || references[i].path.empty()) continue;
    const auto state = index_->files().resolve(note, references[i]).state;
    if (state == links::Resolution::State::file || state == links::Resolution::State::folder) continue;
    auto found = links::find_renamed_target(index_->files(),
                                            renames_,
                                            note,
                                            places == earlier_.end() ? std::vector<std::string>() : places->second,
                                            references[i]);
    if (!found) continue;
    found->reference = i;
    targets.push_back(std::move(*found));
  }
  return targets;
}

}  // namespace ws::sync

#include "sync-engine/state/history.hpp"

#include <utility>
#include <vector>

#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/git/references.hpp"

namespace ws::sync {
namespace {

constexpr const char* main_branch = "refs/heads/main";
constexpr const char* incoming_branch = "refs/heads/incoming";

struct Tip {
  std::optional<git::ObjectId> commit = {};
  std::optional<git::ObjectId> tree = {};
};

Result<Tip> tip_of(git::Repository& repository, const std::string& branch) {
  Tip tip;
  WS_LET(tip.commit, repository.find_reference(branch));
  if (tip.commit) {
    WS_LET(tip.tree, repository.tree_of(*tip.commit));
  }
  return tip;
}

/// One change a path. Where one file leaves a path and another comes to it, the one that comes counts.
TextChanges one_each(const TextChanges& changes) {
  std::map<std::string, std::optional<git::ObjectId>> by_path;
  for (const git::TreeUpdate& change : changes) {
    auto& blob = by_path[change.path];
    if (change.blob) blob = change.blob;
  }
  TextChanges out;
  for (auto& [path, blob] : by_path) out.push_back({.path = path, .blob = blob});
  return out;
}

}  // namespace

Result<git::Repository*> History::repository() {
  if (!opened_) {
    WS_LET(opened_, git::Repository::open(path_));
  }
  return &*opened_;
}

Result<git::ObjectId> History::keep(std::string_view text) {
  WS_LET(git::Repository* const git, repository());
  return git->write_blob(text);
}

Result<std::string> History::text(const git::ObjectId& blob) {
  WS_LET(git::Repository* const git, repository());
  return git->read_blob(blob);
}

bool History::holds(const git::ObjectId& blob) {
  if (blob.empty()) return false;
  const auto git = repository();
  return git && (*git)->is_blob(blob).value_or(false);
}

Result<void> History::flush() {
  if (!opened_) return {};
  return opened_->flush();
}

Result<std::map<git::ObjectId, Failure>> History::flush_what_fits() {
  if (!opened_) return std::map<git::ObjectId, Failure>{};
  return opened_->flush_what_fits();
}

Result<void> History::record_before(const TextChanges& ours, const TextChanges& theirs) {
  if (ours.empty() && theirs.empty()) return flush();
  WS_LET(git::Repository* const git, repository());
  WS_LET(const Tip tip, tip_of(*git, main_branch));
  std::vector<git::ObjectId> parents;
  if (tip.commit) parents.push_back(*tip.commit);
  if (!theirs.empty()) {
    WS_LET(const git::ObjectId tree, git->write_tree(tip.tree, one_each(theirs)));
    WS_LET(const git::ObjectId commit, git->write_commit(tree, parents, "What the service has", clock_->now()));
    WS_TRY(git->set_reference(incoming_branch, commit));
    incoming_ = commit;
  }
  if (!ours.empty()) {
    WS_LET(const git::ObjectId tree, git->write_tree(tip.tree, one_each(ours)));
    WS_LET(const git::ObjectId commit, git->write_commit(tree, parents, "What this tree had", clock_->now()));
    WS_TRY(git->set_reference(main_branch, commit));
  }
  return {};
}

Result<void> History::record_after(const TextChanges& changes, std::string_view message) {
  if (changes.empty()) return flush();
  WS_LET(git::Repository* const git, repository());
  WS_LET(const Tip tip, tip_of(*git, main_branch));
  WS_LET(const git::ObjectId tree, git->write_tree(tip.tree, one_each(changes)));
  if (tree == tip.tree && !incoming_) return flush();
  std::vector<git::ObjectId> parents;
  if (tip.commit) parents.push_back(*tip.commit);
  if (incoming_) parents.push_back(*incoming_);
  incoming_.reset();
  WS_LET(const git::ObjectId commit, git->write_commit(tree, parents, message, clock_->now()));
  return git->set_reference(main_branch, commit);
}

void History::drop_dead_locks() const {
  const auto folder = RootFolder::open_no_link(path_);
  if (folder) git::References(*folder).drop_dead_locks();
}

Result<void> History::record_aside(const std::map<std::string, TextChanges>& by_branch, std::string_view message) {
  WS_LET(git::Repository* const git, repository());
  std::map<std::string, git::ObjectId> commits;
  for (const auto& [branch, texts] : by_branch) {
    const std::string reference = "refs/heads/" + branch;
    WS_LET(const Tip tip, tip_of(*git, reference));
    WS_LET(const git::ObjectId tree, git->write_tree(std::nullopt, one_each(texts)));
    if (tree == tip.tree) continue;
    std::vector<git::ObjectId> parents;
    if (tip.commit) parents.push_back(*tip.commit);
    WS_LET(const git::ObjectId commit, git->write_commit(tree, parents, message, clock_->now()));
    commits.emplace(reference, commit);
  }
  return commits.empty() ? flush() : git->set_references(commits);
}

}  // namespace ws::sync

#include "sync-engine/state/history.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/git/git_folder.hpp"

namespace ws::sync {
namespace {

constexpr const char* main_branch = "refs/heads/main";
constexpr const char* incoming_branch = "refs/heads/incoming";

/// With more pairs of author and time than this in one sync, changes are grouped by author alone: each commit writes
/// the trees on its path.
constexpr std::size_t max_commits = 16;

/// One change for each path. Where one file leaves a path and another takes it, the latter counts.
TextChanges one_each(TextChanges changes) {
  std::map<std::string, TextChange> by_path;
  for (TextChange& change : changes) {
    const auto [place, is_new] = by_path.try_emplace(change.path, change);
    if (!is_new && change.blob) place->second = std::move(change);
  }
  TextChanges out;
  for (auto& [path, change] : by_path) out.push_back(std::move(change));
  return out;
}

std::vector<git::TreeUpdate> updates_of(const TextChanges& changes) {
  std::vector<git::TreeUpdate> updates;
  for (const TextChange& change : changes) updates.push_back({.path = change.path, .blob = change.blob});
  return updates;
}

struct ByAuthor {
  Author author;
  TextChanges changes = {};
};

/// In order of time; the local user's changes come last.
std::vector<ByAuthor> by_author(TextChanges changes) {
  std::map<Author, TextChanges> groups;
  for (TextChange& change : changes) {
    change.author.time = std::chrono::floor<std::chrono::seconds>(change.author.time);
    groups[change.author].push_back(std::move(change));
  }
  if (groups.size() > max_commits) {
    std::map<Author, TextChanges> by_person;
    std::map<Author, Time> newest;
    for (auto& [author, own] : groups) {
      const Author person{.name = author.name, .id = author.id};
      newest[person] = std::max(newest[person], author.time);
      std::ranges::move(own, std::back_inserter(by_person[person]));
    }
    groups.clear();
    for (auto& [person, own] : by_person) {
      groups.emplace(Author{.name = person.name, .id = person.id, .time = newest[person]}, std::move(own));
    }
  }
  std::vector<ByAuthor> sorted;
  sorted.reserve(groups.size());
  for (auto& [author, own] : groups) sorted.push_back({author, std::move(own)});
  std::ranges::stable_sort(
      sorted, {}, [](const ByAuthor& group) { return std::pair(group.author.name.empty(), group.author.time); });
  return sorted;
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

Result<git::ObjectId> History::keep_file_text(std::string_view text) {
  WS_LET(git::Repository* const git, repository());
  return git->write_missing_blob(text);
}

Result<std::uint64_t> History::size(const git::ObjectId& blob) {
  WS_LET(git::Repository* const git, repository());
  return git->blob_size(blob);
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

Result<History::Tip> History::tip_of(git::Repository& repository, const std::string& branch) {
  Tip tip;
  WS_LET(tip.commit, repository.find_reference(branch));
  if (tip.commit) {
    WS_LET(tip.tree, repository.tree_of(*tip.commit));
  }
  return tip;
}

git::Signature History::signature_of(const Author& author) const {
  const Author& person = author.name.empty() ? user_ : author;
  const std::string& id = person.id;
  return {.name = person.name.empty() ? "you" : person.name,
          .email = (id.empty() ? std::string("unknown") : id) + "@localhost",
          .time = author.time == Time{} ? clock_->now() : author.time};
}

Result<git::ObjectId> History::commit(const Tip& tip,
                                      const git::ObjectId& whole,
                                      TextChanges changes,
                                      std::string_view message,
                                      const std::optional<git::ObjectId>& second_parent) {
  WS_LET(git::Repository* const git, repository());
  const std::vector<ByAuthor> groups = by_author(one_each(std::move(changes)));
  Tip at = tip;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const bool is_last = i + 1 == groups.size();
    // The last commit has the final state, whatever the order of the groups.
    git::ObjectId tree = whole;
    if (!is_last) {
      WS_LET(tree, git->write_tree(at.tree, updates_of(groups[i].changes)));
      if (tree == at.tree) continue;
    }
    std::vector<git::ObjectId> parents;
    if (at.commit) parents.push_back(*at.commit);
    if (is_last && second_parent) parents.push_back(*second_parent);
    WS_LET(at.commit, git->write_commit(tree, parents, message, clock_->now(), signature_of(groups[i].author)));
    at.tree = tree;
  }
  return *at.commit;
}

Result<void> History::record_before(const TextChanges& ours, const TextChanges& theirs) {
  if (ours.empty() && theirs.empty()) return flush();
  WS_LET(git::Repository* const git, repository());
  WS_LET(const Tip tip, tip_of(*git, main_branch));
  if (!theirs.empty()) {
    TextChanges named = theirs;
    for (TextChange& change : named) {
      if (change.author.name.empty()) change.author.name = service_name;
    }
    WS_LET(const git::ObjectId tree, git->write_tree(tip.tree, updates_of(one_each(named))));
    WS_LET(const git::ObjectId last,
           commit(tip, tree, std::move(named), "The text of the service, before it was merged or replaced"));
    WS_TRY(git->set_reference(incoming_branch, last));
    incoming_ = last;
  }
  if (ours.empty()) return {};
  WS_LET(const git::ObjectId tree, git->write_tree(tip.tree, updates_of(one_each(ours))));
  if (tree == tip.tree) return flush();
  WS_LET(const git::ObjectId last, commit(tip, tree, ours, text_replaced_here));
  return git->set_reference(main_branch, last);
}

Result<void> History::record_after(const TextChanges& changes, std::string_view message) {
  if (changes.empty()) return flush();
  WS_LET(git::Repository* const git, repository());
  WS_LET(const Tip tip, tip_of(*git, main_branch));
  WS_LET(const git::ObjectId tree, git->write_tree(tip.tree, updates_of(one_each(changes))));
  if (tree == tip.tree && !incoming_) return flush();
  WS_LET(const git::ObjectId last, commit(tip, tree, changes, message, incoming_));
  incoming_.reset();
  return git->set_reference(main_branch, last);
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
    WS_LET(const git::ObjectId tree, git->write_tree(std::nullopt, updates_of(one_each(texts))));
    if (tree == tip.tree) continue;
    std::vector<git::ObjectId> parents;
    if (tip.commit) parents.push_back(*tip.commit);
    WS_LET(const git::ObjectId made, git->write_commit(tree, parents, message, clock_->now(), signature_of({})));
    commits.emplace(reference, made);
  }
  return commits.empty() ? flush() : git->set_references(commits);
}

}  // namespace ws::sync

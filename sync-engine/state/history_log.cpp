#include "sync-engine/state/history_log.hpp"

#include <algorithm>
#include <queue>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api-client/base/shell_command.hpp"

namespace ws::sync {
namespace {

/// Commits by time, the newest first; a commit before its parents where their second is the same.
class HistoryWalk {
 public:
  explicit HistoryWalk(git::Repository& repository) : repository_(&repository) {}

  Result<void> add(const git::ObjectId& id) {
    if (!seen_.insert(id).second) return {};
    WS_LET(git::Commit commit, repository_->read_commit(id));
    waiting_.push({std::move(commit), order_++});
    return {};
  }

  Result<std::optional<git::Commit>> next() {
    if (waiting_.empty()) return std::optional<git::Commit>{};
    git::Commit commit = waiting_.top().commit;
    waiting_.pop();
    for (const git::ObjectId& parent : commit.parents) WS_TRY(add(parent));
    return std::optional<git::Commit>(std::move(commit));
  }

 private:
  struct Waiting {
    git::Commit commit;
    std::size_t order = 0;
    bool operator<(const Waiting& other) const {
      return std::pair(commit.time, other.order) < std::pair(other.commit.time, order);
    }
  };
  git::Repository* repository_;
  std::priority_queue<Waiting> waiting_;
  std::set<git::ObjectId> seen_;
  std::size_t order_ = 0;
};

}  // namespace

Result<HistoryLog> HistoryLog::open(const std::filesystem::path& history) {
  std::error_code ignored;
  if (!std::filesystem::exists(history / "HEAD", ignored)) return HistoryLog(std::nullopt);
  WS_LET(git::Repository repository, git::Repository::open(history));
  return HistoryLog(std::move(repository));
}

Result<std::vector<HistoryState>> HistoryLog::states(const LogOptions& options) {
  std::vector<HistoryState> states;
  if (!repository_) return states;
  HistoryWalk walk(*repository_);
  for (const char* branch : {"refs/heads/main", "refs/heads/incoming", "refs/heads/rescued"}) {
    WS_LET(const std::optional<git::ObjectId> tip, repository_->find_reference(branch));
    if (tip) WS_TRY(walk.add(*tip));
  }
  while (options.limit == 0 || states.size() < options.limit) {
    WS_LET(const std::optional<git::Commit> commit, walk.next());
    if (!commit) break;
    std::optional<git::ObjectId> before;
    if (!commit->parents.empty()) {
      WS_LET(before, repository_->tree_of(commit->parents.front()));
    }
    HistoryState state{.id = commit->id.hex(),
                       .time = commit->time,
                       .author = commit->author.name,
                       .changed = commit->author.time,
                       .message = commit->message};
    WS_LET(const std::vector<git::TreeUpdate> updates, repository_->compare_trees(before, commit->tree));
    for (const git::TreeUpdate& update : updates) {
      if (!options.path || update.path == options.path->text()) state.changes.push_back({update.path, update.blob});
    }
    if (!options.path || !state.changes.empty()) states.push_back(std::move(state));
  }
  return states;
}

Result<std::string> HistoryLog::text_in(std::string_view id, const RelativePath& path) {
  if (!repository_) return fail(Failure::Kind::not_found, "this tree has no history yet");
  WS_LET(const git::ObjectId commit, repository_->find_commit(id));
  WS_LET(const git::ObjectId tree, repository_->tree_of(commit));
  WS_LET(const std::optional<git::ObjectId> blob, repository_->find_blob(tree, path.text()));
  if (!blob) {
    return fail(Failure::Kind::not_found,
                fmt::format("there was no {} in the state {}", path.text(), id),
                ShellCommand{"ws", "sync", "log"}.path(path.text()).in_backticks() + " lists the states that hold it");
  }
  return repository_->read_blob(*blob);
}

Result<std::vector<BlamedLine>> HistoryLog::blame(const RelativePath& path, std::string_view text) {
  if (!repository_) return fail(Failure::Kind::not_found, "this tree has no history yet");
  WS_LET(const std::optional<git::ObjectId> tip, repository_->find_reference("refs/heads/main"));
  return ws::sync::blame(*repository_, tip, path.string(), text);
}

Result<std::string> HistoryLog::text(const git::ObjectId& blob) {
  if (!repository_) return fail(Failure::Kind::not_found, "this tree has no history yet");
  return repository_->read_blob(blob);
}

}  // namespace ws::sync

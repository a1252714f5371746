#include "sync-engine/state/history_log.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api-client/base/shell_command.hpp"
#include "api-client/base/text.hpp"
#include "api-client/base/utf8.hpp"
#include "sync-engine/git/changed_lines.hpp"
#include "sync-engine/state/history.hpp"

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

/// Files that went in one commit and are compared with one that came.
constexpr std::size_t max_candidates = 50;

/// A line that is still to be placed.
struct OpenLine {
  std::size_t in_result = 0;
  std::size_t in_text = 0;  ///< of the commit that is looked at
};

/// One file of one commit, and the lines that are at least as old as it.
struct Suspect {
  git::Commit commit;
  std::string path;
  git::ObjectId blob;
  std::vector<OpenLine> lines = {};
};

/// Moves the lines that `before` has too out of `lines`, as lines of `before`.
Result<std::vector<OpenLine>> take_older(std::string_view before,
                                         std::string_view after,
                                         std::vector<OpenLine>& lines) {
  WS_LET(const std::vector<git::ChangedLines> changed, git::changed_lines(before, after));
  std::vector<OpenLine> older;
  std::vector<OpenLine> kept;
  for (const OpenLine& line : lines) {
    const auto next = std::ranges::upper_bound(changed, line.in_text, {}, &git::ChangedLines::after_begin);
    const git::ChangedLines* const last = next == changed.begin() ? nullptr : &*std::prev(next);
    if (last != nullptr && line.in_text < last->after_end) {
      kept.push_back(line);
    } else {
      const std::size_t moved = last == nullptr ? line.in_text : line.in_text - last->after_end + last->before_end;
      older.push_back({line.in_result, moved});
    }
  }
  lines = std::move(kept);
  return older;
}

class Blamer {
 public:
  explicit Blamer(git::Repository& repository) : repository_(&repository) {}

  Result<std::vector<BlamedLine>> run(const std::optional<git::ObjectId>& tip,
                                      std::string_view path,
                                      std::string_view text) {
    std::vector<OpenLine> lines;
    for (const std::string_view line : split_lines(text)) {
      lines.push_back({lines.size(), lines.size()});
      result_.push_back({.text = std::string(line)});
    }
    if (!tip) return std::move(result_);
    WS_LET(const git::Commit newest, newest_with(*tip, path, git::object_id(git::ObjectType::blob, text)));
    WS_LET(const std::optional<git::ObjectId> blob, repository_->find_blob(newest.tree, path));
    if (!blob) return std::move(result_);
    WS_LET(const std::string known, repository_->read_blob(*blob));
    WS_LET(std::vector<OpenLine> older, take_older(known, text, lines));
    add({.commit = newest, .path = std::string(path), .blob = *blob, .lines = std::move(older)});
    while (!waiting_.empty()) {
      Suspect suspect = std::move(waiting_.extract(waiting_.begin()).mapped());
      WS_TRY(place(std::move(suspect)));
    }
    return std::move(result_);
  }

 private:
  /// The newest commit that has the very text at the path: one that was replaced and brought back is older than the
  /// last commit. The last one, where none has it.
  Result<git::Commit> newest_with(const git::ObjectId& tip, std::string_view path, const git::ObjectId& blob) {
    HistoryWalk walk(*repository_);
    WS_TRY(walk.add(tip));
    while (true) {
      WS_LET(auto commit, walk.next());
      if (!commit) return repository_->read_commit(tip);
      WS_LET(const std::optional<git::ObjectId> there, repository_->find_blob(commit->tree, path));
      if (there == blob) return std::move(*commit);
    }
  }

  /// The newest first.
  using Key = std::pair<Time::duration, std::pair<git::ObjectId, std::string>>;

  void add(Suspect suspect) {
    if (suspect.lines.empty()) return;
    const Key key{-suspect.commit.time.time_since_epoch(), {suspect.commit.id, suspect.path}};
    const auto known = waiting_.find(key);
    if (known == waiting_.end()) {
      waiting_.emplace(key, std::move(suspect));
    } else {
      std::ranges::copy(suspect.lines, std::back_inserter(known->second.lines));
    }
  }

  /// Hands the lines on to the parents that have them; the others came with this commit.
  Result<void> place(Suspect suspect) {
    std::ranges::sort(suspect.lines, {}, &OpenLine::in_text);
    std::optional<std::string> text;
    std::vector<git::ObjectId> earlier = suspect.commit.parents;
    for (std::size_t i = 0; i < earlier.size() && !suspect.lines.empty(); ++i) {
      WS_LET(git::Commit parent, repository_->read_commit(earlier[i]));
      // What was taken back before it was published is nobody's edit: the lines come from before it.
      if (parent.message == text_replaced_here)
        earlier.insert(earlier.end(), parent.parents.begin(), parent.parents.end());
      WS_LET(const auto older, find_in(parent, suspect));
      if (!older) continue;
      Suspect next{.commit = std::move(parent), .path = older->path, .blob = *older->blob};
      if (next.blob == suspect.blob) {
        next.lines = std::move(suspect.lines);
        suspect.lines.clear();
      } else {
        if (!text) {
          WS_LET(text, repository_->read_blob(suspect.blob));
        }
        WS_LET(const std::string before, repository_->read_blob(next.blob));
        WS_LET(next.lines, take_older(before, *text, suspect.lines));
      }
      add(std::move(next));
    }
    for (const OpenLine& line : suspect.lines) {
      BlamedLine& blamed = result_[line.in_result];
      blamed.commit = suspect.commit.id;
      blamed.author = suspect.commit.author;
      blamed.blob = suspect.blob;
    }
    return {};
  }

  /// The file in a parent: at its path, or where it was before a rename. Empty: it came with this commit.
  Result<std::optional<git::TreeUpdate>> find_in(const git::Commit& parent, const Suspect& suspect) {
    WS_LET(const std::optional<git::ObjectId> same, repository_->find_blob(parent.tree, suspect.path));
    if (same) return std::optional(git::TreeUpdate{.path = suspect.path, .blob = *same});
    WS_LET(const std::vector<git::TreeUpdate> updates, repository_->compare_trees(parent.tree, suspect.commit.tree));
    std::optional<git::TreeUpdate> best;
    std::size_t max_shared = 0;
    std::size_t compared = 0;
    for (const git::TreeUpdate& update : updates) {
      if (update.blob) continue;
      WS_LET(const std::optional<git::ObjectId> blob, repository_->find_blob(parent.tree, update.path));
      if (!blob) continue;
      if (*blob == suspect.blob) return std::optional(git::TreeUpdate{.path = update.path, .blob = *blob});
      if (++compared > max_candidates) continue;
      WS_LET(const std::size_t shared, shared_lines(*blob, suspect.blob));
      if (shared > max_shared) {
        max_shared = shared;
        best = git::TreeUpdate{.path = update.path, .blob = *blob};
      }
    }
    return best;
  }

  /// How many lines of `after` come from `before`; 0 where that is less than half.
  Result<std::size_t> shared_lines(const git::ObjectId& before, const git::ObjectId& after) {
    WS_LET(const std::string old_text, repository_->read_blob(before));
    WS_LET(const std::string new_text, repository_->read_blob(after));
    std::vector<OpenLine> lines;
    for (std::size_t i = 0, count = split_lines(new_text).size(); i < count; ++i) lines.push_back({i, i});
    const std::size_t all = lines.size();
    WS_LET(const std::vector<OpenLine> older, take_older(old_text, new_text, lines));
    return older.size() * 2 < all ? std::size_t{0} : older.size();
  }

  git::Repository* repository_;
  std::map<Key, Suspect> waiting_;
  std::vector<BlamedLine> result_;
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
  // A file that got its name in the other Unicode form is the same one.
  const std::string composed = options.path ? utf8::nfc(options.path->text()) : std::string();
  const bool has_forms = std::ranges::any_of(composed, [](char c) { return static_cast<signed char>(c) < 0; });
  const auto is_wanted = [&](const std::string& path) {
    return !options.path || path == options.path->text() || (has_forms && utf8::nfc(path) == composed);
  };
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
      if (is_wanted(update.path)) state.changes.push_back({update.path, update.blob});
    }
    if (!options.path || !state.changes.empty()) states.push_back(std::move(state));
  }
  return states;
}

Result<std::string> HistoryLog::text_in(std::string_view id, const RelativePath& path) {
  if (!repository_) return fail(Failure::Kind::not_found, "this folder has no history yet");
  WS_LET(const git::ObjectId commit, repository_->find_commit(id));
  WS_LET(const git::ObjectId tree, repository_->tree_of(commit));
  WS_LET(std::optional<git::ObjectId> blob, repository_->find_blob(tree, path.text()));
  if (!blob) {
    WS_LET(blob, repository_->find_blob(tree, utf8::nfc(path.text())));
  }
  if (!blob) {
    return fail(Failure::Kind::not_found,
                fmt::format("there was no {} in the state {}", path.text(), id),
                ShellCommand{"ws", "sync", "log"}.path(path.text()).in_backticks() + " lists the states that hold it");
  }
  return repository_->read_blob(*blob);
}

Result<std::vector<BlamedLine>> HistoryLog::blame(const RelativePath& path, std::string_view text) {
  if (!repository_) return fail(Failure::Kind::not_found, "this folder has no history yet");
  WS_LET(const std::optional<git::ObjectId> tip, repository_->find_reference("refs/heads/main"));
  return ws::sync::blame(*repository_, tip, path.string(), text);
}

Result<std::vector<HistoryChange>> HistoryLog::files_in(std::string_view id) {
  if (!repository_) return fail(Failure::Kind::not_found, "this folder has no history yet");
  WS_LET(const git::ObjectId commit, repository_->find_commit(id));
  WS_LET(const git::ObjectId tree, repository_->tree_of(commit));
  WS_LET(std::vector<git::TreeUpdate> all, repository_->compare_trees({}, tree));
  std::vector<HistoryChange> files;
  files.reserve(all.size());
  for (git::TreeUpdate& each : all) files.push_back({.path = std::move(each.path), .blob = each.blob});
  return files;
}

Result<std::string> HistoryLog::text(const git::ObjectId& blob) {
  if (!repository_) return fail(Failure::Kind::not_found, "this folder has no history yet");
  return repository_->read_blob(blob);
}

Result<std::vector<BlamedLine>> blame(git::Repository& repository,
                                      const std::optional<git::ObjectId>& tip,
                                      std::string_view path,
                                      std::string_view text) {
  return Blamer(repository).run(tip, path, text);
}

}  // namespace ws::sync

#include "sync-engine/state/history_gc.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "api-client/base/files.hpp"
#include "sync-engine/git/git_folder.hpp"
#include "sync-engine/git/housekeeping.hpp"
#include "sync-engine/git/repository.hpp"

namespace ws::sync {
namespace {

using git::Commit;
using git::ObjectFile;
using git::ObjectId;
using git::Reachable;

/// Any other reference was made by the user with git (a tag, a branch): what it names is kept.
bool is_reference_of_ours(const std::string& reference) {
  return reference == "refs/heads/main" || reference == "refs/heads/incoming" || reference == "refs/heads/rescued" ||
         reference.starts_with("refs/heads/conflicts/");
}

class Collector {
 public:
  Collector(std::filesystem::path path,
            git::Repository repository,
            git::Housekeeping house,
            const GcNeeds& needs,
            const GcOptions& options,
            const std::function<Result<void>()>& check_cancelled)
      : path_(std::move(path)),
        repository_(std::move(repository)),
        house_(std::move(house)),
        needs_(needs),
        options_(options),
        check_cancelled_(check_cancelled) {}

  Result<GcReport> collect() {
    WS_TRY(read_all());
    choose_states();
    WS_TRY(choose_objects());
    if (options_.dry_run || (report_.texts_dropped == 0 && report_.states_dropped == 0 && is_packed())) {
      report_.bytes_after = report_.bytes_before;
      return report_;
    }
    return replace();
  }

 private:
  Result<GcReport> replace() {
    WS_TRY(house_.clear_leftovers());
    std::set<std::filesystem::path> packs;
    if (!kept_.commits.empty() || !kept_.texts.empty()) {
      WS_LET(auto made, house_.pack(kept_));
      packs.insert(std::move(made));
      WS_TRY(check_cancelled_());
    }
    if (!aside_.texts.empty()) {
      WS_LET(auto made, house_.pack(aside_, aside_time_));
      packs.insert(std::move(made));
    }
    WS_TRY(check_cancelled_());
    WS_TRY(write_shallow());
    for (const auto& [name, tip] : tips_) {
      if (states_.contains(tip)) continue;
      WS_TRY(check_cancelled_());
      WS_TRY(house_.remove_reference(name));
    }
    std::erase_if(files_, [&](const ObjectFile& file) { return packs.contains(file.path); });
    WS_TRY(house_.remove(files_, check_cancelled_));
    WS_LET(const std::vector<ObjectFile> now, house_.files());
    for (const ObjectFile& file : now) report_.bytes_after += file.bytes;
    return report_;
  }

  /// Every commit that a reference leads to, parents before children, and every file of objects.
  Result<void> read_all() {
    WS_LET(const std::vector<std::string> names, house_.references());
    for (const std::string& name : names) {
      WS_LET(const std::optional<ObjectId> tip, repository_.find_reference(name));
      if (!tip) continue;
      tips_.emplace(name, *tip);
      WS_TRY(read_commits(*tip));
    }
    WS_LET(files_, house_.files());
    for (const ObjectFile& file : files_) report_.bytes_before += file.bytes;
    return {};
  }

  Result<void> read_commits(const ObjectId& tip) {
    std::vector<ObjectId> stack = {tip};
    while (!stack.empty()) {
      const ObjectId id = stack.back();
      auto known = commits_.find(id);
      if (known == commits_.end()) {
        WS_LET(Commit commit, repository_.read_commit(id));
        known = commits_.emplace(id, std::move(commit)).first;
        for (const ObjectId& parent : known->second.parents) {
          if (!commits_.contains(parent)) stack.push_back(parent);
        }
        continue;
      }
      // Visited for the second time: all its parents are done.
      stack.pop_back();
      if (ordered_.insert(id).second) order_.push_back(id);
    }
    return {};
  }

  /// A commit is kept with all commits between it and a reference, whatever their times are.
  void choose_states() {
    std::set<ObjectId> wanted;
    for (const ObjectId& id : order_) {
      const Commit& commit = commits_.at(id);
      const bool leads_on = std::any_of(commit.parents.begin(), commit.parents.end(), [&](const ObjectId& parent) {
        return wanted.contains(parent);
      });
      if (commit.time >= options_.keep_from || leads_on) wanted.insert(id);
    }
    states_ = wanted;
    for (const ObjectId& id : wanted) {
      const Commit& commit = commits_.at(id);
      states_.insert(commit.parents.begin(), commit.parents.end());
    }
    for (const auto& [name, tip] : tips_) {
      if (needs_.references.contains(name) || !is_reference_of_ours(name)) states_.insert(tip);
    }
    report_.states_kept = states_.size();
    report_.states_dropped = commits_.size() - states_.size();
  }

  Result<void> choose_objects() {
    Reachable all;
    for (const auto& [id, commit] : commits_) {
      if (states_.contains(id)) {
        kept_.commits.insert(id);
        WS_TRY(house_.add_tree(commit.tree, kept_));
      }
      all.commits.insert(id);
      WS_TRY(house_.add_tree(commit.tree, all));
    }
    std::map<ObjectId, Time> stored;
    for (const ObjectFile& file : files_) {
      for (const ObjectId& id : file.objects) {
        Time& time = stored.try_emplace(id, file.time).first->second;
        time = std::max(time, file.time);
      }
    }
    for (const ObjectId& text : needs_.texts) {
      if (stored.contains(text)) kept_.texts.try_emplace(text);
    }
    WS_TRY(choose_strays(all, stored));
    std::size_t texts = 0;
    for (const auto& [text, name] : all.texts) {
      if (!kept_.texts.contains(text)) ++texts;
    }
    report_.texts_dropped += texts;
    return {};
  }

  /// Unreferenced texts: a failed run may have left the only copy.
  Result<void> choose_strays(const Reachable& all, const std::map<ObjectId, Time>& stored) {
    for (const auto& [id, time] : stored) {
      if (all.commits.contains(id) || all.trees.contains(id) || all.texts.contains(id)) continue;
      if (kept_.texts.contains(id)) continue;
      WS_LET(const bool is_text, repository_.is_blob(id));
      if (!is_text) continue;
      if (time < options_.keep_from) {
        ++report_.texts_dropped;
        continue;
      }
      aside_.texts.try_emplace(id);
      aside_time_ = std::max(aside_time_.value_or(time), time);
    }
    return {};
  }

  bool is_packed() const {
    return std::all_of(files_.begin(), files_.end(), [](const ObjectFile& file) { return file.is_pack; }) &&
           files_.size() <= (aside_.texts.empty() ? 1U : 2U);
  }

  /// A kept commit with a dropped parent. One that was shallow before has no parents to check.
  Result<void> write_shallow() {
    WS_LET(const std::set<ObjectId> before, git::read_shallow(path_));
    std::string text;
    for (const ObjectId& id : states_) {
      const Commit& commit = commits_.at(id);
      const bool loses = std::any_of(commit.parents.begin(), commit.parents.end(), [&](const ObjectId& parent) {
        return !states_.contains(parent);
      });
      if (loses || before.contains(id)) text += id.hex() + "\n";
    }
    if (!text.empty()) return write_file(path_ / "shallow", text);
    std::error_code ignored;
    std::filesystem::remove(path_ / "shallow", ignored);
    return {};
  }

  std::filesystem::path path_;
  git::Repository repository_;
  git::Housekeeping house_;
  const GcNeeds& needs_;
  const GcOptions& options_;
  const std::function<Result<void>()>& check_cancelled_;
  std::map<std::string, ObjectId> tips_ = {};
  std::map<ObjectId, Commit> commits_ = {};
  std::set<ObjectId> ordered_ = {};
  std::vector<ObjectId> order_ = {};
  std::vector<ObjectFile> files_ = {};
  std::set<ObjectId> states_ = {};
  Reachable kept_ = {};
  Reachable aside_ = {};
  std::optional<Time> aside_time_ = {};
  GcReport report_ = {};
};

}  // namespace

Result<GcReport> collect_history(const std::filesystem::path& history,
                                 const GcNeeds& needs,
                                 const GcOptions& options,
                                 const std::function<Result<void>()>& check_cancelled) {
  std::error_code ignored;
  if (!std::filesystem::exists(history / "HEAD", ignored)) return GcReport{};
  WS_LET(git::Repository repository, git::Repository::open(history));
  WS_LET(git::Housekeeping house, git::Housekeeping::open(history));
  return Collector(history, std::move(repository), std::move(house), needs, options, check_cancelled).collect();
}

}  // namespace ws::sync

#include "sync-engine/publish/commit_parts.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>

namespace ws::sync {
namespace {

/// Union-find: each set is named by one of its members.
class JoinedSets {
 public:
  std::size_t add() {
    parents_.push_back(parents_.size());
    return parents_.size() - 1;
  }
  std::size_t find(std::size_t member) {
    while (parents_[member] != member) member = parents_[member] = parents_[parents_[member]];
    return member;
  }
  /// The older of the two stands for both.
  void join(std::size_t a, std::size_t b) {
    const auto [first, second] = std::minmax({find(a), find(b)});
    parents_[second] = first;
  }

 private:
  std::vector<std::size_t> parents_;
};

/// Documents that exchange paths and must be in one commit.
class Movers {
 public:
  explicit Movers(const std::vector<const StagedItem*>& items) {
    for (const StagedItem* staged : items) {
      const PushItem& item = staged->item;
      if (item.kind == ActionKind::push_delete) leave(item.document, item.path);
      if (item.kind != ActionKind::push_move) continue;
      leave(item.document, item.previous_path.value_or(item.path));
      take(item.document, item.path);
    }
    // A file that becomes a folder of others, and a folder that becomes a file.
    join_above(taken_, left_);
    join_above(left_, taken_);
  }

  /// The set of a document; empty: it stays where it is.
  std::optional<std::size_t> set_of(const DocumentId& document) {
    const auto found = members_.find(document.text);
    return found == members_.end() ? std::nullopt : std::optional(sets_.find(found->second));
  }

 private:
  using Places = std::unordered_map<std::string, std::size_t>;

  std::size_t member(const DocumentId& document) {
    const auto [found, fresh] = members_.try_emplace(document.text, 0);
    if (fresh) found->second = sets_.add();
    return found->second;
  }

  void leave(const DocumentId& document, const RelativePath& path) { note(document, path.twin_key(), left_, taken_); }
  void take(const DocumentId& document, const RelativePath& path) { note(document, path.twin_key(), taken_, left_); }

  void note(const DocumentId& document, const std::string& key, Places& here, const Places& others) {
    const std::size_t who = member(document);
    const auto [same, fresh] = here.try_emplace(key, who);
    if (!fresh) sets_.join(same->second, who);
    if (const auto other = others.find(key); other != others.end()) sets_.join(other->second, who);
  }

  void join_above(const Places& places, const Places& others) {
    for (const auto& [key, who] : places) {
      for (std::size_t slash = key.find('/'); slash != std::string::npos; slash = key.find('/', slash + 1)) {
        if (const auto above = others.find(key.substr(0, slash)); above != others.end()) {
          sets_.join(above->second, who);
        }
      }
    }
  }

  JoinedSets sets_;
  Places members_;  ///< by document
  Places left_;
  Places taken_;
};

}  // namespace

CommitParts commit_parts(const std::vector<const StagedItem*>& items, std::size_t most) {
  CommitParts parts;
  parts.order.resize(items.size());
  std::iota(parts.order.begin(), parts.order.end(), std::size_t{0});
  if (items.size() <= most) {
    parts.ends.push_back(items.size());
    return parts;
  }
  Movers movers(items);
  const std::size_t none = items.size();
  std::vector<std::size_t> sets;
  sets.reserve(items.size());
  for (const StagedItem* staged : items) sets.push_back(movers.set_of(staged->item.document).value_or(none));
  // With a document that moves go its edits, which are made from the same revision.
  std::stable_sort(parts.order.begin(), parts.order.end(), [&](auto a, auto b) { return sets[a] < sets[b]; });
  std::size_t begin = 0;
  std::size_t fits = 0;  // where the part at hand can end
  for (std::size_t i = 1; i <= items.size(); ++i) {
    const bool together =
        i < items.size() && sets[parts.order[i]] != none && sets[parts.order[i]] == sets[parts.order[i - 1]];
    if (together) continue;
    if (i - begin > most && fits > begin) {
      parts.ends.push_back(fits);
      begin = fits;
    }
    fits = i;
  }
  parts.ends.push_back(items.size());
  return parts;
}

}  // namespace ws::sync

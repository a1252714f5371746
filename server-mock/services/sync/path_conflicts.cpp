#include <unordered_map>

#include "api-client/base/utf8.hpp"
#include "server-mock/services/sync/shared.hpp"
#include "server-mock/services/sync_sources/membership.hpp"
#include "server-mock/services/sync_sources/paths.hpp"

namespace ws::mock {
namespace {

class Settlement {
 public:
  Settlement(World& world, const std::string& source_id, const std::vector<PathChange>& changes)
      : world_(world),
        source_id_(source_id),
        changes_(changes),
        clashes_(changes.size()),
        dependents_(changes.size()) {}

  Result<std::vector<std::optional<Clash>>> settle() {
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (changes_[i].leaves && !changes_[i].document_id.empty()) leaving_.emplace(changes_[i].document_id, i);
      if (!changes_[i].wants) continue;
      if (!claims_.emplace(utf8::fold_key(*changes_[i].wants), i).second) refuse(i, {});
    }
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (changes_[i].wants && !clashes_[i]) WS_TRY(look_up(i));
    }
    return std::move(clashes_);
  }

 private:
  Result<void> look_up(std::size_t i) {
    const std::string key = utf8::fold_key(*changes_[i].wants);
    WS_LET(const std::optional<SyncEntry> holder, find_holder(world_, source_id_, key));
    if (holder) need_gone(i, holder->document_id, {.holder_id = holder->document_id});
    WS_LET(const std::vector<std::string> inside, documents_in_folder(world_, source_id_, key));
    for (const std::string& document_id : inside) need_gone(i, document_id, {});
    // A document may have the name of a folder (a Page), so only its own path must be free. Within one commit both
    // would be in the same tree, which is a conflict.
    for (const std::string_view folder : folders_above(key)) {
      if (claims_.contains(std::string(folder))) refuse(i, {});
    }
    return {};
  }

  /// Change `i` is possible only if `document_id` leaves its path.
  void need_gone(std::size_t i, const std::string& document_id, Clash otherwise) {
    if (document_id == changes_[i].document_id) return;
    const auto leaver = leaving_.find(document_id);
    if (leaver == leaving_.end() || clashes_[leaver->second]) {
      refuse(i, std::move(otherwise));
    } else {
      dependents_[leaver->second].emplace_back(i, std::move(otherwise));
    }
  }

  /// `first` keeps its path; so do changes that depend on it.
  void refuse(std::size_t first, Clash why) {
    std::vector<std::pair<std::size_t, Clash>> open = {{first, std::move(why)}};
    while (!open.empty()) {
      auto [i, clash] = std::move(open.back());
      open.pop_back();
      if (clashes_[i]) continue;
      clashes_[i] = std::move(clash);
      for (auto& dependent : dependents_[i]) open.push_back(std::move(dependent));
      dependents_[i].clear();
    }
  }

  World& world_;
  const std::string& source_id_;
  const std::vector<PathChange>& changes_;
  std::vector<std::optional<Clash>> clashes_;
  std::vector<std::vector<std::pair<std::size_t, Clash>>> dependents_;
  std::unordered_map<std::string, std::size_t> leaving_ = {};  // index of the change, by document
  std::unordered_map<std::string, std::size_t> claims_ =
      {};  // index of the first change that wants the path, by path key
};

}  // namespace

Result<std::vector<std::optional<Clash>>> check_paths(World& world,
                                                      const std::string& source_id,
                                                      const std::vector<PathChange>& changes) {
  return Settlement(world, source_id, changes).settle();
}

}  // namespace ws::mock

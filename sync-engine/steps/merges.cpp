#include "sync-engine/steps/merges.hpp"

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sync-engine/git/merge_text.hpp"
#include "sync-engine/merge/merge.hpp"
#include "sync-engine/reconcile/reconcile.hpp"
#include "sync-engine/tree/safe_write.hpp"

namespace ws::sync {
namespace {

class Merger {
 public:
  Merger(Session& session, Survey& survey, const std::map<DocumentId, std::string>& texts, bool offline)
      : session_(session), survey_(survey), texts_(texts), offline_(offline) {}

  Result<void> carry_out() {
    std::vector<Action> merges;
    for (const Action& action : survey_.plan.actions) {
      if (action.kind == ActionKind::merge) merges.push_back(action);
    }
    if (merges.empty()) return {};
    WS_LET(const SafeWriter files, SafeWriter::open(session_.root));
    std::set<DocumentId> refused;
    for (const Action& merge : merges) {
      WS_LET(std::optional<std::string> text, merge_one(files, merge));
      if (text) {
        survey_.merged.emplace(merge.document, std::move(*text));
      } else {
        refused.insert(merge.document);
      }
    }
    survey_.plan = refuse_merges(std::move(survey_.plan), refused, survey_.base, survey_.remote);
    for (Action& action : survey_.plan.actions) {
      if (action.kind == ActionKind::merge) action.result = Sha256::of(survey_.merged.at(action.document));
    }
    return {};
  }

 private:
  /// Empty where the lines collide, or one of the three texts is not to be had.
  Result<std::optional<std::string>> merge_one(const SafeWriter& files, const Action& action) {
    using Text = std::optional<std::string>;
    const BaseRow& base_row = survey_.base_rows.at(action.document);
    auto base = session_.history.text(base_row.blob);
    auto ours = files.read(survey_.local.tracked.at(action.document).path);
    if (!base || !ours || Sha256::of(*base) != base_row.entry.hash || Sha256::of(*ours) != action.seen) return Text{};
    // Markers that a person has still to take out are no text to merge.
    if (merge::has_markers(*ours) && !merge::has_markers(*base)) return Text{};
    WS_LET(const Text theirs, remote_text(action.document));
    if (!theirs) return Text{};
    if (!is_markdown(action.path.text())) return git::merge_text(*base, *ours, *theirs);
    WS_LET(const merge::Merge merged, merge::merge_markdown(*base, *ours, *theirs));
    return merged.is_clean() ? Text(merged.text()) : Text{};
  }

  Result<std::optional<std::string>> remote_text(const DocumentId& document) {
    using Text = std::optional<std::string>;
    const Sha256 wanted = survey_.remote.changed.at(document).hash;
    if (const auto text = texts_.find(document); text != texts_.end()) return Text(text->second);
    const git::ObjectId blob = survey_.pending.at(document).blob;
    if (!blob.empty()) {
      if (auto text = session_.history.text(blob); text && Sha256::of(*text) == wanted) return Text(std::move(*text));
    }
    if (session_.remote == nullptr || offline_) return Text{};
    WS_LET(PulledItem item, session_.remote->content(document));
    if (!item.content || Sha256::of(*item.content) != wanted) return Text{};
    return std::move(item.content);
  }

  Session& session_;
  Survey& survey_;
  const std::map<DocumentId, std::string>& texts_;
  bool offline_;
};

}  // namespace

Result<void> try_merges(Session& session,
                        Survey& survey,
                        const std::map<DocumentId, std::string>& texts,
                        bool offline) {
  return Merger(session, survey, texts, offline).carry_out();
}

}  // namespace ws::sync

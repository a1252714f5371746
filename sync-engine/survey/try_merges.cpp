#include "sync-engine/survey/try_merges.hpp"

#include <optional>
#include <set>
#include <utility>

#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/merge/line_merge.hpp"
#include "sync-engine/merge/marker_lines.hpp"
#include "sync-engine/merge/merge.hpp"
#include "sync-engine/session/service_text.hpp"

namespace ws::sync {
namespace {

class Merger {
 public:
  Merger(Session& session, Survey& survey, const std::map<DocumentId, std::string>& texts, bool offline)
      : session_(session), survey_(survey), texts_(texts), offline_(offline) {}

  Result<std::set<DocumentId>> carry_out() {
    std::set<DocumentId> colliding;
    std::optional<SafeWriter> files;
    for (Action& action : survey_.plan.actions) {
      if (action.kind != ActionKind::merge) continue;
      if (!files) {
        WS_LET(files, SafeWriter::open(session_.root));
      }
      auto merged = survey_.merged.find(action.document);
      if (merged == survey_.merged.end()) {
        WS_LET(std::optional<std::string> text, merge_one(*files, action));
        if (!text) {
          colliding.insert(action.document);
          continue;
        }
        merged = survey_.merged.emplace(action.document, std::move(*text)).first;
      }
      action.result = Sha256::of(merged->second);
    }
    return colliding;
  }

 private:
  /// Empty where the changes overlap, or one of the three texts is not available.
  Result<std::optional<std::string>> merge_one(const SafeWriter& files, const Action& action) {
    using Text = std::optional<std::string>;
    const BaseRow& base_row = survey_.base_rows.at(action.document);
    auto base = session_.history.text(base_row.blob);
    auto ours = files.read(survey_.local.tracked.at(action.document).path);
    if (!base || !ours || Sha256::of(*base) != base_row.entry.hash || Sha256::of(*ours) != action.seen) return Text{};
    WS_LET(const Text theirs, remote_text(action.document));
    if (!theirs) return Text{};
    // A file with our conflict markers in it is not merged.
    if (adds_markers(*ours, {*base, *theirs})) return Text{};
    if (!is_markdown(action.path.text())) return merge::merge_lines(*base, *ours, *theirs);
    WS_LET(const merge::Merge merged,
           merge::merge_markdown(*base, *ours, *theirs, {.merge_later = session_.config.merge_later}));
    return merged.is_clean() ? Text(merged.text()) : Text{};
  }

  Result<std::optional<std::string>> remote_text(const DocumentId& document) {
    using Text = std::optional<std::string>;
    const Sha256 wanted = survey_.remote.changed.at(document).hash;
    if (const auto text = texts_.find(document); text != texts_.end()) return Text(text->second);
    const git::ObjectId& blob = survey_.pending.at(document).blob;
    if (session_.remote == nullptr || offline_) return find_kept_text(session_, blob, wanted);
    return fetch_remote_text(session_, document, blob, wanted);
  }

  Session& session_;
  Survey& survey_;
  const std::map<DocumentId, std::string>& texts_;
  bool offline_;
};

}  // namespace

Result<std::set<DocumentId>> try_merges(Session& session,
                                        Survey& survey,
                                        const std::map<DocumentId, std::string>& texts,
                                        bool offline) {
  return Merger(session, survey, texts, offline).carry_out();
}

}  // namespace ws::sync

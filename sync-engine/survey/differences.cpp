#include "sync-engine/survey/differences.hpp"

#include <algorithm>
#include <utility>

#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/git/changed_lines.hpp"
#include "sync-engine/model/change.hpp"
#include "sync-engine/session/session.hpp"

namespace ws::sync {
namespace {

const RelativePath& place_of_difference(const Difference& difference) {
  return difference.after ? *difference.after : *difference.before;
}

class Comparer {
 public:
  Comparer(Session& session, const Survey& survey, SafeWriter files)
      : session_(session), survey_(survey), files_(std::move(files)) {}

  Result<std::vector<Difference>> compare(const WantedPath& wanted) {
    wanted_ = wanted;
    for (const auto& [document, base] : survey_.base.documents) {
      WS_TRY(compare_known(document, base));
    }
    for (const auto& [path, hash] : survey_.local.created) {
      if (!wanted_(path)) continue;
      WS_LET(const std::string text, files_.read(path));
      WS_TRY(add(Side::here, std::nullopt, path, "", text));
    }
    for (const auto& [document, entry] : survey_.remote.changed) {
      if (survey_.base.documents.contains(document) || !wanted_(entry.path)) continue;
      WS_LET(const std::string text, their_text(document, entry));
      WS_TRY(add(Side::there, std::nullopt, entry.path, "", text));
    }
    sort_by_path(found_);
    return std::move(found_);
  }

 private:
  Result<void> compare_known(const DocumentId& document, const Entry& base) {
    const SideChange here = local_change(document, survey_.base, survey_.local);
    const SideChange there = remote_change(document, base, survey_.remote);
    const RelativePath& at = survey_.base.disk_path(document);
    const auto wants = [&](const SideChange& change) {
      const bool changed = change.change == Change::edited || change.change == Change::moved ||
                           change.change == Change::deleted || change.change == Change::rewound;
      return changed && (wanted_(at) || (change.entry && wanted_(change.entry->path)));
    };
    if (!wants(here) && !wants(there)) return {};
    auto kept = session_.history.text(survey_.base_rows.at(document).blob);
    // The history is lost: the present text is shown as new.
    if (!kept && kept.error().kind != Failure::Kind::not_found) return fail(std::move(kept).error());
    const std::string old = kept ? std::move(*kept) : std::string();
    if (wants(here)) {
      std::string text;
      if (here.entry) {
        WS_LET(text, files_.read(here.entry->path));
      }
      WS_TRY(add(Side::here, at, path_of(here), old, text));
    }
    if (!wants(there)) return {};
    std::string text;
    if (there.entry) {
      const bool is_new = there.edited() || there.change == Change::rewound;
      WS_LET(text, is_new ? their_text(document, *there.entry) : Result<std::string>(old));
    }
    return add(Side::there, base.path, path_of(there), old, text);
  }

  static std::optional<RelativePath> path_of(const SideChange& change) {
    return change.entry ? std::optional(change.entry->path) : std::nullopt;
  }

  /// A document that changed again since the survey is shown in its present state.
  Result<std::string> their_text(const DocumentId& document, const Entry& there) {
    if (const auto pending = survey_.pending.find(document); pending != survey_.pending.end()) {
      if (auto kept = find_kept_text(session_, pending->second.blob, there.hash)) return std::move(*kept);
    }
    if (session_.remote == nullptr) return fail(service_needed());
    WS_LET(PulledItem item, session_.remote->content(document));
    return std::move(item.content).value_or("");
  }

  Result<void> add(Side side,
                   std::optional<RelativePath> before,
                   std::optional<RelativePath> after,
                   std::string_view old_text,
                   std::string_view new_text) {
    Difference difference{.side = side, .before = std::move(before), .after = std::move(after)};
    WS_LET(difference.hunks, git::diff_text(old_text, new_text));
    found_.push_back(std::move(difference));
    return {};
  }

  Session& session_;
  const Survey& survey_;
  SafeWriter files_;
  WantedPath wanted_;
  std::vector<Difference> found_;
};

}  // namespace

void sort_by_path(std::vector<Difference>& differences) {
  std::stable_sort(differences.begin(), differences.end(), [](const Difference& a, const Difference& b) {
    return std::tie(place_of_difference(a), a.side) < std::tie(place_of_difference(b), b.side);
  });
}

Result<std::vector<Difference>> differences(Session& session, const Survey& survey, const WantedPath& wanted) {
  WS_LET(SafeWriter files, SafeWriter::open(session.root));
  return Comparer(session, survey, std::move(files)).compare(wanted);
}

}  // namespace ws::sync

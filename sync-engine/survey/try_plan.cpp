#include "sync-engine/survey/try_plan.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/links/rewrite_links.hpp"
#include "sync-engine/merge/merge.hpp"
#include "sync-engine/survey/differences.hpp"

namespace ws::sync {
namespace {

/// Edits the links of a text for what was renamed on one side, as that side edited those of its own text.
class LinksOfRenames {
 public:
  LinksOfRenames(std::vector<std::string> files, links::Renames renames)
      : before_(std::move(files)), renames_(std::move(renames)), rewriter_(before_, renames_) {}
  LinksOfRenames(const LinksOfRenames&) = delete;
  LinksOfRenames& operator=(const LinksOfRenames&) = delete;

  std::string edit(const RelativePath& note, std::string_view text) const {
    const std::vector<links::Reference> references = links::read_references(text);
    std::size_t left = 0;
    return links::with_targets(text, references, rewriter_.new_targets(note.text(), references), left);
  }

 private:
  links::TreeFiles before_;
  links::Renames renames_;
  links::LinkRewriter rewriter_;
};

/// Edits the links that lead nowhere in the base since earlier renames, as `ws links fix` does on one side.
class EarlierLinks {
 public:
  EarlierLinks(std::vector<std::string> files, links::Renames renames)
      : files_(std::move(files)), mender_(files_, std::move(renames)) {}
  EarlierLinks(const EarlierLinks&) = delete;
  EarlierLinks& operator=(const EarlierLinks&) = delete;

  /// The same links are edited in all three texts: those that the base has. False: it has none.
  bool edit(const RelativePath& note, std::string& base, std::string& ours, std::string& theirs) const {
    const std::vector<links::Reference> references = links::read_references(base);
    std::map<std::pair<bool, std::string_view>, links::NewTarget> targets;
    for (links::NewTarget& each : mender_.new_targets(note.text(), references)) {
      const links::Reference& reference = references[each.reference];
      targets.emplace(std::pair(reference.is_wiki(), std::string_view(reference.path)), std::move(each));
    }
    for (std::string* const text : {&base, &ours, &theirs}) {
      const std::vector<links::Reference> links = links::read_references(*text);
      std::vector<links::NewTarget> known;
      for (std::size_t i = 0; i < links.size(); ++i) {
        const auto target = targets.find({links[i].is_wiki(), links[i].path});
        if (target == targets.end()) continue;
        known.push_back(target->second);
        known.back().reference = i;
      }
      std::size_t left = 0;
      *text = links::with_targets(*text, links, known, left);
    }
    return !targets.empty();
  }

 private:
  links::TreeFiles files_;
  links::LinkMender mender_;
};

/// Whose renames they are. `written`: those made here, with the names that this program gave last: it wrote the links
/// for those, whatever somebody renamed since.
enum class RenamedBy { written, here, there };

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
        // One that is too large could not be sent, and the sides would never meet.
        if (!text || text->size() > session_.config.max_file_bytes) {
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
    const RelativePath& path = survey_.local.tracked.at(action.document).path;
    const auto edit = survey_.edits.find(path);
    auto ours = edit == survey_.edits.end() ? files.read(path) : Result<std::string>(edit->second);
    if (!base || !ours || Sha256::of(*base) != base_row.entry.hash || Sha256::of(*ours) != action.seen) return Text{};
    WS_LET(Text theirs, remote_text(action.document));
    if (!theirs) return Text{};
    // A file with our conflict markers in it is not merged.
    if (merge::adds_markers(*ours, {*base, *theirs})) return Text{};
    if (!is_markdown(action.path.text())) return merge::merge_lines(*base, *ours, *theirs);
    WS_LET(Text merged, merge_three(*base, *ours, *theirs));
    if (merged) return merged;
    // Where one side's links followed a rename, only what people wrote may stand against it.
    const RelativePath& note = survey_.base.disk_path(action.document);
    WS_LET(merged, merge_relinked(note, *base, *ours, *theirs));
    if (merged) return merged;
    WS_LET(const EarlierLinks* const earlier, earlier_links());
    if (!earlier->edit(note, *base, *ours, *theirs)) return Text{};
    WS_LET(merged, merge_three(*base, *ours, *theirs));
    return merged ? std::move(merged) : merge_relinked(note, *base, *ours, *theirs);
  }

  Result<std::optional<std::string>> merge_relinked(const RelativePath& note,
                                                    const std::string& base,
                                                    const std::string& ours,
                                                    const std::string& theirs) {
    for (const RenamedBy by : {RenamedBy::written, RenamedBy::here, RenamedBy::there}) {
      WS_LET(const LinksOfRenames* const links, links_of_renames(by));
      if (links == nullptr) continue;
      const std::string relinked = links->edit(note, base);
      if (relinked == base) continue;
      WS_LET(auto merged,
             by == RenamedBy::there ? merge_three(relinked, links->edit(note, ours), theirs)
                                    : merge_three(relinked, ours, links->edit(note, theirs)));
      if (merged) return merged;
    }
    return std::optional<std::string>{};
  }

  Result<std::optional<std::string>> merge_three(std::string_view base,
                                                 std::string_view ours,
                                                 std::string_view theirs) const {
    using Text = std::optional<std::string>;
    WS_LET(const merge::Merge merged,
           merge::merge_markdown(base, ours, theirs, {.merge_later = session_.config.merge_later}));
    return merged.is_clean() ? Text(merged.text()) : Text{};
  }

  /// Null: nothing was renamed there.
  Result<const LinksOfRenames*> links_of_renames(RenamedBy by) {
    auto& known = links_[by];
    if (known) return known.get();
    WS_LET(links::Renames renames, renames_of(by));
    if (renames.empty()) return nullptr;
    WS_LET(std::vector<std::string> files, files_of_base());
    known = std::make_unique<LinksOfRenames>(std::move(files), std::move(renames));
    return known.get();
  }

  Result<links::Renames> renames_of(RenamedBy by) {
    std::map<DocumentId, WrittenFile> written;
    if (by == RenamedBy::written) {
      WS_LET(written, session_.state.written());
    }
    links::Renames renames;
    for (const auto& [document, entry] : by == RenamedBy::there ? survey_.remote.changed : survey_.local.tracked) {
      if (!survey_.base.documents.contains(document)) continue;
      const RelativePath& before = survey_.base.disk_path(document);
      const auto known = written.find(document);
      const RelativePath& now = known == written.end() ? entry.path : known->second.path;
      if (before != now) renames.emplace(before.string(), now.string());
    }
    return renames;
  }

  Result<const EarlierLinks*> earlier_links() {
    if (!earlier_links_) {
      WS_LET(links::Renames renames, session_.state.operations().renames());
      WS_LET(std::vector<std::string> files, files_of_base());
      earlier_links_ = std::make_unique<EarlierLinks>(std::move(files), std::move(renames));
    }
    return earlier_links_.get();
  }

  /// What a link of the base, or one to a document that arrives, can name. A file that is no longer at its place may
  /// have been renamed too, which is not known yet: links to it stay.
  Result<std::vector<std::string>> files_of_base() {
    std::set<std::string> files;
    for (const auto& [document, entry] : survey_.base.documents)
      files.insert(survey_.base.disk_path(document).string());
    for (const auto& [document, entry] : survey_.remote.changed) {
      if (!survey_.base.documents.contains(document)) files.insert(entry.path.string());
    }
    if (session_.knows_attachments()) {
      AttachmentStore store = session_.attachments();
      WS_LET(const AttachmentTree known, store.base());
      for (const auto& [path, row] : known) {
        if (session_.root.open_beneath(path.text(), O_PATH | O_NOFOLLOW)) files.insert(path.string());
      }
    }
    return std::vector<std::string>(files.begin(), files.end());
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
  std::map<RenamedBy, std::unique_ptr<LinksOfRenames>> links_ = {};
  std::unique_ptr<EarlierLinks> earlier_links_ = {};
};

enum class Thing { none, folder, other };

class ObstacleFinder {
 public:
  ObstacleFinder(const Session& session, Survey& survey) : session_(session), survey_(survey) {}

  bool find() {
    bool any = false;
    for (const Action& action : survey_.plan.actions) {
      if (action.kind != ActionKind::pull_create && action.kind != ActionKind::pull_move) continue;
      // It replaces a synced file.
      if (action.kind == ActionKind::pull_create && action.seen) continue;
      if (auto found = obstacle_of(action.path)) any = survey_.local.obstacles.insert(std::move(*found)).second || any;
    }
    return any;
  }

 private:
  std::optional<RelativePath> obstacle_of(const RelativePath& path) {
    const std::string& text = path.string();
    for (std::size_t slash = text.find('/'); slash != std::string::npos; slash = text.find('/', slash + 1)) {
      const std::string folder = text.substr(0, slash);
      const Thing thing = folder_at(folder);
      if (thing == Thing::none) return std::nullopt;
      if (thing == Thing::other) return is_known(folder) ? std::nullopt : parsed(folder);
    }
    const Thing thing = look_at(text);
    const bool is_ours = thing == Thing::none || is_known(text) ||
                         (thing == Thing::folder && (holds_known(text) || is_nothing_but_folders(text)));
    return is_ours ? std::nullopt : std::optional(path);
  }

  static std::optional<RelativePath> parsed(const std::string& text) {
    auto path = RelativePath::parse(text);
    return path ? std::optional(std::move(*path)) : std::nullopt;
  }

  Thing folder_at(const std::string& folder) {
    const auto seen = folders_.find(folder);
    return seen != folders_.end() ? seen->second : folders_.emplace(folder, look_at(folder)).first->second;
  }

  Thing look_at(const std::string& name) const {
    if (!survey_.absent.empty() && survey_.absent.contains(RelativePath::parse(name).value())) return Thing::none;
    const Descriptor file = session_.root.open_beneath(name, O_PATH | O_NOFOLLOW);
    if (!file) return errno == ELOOP ? Thing::other : Thing::none;
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return Thing::none;
    if (S_ISDIR(status.st_mode)) return Thing::folder;
    return S_ISREG(status.st_mode) && would_be_walked(name) ? Thing::none : Thing::other;
  }

  bool is_nothing_but_folders(const std::string& name) const {
    const Descriptor folder = session_.root.open_beneath(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    return folder && is_empty_folder(folder.get(), ".");
  }

  bool would_be_walked(const std::string& name) const {
    const auto path = RelativePath::parse(name);
    return path && session_.kinds.takes(path->text()) && !survey_.scan.is_ignored(*path);
  }

  /// The paths that the plan knows: reconcile settles clashes with those.
  const std::unordered_set<std::string_view>& known() {
    if (!known_.empty()) return known_;
    const LocalTree& local = survey_.local;
    for (const auto& [document, entry] : local.tracked) known_.insert(entry.path.text());
    for (const auto& [path, hash] : local.created) known_.insert(path.text());
    for (const Skipped& skipped : local.skipped) known_.insert(skipped.path);
    for (const auto& [document, skip_reason] : local.unsyncable) {
      if (survey_.base.documents.contains(document)) known_.insert(survey_.base.disk_path(document).text());
    }
    known_.insert("");  // not asked for twice where nothing is known
    return known_;
  }

  bool is_known(std::string_view path) { return known().contains(path); }

  bool holds_known(const std::string& folder) {
    return std::ranges::any_of(known(), [&](std::string_view path) {
      return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
    });
  }

  const Session& session_;
  Survey& survey_;
  std::unordered_map<std::string, Thing> folders_;
  std::unordered_set<std::string_view> known_;
};

}  // namespace

Result<std::set<DocumentId>> try_merges(Session& session,
                                        Survey& survey,
                                        const std::map<DocumentId, std::string>& texts,
                                        bool offline) {
  return Merger(session, survey, texts, offline).carry_out();
}

bool find_obstacles(const Session& session, Survey& survey) { return ObstacleFinder(session, survey).find(); }

}  // namespace ws::sync

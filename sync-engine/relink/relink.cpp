#include "sync-engine/relink/relink.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/relink/earlier_spelling.hpp"
#include "sync-engine/survey/cached_walk.hpp"
#include "sync-engine/survey/documents_here.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {
namespace {

using links::LinkRewriter;
using links::NewTarget;
using links::Reference;
using links::Renames;
using links::TreeFiles;

/// Puts the steps and the rows of an operation together.
class RelinkPlanner {
 public:
  /// Fails with `disk`.
  static Result<RelinkPlanner> make(const LinkTree& tree) {
    RelinkPlanner planner(tree);
    if (tree.session != nullptr) {
      WS_LET(planner.documents_, find_documents_here(*tree.session));
    }
    return planner;
  }

  /// The note at `path` gets another text; with `to` it is renamed too.
  Result<void> add_note(const std::string& path,
                        const std::string& to,
                        const std::string& before,
                        const std::string& after) {
    WS_LET(const RelativePath from, RelativePath::parse(path));
    WS_LET(const RelativePath target, RelativePath::parse(to));
    WS_LET(const git::ObjectId old_blob, keep(before));
    WS_LET(const git::ObjectId new_blob, keep(after));
    const Version old_version{.path = from, .hash = Sha256::of(before), .blob = old_blob};
    const Version new_version{.path = target, .hash = Sha256::of(after), .blob = new_blob};
    add(old_version, new_version);
    return {};
  }

  Result<void> add_file(const RelativePath& from, const RelativePath& to) {
    const Descriptor folder = tree_->root.open_beneath(from.folder(), O_RDONLY | O_DIRECTORY);
    if (!folder) return disk_failure("open the folder of", from.text());
    WS_LET(const std::optional<Sha256> hash, hash_file_at(folder.get(), std::string(from.name())));
    if (!hash) return fail(Failure::Kind::not_found, fmt::format("{} does not exist", from.text()));
    git::ObjectId blob;
    if (const auto text = is_markdown(from.text()) ? text_of_note(tree_->root, from.string()) : std::nullopt) {
      WS_LET(blob, keep(*text));
    }
    add({.path = from, .hash = *hash, .blob = blob}, {.path = to, .hash = *hash, .blob = blob});
    return {};
  }

  RelinkPlan plan = {};

 private:
  explicit RelinkPlanner(const LinkTree& tree) : tree_(&tree) {}

  /// Nowhere, where there is no history.
  Result<git::ObjectId> keep(const std::string& text) const {
    if (tree_->session == nullptr) return git::ObjectId{};
    return tree_->session->history.keep(text);
  }

  void add(const Version& before, const Version& after) {
    const auto document = documents_.find(before.path);
    OperationRow row{.origins = ChangeOrigin::restored, .before = before, .after = after};
    if (document != documents_.end()) row.document = document->second;
    plan.steps.push_back({.document = row.document,
                          .from = before.path,
                          .to = after.path,
                          .seen = before.hash,
                          .seen_blob = before.blob,
                          .result = after.hash,
                          .result_blob = after.blob});
    plan.rows.push_back(std::move(row));
  }

  const LinkTree* tree_;
  DocumentsHere documents_ = {};
};

using TargetsOf = std::function<std::vector<NewTarget>(const std::string& note, const std::vector<Reference>&)>;

/// The notes whose links get new targets, with their texts. `disk_path`: where the note lies now; `end_path`: in the
/// end.
Result<std::set<std::string>> add_edited_notes(const LinkTree& tree,
                                               RelinkPlanner& planner,
                                               const EarlierSpelling& earlier,
                                               const std::function<std::string(const std::string&)>& place_before,
                                               const TargetsOf& targets_of,
                                               const std::function<std::string(const std::string&)>& end_path) {
  std::set<std::string> edited;
  for (const std::string& note : tree.index.notes()) {
    const std::string place = place_before(note);
    if (!earlier.knows(place) && targets_of(note, tree.index.links_of(note).references).empty()) continue;
    std::optional<std::string> text = text_of_note(tree.root, note);
    if (!text) continue;
    // The offsets of a cache are not trusted with somebody's text.
    const std::vector<Reference> references = links::read_references(*text);
    const std::vector<NewTarget> targets = targets_of(note, references);
    const std::size_t left_before = planner.plan.told.left;
    std::string after = links::with_targets(*text, references, targets, planner.plan.told.left);
    std::size_t count = targets.size() - (planner.plan.told.left - left_before);
    if (auto known = earlier.knows(place) ? earlier.text(*tree.session, place, *text) : std::nullopt) {
      after = std::move(*known);
      planner.plan.told.left = left_before;
      count = std::max<std::size_t>(targets.size(), 1);
    }
    if (after == *text) continue;
    const std::string end = end_path(note);
    WS_TRY(planner.add_note(note, end, *text, after));
    planner.plan.told.links += count;
    planner.plan.told.notes.push_back(
        {.path = end, .before = std::move(*text), .after = std::move(after), .links = count});
    edited.insert(note);
  }
  return edited;
}

/// Every regular file below a folder, hidden ones too. What cannot be moved by name goes to `stayed`.
std::vector<RelativePath> files_below_folder(const RootFolder& folder_of_all,
                                             const std::string& folder,
                                             std::vector<std::string>& stayed) {
  namespace fs = std::filesystem;
  std::vector<RelativePath> files;
  std::error_code error;
  const fs::path& root = folder_of_all.path();
  for (fs::recursive_directory_iterator each(root / folder, error), end; !error && each != end; each.increment(error)) {
    if (each->is_directory(error) && !each->is_symlink(error)) continue;
    const std::string path = each->path().lexically_relative(root).generic_string();
    const auto parsed = RelativePath::parse(path);
    if (parsed && each->symlink_status(error).type() == fs::file_type::regular) {
      files.push_back(*parsed);
    } else {
      stayed.push_back(path);
    }
  }
  std::ranges::sort(files);
  return files;
}

Result<Renames> files_to_move(const RootFolder& root,
                              const RelativePath& from,
                              const RelativePath& to,
                              std::vector<std::string>& stayed) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status found = fs::symlink_status(root.path() / from.string(), error);
  Renames renames;
  if (fs::is_regular_file(found)) {
    renames.emplace(from.string(), to.string());
    return renames;
  }
  if (!fs::is_directory(found)) {
    return fail(Failure::Kind::not_found, fmt::format("there is no file or folder {}", from.text()));
  }
  if (std::string_view(to.text()).starts_with(from.string() + "/"))
    return fail(Failure::Kind::usage, fmt::format("{} is inside {}", to.text(), from.text()));
  for (const RelativePath& file : files_below_folder(root, from.string(), stayed)) {
    renames.emplace(file.string(), to.string() + file.string().substr(from.string().size()));
  }
  return renames;
}

/// A name at which the file would not be synced any more, or no link could name it, is refused.
Result<void> stays_linked(const LinkTree& tree, const std::string& old_path, const std::string& new_path) {
  WS_LET(const RelativePath from, RelativePath::parse(old_path));
  WS_LET(const RelativePath to, RelativePath::parse(new_path));
  const TreeConfig limits = tree.session == nullptr ? TreeConfig() : tree.session->config;
  const bool becomes_note = tree.kinds.takes(new_path) && !tree.kinds.takes(old_path);
  if (becomes_note && !is_text_of_note(tree.root, from, limits.max_file_bytes))
    return fail(Failure::Kind::usage,
                fmt::format("{} is the name of a note, and {} has no text that a note may have", new_path, old_path),
                "choose another name");
  const bool becomes_ignored = !tree.scan.is_ignored(from) && tree.scan.is_ignored(to);
  if (tree.session == nullptr) {
    if (becomes_ignored)
      return fail(Failure::Kind::usage,
                  fmt::format("git ignores {}, so links to it would be broken in another checkout", new_path),
                  "name another place, or give --gitignore=no");
    if (links::is_hidden_path(new_path) && !links::is_hidden_path(old_path))
      return fail(Failure::Kind::usage,
                  fmt::format("{} is hidden, and links of hidden notes are not edited", new_path),
                  "rename it with `mv`");
    return {};
  }
  if (tree.kinds.takes(old_path) && !tree.kinds.takes(new_path))
    return fail(
        Failure::Kind::usage,
        fmt::format("{} is not the name of a note, so the document of {} would be archived", new_path, old_path),
        "name it *.md without a leading dot, or add it to `include:` in .ws/config.yaml");
  if (becomes_ignored)
    return fail(Failure::Kind::usage,
                fmt::format("{} is ignored, so {} would not be synced any more", new_path, old_path),
                "name another place, or change .wsignore first");
  const TreeConfig& config = tree.session->config;
  const bool is_file_out_of_sight = (links::is_hidden_path(new_path) && !links::is_hidden_path(old_path)) ||
                                    (tree.session->excludes(new_path) && !tree.session->excludes(old_path)) ||
                                    config.left_out.takes(new_path) || (config.portable_names && is_unportable(to));
  if (tree.kinds.takes(old_path) ? why_not_synced(*tree.session, tree.scan, to).has_value() : is_file_out_of_sight)
    return fail(Failure::Kind::usage,
                fmt::format("{} is a name that is not synced, so {} would not be synced any more", new_path, old_path),
                "choose another name");
  return {};
}

/// Of two names that differ in case alone, or in their Unicode form, one would not be synced.
Result<void> meets_no_twin(const LinkTree& tree, const Renames& moved) {
  if (tree.session == nullptr) return {};
  std::map<std::string, std::string_view> taken;
  for (const std::string& path : tree.index.files().paths()) {
    const auto parsed = moved.contains(path) ? RelativePath::parse("") : RelativePath::parse(path);
    if (parsed) taken.emplace(parsed->twin_key(), path);
  }
  for (const auto& [old_path, new_path] : moved) {
    WS_LET(const RelativePath to, RelativePath::parse(new_path));
    const auto twin = taken.find(to.twin_key());
    if (twin == taken.end() || twin->second == new_path) continue;
    return fail(Failure::Kind::usage,
                fmt::format("{} and {} are one name on other machines, so {} would not be synced any more",
                            new_path,
                            twin->second,
                            old_path),
                "choose another name");
  }
  return {};
}

/// A folder that is tied by itself stays whole: its notes go to its own source, and its `.ws/` is not moved by name.
Result<void> spares_tied_folders(const LinkTree& tree, const RelativePath& from, const RelativePath& to) {
  for (const Skipped& each : tree.scan.skipped()) {
    if (each.reason != SkipReason::tied_elsewhere) continue;
    const bool is_touched = is_at_or_below(each.path, from.text()) || is_at_or_below(from.text(), each.path) ||
                            is_at_or_below(to.text(), each.path);
    if (is_touched && tree.session == nullptr)
      return fail(
          Failure::Kind::usage,
          fmt::format(
              "{} is a git repository or a synced folder of its own, which cannot be renamed, moved or moved into",
              each.path),
          "name another place; within that folder run the command in there");
    if (is_at_or_below(each.path, from.text()))
      return fail(Failure::Kind::usage,
                  fmt::format("{} is a synced folder of its own, and its .ws would stay behind", each.path),
                  "rename the folder with `mv`");
    if (is_at_or_below(from.text(), each.path) || is_at_or_below(to.text(), each.path))
      return fail(
          Failure::Kind::usage,
          fmt::format("{} is a synced folder of its own: files cannot be moved into it or out of it", each.path),
          "name another place; within that folder run `ws sync mv` in there");
  }
  return {};
}

}  // namespace

Result<RelinkPlan> plan_move(Session& session, const RelativePath& from, const RelativePath& to) {
  WS_LET(const Scan scan, walk_tree(session, true));
  const LinkIndex index = LinkIndex::load(session, scan);
  return plan_move({session.root, session.kinds, scan, index, &session}, from, to);
}

Result<RelinkPlan> plan_move(const LinkTree& tree, const RelativePath& from, const RelativePath& to) {
  if (from == to) return fail(Failure::Kind::usage, fmt::format("{} has that name already", from.text()));
  WS_LET(RelinkPlanner planner, RelinkPlanner::make(tree));
  Relinked& told = planner.plan.told;
  WS_LET(told.moved, files_to_move(tree.root, from, to, told.stayed));
  WS_TRY(spares_tied_folders(tree, from, to));
  for (const auto& [old_path, new_path] : told.moved) WS_TRY(stays_linked(tree, old_path, new_path));
  WS_TRY(meets_no_twin(tree, told.moved));
  if (tree.root.open_beneath(to.text(), O_PATH | O_NOFOLLOW))
    return fail(Failure::Kind::usage, fmt::format("{} exists already", to.text()));
  told.unread = tree.index.cut_notes();
  const LinkRewriter rewriter(tree.index.files(), told.moved);
  const auto targets_of = [&](const std::string& note, const std::vector<Reference>& references) {
    return rewriter.new_targets(note, references);
  };
  const auto end_path = [&](const std::string& note) { return rewriter.renamed(note); };
  EarlierSpelling earlier;
  if (tree.session != nullptr) {
    WS_LET(earlier, EarlierSpelling::find(*tree.session, told.moved));
  }
  const auto as_now = [](const std::string& note) { return note; };
  WS_LET(const std::set<std::string> edited, add_edited_notes(tree, planner, earlier, as_now, targets_of, end_path));
  for (const auto& [old_path, new_path] : told.moved) {
    if (edited.contains(old_path)) continue;
    WS_LET(const RelativePath old_parsed, RelativePath::parse(old_path));
    WS_LET(const RelativePath new_parsed, RelativePath::parse(new_path));
    WS_TRY(planner.add_file(old_parsed, new_parsed));
  }
  return std::move(planner.plan);
}

Result<RelinkPlan> plan_link_updates(Session& session, const Scan& scan, const Renames& renamed, IndexFile file) {
  const LinkIndex index = LinkIndex::load(session, scan, file);
  const LinkTree tree{session.root, session.kinds, scan, index, &session};
  WS_LET(RelinkPlanner planner, RelinkPlanner::make(tree));
  const EarlierTree before(index.files(), renamed);
  const auto targets_of = [&](const std::string& note, const std::vector<Reference>& references) {
    return before.new_targets(note, references);
  };
  WS_LET(const EarlierSpelling earlier, EarlierSpelling::find(session, renamed));
  const auto place_before = [&](const std::string& note) { return before.place_of(note); };
  const auto as_now = [](const std::string& note) { return note; };
  WS_TRY(add_edited_notes(tree, planner, earlier, place_before, targets_of, as_now));
  return std::move(planner.plan);
}

std::size_t count_links_of(const LinkIndex& index, Renames renamed) {
  // Where another file has the old name now, a link leads there: `links fix` does not take it for broken either.
  std::erase_if(renamed, [&](const auto& each) { return index.files().has_file(each.first); });
  if (renamed.empty()) return 0;
  const EarlierTree before(index.files(), renamed);
  std::size_t count = 0;
  for (const std::string& note : index.notes())
    count += before.new_targets(note, index.links_of(note).references).size();
  return count;
}

Result<RelinkPlan> plan_fix(Session& session, const FixOptions& options) {
  WS_LET(const Scan scan, walk_tree(session, false));
  const LinkIndex index = LinkIndex::load(session, scan);
  return plan_fix({session.root, session.kinds, scan, index, &session}, options);
}

Result<RelinkPlan> plan_fix(const LinkTree& tree, const FixOptions& options) {
  WS_LET(const KnownTargets known, KnownTargets::find(tree.session, tree.index, options.renames));
  const auto targets_of = [&](const std::string& note, const std::vector<Reference>& references) {
    return known.of(note, references);
  };
  WS_LET(RelinkPlanner planner, RelinkPlanner::make(tree));
  planner.plan.told.unread = tree.index.cut_notes();
  const auto as_now = [](const std::string& note) { return note; };
  WS_TRY(add_edited_notes(tree, planner, {}, as_now, targets_of, as_now));
  return std::move(planner.plan);
}

}  // namespace ws::sync

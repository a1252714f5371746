#include "sync-engine/relink/relink.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "sync-engine/changes/edit_files.hpp"
#include "sync-engine/disk/safe_write.hpp"
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
  RelinkPlanner(Session& session, SafeWriter& writer, const DocumentsHere& documents)
      : session_(session), writer_(writer), documents_(documents) {}

  /// The note at `path` gets another text; with `to` it is renamed too.
  Result<void> add_note(const std::string& path,
                        const std::string& to,
                        const std::string& before,
                        const std::string& after) {
    WS_LET(const RelativePath from, RelativePath::parse(path));
    WS_LET(const RelativePath target, RelativePath::parse(to));
    WS_LET(const git::ObjectId old_blob, session_.history.keep(before));
    WS_LET(const git::ObjectId new_blob, session_.history.keep(after));
    const Version old_version{.path = from, .hash = Sha256::of(before), .blob = old_blob};
    const Version new_version{.path = target, .hash = Sha256::of(after), .blob = new_blob};
    add(old_version, new_version);
    return {};
  }

  Result<void> add_file(const RelativePath& from, const RelativePath& to) {
    WS_LET(const std::string text, writer_.read(from));
    const Sha256 hash = Sha256::of(text);
    git::ObjectId blob;
    if (is_markdown(from.text())) {
      WS_LET(blob, session_.history.keep(text));
    }
    add({.path = from, .hash = hash, .blob = blob}, {.path = to, .hash = hash, .blob = blob});
    return {};
  }

  RelinkPlan plan = {};

 private:
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

  Session& session_;
  SafeWriter& writer_;
  const DocumentsHere& documents_;
};

using TargetsOf = std::function<std::vector<NewTarget>(const std::string& note, const std::vector<Reference>&)>;

/// The notes whose links get new targets, with their texts. `disk_path`: where the note lies now; `end_path`: in the
/// end.
Result<std::set<std::string>> add_edited_notes(Session& session,
                                               RelinkPlanner& planner,
                                               const SafeWriter& writer,
                                               const EarlierSpelling& earlier,
                                               const std::function<std::string(const std::string&)>& place_before,
                                               const LinkIndex& index,
                                               const TargetsOf& targets_of,
                                               const std::function<std::string(const std::string&)>& end_path) {
  std::set<std::string> edited;
  for (const std::string& note : index.notes()) {
    const std::string place = place_before(note);
    if (!earlier.knows(place) && targets_of(note, index.links_of(note).references).empty()) continue;
    std::optional<std::string> text = text_of_note(writer, note);
    if (!text) continue;
    // The offsets of a cache are not trusted with somebody's text.
    const std::vector<Reference> references = links::read_references(*text);
    const std::vector<NewTarget> targets = targets_of(note, references);
    const std::size_t left_before = planner.plan.told.left;
    std::string after = links::with_targets(*text, references, targets, planner.plan.told.left);
    std::size_t count = targets.size() - (planner.plan.told.left - left_before);
    if (auto known = earlier.text(session, place, *text)) {
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
std::vector<RelativePath> files_below_folder(const Session& session,
                                             const std::string& folder,
                                             std::vector<std::string>& stayed) {
  namespace fs = std::filesystem;
  std::vector<RelativePath> files;
  std::error_code error;
  const fs::path root = session.root.path();
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

bool stands_at(const Session& session, const RelativePath& path) {
  return static_cast<bool>(session.root.open_beneath(path.text(), O_PATH | O_NOFOLLOW));
}

Result<Renames> files_to_move(const Session& session,
                              const RelativePath& from,
                              const RelativePath& to,
                              std::vector<std::string>& stayed) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status found = fs::symlink_status(session.root.path() / from.string(), error);
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
  for (const RelativePath& file : files_below_folder(session, from.string(), stayed)) {
    renames.emplace(file.string(), to.string() + file.string().substr(from.string().size()));
  }
  return renames;
}

/// A name at which the file would not be synced any more is refused.
Result<void> stays_synced(const Session& session,
                          const Scan& scan,
                          const std::string& old_path,
                          const std::string& new_path) {
  WS_LET(const RelativePath from, RelativePath::parse(old_path));
  WS_LET(const RelativePath to, RelativePath::parse(new_path));
  if (session.kinds.takes(old_path) && !session.kinds.takes(new_path))
    return fail(Failure::Kind::usage,
                fmt::format("{} is not a note's name: the document of {} would be archived", new_path, old_path),
                "name it *.md without a leading dot, or add it to `include:` in .ws/config.yaml");
  if (!scan.is_ignored(from) && scan.is_ignored(to))
    return fail(Failure::Kind::usage,
                fmt::format("{} is ignored: {} would not be synced any more", new_path, old_path),
                "name another place, or change .wsignore first");
  if (session.kinds.takes(old_path) && why_not_synced(session, scan, to))
    return fail(Failure::Kind::usage,
                fmt::format("{} is a name that is not synced: {} would not be synced any more", new_path, old_path),
                "choose another name");
  return {};
}

bool is_at_or_below(std::string_view path, std::string_view folder) {
  return path == folder || path.starts_with(std::string(folder) + "/");
}

/// A folder that is tied by itself stays whole: its notes go to its own source, and its `.ws/` is not moved by name.
Result<void> spares_tied_folders(const Scan& scan, const RelativePath& from, const RelativePath& to) {
  for (const Skipped& each : scan.skipped()) {
    if (each.reason != SkipReason::tied_elsewhere) continue;
    if (is_at_or_below(each.path, from.text()))
      return fail(Failure::Kind::usage,
                  fmt::format("{} is synced by itself: its .ws would stay behind", each.path),
                  "rename the folder with `mv`");
    if (is_at_or_below(from.text(), each.path) || is_at_or_below(to.text(), each.path))
      return fail(Failure::Kind::usage,
                  fmt::format("{} is synced by itself: nothing is moved into it or out of it", each.path),
                  "name another place; within that folder run `ws sync mv` in there");
  }
  return {};
}

}  // namespace

Result<RelinkPlan> plan_move(Session& session, const RelativePath& from, const RelativePath& to) {
  if (from == to) return fail(Failure::Kind::usage, fmt::format("{} has that name already", from.text()));
  WS_LET(SafeWriter writer, SafeWriter::open(session.root));
  WS_LET(const DocumentsHere documents, find_documents_here(session));
  RelinkPlanner planner(session, writer, documents);
  Relinked& told = planner.plan.told;
  WS_LET(told.moved, files_to_move(session, from, to, told.stayed));
  WS_LET(const Scan scan, walk_tree(session, true));
  WS_TRY(spares_tied_folders(scan, from, to));
  for (const auto& [old_path, new_path] : told.moved) WS_TRY(stays_synced(session, scan, old_path, new_path));
  if (stands_at(session, to)) return fail(Failure::Kind::usage, fmt::format("{} exists already", to.text()));
  const LinkIndex index = LinkIndex::load(session, scan);
  told.unread = index.cut_notes();
  const LinkRewriter rewriter(index.files(), told.moved);
  const auto targets_of = [&](const std::string& note, const std::vector<Reference>& references) {
    return rewriter.new_targets(note, references);
  };
  const auto end_path = [&](const std::string& note) { return rewriter.renamed(note); };
  WS_LET(const EarlierSpelling earlier, EarlierSpelling::find(session, told.moved));
  const auto as_now = [](const std::string& note) { return note; };
  WS_LET(const std::set<std::string> edited,
         add_edited_notes(session, planner, writer, earlier, as_now, index, targets_of, end_path));
  for (const auto& [old_path, new_path] : told.moved) {
    if (edited.contains(old_path)) continue;
    WS_LET(const RelativePath old_parsed, RelativePath::parse(old_path));
    WS_LET(const RelativePath new_parsed, RelativePath::parse(new_path));
    WS_TRY(planner.add_file(old_parsed, new_parsed));
  }
  return std::move(planner.plan);
}

Result<RelinkPlan> plan_link_updates(Session& session, const Scan& scan, const Renames& renamed, IndexFile file) {
  WS_LET(SafeWriter writer, SafeWriter::open(session.root));
  WS_LET(const DocumentsHere documents, find_documents_here(session));
  RelinkPlanner planner(session, writer, documents);
  const LinkIndex index = LinkIndex::load(session, scan, file);
  const EarlierTree before(index.files(), renamed);
  const auto targets_of = [&](const std::string& note, const std::vector<Reference>& references) {
    return before.new_targets(note, references);
  };
  WS_LET(const EarlierSpelling earlier, EarlierSpelling::find(session, renamed));
  const auto place_before = [&](const std::string& note) { return before.place_of(note); };
  const auto as_now = [](const std::string& note) { return note; };
  WS_TRY(add_edited_notes(session, planner, writer, earlier, place_before, index, targets_of, as_now));
  return std::move(planner.plan);
}

std::size_t count_links_of(const LinkIndex& index, const Renames& renamed) {
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
  WS_LET(const KnownTargets known, KnownTargets::find(session, index, options.renames));
  const auto targets_of = [&](const std::string& note, const std::vector<Reference>& references) {
    return known.of(note, references);
  };
  WS_LET(SafeWriter writer, SafeWriter::open(session.root));
  WS_LET(const DocumentsHere documents, find_documents_here(session));
  RelinkPlanner planner(session, writer, documents);
  planner.plan.told.unread = index.cut_notes();
  const auto as_now = [](const std::string& note) { return note; };
  WS_TRY(add_edited_notes(session, planner, writer, {}, as_now, index, targets_of, as_now));
  return std::move(planner.plan);
}

}  // namespace ws::sync

#include "sync-engine/links/rewrite_links.hpp"

#include <algorithm>
#include <utility>

#include "sync-engine/links/targets.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync::links {
namespace {

using State = Resolution::State;

TreeFiles renamed_tree(const TreeFiles& before, const Renames& renames) {
  std::vector<std::string> paths;
  paths.reserve(before.paths().size());
  for (const std::string& path : before.paths()) {
    const auto to = renames.find(path);
    paths.push_back(to == renames.end() ? path : to->second);
  }
  std::ranges::sort(paths);
  return TreeFiles(std::move(paths));
}

std::string without_suffix(std::string_view path) {
  const std::string_view name = last_part(path);
  return std::string(is_markdown(name) ? path.substr(0, path.rfind('.')) : path);
}

/// The last `count` parts of a path.
std::string last_parts(std::string_view path, std::size_t count) {
  std::size_t at = path.size();
  while (count > 0 && at != 0) {
    const std::size_t slash = path.rfind('/', at - 1);
    if (slash == std::string_view::npos) return std::string(path);
    at = slash;
    --count;
  }
  return std::string(path.substr(at == path.size() ? at : at + 1));
}

/// The ways to write it, the one that is most like what is written first.
std::vector<std::string> spellings(std::string_view note, const Reference& reference, const std::string& file) {
  const std::string& was = reference.path;
  std::string relative = relative_from(note, file);
  if (was.starts_with("./") && !relative.starts_with("../")) relative = "./" + relative;
  if (was.starts_with('/')) return {"/" + file};
  if (!reference.is_wiki()) return {relative};
  const auto parts = static_cast<std::size_t>(std::ranges::count(was, '/')) + 1;
  std::vector<std::string> ways = {std::string(last_part(file))};
  if (parts > 1) {
    const bool is_relative = was.starts_with('.');
    ways = {is_relative ? relative : last_parts(file, parts), file, relative};
  } else {
    ways.push_back(last_parts(file, 2));
    ways.push_back(file);
    ways.push_back("./" + relative_from(note, file));
  }
  return ways;
}

/// Blanks at the ends of a wiki name are not part of it: `[[a ]]` names `a`.
bool keeps_blanks(const Reference& reference, std::string_view path) {
  return !reference.is_wiki() || (!path.starts_with(' ') && !path.ends_with(' '));
}

/// Where a folder went: the one place for which files kept their path below it, if the others are below it too.
class FolderMove {
 public:
  explicit FolderMove(std::size_t length) : length_(length) {}

  /// `file` was in the folder, whose path has that length.
  void add(std::string_view file, std::string now) {
    const std::string_view rest = file.substr(length_);
    if (now.size() <= rest.size() || !now.ends_with(rest)) {
      others_.push_back(std::move(now));
      return;
    }
    std::string place = now.substr(0, now.size() - rest.size());
    goes_apart_ = goes_apart_ || (to_ && *to_ != place);
    to_ = std::move(place);
  }

  /// Empty: to several places, or nothing tells it.
  std::optional<std::string> to() const {
    const auto is_below = [this](const std::string& path) { return path.starts_with(*to_ + '/'); };
    return to_ && !goes_apart_ && std::ranges::all_of(others_, is_below) ? to_ : std::nullopt;
  }

 private:
  std::size_t length_;
  std::optional<std::string> to_;
  bool goes_apart_ = false;
  std::vector<std::string> others_;
};

/// The file that `path` is now, by one rename after the other.
std::optional<std::string> latest_name(const TreeFiles& tree, const Renames& renames, std::string path) {
  for (std::size_t hops = 0; hops <= renames.size() && !tree.has_file(path); ++hops) {
    const auto next = renames.find(path);
    if (next == renames.end()) return std::nullopt;
    path = next->second;
  }
  return path;
}

}  // namespace

std::string target_in_style(const TreeFiles& tree,
                            std::string_view note,
                            const Reference& reference,
                            const Resolution& file) {
  const bool is_folder = file.state == State::folder;
  for (const bool drops_suffix : {file.added_suffix, false}) {
    for (std::string path : spellings(note, reference, drops_suffix ? without_suffix(file.path) : file.path)) {
      if (is_folder && reference.path.ends_with('/') && !path.ends_with('/')) path += '/';
      Reference written = reference;
      written.path = path;
      const Resolution found = tree.resolve(note, written);
      if (found.state == file.state && found.path == file.path && keeps_blanks(reference, path)) return path;
    }
  }
  return {};
}

LinkRewriter::LinkRewriter(const TreeFiles& before, const Renames& renames)
    : before_(before), renames_(renames), after_(renamed_tree(before, renames)) {}

std::string LinkRewriter::renamed(std::string_view file) const {
  const auto to = renames_.find(file);
  return to == renames_.end() ? std::string(file) : to->second;
}

std::optional<std::string> LinkRewriter::renamed_folder(const std::string& folder) const {
  if (folder.empty()) return folder;
  const std::string begin = folder + '/';
  FolderMove move(folder.size());
  for (auto file = std::ranges::lower_bound(before_.paths(), begin);
       file != before_.paths().end() && file->starts_with(begin);
       ++file) {
    move.add(*file, renamed(*file));
  }
  return move.to();
}

std::vector<NewTarget> LinkRewriter::new_targets(std::string_view note,
                                                 const std::vector<Reference>& references) const {
  std::vector<NewTarget> targets;
  const std::string now = renamed(note);
  for (std::size_t i = 0; i < references.size(); ++i) {
    const Reference& reference = references[i];
    if (reference.path.empty()) continue;
    Resolution file = before_.resolve(note, reference);
    const std::string was = file.path;
    if (file.state == State::file) {
      file.path = renamed(file.path);
    } else if (file.state == State::folder && !reference.is_guess()) {
      const auto folder = renamed_folder(file.path);
      if (!folder) continue;
      file.path = *folder;
    } else {
      continue;
    }
    const Resolution found = after_.resolve(now, reference);
    if (found.state == file.state && found.path == file.path) continue;
    targets.push_back({.reference = i,
                       .file = file.path,
                       .path = target_in_style(after_, now, reference, file),
                       .is_renamed = file.path != was});
  }
  return targets;
}

std::string with_targets(std::string_view text,
                         const std::vector<Reference>& references,
                         const std::vector<NewTarget>& targets,
                         std::size_t& left) {
  struct Edit {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string text = {};
  };
  std::vector<Edit> edits;
  for (const NewTarget& target : targets) {
    const Reference& reference = references[target.reference];
    const std::string_view was = text.substr(reference.target_begin, reference.path_end - reference.target_begin);
    auto written = target.path.empty() ? std::nullopt : write_path(target.path, was, reference);
    if (!written) {
      ++left;
    } else {
      edits.push_back({.begin = reference.target_begin, .end = reference.path_end, .text = std::move(*written)});
    }
  }
  std::ranges::sort(edits, {}, &Edit::begin);
  std::string out;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    out += text.substr(at, edit.begin - at);
    out += edit.text;
    at = edit.end;
  }
  out += text.substr(at);
  return out;
}

std::optional<NewTarget> find_renamed_target(const TreeFiles& tree,
                                             const Renames& renames,
                                             std::string_view note,
                                             const std::vector<std::string>& earlier,
                                             const Reference& reference) {
  std::vector<std::string> notes = {std::string(note)};
  notes.insert(notes.end(), earlier.begin(), earlier.end());
  const auto to_place = [&](Resolution found, std::string_view was) -> std::optional<NewTarget> {
    std::string written = target_in_style(tree, note, reference, found);
    if (written.empty()) return std::nullopt;
    const bool is_renamed = found.path != was;
    return NewTarget{.file = std::move(found.path), .path = std::move(written), .is_renamed = is_renamed};
  };
  const auto to_file = [&](const std::string& path, bool added_suffix) -> std::optional<NewTarget> {
    auto now = latest_name(tree, renames, path);
    if (!now) return std::nullopt;
    return to_place({.state = State::file, .path = std::move(*now), .added_suffix = added_suffix}, path);
  };
  const auto to_folder = [&](const std::string& path) -> std::optional<NewTarget> {
    if (tree.has_folder(path)) return to_place({.state = State::folder, .path = path}, path);
    FolderMove move(path.size());
    const std::string begin = path + '/';
    for (auto next = renames.lower_bound(begin); next != renames.end() && next->first.starts_with(begin); ++next) {
      if (auto now = latest_name(tree, renames, next->first)) move.add(next->first, std::move(*now));
    }
    auto to = move.to();
    return to ? to_place({.state = State::folder, .path = std::move(*to)}, path) : std::nullopt;
  };
  for (const std::string& place : notes) {
    if (reference.is_wiki_name()) {
      for (const auto& [from, to] : renames) {
        const bool is_exact = last_part(from) == reference.path;
        if (!is_exact && without_suffix(last_part(from)) != reference.path) continue;
        if (auto found = to_file(from, !is_exact)) return found;
      }
      continue;
    }
    for (const std::string_view folder : {parent_folder(place), std::string_view()}) {
      const auto path = joined(folder, reference.path);
      if (!path || path->empty()) continue;
      for (const std::string_view suffix : {"", ".md", ".markdown"}) {
        if (auto found = to_file(*path + std::string(suffix), !suffix.empty())) return found;
      }
      if (!reference.is_wiki()) {
        if (auto found = to_folder(*path)) return found;
        break;
      }
    }
  }
  return std::nullopt;
}

LinkMender::LinkMender(const TreeFiles& tree, Renames renames) : tree_(&tree), renames_(std::move(renames)) {
  for (const auto& [from, to] : renames_) {
    std::string now = to;
    for (std::size_t hops = 0; hops < renames_.size(); ++hops) {
      const auto next = renames_.find(now);
      if (next == renames_.end()) break;
      now = next->second;
    }
    earlier_[now].push_back(from);
  }
}

std::vector<NewTarget> LinkMender::new_targets(std::string_view note, const std::vector<Reference>& references) const {
  static const std::vector<std::string> none;
  const auto earlier = earlier_.find(note);
  std::vector<NewTarget> targets;
  for (std::size_t i = 0; i < references.size(); ++i) {
    if (references[i].is_guess() || references[i].path.empty()) continue;
    const State state = tree_->resolve(note, references[i]).state;
    if (state == State::file || state == State::folder) continue;
    auto found =
        find_renamed_target(*tree_, renames_, note, earlier == earlier_.end() ? none : earlier->second, references[i]);
    if (!found) continue;
    found->reference = i;
    targets.push_back(std::move(*found));
  }
  return targets;
}

}  // namespace ws::sync::links

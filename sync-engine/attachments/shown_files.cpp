#include "sync-engine/attachments/shown_files.hpp"

#include <algorithm>
#include <utility>

#include "api-client/base/utf8.hpp"

namespace ws::sync {

void OtherFiles::add(const std::string& disk) { by_path_.emplace(utf8::nfc(disk), disk); }

std::string OtherFiles::disk_path(const RelativePath& path) const {
  const auto found = by_path_.find(path.string());
  return found == by_path_.end() ? std::string() : found->second;
}

std::vector<RelativePath> OtherFiles::all() const {
  std::vector<RelativePath> paths;
  for (const auto& [path, disk] : by_path_) {
    if (auto parsed = RelativePath::parse(path)) paths.push_back(std::move(*parsed));
  }
  std::ranges::sort(paths);
  return paths;
}

void add_shown(ShownFiles& shown,
               const RelativePath& note,
               const std::vector<links::Reference>& references,
               const links::TreeFiles& tree,
               const OtherFiles& files) {
  using State = links::Resolution::State;
  for (const links::Reference& reference : references) {
    if (reference.path.empty()) continue;
    const links::Resolution found = tree.resolve(note.text(), reference);
    if (found.state == State::ambiguous && !is_markdown(reference.path) &&
        reference.path.find('.') != std::string::npos) {
      shown.unclear.push_back({.path = reference.path, .reason = SkipReason::ambiguous_name});
    }
    const bool may_be_hidden = found.state == State::none || found.state == State::outside;
    if (may_be_hidden && !reference.is_wiki() && !reference.is_guess() && !is_markdown(reference.path)) {
      auto path = links::joined(parent_folder(note.text()), reference.path);
      if (path && path->find('\0') == std::string::npos) {
        shown.nowhere.insert(std::move(*path));
      }
    }
    if (found.state != State::file) continue;
    const auto file = RelativePath::parse(utf8::nfc(found.path));
    if (!file || !files.has(*file)) continue;
    std::vector<RelativePath>& notes = shown.notes[*file];
    if (notes.empty() || notes.back() != note) notes.push_back(note);
  }
}

}  // namespace ws::sync

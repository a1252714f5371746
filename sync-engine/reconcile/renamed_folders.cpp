#include "sync-engine/reconcile/renamed_folders.hpp"

#include <map>
#include <string_view>
#include <utility>

namespace ws::sync {
namespace {

using Folders = std::pair<std::string, std::string>;

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

/// The highest folders whose names differ: "a/b/x.md" and "a/c/x.md" come to "a/b" and "a/c". Empty where the file got
/// another name itself, or lay, or lies, in no folder.
Folders folders_of(std::string_view from, std::string_view to) {
  if (last_part(from) != last_part(to)) return {};
  from = folder_of(from);
  to = folder_of(to);
  while (!folder_of(from).empty() && !folder_of(to).empty() && last_part(from) == last_part(to)) {
    from = folder_of(from);
    to = folder_of(to);
  }
  return from.empty() || to.empty() ? Folders() : Folders(from, to);
}

}  // namespace

std::vector<RenamedFolder> renamed_folders(const std::vector<Action>& actions, const BaseTree& base) {
  std::map<std::pair<ActionKind, Folders>, std::size_t> moved;
  for (const Action& action : actions) {
    const bool is_move = action.kind == ActionKind::push_move || action.kind == ActionKind::pull_move;
    if (!is_move || !action.previous_path) continue;
    Folders folders = folders_of(action.previous_path->text(), action.path.text());
    if (!folders.first.empty()) ++moved[{action.kind, std::move(folders)}];
  }
  std::vector<RenamedFolder> whole;
  for (const auto& [key, count] : moved) {
    const std::string below = key.second.first + "/";
    std::size_t known = 0;
    if (count < 2) continue;
    for (const auto& [document, entry] : base.documents) known += entry.path.text().starts_with(below) ? 1 : 0;
    if (known == count) whole.push_back({.from = key.second.first, .to = key.second.second});
  }
  return whole;
}

}  // namespace ws::sync

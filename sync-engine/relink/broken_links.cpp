#include "sync-engine/relink/broken_links.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "sync-engine/links/resolve.hpp"
#include "sync-engine/relink/known_targets.hpp"
#include "sync-engine/survey/cached_walk.hpp"
#include "sync-engine/survey/link_index.hpp"

namespace ws::sync {
namespace {

BrokenLink::Obstacle obstacle_at(const RootFolder& root, const links::Resolution& found) {
  using enum BrokenLink::Obstacle;
  const auto path = RelativePath::parse(found.path);
  if (found.state != links::Resolution::State::none || !path) return nothing;
  if (!root.open_beneath(path->text(), O_PATH | O_NOFOLLOW)) return nothing;
  std::error_code error;
  const bool is_link = std::filesystem::is_symlink(root.path() / path->string(), error);
  return is_link ? symbolic_link : not_synced;
}

BrokenLink::Why why_broken(const links::Resolution& found) {
  switch (found.state) {
    case links::Resolution::State::ambiguous: return BrokenLink::Why::ambiguous;
    case links::Resolution::State::outside: return BrokenLink::Why::outside;
    case links::Resolution::State::file: return BrokenLink::Why::no_heading;
    case links::Resolution::State::folder:
    case links::Resolution::State::none: break;
  }
  return BrokenLink::Why::no_file;
}

/// The heading that somebody may have meant.
std::string nearest_heading(const LinkIndex& index,
                            const std::string& note,
                            const std::string& fragment,
                            links::Effort& effort) {
  std::string best;
  std::size_t most = std::min<std::size_t>(6, (fragment.size() + 1) / 2);
  const std::vector<std::string>& anchors = index.anchors_of(note);
  if (!effort.take(fragment, anchors.size(), most)) return best;
  for (const std::string& anchor : anchors) {
    const std::size_t edits = links::edits_between(anchor, fragment, most);
    if (edits > most) continue;
    best = "#" + anchor;
    if (edits == 0) break;
    most = edits - 1;
  }
  return best;
}

/// What the disk says of a link of a folder that is tied to nothing; empty: it is whole.
std::optional<BrokenLink> look_on_disk(const LinkTree& tree,
                                       const std::string& note,
                                       const links::Reference& reference,
                                       StaysInside stays_inside,
                                       BrokenLink broken) {
  namespace fs = std::filesystem;
  using enum BrokenLink::Obstacle;
  if (broken.why != BrokenLink::Why::no_file && broken.why != BrokenLink::Why::outside) return broken;
  if (reference.is_wiki_name()) return broken;
  const std::optional<std::string> path = links::joined(parent_folder(note), reference.path);
  if (!path && stays_inside == StaysInside::yes) {
    broken.obstacle = above_root;
    return broken;
  }
  std::error_code error;
  const bool exists =
      fs::exists(path ? tree.root.path() / *path : tree.root.path() / parent_folder(note) / reference.path, error);
  broken.why = BrokenLink::Why::no_file;
  const auto parsed = RelativePath::parse(path.value_or(""));
  if (exists && parsed && tree.scan.is_ignored(*parsed)) {
    broken.obstacle = ignored;
    return broken;
  }
  return exists ? std::nullopt : std::optional(std::move(broken));
}

}  // namespace

Result<CheckedLinks> find_broken_links(Session& session, const std::string& place) {
  WS_LET(const Scan scan, walk_tree(session, false));
  const LinkIndex index = LinkIndex::load(session, scan);
  return find_broken_links({session.root, session.kinds, scan, index, &session}, place, StaysInside::yes);
}

Result<CheckedLinks> find_broken_links(const LinkTree& tree, const std::string& place, StaysInside stays_inside) {
  const LinkIndex& index = tree.index;
  std::error_code error;
  const bool is_folder = place.empty() || std::filesystem::is_directory(tree.root.path() / place, error);
  if (!is_folder && !std::ranges::binary_search(index.notes(), place))
    return fail(
        Failure::Kind::usage,
        fmt::format("{} is not {}", place, tree.session != nullptr ? "a synced note" : "a note that is checked"),
        tree.session != nullptr ? ""
                                : "hidden and ignored files do not count as notes, nor do files that are not Markdown");
  const auto is_asked_for = [&](const std::string& note) {
    return place.empty() || note == place || note.starts_with(place + "/");
  };
  CheckedLinks checked;
  checked.unread = index.cut_notes();
  std::erase_if(checked.unread, [&](const std::string& note) { return !is_asked_for(note); });
  std::vector<BrokenLink>& broken = checked.broken;
  if (index.broken() == 0) return checked;
  links::Effort effort;
  WS_LET(const KnownTargets known, KnownTargets::find(tree.session, index));
  for (const std::string& note : index.notes()) {
    if (!is_asked_for(note)) continue;
    const std::vector<links::Reference> references = index.links_of(note).references;
    if (std::ranges::none_of(references, [&](const links::Reference& each) { return index.is_broken(note, each); }))
      continue;
    const std::optional<std::string> text = text_of_note(tree.root, note);
    if (!text) continue;
    const links::TextPlaces places(*text);
    const std::vector<links::Reference> now = links::read_references(*text);
    std::map<std::size_t, links::NewTarget> renamed;  // by reference
    for (links::NewTarget& target : known.of(note, now)) renamed.emplace(target.reference, std::move(target));
    for (std::size_t i = 0; i < now.size(); ++i) {
      const links::Reference& each = now[i];
      if (!index.is_broken(note, each)) continue;
      const links::Resolution found = index.files().resolve(note, each);
      const links::Place at = places.of(each.target_begin);
      BrokenLink one{.path = note, .line = at.line, .column = at.column, .why = why_broken(found)};
      one.target = text->substr(each.target_begin, each.target_end - each.target_begin);
      if (tree.session != nullptr) {
        one.obstacle = obstacle_at(tree.root, found);
      } else {
        auto looked = look_on_disk(tree, note, each, stays_inside, std::move(one));
        if (!looked) continue;
        one = std::move(*looked);
      }
      if (const auto target = renamed.find(i); target != renamed.end()) {
        one.nearest = target->second.file;
        one.written = target->second.path;
        one.is_renamed = target->second.is_renamed;
      } else if (one.why == BrokenLink::Why::no_heading) {
        one.nearest = nearest_heading(index, found.path, each.fragment, effort);
      } else if (one.obstacle == BrokenLink::Obstacle::nothing) {
        one.nearest = index.files().nearest(note, each, effort).value_or("");
        one.written = links::target_in_style(
            index.files(), note, each, {.state = links::Resolution::State::file, .path = one.nearest});
      }
      broken.push_back(std::move(one));
    }
  }
  checked.stopped_comparing = effort.was_refused();
  return checked;
}

}  // namespace ws::sync

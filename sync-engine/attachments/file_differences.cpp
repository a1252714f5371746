#include "sync-engine/attachments/file_differences.hpp"

#include <map>
#include <optional>
#include <set>
#include <utility>

namespace ws::sync {
namespace {

/// One file as the base or a side has it.
struct PlacedFile {
  RelativePath path;
  std::uint64_t size_bytes = 0;
  Sha256 hash = {};
  bool operator==(const PlacedFile&) const = default;
};
using MaybeFile = std::optional<PlacedFile>;

class FileComparer {
 public:
  explicit FileComparer(const AttachmentSurvey& found) : found_(found), sides_(found.sides) {}

  std::vector<Difference> compare() {
    for (const Action& action : found_.plan.actions) {
      if (action.kind == ActionKind::push_move) renamed_here_.emplace(action.path, *action.previous_path);
      if (action.kind == ActionKind::pull_move) renamed_there_.emplace(action.path, *action.previous_path);
    }
    for (const auto* const renamed : {&renamed_here_, &renamed_there_}) {
      for (const auto& [to, from] : *renamed) given_away_.insert(from);
    }
    for (const Action& action : found_.plan.actions) {
      if (met_.insert(action.path).second) compare(action);
    }
    for (const AttachmentCollision& collision : found_.plan.collisions) {
      const RelativePath& before = collision.from.value_or(collision.path);
      add(Side::here, placed(before, collision.base), placed(collision.path, collision.local));
      add(Side::there,
          placed(before, collision.base),
          placed(collision.there.value_or(collision.path), collision.remote));
    }
    return std::move(differences_);
  }

 private:
  using Renames = std::map<RelativePath, RelativePath>;  ///< new path to old one

  static const RelativePath& in(const Renames& renames, const RelativePath& path) {
    const auto found = renames.find(path);
    return found == renames.end() ? path : found->second;
  }

  template <class File>
  static MaybeFile placed(const RelativePath& path, const std::optional<File>& file) {
    if (!file) return std::nullopt;
    return PlacedFile{.path = path, .size_bytes = file->size_bytes, .hash = file->hash};
  }

  template <class Tree>
  static MaybeFile find(const Tree& tree, const RelativePath& path) {
    const auto found = tree.find(path);
    return found == tree.end() ? std::nullopt : placed(path, std::optional(found->second));
  }

  /// What an action is about, at whatever path each side has it.
  void compare(const Action& action) {
    const RelativePath& path = action.path;
    const RelativePath& at_here = in(renamed_there_, path);
    const RelativePath& at_there = in(renamed_here_, path);
    RelativePath known_as = at_here == path ? at_there : at_here;
    if (known_as == path) known_as = in(found_.plan.known_as, path);
    MaybeFile base = find(sides_.base, known_as);
    MaybeFile here = is_hidden(at_here) ? base : find(sides_.local, at_here);
    MaybeFile there = find(sides_.remote, at_there);
    // The file of that name is another one by now, which has an action of its own.
    if (known_as == path && given_away_.contains(path)) {
      base.reset();
      if (is_renamed(renamed_there_, path)) here.reset();
      if (is_renamed(renamed_here_, path)) there.reset();
    }
    if (sides_.left_out.contains(known_as)) base.reset();
    const bool is_seen_there = there || sides_.remote_is_whole;
    const std::size_t before = differences_.size();
    add(Side::here, base, here);
    if (is_seen_there) add(Side::there, base, there);
    if (differences_.size() > before) return;
    // Neither side is known to have changed it: told by what is to be done.
    const Side side = is_pull(action.kind) ? Side::there : Side::here;
    push_back(side, base, side == Side::there ? there : here);
  }

  bool is_hidden(const RelativePath& path) const {
    const auto found = sides_.local.find(path);
    return found != sides_.local.end() && found->second.hidden;
  }

  static bool is_renamed(const Renames& renames, const RelativePath& from) {
    for (const auto& [to, old] : renames) {
      if (old == from) return true;
    }
    return false;
  }

  void add(Side side, const MaybeFile& before, const MaybeFile& after) {
    if (before != after) push_back(side, before, after);
  }

  void push_back(Side side, const MaybeFile& before, const MaybeFile& after) {
    if (!before && !after) return;
    Difference difference{.side = side, .file = FileSizes{}};
    if (before) {
      difference.before = before->path;
      difference.file->before_bytes = before->size_bytes;
    }
    if (after) {
      difference.after = side == Side::here ? disk_path(after->path) : after->path;
      difference.file->after_bytes = after->size_bytes;
    }
    difference.file->is_same = before && after && before->hash == after->hash;
    differences_.push_back(std::move(difference));
  }

  RelativePath disk_path(const RelativePath& path) const {
    const auto known = found_.disk.find(path);
    return known == found_.disk.end() ? path : RelativePath::parse(known->second).value_or(path);
  }

  const AttachmentSurvey& found_;
  const AttachmentSides& sides_;
  Renames renamed_here_;
  Renames renamed_there_;
  std::set<RelativePath> given_away_;  ///< the old paths of both
  std::set<RelativePath> met_;
  std::vector<Difference> differences_;
};

}  // namespace

std::vector<Difference> file_differences(const AttachmentSurvey& found) { return FileComparer(found).compare(); }

}  // namespace ws::sync

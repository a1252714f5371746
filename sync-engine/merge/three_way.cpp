#include "sync-engine/merge/three_way.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "sync-engine/git/changed_lines.hpp"

namespace ws::sync::merge {
namespace {

using Changes = std::vector<git::ChangedLines>;

/// One thing a line, so that the line diff of a well-kept library compares words too.
std::string one_a_line(const std::vector<std::uint32_t>& keys) {
  std::string text;
  text.reserve(keys.size() * 4);
  for (const std::uint32_t key : keys) {
    text += std::to_string(key);
    text += '\n';
  }
  return text;
}

/// An insertion or deletion between equal things can be read in several places: `- one` may come in behind the mark of
/// the item before it. The place where a line starts is meant.
void slide(std::size_t& begin, std::size_t& end, std::size_t& other, const Sequence& in, std::size_t from) {
  if (in.starts.empty() || in.starts[begin]) return;
  std::size_t back = 0;
  while (begin - back > from && other > back && in.keys[begin - back - 1] == in.keys[end - back - 1]) {
    ++back;
    if (!in.starts[begin - back]) continue;
    begin -= back;
    end -= back;
    other -= back;
    return;
  }
}

Result<Changes> changes_between(const Sequence& base, const Sequence& side) {
  WS_LET(Changes changes, git::changed_lines(one_a_line(base.keys), one_a_line(side.keys)));
  std::size_t base_from = 0;
  std::size_t side_from = 0;
  for (git::ChangedLines& change : changes) {
    if (change.before_begin == change.before_end) {
      std::size_t at = change.before_begin - base_from;
      const std::size_t was = at;
      slide(change.after_begin, change.after_end, at, side, side_from);
      change.before_begin -= was - at;
      change.before_end = change.before_begin;
    } else if (change.after_begin == change.after_end) {
      std::size_t at = change.after_begin - side_from;
      const std::size_t was = at;
      slide(change.before_begin, change.before_end, at, base, base_from);
      change.after_begin -= was - at;
      change.after_end = change.after_begin;
    }
    base_from = change.before_end;
    side_from = change.after_end;
  }
  return changes;
}

/// Walks both lists of changes and cuts the base where nobody is at work.
class Cutter {
 public:
  Cutter(const Sequence& base,
         const Sequence& ours,
         const Sequence& theirs,
         const std::vector<bool>& anchors,
         Changes our_changes,
         Changes their_changes)
      : base_(base),
        ours_(ours),
        theirs_(theirs),
        anchors_(anchors),
        our_changes_(std::move(our_changes)),
        their_changes_(std::move(their_changes)) {}

  std::vector<Region> cut() {
    while (next_of(Side::ours) != nullptr || next_of(Side::theirs) != nullptr) {
      const Group group = next_group();
      keep_until(group.begin);
      close(group);
    }
    keep_until(base_.keys.size());
    return std::move(regions_);
  }

 private:
  enum class Side { ours, theirs };

  struct Group {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool ours = false;
    bool theirs = false;
  };

  const git::ChangedLines* next_of(Side side) const {
    const Changes& changes = side == Side::ours ? our_changes_ : their_changes_;
    const std::size_t next = side == Side::ours ? our_next_ : their_next_;
    return next == changes.size() ? nullptr : &changes[next];
  }

  /// Both changed the same things of the base into the same.
  bool next_are_alike() const {
    const git::ChangedLines* ours = next_of(Side::ours);
    const git::ChangedLines* theirs = next_of(Side::theirs);
    return ours != nullptr && theirs != nullptr && ours->before_begin == theirs->before_begin &&
           ours->before_end == theirs->before_end &&
           is_alike({ours->after_begin, ours->after_end}, {theirs->after_begin, theirs->after_end});
  }

  bool joins(const Group& group, const git::ChangedLines& change, Side side) const {
    const bool is_alone = side == Side::ours ? !group.theirs : !group.ours;
    if (change.before_begin < group.end || (is_alone && change.before_begin == group.end)) return true;
    if (is_alone) return false;
    for (std::size_t i = group.end; i < change.before_begin; ++i) {
      if (anchors_[i]) return false;
    }
    return true;
  }

  void take(Group& group, Side side) {
    const git::ChangedLines& change = *next_of(side);
    group.begin = std::min(group.begin, change.before_begin);
    group.end = std::max(group.end, change.before_end);
    (side == Side::ours ? group.ours : group.theirs) = true;
    (side == Side::ours ? our_growth_ : their_growth_) += growth(change);
    ++(side == Side::ours ? our_next_ : their_next_);
  }

  /// The side whose next change comes first and belongs to the group; empty where the group is whole.
  std::optional<Side> next_in(const Group& group) const {
    const git::ChangedLines* ours = next_of(Side::ours);
    const git::ChangedLines* theirs = next_of(Side::theirs);
    const bool is_first = group.begin > base_.keys.size();
    const bool ours_may = ours != nullptr && (theirs == nullptr || ours->before_begin <= theirs->before_begin);
    const bool theirs_may = theirs != nullptr && (ours == nullptr || theirs->before_begin <= ours->before_begin);
    if (ours_may && (is_first || joins(group, *ours, Side::ours))) return Side::ours;
    if (theirs_may && (is_first || joins(group, *theirs, Side::theirs))) return Side::theirs;
    return std::nullopt;
  }

  /// The next change, and every one that is too near to it. What both did alike is near to nobody.
  Group next_group() {
    Group group{.begin = base_.keys.size() + 1, .end = 0};
    while (true) {
      if (next_are_alike()) {
        const bool is_first = group.begin > base_.keys.size();
        if (!is_first && next_of(Side::ours)->before_begin > group.end) return group;
        take(group, Side::ours);
        take(group, Side::theirs);
        if (is_first) return group;
        continue;
      }
      const auto side = next_in(group);
      if (!side) return group;
      take(group, *side);
    }
  }

  static std::ptrdiff_t growth(const git::ChangedLines& change) {
    return static_cast<std::ptrdiff_t>(change.after_end - change.after_begin) -
           static_cast<std::ptrdiff_t>(change.before_end - change.before_begin);
  }

  static Span span(std::size_t& at, std::size_t size) {
    const Span taken{.begin = at, .end = at + size};
    at = taken.end;
    return taken;
  }

  void keep_until(std::size_t end) {
    const std::size_t size = end - base_at_;
    if (size == 0) return;
    regions_.push_back({.kind = Region::Kind::same,
                        .base = span(base_at_, size),
                        .ours = span(our_at_, size),
                        .theirs = span(their_at_, size)});
  }

  void close(const Group& group) {
    const auto size = static_cast<std::ptrdiff_t>(group.end - group.begin);
    Region region{.base = span(base_at_, group.end - group.begin),
                  .ours = span(our_at_, static_cast<std::size_t>(size + our_growth_)),
                  .theirs = span(their_at_, static_cast<std::size_t>(size + their_growth_))};
    our_growth_ = 0;
    their_growth_ = 0;
    if (!group.theirs) {
      region.kind = Region::Kind::ours;
    } else if (!group.ours) {
      region.kind = Region::Kind::theirs;
    } else {
      region.kind = is_alike(region.ours, region.theirs) ? Region::Kind::both : Region::Kind::conflict;
    }
    regions_.push_back(region);
  }

  bool is_alike(Span in_ours, Span in_theirs) const {
    const auto at = [](const Sequence& in, std::size_t place) {
      return in.keys.begin() + static_cast<std::ptrdiff_t>(place);
    };
    return std::equal(
        at(ours_, in_ours.begin), at(ours_, in_ours.end), at(theirs_, in_theirs.begin), at(theirs_, in_theirs.end));
  }

  const Sequence& base_;
  const Sequence& ours_;
  const Sequence& theirs_;
  const std::vector<bool>& anchors_;
  Changes our_changes_;
  Changes their_changes_;
  std::size_t our_next_ = 0;
  std::size_t their_next_ = 0;
  std::ptrdiff_t our_growth_ = 0;
  std::ptrdiff_t their_growth_ = 0;
  std::size_t base_at_ = 0;
  std::size_t our_at_ = 0;
  std::size_t their_at_ = 0;
  std::vector<Region> regions_ = {};
};

}  // namespace

Result<std::vector<Region>> three_way(const Sequence& base,
                                      const Sequence& ours,
                                      const Sequence& theirs,
                                      const std::vector<bool>& anchors) {
  WS_LET(Changes our_changes, changes_between(base, ours));
  WS_LET(Changes their_changes, changes_between(base, theirs));
  return Cutter(base, ours, theirs, anchors, std::move(our_changes), std::move(their_changes)).cut();
}

}  // namespace ws::sync::merge

/// Two changed texts as unchanged stretches and places to choose at; the choices, with undo, and the resulting text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/merge/merge.hpp"
#include "sync-engine/merge/text_form.hpp"

namespace ws::cli::walk {

/// A choice at one place.
enum class Take {
  mine,
  theirs,
  both,    ///< mine followed by theirs
  merged,  ///< the automatic merge
};

/// Whole lines; LF line endings.
struct Stretch {
  enum class Kind {
    same,       ///< unchanged; only `merged` is set
    mine,       ///< changed locally
    theirs,     ///< changed on the service
    merged,     ///< changed on both sides, and merged
    collision,  ///< changed on both sides, and must be chosen; `merged` is empty
  };
  Kind kind = Kind::same;
  std::string merged = {};
  std::string base = {};
  std::string mine = {};
  std::string theirs = {};
};

class Choices {
 public:
  /// Empty `base`: there is none, and every difference is a collision. Fails with `internal`.
  static Result<Choices> of(const std::optional<std::string>& base,
                            std::string mine,
                            std::string theirs,
                            const sync::merge::MergeOptions& options = {});

  const std::vector<Stretch>& stretches() const { return stretches_; }
  bool has_base() const { return has_base_; }
  /// The number of stretches of that kind.
  std::size_t count(Stretch::Kind kind) const;
  /// The number of collisions without a choice.
  std::size_t open() const;
  /// Whether there is a choice to undo.
  bool is_touched() const { return !steps_.empty(); }

  /// The choice at a stretch: `merged` by default; empty at a collision without a choice.
  std::optional<Take> taken(std::size_t stretch) const;
  /// Does nothing at an unchanged stretch, nor for `merged` at a collision.
  void take(std::size_t stretch, Take take);
  /// Undoes the last choice; returns its stretch, or empty if there was none.
  std::optional<std::size_t> undo();

  /// The resulting text. All mine gives my text byte for byte, all theirs gives theirs. An undecided collision gives
  /// mine.
  std::string text() const { return text_of(takes_); }
  /// The same with `take` at every collision, whatever was chosen there.
  std::string text_where_it_collides(Take take) const;
  /// Whether `text_where_it_collides` of `side` is another text than that side's own.
  bool merges_more_than(Take side) const;
  /// `text` with each undecided collision between diff3 markers.
  std::string text_with_markers(std::string_view my_label, std::string_view their_label) const;

 private:
  struct Step {
    std::size_t stretch = 0;
    std::optional<Take> before = {};
  };

  using Takes = std::vector<std::optional<Take>>;  ///< by stretch

  void add(Stretch stretch);
  bool is_all(const Takes& takes, Take take) const;
  std::string text_of(const Takes& takes) const;

  std::vector<Stretch> stretches_ = {};
  Takes takes_ = {};
  std::vector<Step> steps_ = {};
  sync::merge::TextForm form_ = {};
  std::string mine_ = {};
  std::string theirs_ = {};
  bool has_base_ = false;
};

/// A conflict marker that is still in the text.
bool has_open_markers(std::string_view text);

}  // namespace ws::cli::walk

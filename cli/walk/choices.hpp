/// Two changed texts as what nobody changed and places to choose at; what was chosen, with undo, and the text of it.
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

/// What a person wants at one place.
enum class Take {
  mine,
  theirs,
  both,    ///< mine, and theirs below it
  merged,  ///< what comes of it by itself
};

/// Whole lines, LF alone.
struct Stretch {
  enum class Kind {
    same,       ///< nobody changed it; only `merged` is set
    mine,       ///< only I changed it
    theirs,     ///< only they did
    merged,     ///< both did, and the changes go together
    collision,  ///< both did, and somebody must choose; `merged` is empty
  };
  Kind kind = Kind::same;
  std::string merged = {};
  std::string base = {};
  std::string mine = {};
  std::string theirs = {};
};

class Choices {
 public:
  /// Empty `base`: both were made anew, and whatever differs is a collision. Fails with `internal`.
  static Result<Choices> of(const std::optional<std::string>& base,
                            std::string mine,
                            std::string theirs,
                            const sync::merge::MergeOptions& options = {});

  const std::vector<Stretch>& stretches() const { return stretches_; }
  bool has_base() const { return has_base_; }
  /// How many stretches are of that kind.
  std::size_t count(Stretch::Kind kind) const;
  /// How many collisions nothing was taken at.
  std::size_t open() const;
  /// Whether something was taken that `undo` takes back.
  bool is_touched() const { return !steps_.empty(); }

  /// What holds there: `merged` where nobody chose and nothing collides; empty at a collision without a choice.
  std::optional<Take> taken(std::size_t stretch) const;
  /// No-op at what nobody changed, and for `merged` at a collision.
  void take(std::size_t stretch, Take take);
  /// Takes the last choice back; the stretch that it was at, or empty.
  std::optional<std::size_t> undo();

  /// What the choices say. All mine is my text byte for byte, all theirs is theirs. An open collision counts as mine.
  std::string text() const;
  /// The same with each open collision between diff3 markers.
  std::string text_with_markers(std::string_view my_label, std::string_view their_label) const;

 private:
  struct Step {
    std::size_t stretch = 0;
    std::optional<Take> before = {};
  };

  void add(Stretch stretch);
  bool is_all(Take take) const;

  std::vector<Stretch> stretches_ = {};
  std::vector<std::optional<Take>> takes_ = {};  ///< one a stretch
  std::vector<Step> steps_ = {};
  sync::merge::TextForm form_ = {};
  std::string mine_ = {};
  std::string theirs_ = {};
  bool has_base_ = false;
};

/// A line that somebody must still take out of it.
bool has_open_markers(std::string_view text);

}  // namespace ws::cli::walk

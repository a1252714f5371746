/// A conflict as it is shown to the user: a description, the texts, and the possible resolutions. Plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sync-engine/model/conflict.hpp"

namespace ws::cli::walk {

using sync::Keep;

/// A possible resolution.
struct Offer {
  Keep keep = Keep::local;
  std::string what = {};                  ///< "keep mine"
  std::vector<std::string> effects = {};  ///< sentences: what the resolution does, and what it leaves undone
};

struct ShownConflict {
  std::string name = {};                ///< "recipes/soup.md"
  std::string what = {};                ///< "edited on both sides"
  std::vector<std::string> story = {};  ///< sentences: who changed what, when, from which revision
  std::optional<std::string> base = {};
  std::optional<std::string> mine = {};
  std::optional<std::string> theirs = {};
  std::vector<std::string> merge_later = {};  ///< front matter keys of which the later date wins in the merge
  std::vector<Offer> offers = {};  ///< in the order in which they are shown; texts are walked only with `merged`
  bool has_history = false;
  std::vector<std::string> files = {};    ///< mine and theirs on disk, if both can be opened: paths from the root
  std::vector<std::string> details = {};  ///< lines below the story: what a text cannot show
};

/// The user's decision. `text` is that of `merged`.
struct Decided {
  Keep keep = Keep::local;
  std::string text = {};
  std::optional<Keep> where_it_collides = {};  ///< of `merged`: the side that every collision was given to
};

}  // namespace ws::cli::walk

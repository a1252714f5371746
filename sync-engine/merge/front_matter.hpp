/// Front matter: `---`, keys, `---`. Merged key by key, each as it was written: comments, order and quoting stay.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/merge/merge.hpp"

namespace ws::sync::merge {

/// One key at the left margin with its value, and the comments above it.
struct FrontMatterEntry {
  std::string_view key = {};
  std::string_view text = {};  ///< whole lines
  bool operator==(const FrontMatterEntry&) const = default;
};

struct FrontMatter {
  std::string_view opening = {};  ///< `---`
  std::vector<FrontMatterEntry> entries = {};
  std::string_view closing = {};  ///< comments below the last key, and `---`
};

/// Empty where a line at the margin is no key, or a key stands twice. `text`: whole lines, the fences among them.
std::optional<FrontMatter> read_front_matter(std::string_view text);

/// The three texts with their fences; empty: there is none. Keys that only one side changed, added or removed are
/// merged; keys that both added at one place come in the order of their names. What cannot be read as keys is merged by
/// whole lines. Of a key that `stamps` names, and both changed, the later date wins (`stamps.hpp`). Fails with
/// `internal`.
Result<std::vector<Piece>> merge_front_matter(std::string_view base,
                                              std::string_view ours,
                                              std::string_view theirs,
                                              const std::vector<std::string>& stamps);

}  // namespace ws::sync::merge

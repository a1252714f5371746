/// The corpus of three-way merges: `tests/data/merge/*.merge`, each file a list of cases.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ws::sync::test {

struct MergeCase {
  std::string name = {};  ///< "lists: two items ticked"
  std::string base = {};
  std::string ours = {};
  std::string theirs = {};
  std::optional<std::string> merged = {};    ///< empty: a conflict is what is wanted
  std::optional<std::string> mirrored = {};  ///< the same with the sides exchanged
};

/// All of them, by file and place. A case is `#### NAME`, then `==== base`, `==== ours`, `==== theirs` and `====
/// merged`, each with the lines below it, or `==== conflict` alone at its end; `==== mirrored`: where theirs as ours
/// gives another order. In them `<CR>` is a carriage return and a line that ends in `<NONL>` has no newline.
std::vector<MergeCase> merge_cases();

}  // namespace ws::sync::test

/// Lines of a list that both sides changed: entry by entry.
///
/// An entry is an item with what hangs on it by indentation, a row of a table, or a reference definition. An entry of
/// the base takes the one side's edit where the other left it; what both brought in stays, equal ones once. It stands
/// behind the merge of words: what is not sure here stays a conflict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sync-engine/merge/list_reader.hpp"

namespace ws::sync::merge {

class ListEntries {
 public:
  /// The lines of the three texts, which must outlive it.
  ListEntries(const std::vector<MarkdownLine>& base,
              const std::vector<MarkdownLine>& ours,
              const std::vector<MarkdownLine>& theirs)
      : base_(base), ours_(ours), theirs_(theirs) {}

  /// The merged lines of one place that both sides changed. Empty where anything but entries and blank lines is in it;
  /// where both edited one entry, or one removed what the other edited; where a side removes an entry at the place at
  /// which it also brings one in; where two new entries are about one thing, or one would stand there twice; where it
  /// is not sure on which entry the next line hangs.
  std::optional<std::string> merge(Span base, Span ours, Span theirs);

  /// Whether lines that were merged in another way hold an entry more often than the lines of either side that they
  /// were made of, or other entries than `settled`, which `merge` made of them.
  bool doubts(std::string_view merged, const std::optional<std::string>& settled, Span ours, Span theirs) const;

 private:
  const std::vector<MarkdownLine>& base_;
  const std::vector<MarkdownLine>& ours_;
  const std::vector<MarkdownLine>& theirs_;
  std::optional<Abouts> in_ours_ = {};  ///< what the entries of the whole text are about
  std::optional<Abouts> in_theirs_ = {};
};

}  // namespace ws::sync::merge

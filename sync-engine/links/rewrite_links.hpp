/// What becomes of the links of a tree whose files are renamed. Pure.
///
/// A link that named a file before names the same file afterwards: where it still does, no byte of it changes, else the
/// bytes of its path alone, in the style that it has. Links that named nothing stay as they are.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync-engine/links/references.hpp"
#include "sync-engine/links/resolve.hpp"

namespace ws::sync::links {

/// Files by their path before; what is not in it stays.
using Renames = std::map<std::string, std::string, std::less<>>;

struct NewTarget {
  std::size_t reference = 0;  ///< its place among those of the note
  std::string file = {};      ///< what it names, after
  std::string path = {};      ///< as it is to be read in the note; empty: the style of the link cannot name it
  bool is_renamed = false;    ///< not the note alone
};

/// The text with these targets written; those that their place cannot hold are left, and counted in `left`.
std::string with_targets(std::string_view text,
                         const std::vector<Reference>& references,
                         const std::vector<NewTarget>& targets,
                         std::size_t& left);

class LinkRewriter {
 public:
  /// `before`: the files as the links were written for.
  LinkRewriter(const TreeFiles& before, const Renames& renames);

  const TreeFiles& after() const { return after_; }
  std::string renamed(std::string_view file) const;
  /// The targets that change in the note that was `note` before.
  std::vector<NewTarget> new_targets(std::string_view note, const std::vector<Reference>& references) const;

 private:
  std::optional<std::string> renamed_folder(const std::string& folder) const;

  const TreeFiles& before_;
  const Renames& renames_;
  TreeFiles after_;
};

/// How the reference, which stands in `note`, names `file` in the style that it has, where `tree` is the tree. Empty:
/// that style cannot.
std::string target_in_style(const TreeFiles& tree,
                            std::string_view note,
                            const Reference& reference,
                            const Resolution& file);

/// Where a broken link leads once it is known what was renamed: from the places that its note had to those that its
/// file had. `earlier`: the paths that the note had before.
std::optional<NewTarget> find_renamed_target(const TreeFiles& tree,
                                             const Renames& renames,
                                             std::string_view note,
                                             const std::vector<std::string>& earlier,
                                             const Reference& reference);

/// The links that lead nowhere since files were renamed.
class LinkMender {
 public:
  /// `tree`: the files now; it outlives this. `renames`: what is known of them, one after the other.
  LinkMender(const TreeFiles& tree, Renames renames);

  /// The targets that are known by now.
  std::vector<NewTarget> new_targets(std::string_view note, const std::vector<Reference>& references) const;

 private:
  const TreeFiles* tree_;
  Renames renames_;
  std::map<std::string, std::vector<std::string>, std::less<>> earlier_;  ///< names of a note, by its present one
};

}  // namespace ws::sync::links

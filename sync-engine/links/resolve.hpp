/// Which file of a tree a reference names. Pure: the tree is the list of its files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sync-engine/links/references.hpp"

namespace ws::sync::links {

struct Resolution {
  enum class State {
    file,       ///< `path`
    folder,     ///< `path`
    none,       ///< there is no such file
    ambiguous,  ///< a wiki name of several files, none of them nearest to the note
    outside,    ///< above the root, hidden, or a dangerous name
  };
  State state = State::none;
  std::string path = {};      ///< from the root; of `none`: where it was looked for, empty for a wiki name
  bool added_suffix = false;  ///< the name is written without `.md`
  bool operator==(const Resolution&) const = default;
};

/// How much more may be spent on finding names that differ little, for all links of a tree together.
class Effort {
 public:
  /// Comparing `name` with so many others, up to `most` edits; false: that is more than is left, and it is not to be
  /// done.
  bool take(std::string_view name, std::size_t others, std::size_t most = 0);
  bool was_refused() const { return was_refused_; }

 private:
  std::size_t left_ = 400'000'000;  ///< pairs of letters; about half a second
  bool was_refused_ = false;
};

/// The files of a tree: notes and all others that are neither hidden nor ignored.
class TreeFiles {
 public:
  explicit TreeFiles(std::vector<std::string> paths);
  TreeFiles(const TreeFiles&) = delete;
  TreeFiles& operator=(const TreeFiles&) = delete;
  TreeFiles(TreeFiles&&) = default;
  TreeFiles& operator=(TreeFiles&&) = default;

  const std::vector<std::string>& paths() const { return paths_; }
  bool has_file(std::string_view path) const { return find_file(path) != nullptr; }
  bool has_folder(std::string_view path) const;  ///< the root is one: ""

  /// Relative to the note, `/x` from the root. A wiki path is tried from the note, then from the root, then as the end
  /// of one path alone; a wiki name is the one file of that name, else the one nearest to the note. Names are compared
  /// by their letters in whatever Unicode form, the same bytes first; wiki names are found whatever their case.
  Resolution resolve(std::string_view note, const Reference& reference) const;

  /// The file that somebody may have meant: of the same name elsewhere, else of a name that differs little. The second
  /// compares with every file, for which `effort` is spent.
  std::optional<std::string> nearest(std::string_view note, const Reference& reference, Effort& effort) const;

 private:
  using Places = std::vector<std::size_t>;
  /// The name as the tree has it; null: there is none.
  const std::string* find_file(std::string_view path) const;
  const std::vector<std::pair<std::string, std::size_t>>& forms() const;
  Resolution resolve_path(std::string_view path, bool tries_suffix) const;
  Resolution resolve_name(std::string_view note, std::string_view name) const;
  Resolution resolve_end(std::string_view note, std::string_view path) const;
  Resolution choose(std::string_view note, const Places& places, bool added_suffix) const;
  const Places* named(const std::string& name, bool folded) const;

  std::vector<std::string> paths_ = {};  ///< sorted
  /// NFC of the paths that are not ASCII, and their places; sorted. Made when a name of that kind is first looked for.
  mutable std::optional<std::vector<std::pair<std::string, std::size_t>>> forms_ = {};
  mutable std::unordered_map<std::string, Places> by_name_ = {};  ///< by NFC; made when a wiki name is first looked for
  mutable std::unordered_map<std::string, Places> by_folded_name_ = {};
};

/// A part of it begins with a dot: no link resolves to it.
bool is_hidden_path(std::string_view path);
/// `path` from `folder`, `.` and `..` resolved. Empty: it leads above the root.
std::optional<std::string> joined(std::string_view folder, std::string_view path);
/// How a file is named from a note: `../img/a.png`.
std::string relative_from(std::string_view note, std::string_view file);

/// Letters to add, drop or change; more than `most` is `most` + 1. Takes `most` times the length of the shorter one.
std::size_t edits_between(std::string_view a, std::string_view b, std::size_t most);

}  // namespace ws::sync::links

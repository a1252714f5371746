/// Which paths are ignored: the built-in rules, then every `.wsignore` on the way down, in gitignore syntax.
///
/// The user's own `.gitignore` and git configuration play no part, but where `GitRules` of a walk ask for them. The
/// patterns are matched here and not by libgit2: its matcher takes time that is exponential in a pattern's stars. Names
/// and patterns are compared in one Unicode form (NFC).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace ws::sync {

/// The patterns of one text in gitignore syntax. Time to match is at most the text's length times the path's.
class Patterns {
 public:
  explicit Patterns(std::string_view text);

  /// What the last pattern that matches just this path says: true, false for one that begins with `!`, or nothing.
  /// `path` is relative to the folder of the text; a folder's has no '/' at its end.
  std::optional<bool> verdict(std::string_view path, bool is_folder) const;
  bool empty() const { return patterns_.empty(); }

 private:
  struct Pattern {
    std::uint32_t begin = 0;  // in text_
    std::uint32_t size = 0;
    bool negated = false;
    bool folders_only = false;
    bool whole_path = false;  // else the last part alone
    bool literal = false;     // no character of it is special
  };
  void add(std::string_view line);
  bool matches(const Pattern& pattern, std::string_view path, std::string_view name) const;

  std::string text_;
  std::vector<Pattern> patterns_;
};

/// Of one walk. Safe to use from several threads.
class IgnoreRules {
 public:
  /// The text of a `.wsignore` in `folder` (empty: the root).
  void add(std::string_view folder, std::string_view text);
  bool has_rules() const { return has_rules_; }
  /// Folders end in '/'. What lies in an ignored folder is ignored, whatever the rules say of it. Takes no lock for a
  /// name alone while there are no rules.
  bool is_ignored(std::string_view path) const;

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::string, Patterns, std::less<>> by_folder_;
  std::atomic<bool> has_rules_ = false;
};

}  // namespace ws::sync

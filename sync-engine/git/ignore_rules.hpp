/// Which paths are ignored: the built-in rules, then every `.wsignore` on the way down, in gitignore syntax.
///
/// The user's own `.gitignore` and git configuration play no part: the rules live in an in-memory repository.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws::sync::git {

/// Of one walk. Safe to use from several threads. While nobody has added rules it answers without libgit2.
class IgnoreRules {
 public:
  IgnoreRules();
  ~IgnoreRules();
  IgnoreRules(const IgnoreRules&) = delete;
  IgnoreRules& operator=(const IgnoreRules&) = delete;

  /// The text of a `.wsignore` in `folder` (empty: the root). Those of the folders above must be in already.
  Result<void> add(std::string_view folder, std::string_view text);
  bool has_rules() const { return has_rules_; }
  /// Folders end in '/'. While there are no rules the last part of the path decides alone, and no lock is taken.
  bool is_ignored(std::string_view path) const;

 private:
  struct Impl;
  mutable std::mutex mutex_;
  std::unique_ptr<Impl> impl_;
  std::atomic<bool> has_rules_ = false;
};

/// The same rules, as one in `folder` would have to be written in the root: `*.tmp` in `a` becomes `/a/**/*.tmp`.
std::string anchored_rules(std::string_view folder, std::string_view text);

}  // namespace ws::sync::git

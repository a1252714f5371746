/// The references of a bare repository: one file each below `refs/`, or a line of `packed-refs` (gitrepository-layout).
///
/// Ours are branches alone; what plain git put beside them (tags, branches, names of remotes) is read too. Writing goes
/// by git's protocol: `NAME.lock`, fsync, rename. Who writes holds the tree's lock, so a lock of git's that is there
/// was left by a run that was killed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/git/object.hpp"

namespace ws::sync::git {

class References {
 public:
  /// The folder outlives it.
  explicit References(const RootFolder& folder) : folder_(&folder) {}

  /// "refs/heads/main". Empty: there is none. Fails with `integrity` for what is no reference, or `disk`.
  Result<std::optional<ObjectId>> find(const std::string& name) const;
  /// In order of name.
  Result<std::vector<std::string>> list() const;
  /// Durable when it returns. Fails with `disk`.
  Result<void> set(const std::string& name, const ObjectId& id) const;
  /// The same for many: all are written, then one barrier, then all get their names, then one barrier.
  Result<void> set(const std::map<std::string, ObjectId>& ids) const;
  Result<void> remove(const std::string& name) const;
  void drop_dead_locks() const;

 private:
  const RootFolder* folder_;
};

}  // namespace ws::sync::git

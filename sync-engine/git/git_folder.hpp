/// The folder of a bare repository, held by descriptor, its objects and its references.
///
/// libgit2 is given the objects alone. It never opens the repository itself, so nothing in the folder or around it
/// steers it: no `config` with its includes, no alternates, no `commondir`, hooks or attributes, and no configuration
/// of the user or the system.
///
/// References are one file each below `refs/`, or a line of `packed-refs` (gitrepository-layout). Ours are branches
/// alone; what plain git put beside them (tags, branches, names of remotes) is read too. Writing goes by git's
/// protocol: `NAME.lock`, fsync, rename. Who writes holds the tree's lock, so a lock of git's that is there was left by
/// a run that was killed.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/git/library.hpp"
#include "sync-engine/git/object.hpp"

namespace ws::sync::git {

class GitFolder {
 public:
  /// Makes the repository where there is none. Fails with `disk`: code `linked_marker` or `not_ours` where anything in
  /// it is a link, or neither a file nor a folder.
  static Result<GitFolder> open(const std::filesystem::path& path);
  GitFolder(GitFolder&& other) noexcept;
  GitFolder& operator=(GitFolder&&) = delete;
  GitFolder(const GitFolder&) = delete;
  GitFolder& operator=(const GitFolder&) = delete;
  ~GitFolder();

  const Library& git() const noexcept { return *git_; }
  git_odb* objects() const noexcept { return objects_; }
  const RootFolder& folder() const noexcept { return folder_; }
  /// For what opens by path: through the descriptor.
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  GitFolder(const Library& git, RootFolder folder);
  Result<void> open_objects();

  const Library* git_;
  RootFolder folder_;
  std::filesystem::path path_;
  git_odb* objects_ = nullptr;
};

/// The commits of the repository at `path` whose parents were dropped. Fails with `disk` or `integrity`.
Result<std::set<ObjectId>> read_shallow(const std::filesystem::path& path);

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

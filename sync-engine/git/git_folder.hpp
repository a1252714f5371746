/// The folder of a bare repository, held by descriptor, and its objects.
///
/// libgit2 is given the objects alone. It never opens the repository itself, so nothing in the folder or around it
/// steers it: no `config` with its includes, no alternates, no `commondir`, hooks or attributes, and no configuration
/// of the user or the system. References are read and written by `references.hpp`.
#pragma once

#include <filesystem>

#include "api-client/base/result.hpp"
#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/git/library.hpp"

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

}  // namespace ws::sync::git

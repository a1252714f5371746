/// The only code that changes a user's file.
///
/// A change lands whole or not at all. What stands in the way is moved aside first and looked at: if it is not what the
/// plan saw, it goes back to its place and the change is refused with `conflict`. So an edit that comes between the
/// plan and the rename keeps its place. Paths resolve beneath the root: no link leads out of it.
///
/// A batch is durable in three strokes: `stage` every text, `flush_texts` (one barrier), `place` each, `flush_folders`
/// (one barrier). Only then may the state claim what was done.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"
#include "api-client/base/sha256.hpp"
#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/disk/staging_folder.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {

/// Stages texts in its folder, then changes the user's files.
class SafeWriter : public StagingFolder {
 public:
  /// `staging`: the folder in `.ws`; what interrupted runs leave in `tmp` is read as text. The root outlives the
  /// writer. Fails with `disk`.
  static Result<SafeWriter> open(const RootFolder& root, const char* staging = "tmp");
  /// Stages in another folder of the same file system.
  static SafeWriter over(const RootFolder& root, StagingFolder staging) { return SafeWriter(root, std::move(staging)); }

  /// Copies a file of the tree into the staging folder, under the name of its hash; durable. Fails with `conflict`
  /// where it has other bytes.
  Result<void> keep_copy(const RelativePath& path, const Sha256& hash);

  /// Puts a staged text at `path`, where a file with the text `seen` stands, or no file (empty). A file keeps its mode.
  /// Fails with `conflict` (not what the plan saw; nothing changed) or `disk`.
  Result<void> place(const Staged& staged, const RelativePath& path, const std::optional<Sha256>& seen);
  /// Takes the file away, and folders above it that hold nothing any more. One that is gone already is no failure: a
  /// call that was killed took it away, or its user did.
  Result<void> remove(const RelativePath& path, const Sha256& seen);
  /// Renames; nothing may stand at `to` but an empty folder. Where one of the two lies beneath the other the file steps
  /// aside first: its place becomes a folder, or the folder its place.
  Result<void> move(const RelativePath& from, const RelativePath& to, const Sha256& seen);
  Result<void> flush_folders();

  /// The text at `path`. Fails with `not_found` or `disk`.
  Result<std::string> read(const RelativePath& path) const;
  /// The hash of the file at `path`, as `hash_file_at`; empty also where a folder above it is none. Fails with `disk`.
  Result<std::optional<Sha256>> hash(const RelativePath& path) const;

 private:
  SafeWriter(const RootFolder& root, StagingFolder staging) : StagingFolder(std::move(staging)), root_(&root) {}

  Result<Descriptor> folder_of(const RelativePath& path) const;
  Result<Descriptor> make_folder_of(const RelativePath& path);
  Result<void> put_new(const Staged& staged, int folder, const RelativePath& path);
  Result<void> put_over(const Staged& staged, int folder, const RelativePath& path, const Sha256& seen);
  Result<void> swap_back(const Staged& staged, int folder, const RelativePath& path);
  Result<void> remove_folders_left(const RelativePath& path);
  void remove_empty_folders(std::string_view folder);
  Result<void> move_nested(const RelativePath& from, const RelativePath& to, const Sha256& seen);

  const RootFolder* root_;
  bool unnamed_placed_ = false;    ///< since the last flush of the folders
  std::set<std::string> touched_;  ///< folders with new or missing names
};

}  // namespace ws::sync

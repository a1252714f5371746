/// The only code that changes a user's file.
///
/// A change lands whole or not at all. What stands in the way is moved aside first and looked at: if it is not what the
/// plan saw, it goes back to its place and the change is refused with `conflict`. So an edit that comes between the
/// plan and the rename keeps its place. Paths resolve beneath the root: no link leads out of it.
///
/// A batch is durable in three strokes: `stage` every text, `flush_texts` (one barrier), `place` each, `flush_folders`
/// (one barrier). Only then may the state claim what was done.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/sha256.hpp"
#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/disk/unnamed_file.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {

/// A file of the own folder.
struct OwnFile {
  std::string name = {};
  std::uint64_t size_bytes = 0;
  Time modified = {};
};

/// A text that is written but not yet in its place: in `.ws/tmp`, or in an unnamed file.
struct Staged {
  std::string name = {};
  Sha256 hash = {};
  UnnamedFile unnamed = {};
};

class SafeWriter {
 public:
  /// `.ws/tmp` is made where it is missing. The root outlives the writer. Fails with `disk`.
  /// `own`: the folder in `.ws` that takes the place of `tmp`: what interrupted runs leave in `tmp` is read as text.
  static Result<SafeWriter> open(const RootFolder& root, const char* own = "tmp");

  Result<Staged> stage(std::string_view text) { return stage(text, Sha256::of(text)); }
  /// The same where the hash of the text is known.
  Result<Staged> stage(std::string_view text, const Sha256& hash);
  /// The same for a path without a file. Faster for many texts: unnamed files, where the file system supports them.
  Result<Staged> stage_new(std::string_view text, const Sha256& hash);
  /// Empty: the file system does not support unnamed files, too many are open, or the disk is full.
  std::optional<Staged> stage_unnamed(std::string_view text, const Sha256& hash);
  /// Includes an unnamed file that another writer of the same root staged in the next `flush_texts`.
  void adopt(const Staged& staged);
  /// A file of that name in the own folder, which has these bytes and is flushed, becomes a staged one.
  Result<Staged> stage_file(const std::string& name, const Sha256& hash);
  /// The same of a copy, which is not flushed yet.
  Result<Staged> stage_copy(const std::string& name, const Sha256& hash);
  /// A copy of a file of the tree into the own folder, under the name of its hash; durable. Fails with `conflict` where
  /// it has other bytes.
  Result<void> keep_copy(const RelativePath& path, const Sha256& hash);
  Result<void> flush_texts();

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

  /// The files that interrupted runs left in `.ws/tmp`: texts, perhaps a user's. What is no file there stays there.
  Result<std::vector<std::string>> leftovers() const;
  /// All of them, those whose name begins with a dot too.
  Result<std::vector<OwnFile>> own_files() const;
  Result<std::string> read_leftover(const std::string& name) const;
  Result<void> remove_leftover(const std::string& name) const;
  Result<Sha256> hash_leftover(const std::string& name) const;
  Result<void> rename_leftover(const std::string& name, const std::string& to) const;
  /// Whether a file of the own folder has these bytes.
  bool has_own(const std::string& name, const Sha256& hash) const { return is_text(name, hash); }

  /// The text at `path`. Fails with `not_found` or `disk`.
  Result<std::string> read(const RelativePath& path) const;
  /// The hash of the file at `path`, read piece by piece; empty: there is none. Fails with `disk`.
  Result<std::optional<Sha256>> hash(const RelativePath& path) const;

 private:
  SafeWriter(const RootFolder& root, Descriptor temporary) : root_(&root), temporary_(std::move(temporary)) {}
  Result<Descriptor> folder_of(const RelativePath& path) const;
  Result<Descriptor> make_folder_of(const RelativePath& path);
  std::string new_name();
  bool can_name_files();
  Result<void> put_new(const Staged& staged, int folder, const RelativePath& path);
  Result<void> put_over(const Staged& staged, int folder, const RelativePath& path, const Sha256& seen);
  Result<void> swap_back(const Staged& staged, int folder, const RelativePath& path);
  bool is_text(const std::string& aside, const Sha256& seen) const;
  Result<std::optional<Sha256>> hash_at(int folder, const std::string& name) const;
  Result<std::string> copy_in(int from, const std::string& shown);
  Result<void> remove_folders_left(const RelativePath& path);
  void remove_empty_folders(std::string_view folder);
  Result<void> move_nested(const RelativePath& from, const RelativePath& to, const Sha256& seen);

  const RootFolder* root_;
  Descriptor temporary_;
  std::vector<std::string> unflushed_;  ///< names in `.ws/tmp`
  std::optional<bool> can_name_files_;  ///< unnamed ones, later
  bool unnamed_unflushed_ = false;
  bool unnamed_placed_ = false;    ///< since the last flush of the folders
  std::set<std::string> touched_;  ///< folders with new or missing names
  std::uint64_t next_ = 0;
};

}  // namespace ws::sync

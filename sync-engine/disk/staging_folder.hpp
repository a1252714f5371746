/// A folder of ours in `.ws/`, on the tree's file system: texts are written and flushed here before a rename puts them
/// in their places, and what is replaced or removed passes through it.
///
/// What a killed run leaves in `.ws/tmp` may be the only copy of a user's text: the next run reads it (`leftovers`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/base/descriptor.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/sha256.hpp"
#include "sync-engine/disk/background.hpp"
#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/model/entry.hpp"

namespace ws::sync {

/// A file without a name yet (O_TMPFILE): if the process is killed, nothing of it is left.
class UnnamedFile {
 public:
  UnnamedFile() = default;
  UnnamedFile(UnnamedFile&&) noexcept = default;
  UnnamedFile& operator=(UnnamedFile&&) noexcept = default;
  ~UnnamedFile();

  /// On the file system of `folder`. Empty if that does not support them, or if half of the descriptors that the
  /// process may open are unnamed files.
  static UnnamedFile make(int folder);
  int get() const noexcept { return file_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(file_); }
  /// Names it `to`, which must not exist. -1 and errno on failure, as linkat(2).
  int link(int folder, const char* to) const;

 private:
  explicit UnnamedFile(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

/// Up to so many single fsyncs are cheaper than a barrier over the whole file system.
inline constexpr std::size_t max_single_flushes = 16;

/// A file of the folder, by its own name.
struct StagingFile {
  std::string name = {};
  std::uint64_t size_bytes = 0;
  Time modified = {};
};

/// A text that is written but not yet in its place: in the folder, or in an unnamed file.
struct Staged {
  std::string name = {};
  Sha256 hash = {};
  UnnamedFile unnamed = {};
};

class StagingFolder {
 public:
  /// `.ws/NAME`, which is made where it is missing. Fails with `disk`.
  static Result<StagingFolder> open(const RootFolder& root, const char* name);
  /// A folder that is open already.
  explicit StagingFolder(Descriptor folder) : folder_(std::move(folder)) {}

  Result<Staged> stage(std::string_view text) { return stage(text, Sha256::of(text)); }
  /// The same where the hash of the text is known.
  Result<Staged> stage(std::string_view text, const Sha256& hash);
  /// The same for a path without a file. Faster for many texts: unnamed files, where the file system supports them.
  Result<Staged> stage_new(std::string_view text, const Sha256& hash);
  /// Empty: the file system does not support unnamed files, too many are open, or the disk is full.
  std::optional<Staged> stage_unnamed(std::string_view text, const Sha256& hash);
  /// Includes an unnamed file that was staged by another writer of the same root in the next `flush_texts`.
  void adopt(const Staged& staged);
  /// A file of that name in the folder, which has these bytes and is flushed, becomes a staged one.
  Result<Staged> stage_file(const std::string& name, const Sha256& hash);
  /// The same of a copy, which is not flushed yet.
  Result<Staged> stage_copy(const std::string& name, const Sha256& hash);
  Result<void> flush_texts();

  /// The files that interrupted runs left: texts, perhaps a user's. What is no file stays there.
  Result<std::vector<std::string>> leftovers() const;
  /// All files, those whose name begins with a dot too.
  Result<std::vector<StagingFile>> files() const;
  Result<std::string> read_leftover(const std::string& name) const;
  Result<void> remove_leftover(const std::string& name) const;
  Result<Sha256> hash_leftover(const std::string& name) const;
  Result<void> rename_leftover(const std::string& name, const std::string& to) const;
  /// Whether a file of that name has these bytes. A link or a folder that somebody put there does not.
  bool has(const std::string& name, const Sha256& hash) const;

 protected:
  int staging_fd() const { return folder_.get(); }
  /// For a file that does not exist yet. The pid keeps two runs apart even if the lock were lost; O_EXCL and NOREPLACE
  /// decide in the end.
  std::string new_name();
  /// The name of a new file in this folder with the bytes that can be read from `from`.
  Result<std::string> copy_in(int from, const std::string& shown);

 private:
  std::string shown(std::string_view name = {}) const;
  bool can_name_files();

  Descriptor folder_;
  std::vector<std::string> unflushed_;  ///< names in the folder
  std::optional<bool> can_name_files_;  ///< unnamed ones, later
  bool unnamed_unflushed_ = false;
  std::uint64_t next_ = 0;
};

/// Writes the texts of new documents to disk while the pull is still running.
///
/// They are unnamed files (O_TMPFILE): if the plan does not use them, or the process is killed, nothing is left behind.
class StagedAhead {
 public:
  /// `root` must outlive it. Fails with `disk`.
  static Result<std::unique_ptr<StagedAhead>> open(const RootFolder& root);
  StagedAhead(const StagedAhead&) = delete;
  StagedAhead& operator=(const StagedAhead&) = delete;

  void add(const DocumentId& document, const Sha256& hash, std::string text);
  /// No more texts: starts to flush the written ones.
  void close();
  /// Empty: that text was not written. The result is not known to be flushed: call `SafeWriter::adopt`.
  std::optional<Staged> take(const DocumentId& document, const Sha256& hash);

 private:
  explicit StagedAhead(StagingFolder staging) : staging_(std::move(staging)), disk_(OwnThread::one) {}

  StagingFolder staging_;
  std::unordered_map<DocumentId, std::optional<Staged>> texts_;
  Background disk_;  ///< ends before what its jobs refer to
};

}  // namespace ws::sync

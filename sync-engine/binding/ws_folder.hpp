/// `.ws/` of a tree, held by descriptor; and its lock: one writer a tree (promise 13 of `safety.md`).
///
/// The tree may have come from elsewhere: an archive, a share, a folder that others write to. So whatever lies in
/// `.ws/` is looked at before it is used. What we know by name must be a regular file, or a folder, of a trusted owner;
/// what is written in place must have no second name. Nothing below is opened through a link.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/clock.hpp"
#include "api-client/base/owner.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/disk/root_folder.hpp"

namespace ws::sync {

class WsFolder {
 public:
  /// Fails with `disk`: code `marker_missing`, `linked_marker` (it or something in it is a link), `foreign_owner`, or
  /// `not_ours` (neither a file nor a folder, or one for the other, or with a second name).
  static Result<WsFolder> open(const RootFolder& root, const TrustedFolders& trusted = {});
  static Result<WsFolder> open(const std::filesystem::path& root, const TrustedFolders& trusted = {});
  /// Makes it and the folders in it where they are missing; then as `open`.
  static Result<WsFolder> make(const std::filesystem::path& root, const TrustedFolders& trusted = {});

  /// For what opens by path: a path through the descriptor, whatever the tree is called by then.
  std::filesystem::path through(const char* name) const;
  /// Where it lies, for messages.
  const std::filesystem::path& path() const noexcept { return folder_.path(); }

  bool has(const char* name) const;
  bool is_empty_file(const char* name) const;
  /// Fails with `not_found`, `disk`, or `invalid` for a file over `max_bytes`.
  Result<std::string> read(const char* name, std::size_t max_bytes) const;
  /// All or nothing, and durable; with the mode that it had, or what the umask leaves. Fails with `disk`.
  Result<void> write(const char* name, std::string_view text) const;
  void remove(const char* name) const;

  /// What `write_cache` left under that name, behind the same magic, if it is whole. Empty: there is none.
  std::optional<std::string> read_cache(const char* name, std::string_view magic) const;
  /// A failure only costs time later.
  void write_cache(const char* name, std::string_view magic, std::string_view content) const;

 private:
  explicit WsFolder(RootFolder folder) : folder_(std::move(folder)) {}
  Result<void> check(const std::filesystem::path& root, const TrustedFolders& trusted) const;
  RootFolder folder_;
};

/// Holds `.ws/lock` until it goes out of scope. The kernel releases it when the process dies.
class TreeLock {
 public:
  /// Waits at most `wait`. Fails with `disk`, code `tree_locked`, naming the process that holds it; retryable.
  static Result<TreeLock> take(const RootFolder& root, std::chrono::milliseconds wait);
  /// Whether some process holds it. Takes nothing.
  static bool is_held(const RootFolder& root);
  /// `.ws/watch.lock`, for as long as a watch goes on: two would do everything twice. Fails with `disk`, code
  /// `tree_locked`, naming who watches and since when.
  static Result<TreeLock> take_for_watch(const RootFolder& root, Time now);

 private:
  explicit TreeLock(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace ws::sync

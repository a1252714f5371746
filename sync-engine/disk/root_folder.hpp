/// The folder that is synced, held by descriptor: every name below it is resolved beneath it and through no link. A
/// file is read by its name in an open folder, and nothing but a regular file is read. Folders with nothing in them but
/// folders may go: nobody misses one that a file takes the place of.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/sha256.hpp"

namespace ws::sync {

/// `kernel`: one openat2(2) a name. `walk`: part by part with O_NOFOLLOW, for kernels and sandboxes without it.
enum class Resolution { kernel, walk };

class RootFolder {
 public:
  /// Chooses `kernel` where it works. Fails with `disk`.
  static Result<RootFolder> open(const std::filesystem::path& path);
  static Result<RootFolder> open(const std::filesystem::path& path, Resolution resolution);
  /// The same for a folder that must not be a link itself.
  static Result<RootFolder> open_no_link(const std::filesystem::path& path);
  /// Of a folder that is open already.
  static RootFolder adopt(std::filesystem::path path, Descriptor fd, Resolution resolution) {
    return RootFolder(std::move(path), std::move(fd), resolution);
  }

  int fd() const noexcept { return fd_.get(); }
  const std::filesystem::path& path() const noexcept { return path_; }
  Resolution resolution() const noexcept { return resolution_; }

  /// Like openat(2) with O_CLOEXEC, but -1 and ELOOP or EXDEV in errno where a link or `..` would lead away. An empty
  /// name is the folder itself.
  Descriptor open_beneath(std::string_view name, int flags, unsigned mode = 0) const;
  /// Opens the folder of that name and makes those that are missing; `made_in` is told above each of these: it has a
  /// new name to flush. -1 and errno on failure.
  Descriptor make_folders(std::string_view name, const std::function<void(std::string_view above)>& made_in) const;

 private:
  RootFolder(std::filesystem::path path, Descriptor fd, Resolution resolution)
      : path_(std::move(path)), fd_(std::move(fd)), resolution_(resolution) {}
  Descriptor walk(std::string_view name, int flags, unsigned mode) const;

  std::filesystem::path path_;
  Descriptor fd_;
  Resolution resolution_;
};

/// Reads files in order of path: the folder of the last one stays open. One that was moved away meanwhile is read all
/// the same, so that this is for texts whose hash is known, or that may be old.
class FilesInOrder {
 public:
  /// The folder outlives it.
  explicit FilesInOrder(const RootFolder& root) : root_(root) {}
  /// -1 and errno where there is none, or a link.
  Descriptor open(const std::string& path);
  /// The whole file. Fails with `not_found` or `disk`.
  Result<std::string> read(const std::string& path);

 private:
  int folder_of(const std::string& path);

  const RootFolder& root_;
  std::string folder_ = {};
  Descriptor folder_fd_ = {};
};

/// `disk`, with errno's words: "cannot write a.md: No space left on device".
tl::unexpected<Failure> disk_failure(std::string_view doing, std::string_view what);

/// Replaces a file that may be lost: nothing is flushed, so a power cut may leave a damaged one. It gets exactly that
/// mode. Fails with `disk`, and then leaves the file as it is.
Result<void> replace_disposable(const std::filesystem::path& file,
                                std::initializer_list<std::string_view> parts,
                                unsigned mode = 0600);

/// The whole file. Fails with `not_found` or `disk`.
Result<std::string> read_file_at(int folder, const std::string& name);

/// The hash of the file, read piece by piece; empty: there is none, or what has its name is no regular file. Fails with
/// `disk`.
Result<std::optional<Sha256>> hash_file_at(int folder, const std::string& name);

/// Adds the names in an open folder, `.` and `..` aside. False: it is none, or cannot be listed.
bool list_folder(int folder, std::vector<std::string>& names);
/// Whether `is_meant` is true of the path of each file at or below a folder, a link being a file. Empty folders do not
/// count. False: it is no folder, or cannot be listed.
bool holds_only(const RootFolder& root,
                const std::string& folder,
                const std::function<bool(const std::string& path)>& is_meant);

/// Whether `name` in the folder `above` is one. No link is followed.
bool is_empty_folder(int above, const char* name);
/// Takes it away, from the innermost out. Nothing but rmdir(2): a file that comes in between stays. False: it is there
/// still, and errno says why.
bool remove_empty_folder(int above, const char* name);

}  // namespace ws::sync

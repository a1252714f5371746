/// Files that are opened to be written on: a partial download, a lock, a log. (What is replaced by rename:
/// `base/files.hpp`.)
///
/// In a folder that others can write to, a file of that name may be theirs: they would keep it open, or have given it
/// another name. So it is taken only if it is ours: a regular file of this user with one name, reached by no link.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/result.hpp"

namespace ws {

/// Opens the file, made with `mode` less the umask where it is missing. `flags`: O_RDWR or O_WRONLY, and O_APPEND.
/// Fails with `disk`, code `not_ours` where the file is not ours; then nothing of it is changed.
Result<Descriptor> open_own_file(const std::filesystem::path& path, int flags, unsigned mode);

/// Whether an open file is ours in that sense. Fails as above; `path` is for the message.
Result<void> check_is_ours(int file, const std::filesystem::path& path);

/// A lock that others wait for, held as long as the descriptor is open: an empty file, which stays. Blocks. Fails with
/// `disk`.
Result<Descriptor> wait_for_lock(const std::filesystem::path& path);

/// A lock that names its holder: a file with the number of the process, removed when the lock ends.
class LockFile {
 public:
  /// Fails with `disk`; code `locked` where another process holds it: `doing` says what that one does.
  static Result<LockFile> take(const std::filesystem::path& path, const std::string& doing);
  LockFile(LockFile&& other) noexcept = default;
  LockFile& operator=(LockFile&&) = delete;
  ~LockFile();

 private:
  LockFile(std::filesystem::path path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace ws

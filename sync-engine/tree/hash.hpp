/// Reads a file of the tree as text and hashes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "api-client/base/sha256.hpp"
#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/model/found_files.hpp"
#include "sync-engine/model/plan.hpp"

struct statx;

namespace ws::sync {

/// What the system says of a file without reading it. Equal stamps, both times old enough: the same bytes.
struct FileStamp {
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  ///< ctime: it cannot be set back, as mtime can
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  std::int64_t born_ns = 0;  ///< 0: the file system keeps no birth time
  std::uint32_t mode = 0;
  std::uint32_t reserved = 0;  ///< the stat cache writes stamps byte by byte: no padding
  bool operator==(const FileStamp&) const = default;

  FileId id() const { return {.inode = inode, .device = device, .born_ns = born_ns}; }
};

/// What `statx` must be asked for to fill a stamp.
extern const unsigned stamp_mask;
FileStamp stamp_of(const struct statx& status);

/// Of the regular file at `path`; empty: there is none.
std::optional<FileId> find_file_id(const RootFolder& root, const RelativePath& path);

struct HashedFile {
  FileStamp stamp = {};
  Sha256 hash = {};
};

/// A file that may not be synced, and why. The stamp is of the file that was looked at; all zero where there was none.
struct UnhashedFile {
  SkipReason reason = SkipReason::unreadable;
  FileStamp stamp = {};
};

/// Reads the file `name` in the folder `folder_fd`; one that changed while it was read is `busy`. `buffer` is scratch
/// space, the same for many files: it grows to the largest of them.
std::variant<HashedFile, UnhashedFile> hash_file(int folder_fd,
                                                 const char* name,
                                                 std::uint64_t max_bytes,
                                                 std::string& buffer);

}  // namespace ws::sync

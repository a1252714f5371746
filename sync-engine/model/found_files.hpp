/// What a walk of the disk found, and the identity of a file independent of its name.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "api-client/base/sha256.hpp"
#include "sync-engine/model/entry.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {

/// The identity of a file on its file system, independent of its name.
struct FileId {
  std::uint64_t inode = 0;  ///< 0: not known
  std::uint64_t device = 0;
  std::int64_t born_ns = 0;  ///< 0: not known
  auto operator<=>(const FileId&) const = default;

  /// Without the birth time: one file at a time has it.
  FileId number() const { return {.inode = inode, .device = device}; }
};

/// File systems reuse the inode number of a deleted file; the birth time tells the two apart.
enum class SameFile {
  no,
  perhaps,  ///< the same number, and a birth time is not known: the text has to confirm it
  yes,
};
inline SameFile is_same_file(const FileId& a, const FileId& b) {
  if (a.inode == 0 || a.number() != b.number()) return SameFile::no;
  if (a.born_ns == 0 || b.born_ns == 0) return SameFile::perhaps;
  return a.born_ns == b.born_ns ? SameFile::yes : SameFile::no;
}

/// What this program wrote for a document, until both sides agree on it again.
struct WrittenFile {
  RelativePath path;
  FileId id = {};
  Sha256 text = {};
  bool operator==(const WrittenFile&) const = default;
};

/// What a walk of the disk found.
struct FoundFile {
  RelativePath path;
  Sha256 hash = {};
  FileId id = {};
  auto operator<=>(const FoundFile&) const = default;
};

struct FoundTree {
  std::vector<FoundFile> files = {};
  std::vector<Skipped> skipped = {};  ///< for people: Markdown that is left alone, folders that could not be read
  /// Everything that could not be looked at, links and ignored folders too: no document at or beneath one is deleted.
  std::vector<Skipped> closed = {};
};

/// A file that is not read. Only its inode number can tell that it is a known document under another name.
struct HiddenFile {
  SkipReason reason = SkipReason::ignored;
  FileId id = {};  ///< without an inode: it is gone by now, or cannot be looked at
};

}  // namespace ws::sync

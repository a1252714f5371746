#include "sync-engine/model/found_files.hpp"

namespace ws::sync {

SameFile is_same_file(const FileId& a, const FileId& b) {
  if (a.inode == 0 || a.number() != b.number()) return SameFile::no;
  if (a.born_ns == 0 || b.born_ns == 0) return SameFile::perhaps;
  return a.born_ns == b.born_ns ? SameFile::yes : SameFile::no;
}

}  // namespace ws::sync

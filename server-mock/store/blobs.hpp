/// Stores the bytes of uploads and assets in files, not in memory and not in the database.
///
/// With a data file each blob is a file in `FILE.assets/`, durable once `keep` has returned (fsync, rename, fsync of
/// the folder). Without a data file it is an unlinked temporary file, which disappears with the process.
///
/// The database knows which blobs are in use; the others are orphans (`keep_only`). A blob that is removed can still be
/// read by its open readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/result.hpp"

namespace ws::mock {

/// Reads one blob at any offset.
class BlobReader {
 public:
  /// Shared by the store and all readers; the last one closes the file.
  explicit BlobReader(std::shared_ptr<const Descriptor> file) : file_(std::move(file)) {}
  /// Fills `room` and returns the number of bytes, fewer at the end of the blob. Fails with `disk`.
  Result<std::size_t> read(std::uint64_t at, std::span<char> room) const;

 private:
  std::shared_ptr<const Descriptor> file_;
};

/// Writes one blob. Its bytes are discarded unless `Blobs::keep` is called.
class BlobWriter {
 public:
  BlobWriter(BlobWriter&& other) noexcept;
  BlobWriter& operator=(BlobWriter&&) = delete;
  BlobWriter(const BlobWriter&) = delete;
  BlobWriter& operator=(const BlobWriter&) = delete;
  ~BlobWriter();

  /// Fails with `disk`.
  Result<void> write(std::string_view piece);
  std::uint64_t size_bytes() const { return size_bytes_; }

 private:
  friend class Blobs;
  BlobWriter(std::string path, std::shared_ptr<const Descriptor> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;  // empty: the file has no name
  std::shared_ptr<const Descriptor> file_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t on_its_way_ = 0;  // bytes for which writeback was started
};

class Blobs {
 public:
  /// `data` as in `World::open`: a database file, or ":memory:". Creates nothing on disk before the first blob.
  explicit Blobs(const std::string& data);

  /// Fails with `disk`.
  Result<BlobWriter> begin();
  /// Stores the written bytes under this name. Fails with `disk`.
  Result<void> keep(BlobWriter& writer, const std::string& name);
  /// Fails with `not_found` or `disk`.
  Result<BlobReader> open(const std::string& name) const;
  /// Also refers to the temporary files of another store; each store removes its own reference.
  void share(const Blobs& other) { nameless_.insert(other.nameless_.begin(), other.nameless_.end()); }
  /// Removing a name that does not exist is no error.
  void remove(const std::string& name);
  /// Removes all other blobs, and partial files left by a crash.
  Result<void> keep_only(const std::set<std::string>& names);

 private:
  std::string path_of(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;  // empty: unlinked temporary files
  std::map<std::string, std::shared_ptr<const Descriptor>> nameless_ = {};
  std::uint64_t begun_ = 0;
};

}  // namespace ws::mock

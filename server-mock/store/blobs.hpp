/// Where the bytes of uploads and assets lie: on disk, never in memory and never in the database.
///
/// Beside a data file each blob is a file in `FILE.assets/`, whole and for good once `keep` has returned (fsync,
/// rename, fsync of the folder). Without a data file it is a temporary file that has no name, so that it goes with the
/// process, however that ends.
///
/// The database knows which blobs are wanted; what it does not name is an orphan (`keep_only`). A reader goes on
/// reading a blob that was removed meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws::mock {

/// An open file, closed at the end.
class BlobFile {
 public:
  explicit BlobFile(int descriptor) : descriptor_(descriptor) {}
  BlobFile(const BlobFile&) = delete;
  BlobFile& operator=(const BlobFile&) = delete;
  ~BlobFile();
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Reads one blob, from anywhere.
class BlobReader {
 public:
  /// Shared: the store's and every reader's, whoever goes last.
  explicit BlobReader(std::shared_ptr<const BlobFile> file) : file_(std::move(file)) {}
  /// How many bytes of `room` were filled: fewer at the end of the blob. Fails with `disk`.
  Result<std::size_t> read(std::uint64_t at, std::span<char> room) const;

 private:
  std::shared_ptr<const BlobFile> file_;
};

/// Writes one blob, from its beginning. Nothing is left of it without `Blobs::keep`.
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
  BlobWriter(std::string path, std::shared_ptr<const BlobFile> file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;  // empty: the file has no name
  std::shared_ptr<const BlobFile> file_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t on_its_way_ = 0;  // to the disk
};

class Blobs {
 public:
  /// `data` as in `World::open`: a database file, or ":memory:". Nothing is made on disk before the first blob.
  explicit Blobs(const std::string& data);

  /// Fails with `disk`.
  Result<BlobWriter> begin();
  /// What was written is the blob of this name from now on. Fails with `disk`.
  Result<void> keep(BlobWriter& writer, const std::string& name);
  /// Fails with `not_found` or `disk`.
  Result<BlobReader> open(const std::string& name) const;
  /// What another store keeps without names is kept here too: the same bytes, each removed by itself.
  void share(const Blobs& other) { nameless_.insert(other.nameless_.begin(), other.nameless_.end()); }
  /// Not there is as good.
  void remove(const std::string& name);
  /// Removes all others, and what a crash left half written.
  Result<void> keep_only(const std::set<std::string>& names);

 private:
  std::string path_of(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;  // empty: without names
  std::map<std::string, std::shared_ptr<const BlobFile>> nameless_ = {};
  std::uint64_t begun_ = 0;
};

}  // namespace ws::mock

/// Reads a file for an upload: streamed while it is sent, hashed on the way, never whole in memory.
///
/// Only one state of the file is sent: if the file changes during the upload, the exchange fails.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/http/transport.hpp"

namespace ws {

/// Size and modification time: if they are equal, so are the bytes, within the file system's resolution.
struct FileStamp {
  std::uint64_t size_bytes = 0;
  std::int64_t changed_ns = 0;
  bool operator==(const FileStamp&) const = default;
};
/// Fails with `disk`: no such file, not a regular file, not readable.
Result<FileStamp> stamp_of(const std::filesystem::path& path);

class FileSource final : public http::BodySource {
 public:
  /// Fails with `disk` as `stamp_of` does, and if the file no longer matches `expected`.
  static Result<std::unique_ptr<FileSource>> open(const std::filesystem::path& path, const FileStamp& expected);

  std::uint64_t size_bytes() const override { return stamp_.size_bytes; }
  Result<std::size_t> read(char* buffer, std::size_t capacity) override;

  std::uint64_t sent_bytes() const { return offset_; }
  /// The hash of all bytes; empty until the last one was read.
  std::optional<Sha256> hash() const { return hash_; }

 private:
  FileSource(Descriptor descriptor, std::filesystem::path path, const FileStamp& stamp)
      : descriptor_(std::move(descriptor)), path_(std::move(path)), stamp_(stamp) {}

  Descriptor descriptor_;
  std::filesystem::path path_;
  FileStamp stamp_;
  std::uint64_t offset_ = 0;
  Sha256Stream stream_;
  std::optional<Sha256> hash_;
};

}  // namespace ws

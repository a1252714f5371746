/// A file's bytes for an upload: read as they are sent, hashed on the way, never all in memory.
///
/// What is sent is one state of the file or a failure: a file that changed meanwhile ends the exchange.
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

/// Size and time of change: equal ones mean, within the file system's resolution, the same bytes.
struct FileStamp {
  std::uint64_t size_bytes = 0;
  std::int64_t changed_ns = 0;
  bool operator==(const FileStamp&) const = default;
};
/// Fails with `disk`: no such file, no plain file, not to be read.
Result<FileStamp> stamp_of(const std::filesystem::path& path);

class FileSource final : public http::BodySource {
 public:
  /// Fails with `disk` as `stamp_of` does, and where the file is no longer what `expected` says.
  static Result<std::unique_ptr<FileSource>> open(const std::filesystem::path& path, const FileStamp& expected);

  std::uint64_t size_bytes() const override { return stamp_.size_bytes; }
  Result<std::size_t> read(char* buffer, std::size_t capacity) override;

  std::uint64_t sent_bytes() const { return offset_; }
  /// Of all bytes; empty before the last one was read.
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

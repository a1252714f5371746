/// A file that is being downloaded: `.NAME.ws-part` beside the target, renamed to the target when it is complete.
///
/// The next run resumes an incomplete download of the same Asset, whose id and ETag are stored in `.NAME.ws-part.json`.
/// That file is written once the part has some size or is left behind: most downloads end without one. A lock prevents
/// a second run on the same target.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/transfer/download.hpp"

namespace ws {

enum class Replace { no, yes };

class PartialFile final : public Destination {
 public:
  /// `identity` identifies the file that existing bytes belong to: the Asset's id and, if known, its hash. Fails with
  /// `disk` if another run holds the lock, or the file cannot be written.
  static Result<std::unique_ptr<PartialFile>> open(const std::filesystem::path& target, const std::string& identity);
  // NOLINTNEXTLINE(bugprone-exception-escape): nothing is thrown but for want of memory
  ~PartialFile() override;

  std::uint64_t size_bytes() const override { return size_; }
  std::string etag() const override { return etag_; }
  Result<void> set_etag(const std::string& etag) override;
  Result<void> append(std::string_view piece) override;
  Result<void> restart() override;
  Result<Sha256> hash() override;

  /// The path of the incomplete file, and what is known of it.
  const std::filesystem::path& path() const { return part_; }
  std::filesystem::path notes() const;

  /// Flushes it and renames it to the target, atomically. Fails with `disk`, also if the target was created meanwhile.
  Result<void> finish(Replace replace);
  /// The same for several files in order, sharing the flushes.
  static std::vector<Result<void>> finish_all(const std::vector<PartialFile*>& files, Replace replace);

 private:
  PartialFile(std::filesystem::path target, std::filesystem::path part, Descriptor descriptor)
      : target_(std::move(target)), part_(std::move(part)), descriptor_(std::move(descriptor)) {}
  Result<void> adopt(const std::string& identity);
  Result<std::string> read_notes() const;
  Result<void> write_notes();
  Result<void> take_name(Replace replace);

  std::filesystem::path target_;
  std::filesystem::path part_;
  Descriptor descriptor_;
  std::string identity_;
  std::string etag_;
  std::uint64_t size_ = 0;
  bool has_notes_ = false;
  bool finished_ = false;
};

}  // namespace ws

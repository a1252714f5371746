/// A file under download: `.NAME.ws-part` beside the target, until it is complete and takes the target's name.
///
/// The next run resumes an unfinished download of the same Asset; `.NAME.ws-part.json` beside it has Asset and ETag. It
/// is written once the part is of some size, or left behind: most downloads end without one. A lock keeps a second run
/// off the same target.
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
  /// `identity` tells whether what is there is of the same file: the Asset's id and, if known, its hash. Fails with
  /// `disk`: another run is at it, or it cannot be written.
  static Result<std::unique_ptr<PartialFile>> open(const std::filesystem::path& target, const std::string& identity);
  ~PartialFile() override;

  std::uint64_t size_bytes() const override { return size_; }
  std::string etag() const override { return etag_; }
  Result<void> set_etag(const std::string& etag) override;
  Result<void> append(std::string_view piece) override;
  Result<void> restart() override;
  Result<Sha256> hash() override;

  /// What is left where it is not finished, and what is known of it.
  const std::filesystem::path& path() const { return part_; }
  std::filesystem::path notes() const;

  /// Flushes it and gives it the target's name, whole. Fails with `disk`, also where the target came into being.
  Result<void> finish(Replace replace);
  /// The same of several, in their order: many wait for the disk once.
  static std::vector<Result<void>> finish_all(const std::vector<PartialFile*>& files, Replace replace);

 private:
  PartialFile(std::filesystem::path target, std::filesystem::path part, Descriptor descriptor)
      : target_(std::move(target)), part_(std::move(part)), descriptor_(std::move(descriptor)) {}
  Result<void> adopt(const std::string& identity);
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

/// The port to the service's Assets: bytes up and down, some at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/model/attachment.hpp"
#include "sync-engine/model/entry.hpp"

namespace ws::sync {

/// The code of a download that was cut while its bytes came, where the service may well send the next file.
inline constexpr const char* cut_short = "cut_short";

struct AssetUpload {
  std::string file_name = {};
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;
  Sha256 hash = {};
  std::string media_type = {};
  std::string from = {};                    ///< a path through a descriptor that stays open until it is done
  std::optional<SentUpload> in_doubt = {};  ///< an earlier one of the same bytes: asked for first
  /// Before the Asset can come into being, and again without an upload where surely none did; a failure ends the
  /// upload.
  std::function<Result<void>(const std::optional<SentUpload>&)> sent = {};
  std::function<void(std::uint64_t bytes)> progress = {};
};

struct UploadedAsset {
  std::string asset = {};
  bool was_in_doubt = false;  ///< the earlier upload was not to be found: there may be a second Asset
};

struct AssetDownload {
  std::string asset = {};
  std::uint64_t size_bytes = 0;
  Sha256 hash = {};
  std::string to = {};  ///< the file that it becomes, whole and right, with these bytes; beside it what is under way
  std::function<void(std::uint64_t bytes)> progress = {};
};

class Assets {
 public:
  Assets() = default;
  Assets(const Assets&) = delete;
  Assets& operator=(const Assets&) = delete;
  virtual ~Assets() = default;

  /// Begins; `done` comes from `run`.
  virtual void start(AssetUpload upload, std::function<void(Result<UploadedAsset>)> done) = 0;
  virtual void start(AssetDownload download, std::function<void(Result<void>)> done) = 0;
  /// False when nothing is under way any more.
  virtual bool run(std::chrono::milliseconds at_most) = 0;
  /// The same as `holds`; `done` comes from `run`.
  virtual void start(const Attachment& file, std::function<void(Result<bool>)> done) = 0;
  /// Whether the service says that it has an Asset with this size and hash. One of which it says no hash proves
  /// nothing.
  virtual Result<bool> holds(const Attachment& file) = 0;
  /// The document's new revision.
  virtual Result<DocumentRevision> set_title(const std::string& document,
                                             const std::string& title,
                                             DocumentRevision revision) = 0;
};

}  // namespace ws::sync

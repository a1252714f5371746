/// Uploads: receives the bytes at the secret URL that `files.upload_start` returned.
///
/// The URL is the authorization: no key is needed. The bytes may be sent again until the upload is finalized; the last
/// complete PUT counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/sha256.hpp"
#include "server-mock/services/shared/errors.hpp"
#include "server-mock/store/blobs.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// "/uploads/SECRET", outside `/v1`.
inline constexpr std::string_view upload_root = "/uploads/";
std::string upload_path(std::string_view secret);
/// The secret of an upload path; empty for other paths.
std::string_view upload_secret(std::string_view path);
bool is_upload(std::string_view path);
/// `path` as logs and the journal may show it: without the secret of an upload, and without parts that hold a key.
std::string shown_path(std::string_view path);
inline constexpr std::int64_t upload_lifetime_ms = 3'600'000;

class UploadPut {
 public:
  /// `declared_bytes`: the request's `Content-Length`; `media_type`: its `Content-Type`. Fails with 404, 409
  /// `upload_consumed` (`asset_id`), 410 `upload_expired`, 400 (not the `upload_headers`) or 413 before any byte is
  /// received.
  static ApiResult<UploadPut> begin(World& world,
                                    std::string_view secret,
                                    std::string_view media_type,
                                    std::optional<std::uint64_t> declared_bytes);

  /// Fails with 413 above the declared size, with 500 if the disk fails.
  ApiResult<void> take(std::string_view piece);
  std::uint64_t size_bytes() const { return writer_.size_bytes(); }
  /// All bytes were received; they are durable when this returns. Repeats the checks of `begin`. 404 if the world was
  /// cleared meanwhile.
  ApiResult<void> finish(World& world);

 private:
  UploadPut(std::string upload_id, std::uint64_t at_most, BlobWriter&& writer)
      : upload_id_(std::move(upload_id)), at_most_bytes_(at_most), writer_(std::move(writer)) {}

  std::string upload_id_;
  std::uint64_t at_most_bytes_;
  BlobWriter writer_;
  Sha256Stream hash_ = {};
};

/// Replaces the bytes that the upload has received by those of the writer, in one transaction. Fails with `disk`.
Result<void> replace_bytes(World& world, const struct Upload& upload, BlobWriter& writer, const Sha256& sha256);

/// The `Content-Type` of `upload_headers`, which the PUT must have.
std::string upload_media_type(const struct Upload& upload);

/// 409 `upload_consumed` with `asset_id`, or 410 `upload_expired`.
ApiResult<void> require_open(const World& world, const struct Upload& upload);

/// Removes the bytes of expired uploads. The rows stay, so that later calls get 410.
Result<void> forget_expired_uploads(World& world);

}  // namespace ws::mock

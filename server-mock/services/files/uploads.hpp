/// The bytes of an upload, put to the secret address that `files.upload_start` gave.
///
/// The address is the right to use it: no key is asked for. Bytes may be put again until the upload is finalized; the
/// last that came whole are those that count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/sha256.hpp"
#include "server-mock/services/shared/refuse.hpp"
#include "server-mock/store/blobs.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// "/uploads/SECRET", beside `/v1`.
inline constexpr std::string_view upload_root = "/uploads/";
std::string upload_path(std::string_view secret);
/// Of a path below `upload_root`; empty: there is none.
std::string_view upload_secret(std::string_view path);
bool is_upload(std::string_view path);
/// `path` as logs and the journal may show it: "/uploads/[redacted]" hides the secret; every other path is unchanged.
std::string_view shown_path(std::string_view path);
inline constexpr std::int64_t upload_lifetime_ms = 3'600'000;

class UploadPut {
 public:
  /// `declared_bytes`: what the request says of its own size. Refuses with 404, 409 `upload_consumed` (`asset_id`), 410
  /// `upload_expired` or 413 before a byte has come.
  static Served<UploadPut> begin(World& world, std::string_view secret, std::optional<std::uint64_t> declared_bytes);

  /// Refuses with 413 over the declared size, 500 where the disk does.
  Served<void> take(std::string_view piece);
  std::uint64_t size_bytes() const { return writer_.size_bytes(); }
  /// All came: durable when this returns. Checks once more what `begin` did. In a world that was `clear`ed meanwhile:
  /// 404.
  Served<void> finish(World& world);

 private:
  UploadPut(std::string upload_id, std::uint64_t at_most, BlobWriter&& writer)
      : upload_id_(std::move(upload_id)), at_most_bytes_(at_most), writer_(std::move(writer)) {}

  std::string upload_id_;
  std::uint64_t at_most_bytes_;
  BlobWriter writer_;
  Sha256Stream hash_ = {};
};

/// 409 `upload_consumed` with `asset_id`, or 410 `upload_expired`: what an upload that is over says to everybody.
Served<void> require_open(const World& world, const struct Upload& upload);

/// Frees the bytes of uploads that expired; they themselves stay, to say so.
Result<void> forget_expired_uploads(World& world);

}  // namespace ws::mock

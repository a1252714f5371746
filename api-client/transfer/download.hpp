/// Downloads an Asset: resumes after a lost connection, and verifies the hash.
///
/// An interrupted response is resumed with `Range` (and `If-Range` if the service sent a strong ETag). Size, range and
/// hash declared by the service are verified: the destination is complete and correct, or the download has failed.
/// Bytes of an earlier run that do not match are discarded once, and the download starts again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/client/client.hpp"

namespace ws {

/// Receives the bytes in order.
class Destination {
 public:
  Destination() = default;
  Destination(const Destination&) = delete;
  Destination& operator=(const Destination&) = delete;
  virtual ~Destination() = default;
  virtual std::uint64_t size_bytes() const = 0;  ///< bytes already stored, by this or an earlier run
  virtual std::string etag() const = 0;          ///< of the stored bytes; empty: unknown
  virtual Result<void> set_etag(const std::string& etag) = 0;
  /// Fails with `disk`.
  virtual Result<void> append(std::string_view piece) = 0;
  /// Discards all bytes; fails with `integrity` if they cannot be discarded (a pipe).
  virtual Result<void> restart() = 0;
  /// The hash of everything stored.
  virtual Result<Sha256> hash() = 0;
};

struct DownloadRequest {
  std::string asset_id = {};
  std::optional<std::uint64_t> size_bytes = {};  ///< as declared by the Asset
  std::optional<Sha256> sha256 = {};
  std::function<void(std::uint64_t received_bytes)> progress = {};
};

struct Downloaded {
  std::uint64_t size_bytes = 0;
  Sha256 sha256 = {};
  bool is_checked = false;             ///< false: the service declared no hash
  std::uint64_t resumed_at_bytes = 0;  ///< offset at which this run began; 0: the first byte
};

/// Fails as any read; with `integrity` if size or hash differ from the declared ones (the destination is then emptied,
/// if possible), with `disk`.
Result<Downloaded> download(Client& client, const DownloadRequest& request, Destination& destination);

/// The same asynchronously: `done` is called from `client.run`. An interrupted response ends it with `may_go_on`: if it
/// is started again with the same destination, it resumes. `destination` must outlive the download.
void start_download(Client& client,
                    DownloadRequest request,
                    Destination& destination,
                    std::function<void(Result<Downloaded>, bool may_go_on)> done);

}  // namespace ws

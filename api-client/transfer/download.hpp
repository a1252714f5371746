/// Downloads an Asset: resumes after a lost connection, and verifies the hash.
///
/// A cut answer is continued with `Range` (and `If-Range`, where the service gave a strong ETag). What the service
/// declares - size, range, hash - is checked: a destination is complete and right, or the download has failed. Bytes of
/// an earlier run that do not go with the answer are thrown away, once; then it begins at the first byte.
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

/// Where the bytes go, in order.
class Destination {
 public:
  Destination() = default;
  Destination(const Destination&) = delete;
  Destination& operator=(const Destination&) = delete;
  virtual ~Destination() = default;
  virtual std::uint64_t size_bytes() const = 0;  ///< what it holds already, from here or from an earlier run
  virtual std::string etag() const = 0;          ///< of what it holds; empty: not known
  virtual Result<void> set_etag(const std::string& etag) = 0;
  /// Fails with `disk`.
  virtual Result<void> append(std::string_view piece) = 0;
  /// Discards all bytes; fails with `integrity` where bytes are gone for good (a pipe).
  virtual Result<void> restart() = 0;
  /// Of all that it holds.
  virtual Result<Sha256> hash() = 0;
};

struct DownloadRequest {
  std::string asset_id = {};
  std::optional<std::uint64_t> size_bytes = {};  ///< as the Asset says
  std::optional<Sha256> sha256 = {};
  std::function<void(std::uint64_t received_bytes)> progress = {};
};

struct Downloaded {
  std::uint64_t size_bytes = 0;
  Sha256 sha256 = {};
  bool is_checked = false;             ///< false: the service told no hash
  std::uint64_t resumed_at_bytes = 0;  ///< where this run began; 0: at the first byte
};

/// Fails like any read; with `integrity` where size or hash is another than declared (the destination is back to
/// nothing, if it can be), with `disk`.
Result<Downloaded> download(Client& client, const DownloadRequest& request, Destination& destination);

/// The same among others: `done` comes from `client.run`. An answer that was cut ends it with `may_go_on`: begun again
/// with the same destination, it goes on behind what came. The destination outlives it.
void start_download(Client& client,
                    DownloadRequest request,
                    Destination& destination,
                    std::function<void(Result<Downloaded>, bool may_go_on)> done);

}  // namespace ws
